//! The declarations of a kind of store beside its hosts: how its protocol reads, and actions of its own.

use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::plan::{
    Action, ClientPlan, Injection, Latency, Phase, Plan, Settings, Target, When, WorldSpec,
};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Role, What};
use picklock_sim::design::{Design, Topology};
use picklock_sim::engine::Engine;
use picklock_sim::lock::{BoxFuture, Client, Grant, Lock, LockError};
use picklock_sim::run::{Options, Workload, run};
use picklock_sim::store::{
    ConnectionReader, OwnAction, Server, ServerContext, SimulatedStore, Store, StoreSpec,
};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

const PORT: u16 = 7;

/// Answers what it is sent; twice while its action is applied.
struct Echo;

impl StoreSpec for Echo {
    fn name(&self) -> &'static str {
        "echo"
    }

    fn port(&self, _: Role) -> u16 {
        PORT
    }

    fn decode(&self, role: Role, request: bool, bytes: &[u8]) -> Option<String> {
        assert_eq!(role, Role::Leader);
        let text = std::str::from_utf8(bytes).ok()?;
        Some(format!("{} {text}", if request { ">" } else { "<" }))
    }

    fn actions(&self) -> &'static [OwnAction] {
        &[OwnAction { name: "again", doc: "what was said is said again" }]
    }
}

impl SimulatedStore for Echo {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let listener = context.host.bind(PORT).await.unwrap();
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut heard = [0; 5];
            stream.read_exact(&mut heard).await.unwrap();
            stream.write_all(&heard).await.unwrap();
            let action = context.host.next_action().await;
            assert_eq!((action.name.as_str(), action.count), ("again", 2));
            context.host.action_took_effect(&action);
            for _ in 0..action.count {
                stream.write_all(&heard).await.unwrap();
            }
        })
    }
}

/// The same, whose segments are read by connection.
struct Numbered;

impl StoreSpec for Numbered {
    fn name(&self) -> &'static str {
        "numbered"
    }

    fn port(&self, _: Role) -> u16 {
        PORT
    }

    fn reader(&self, role: Role) -> Option<Box<dyn ConnectionReader>> {
        assert_eq!(role, Role::Leader);
        Some(Box::new(Numbers::default()))
    }

    fn actions(&self) -> &'static [OwnAction] {
        Echo.actions()
    }
}

impl SimulatedStore for Numbered {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        Echo.serve(context)
    }
}

/// Counts the segments of each direction.
#[derive(Default)]
struct Numbers {
    requests: u32,
    replies: u32,
}

impl ConnectionReader for Numbers {
    fn read(&mut self, request: bool, bytes: &[u8]) -> Option<String> {
        assert_eq!(bytes, b"hello");
        let (direction, count) = if request { (">", &mut self.requests) } else { ("<", &mut self.replies) };
        *count += 1;
        (*count != 2).then(|| format!("{direction} {count}"))
    }
}

struct NoLock;

impl Lock for NoLock {
    async fn try_acquire(&self, _: &Key) -> Result<Option<Grant>, LockError> {
        Ok(None)
    }

    async fn release(&self, _: Grant) -> Result<(), LockError> {
        Ok(())
    }
}

/// Its clients say hello and hear that three times before they begin.
fn echoing(store: impl SimulatedStore) -> Design {
    let client = |context: picklock_sim::design::Context| async move {
        let mut stream = context.host.connect("node-1", PORT).await.unwrap();
        stream.write_all(b"hello").await.unwrap();
        let mut heard = [0; 15];
        stream.read_exact(&mut heard).await.unwrap();
        assert_eq!(&heard, b"hellohellohello");
        Ok(Client::lock(NoLock))
    };
    Design::new("echoing", client).on_stores(Topology::independent(1), store)
}

fn workload() -> Workload {
    Arc::new(|context| Box::pin(async move { context.recorder.finished() }))
}

fn plan(action: &str) -> Plan {
    Plan {
        seed: Seed(3),
        network_seed: Seed(3),
        world: WorldSpec {
            ttl: Duration::from_secs(1),
            wait: Duration::from_secs(1),
            horizon: Duration::from_secs(5),
            decide: Duration::ZERO,
            latency: Latency { min: Duration::from_micros(200), max: Duration::from_millis(1) },
            tcp_timeout: Duration::from_secs(15),
            store: Settings::default(),
            stock: 0,
            final_client: false,
            ready_order: picklock_model::plan::ReadyOrder::Woken,
            policy: picklock_model::plan::ClientPolicy::default(),
        },
        workload: "test".to_owned(),
        clients: vec![ClientPlan::new("client-1", Vec::new())],
        choices: Vec::new(),
        injections: vec![Injection {
            fault: "test".to_owned(),
            when: When::At { at_ns: TrueTime(1_000_000_000) },
            target: Target::host("node-1"),
            action: Action::Own { name: action.to_owned(), count: 2 },
        }],
    }
}

#[test]
fn segments_that_cannot_be_read_alone_are_read_by_connection() {
    let options = Options::from(Engine::Event).with_wire();
    let kept = run(options, &echoing(Numbered), &plan("again"), &workload()).unwrap();
    let said: Vec<&str> = kept.wire.said().collect();
    assert_eq!(said, ["> 1", "< 1", "< 3"]);
}

