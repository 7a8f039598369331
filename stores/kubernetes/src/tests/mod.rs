//! Tests of the API servers in a world.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::sync::{Arc, Mutex};
use std::time::Duration;

use picklock_http::{Client as Http, Request};
use picklock_model::ids::Key;
use picklock_model::plan::{
    Action, ClientPlan, ClientPolicy, Injection, Latency, Plan, ReadyOrder, Settings, Target, When, WorldSpec,
};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::What;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::lock::{BoxFuture, Client, Grant, Lock, LockError};
use picklock_sim::run::{Run, Workload, run};
use picklock_sim::store::Topology;

use crate::lease::{Lease, Spec, path};
use crate::status::Status;
use crate::{Kubernetes, PORT};

struct NoLock;

impl Lock for NoLock {
    async fn try_acquire(&self, _: &Key) -> Result<Option<Grant>, LockError> {
        Ok(None)
    }

    async fn release(&self, _: Grant) -> Result<(), LockError> {
        Ok(())
    }
}

/// The program of a client in a test.
type Script = fn(Host) -> BoxFuture<'static, ()>;

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Runs a script on each client, on a control plane of three, each of which comes to its end.
fn play_on(engine: Engine, scripts: &[Script], injections: Vec<Injection>) -> Run {
    let topology = Topology { stores: 1, replicated: true };
    let design = Design::new("test", |_| async { Ok(Client::lock(NoLock)) })
        .on_stores(topology, Kubernetes { members: 3 });
    let name = |nth: usize| format!("client-{}", nth + 1);
    let plan = Plan {
        seed: Seed(1),
        network_seed: Seed(1),
        world: WorldSpec {
            ttl: ms(1_000),
            wait: ms(1_000),
            horizon: ms(60_000),
            latency: Latency { min: Duration::from_micros(200), max: ms(1) },
            tcp_timeout: ms(15_000),
            stock: 0,
            final_client: false,
            ready_order: ReadyOrder::Woken,
            policy: ClientPolicy::default(),
            store: Settings::default(),
        },
        workload: "test".into(),
        clients: (0..scripts.len()).map(|nth| ClientPlan::new(name(nth), Vec::new())).collect(),
        choices: Vec::new(),
        injections,
    };
    let finished = Arc::new(Mutex::new(vec![false; scripts.len()]));
    let (scripts, done) = (scripts.to_vec(), Arc::clone(&finished));
    let workload: Workload = Arc::new(move |context| {
        let nth = (0..scripts.len()).find(|nth| name(*nth) == context.host.name()).unwrap();
        let (script, done) = (scripts[nth], Arc::clone(&done));
        Box::pin(async move {
            script(context.host.clone()).await;
            done.lock().unwrap()[nth] = true;
            context.recorder.finished();
        })
    });
    let run = run(engine, &design, &plan, &workload).unwrap();
    assert!(finished.lock().unwrap().iter().all(|finished| *finished), "each script came to its end");
    run
}

/// What a client asks one of the API servers, and is answered.
struct Asks(Http);

impl Asks {
    fn new(host: &Host, server: &str) -> Asks {
        Asks(Http::new(host, server, PORT))
    }

    async fn ask(&self, method: &str, name: Option<&str>, lease: Option<&Lease>) -> Result<Lease, Status> {
        let request = Request::new(method, &path("default", name));
        let body = lease.map(|lease| serde_json::to_vec(lease).unwrap()).unwrap_or_default();
        let response = self.0.send(&request.body(body)).await.unwrap();
        match response.status {
            200 | 201 => Ok(serde_json::from_slice(&response.body).unwrap()),
            _ => Err(serde_json::from_slice(&response.body).unwrap()),
        }
    }
}

fn held_by(holder: &str) -> Lease {
    let spec =
        Spec { holder_identity: Some(holder.to_owned()), lease_duration_seconds: Some(2), ..Spec::default() };
    Lease::new("default", "k", spec)
}