#[test]
fn what_segments_say_is_kept_on_demand_and_the_run_is_the_same() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        let kept =
            run(Options::from(engine).with_wire(), &echoing(Echo), &plan("again"), &workload()).unwrap();
        let said: Vec<&str> = kept.wire.said().collect();
        assert_eq!(said, ["> hello", "< hello", "< hello", "< hello"], "{engine:?}");
        for event in &kept.trace.events {
            let stores = matches!(event.what, What::Sent { .. });
            assert_eq!(kept.wire.get(&event.id).is_some(), stores, "{event:?}");
        }
        let plain = run(engine, &echoing(Echo), &plan("again"), &workload()).unwrap();
        assert!(plain.wire.is_empty());
        assert_eq!(plain.trace.digest, kept.trace.digest, "{engine:?}");
        let again =
            run(Options::from(engine).with_wire(), &echoing(Echo), &plan("again"), &workload()).unwrap();
        assert_eq!(again.wire, kept.wire, "{engine:?}");
    }
}

#[test]
fn an_action_that_the_kind_does_not_have_is_refused() {
    echoing(Echo).admits(&plan("again")).unwrap();
    let refused = |design: &Design| design.admits(&plan("twice")).unwrap_err().to_string();
    assert_eq!(refused(&echoing(Echo)), "`action.own.name` is twice, and must be an action of echo: again");
    let mut storeless = echoing(Echo);
    storeless.store = None;
    assert!(refused(&storeless).contains("has no stores"));
    let own = Design::new("own", |_| async { Ok(Client::lock(NoLock)) });
    let own = own.on(Topology::independent(1), |_| async {});
    assert!(refused(&own).contains("own-server has no actions"));
}

/// Serves nobody, and does not report what it keeps.
struct Mute;

impl StoreSpec for Mute {
    fn name(&self) -> &'static str {
        "mute"
    }

    fn port(&self, _: Role) -> u16 {
        PORT
    }
}

impl SimulatedStore for Mute {
    fn serve(&self, _: ServerContext) -> BoxFuture<'static, ()> {
        Box::pin(std::future::pending())
    }
}

#[test]
fn a_silent_server_that_dies_is_taken_to_have_kept_something_while_somebody_holds() {
    let hit = |reports: bool, phase: Phase| {
        let client = |_| async { Ok(Client::lock(NoLock)) };
        let (simulated, alike) = (Store::simulated(Mute), Store::simulated(Mute));
        // A real server cannot say what it keeps, a simulated one says that it keeps nothing.
        let Server::Simulated(serve) = alike.server else { unreachable!() };
        let store = if reports { simulated } else { Store { server: Server::Real(serve), ..simulated } };
        let design = Design::new("mute", client).on_store(Topology::independent(1), store);
        let mut plan = plan("again");
        plan.injections[0].action = Action::Crash { power_loss: false, restart_after: None };
        let workload: Workload = Arc::new(move |context| {
            Box::pin(async move {
                context.recorder.phase(1, phase);
                context.host.sleep(Duration::from_secs(2)).await;
                context.recorder.finished();
            })
        });
        let run = run(Engine::Event, &design, &plan, &workload).unwrap();
        run.trace.hits.len()
    };
    assert_eq!(hit(false, Phase::Work), 1);
    assert_eq!(hit(false, Phase::Acquire), 0);
    assert_eq!(hit(true, Phase::Work), 0);
}

/// Fails on what it is sent.
struct Fragile;

impl StoreSpec for Fragile {
    fn name(&self) -> &'static str {
        "fragile"
    }

    fn port(&self, _: Role) -> u16 {
        PORT
    }
}

impl SimulatedStore for Fragile {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let listener = context.host.bind(PORT).await.unwrap();
            let (mut stream, _) = listener.accept().await.unwrap();
            let mut heard = [0; 5];
            stream.read_exact(&mut heard).await.unwrap();
            panic!("it knows no {}", String::from_utf8_lossy(&heard));
        })
    }
}

#[test]
fn a_store_that_fails_ends_the_connection_and_stands_in_the_trace() {
    let client = |context: picklock_sim::design::Context| async move {
        let mut stream = context.host.connect("node-1", PORT).await.unwrap();
        stream.write_all(b"hello").await.unwrap();
        assert!(stream.read_exact(&mut [0; 5]).await.is_err(), "nobody answers");
        Ok(Client::lock(NoLock))
    };
    let design = Design::new("failing", client).on_stores(Topology::independent(1), Fragile);
    let plan = Plan { injections: Vec::new(), ..plan("again") };
    for engine in [Engine::Event, Engine::TURMOIL] {
        let made = run(engine, &design, &plan, &workload()).unwrap();
        let failures: Vec<&str> = made.trace.not_modelled().collect();
        assert_eq!(failures, ["a request on which the simulated store fails (it knows no hello)"]);
        assert_eq!(made.trace.digest, run(engine, &design, &plan, &workload()).unwrap().trace.digest);
    }
}