fn changes_a_lease(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let (one, two) = (Asks::new(&host, "node-1"), Asks::new(&host, "node-2"));
        assert_eq!(one.ask("GET", Some("k"), None).await, Err(Status::not_found("k")));
        let created = one.ask("POST", None, Some(&held_by("a"))).await.unwrap();
        assert_eq!(two.ask("POST", None, Some(&held_by("b"))).await, Err(Status::already_exists("k")));
        assert_eq!(two.ask("GET", Some("k"), None).await, Ok(created.clone()), "on whatever server");
        assert_eq!(created.metadata.uid.len(), 36);
        let unversioned = two.ask("PUT", Some("k"), Some(&held_by("b"))).await.unwrap_err();
        assert_eq!((unversioned.code, &*unversioned.reason), (422, "Invalid"));
        assert_eq!(one.ask("PUT", Some("k"), Some(&created)).await, Ok(created.clone()), "nothing changes");
        let mut next = created.clone();
        next.spec = held_by("b").spec;
        let changed = two.ask("PUT", Some("k"), Some(&next)).await.unwrap();
        assert_ne!(changed.metadata.resource_version, created.metadata.resource_version);
        assert_eq!(changed.metadata.uid, created.metadata.uid);
        next.spec = held_by("c").spec;
        assert_eq!(one.ask("PUT", Some("k"), Some(&next)).await, Err(Status::conflict("k")));
        let mut wrong = changed.clone();
        wrong.spec.lease_duration_seconds = Some(0);
        assert_eq!(one.ask("PUT", Some("k"), Some(&wrong)).await.unwrap_err().code, 422);
        assert_eq!(one.ask("PATCH", Some("k"), Some(&wrong)).await.unwrap_err().code, 501);
        // It is over by the members' clocks, and there all the same.
        host.sleep(ms(3_000)).await;
        assert_eq!(two.ask("DELETE", Some("k"), None).await, Ok(changed));
        assert_eq!(one.ask("GET", Some("k"), None).await, Err(Status::not_found("k")));
    })
}

#[test]
fn a_lease_is_changed_by_whom_who_knows_its_version() {
    let run = play_on(Engine::Event, &[changes_a_lease], Vec::new());
    let named = |what: &What| match what {
        What::Created { .. } => Some("created"),
        What::Extended { .. } => Some("extended"),
        What::Deleted { .. } => Some("deleted"),
        What::Expired { .. } => Some("expired"),
        _ => None,
    };
    let leader = run.trace.events.iter().find(|event| matches!(event.what, What::BecameLeader)).unwrap().host;
    let events = run.trace.events.iter().filter(|event| event.host == leader);
    let events: Vec<&str> = events.filter_map(|event| named(&event.what)).collect();
    assert_eq!(events, ["created", "expired", "created", "expired"], "one takes the place of another");
    let again = || play_on(Engine::TURMOIL, &[changes_a_lease], Vec::new()).trace.digest;
    assert_eq!(again(), again());
}

/// Two clients change the same version at a time, on two servers: one of them does.
fn races(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let asks = Asks::new(&host, if host.name() == "client-1" { "node-2" } else { "node-3" });
        if host.name() == "client-1" {
            asks.ask("POST", None, Some(&held_by("nobody"))).await.unwrap();
        }
        host.sleep(ms(500)).await;
        for round in 0..10 {
            let mut lease = asks.ask("GET", Some("k"), None).await.unwrap();
            host.sleep(ms(50)).await;
            lease.spec = held_by(&format!("{}-{round}", host.name())).spec;
            let changed = asks.ask("PUT", Some("k"), Some(&lease)).await;
            host.sleep(ms(50)).await;
            let now = asks.ask("GET", Some("k"), None).await.unwrap();
            match changed {
                Ok(_) => assert_eq!(now.spec, lease.spec, "it is the one"),
                Err(status) => {
                    assert_eq!(status, Status::conflict("k"));
                    assert_ne!(now.spec, lease.spec, "the other one is");
                }
            }
            host.sleep(ms(100)).await;
        }
    })
}

#[test]
fn of_two_changes_of_one_version_one_is_made() {
    play_on(Engine::Event, &[races, races], Vec::new());
}

fn outlives_its_leader(host: Host) -> BoxFuture<'static, ()> {
    Box::pin(async move {
        let one = Asks::new(&host, "node-1");
        let created = one.ask("POST", None, Some(&held_by("a"))).await.unwrap();
        // The leader dies at 2 s.
        host.sleep(ms(2_500)).await;
        let two = Asks::new(&host, "node-2");
        assert_eq!(two.ask("GET", Some("k"), None).await, Ok(created), "once another one leads");
    })
}

#[test]
fn a_lease_outlives_the_leader_of_its_etcd() {
    let when = When::At { at_ns: TrueTime(2_000_000_000) };
    let action = Action::Crash { power_loss: true, restart_after: None };
    let dies = Injection { fault: "test".into(), when, target: Target::host("node-1"), action };
    play_on(Engine::Event, &[outlives_its_leader], vec![dies]);
}
