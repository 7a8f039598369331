//! The two engines: they end, they repeat themselves, and they agree on what matters.

use std::future::{Future as _, poll_fn};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::plan::{
    Action, ClientPlan, Injection, Latency, Plan, SectionPlan, Settings, Target, When, WorldSpec,
};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::What;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::host::{Host, Origin};
use picklock_sim::lock::{Belief, Client, Grant, Lock, LockError};
use picklock_sim::resource::{self, Operation};
use picklock_sim::run::{Workload, run};

struct NoLock;

impl Lock for NoLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        Ok(Some(Grant::new(key, "me")))
    }

    async fn release(&self, _: Grant) -> Result<(), LockError> {
        Ok(())
    }
}

struct Oracle(Host);

impl Lock for Oracle {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.0.oracle_acquire(key).await;
        Ok(Some(Grant::new(key, "me")))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.0.oracle_release(&grant.key).await;
        Ok(())
    }
}

fn workload() -> Workload {
    Arc::new(|context| {
        Box::pin(async move {
            let recorder = context.recorder.clone();
            let mut resource = context.resource;
            let Client::Lock(lock) = context.client else { return };
            for section in &context.plan.sections {
                context.host.sleep(section.think).await;
                recorder.waiting(section.ordinal, &section.key);
                let Ok(Some(grant)) = lock.acquire(&context.host, &section.key, context.wait).await else {
                    continue;
                };
                recorder.acquired(&grant);
                let value = resource.apply(&section.key, Operation::Read, None).await.unwrap();
                context.host.sleep(section.work).await;
                resource.apply(&section.key, Operation::Write(value + 1), None).await.unwrap();
                recorder.releasing(section.ordinal, &section.key);
                lock.release(grant).await.unwrap();
                recorder.released(section.ordinal, &section.key, None);
            }
            recorder.finished();
        })
    })
}

pub(crate) fn plan(seed: u64) -> Plan {
    let section = |ordinal| {
        SectionPlan::new(ordinal, Key::new("k"), Duration::from_millis(3), Duration::from_millis(20))
    };
    Plan {
        seed: Seed(seed),
        network_seed: Seed(seed),
        world: WorldSpec {
            ttl: Duration::from_secs(1),
            wait: Duration::from_secs(10),
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
        workload: "contend".to_owned(),
        clients: (1..=3)
            .map(|client| ClientPlan::new(format!("client-{client}"), vec![section(1), section(2)]))
            .collect(),
        choices: Vec::new(),
        injections: Vec::new(),
    }
}

fn oracle() -> Design {
    Design::new("oracle", |context| async move { Ok(Client::lock(Oracle(context.host))) })
        .believing(Belief::Naive)
}

pub(crate) fn no_lock() -> Design {
    Design::new("no-lock", |_| async { Ok(Client::lock(NoLock)) })
}

fn final_value(design: &Design, engine: Engine) -> i64 {
    let run = run(engine, design, &plan(7), &workload()).unwrap();
    let mut written = run.trace.events.iter().filter_map(|event| match event.what {
        What::ResourceWritten { value, .. } => Some(value),
        _ => None,
    });
    written.next_back().unwrap()
}

#[test]
fn the_oracle_loses_no_update_on_either_engine_and_no_lock_loses_some_on_both() {
    for engine in [Engine::Event, Engine::TURMOIL, Engine::Turmoil { idle_skip: false }] {
        assert_eq!(final_value(&oracle(), engine), 6, "{engine:?}");
        assert!(final_value(&no_lock(), engine) < 6, "{engine:?}");
    }
}

#[test]
fn the_same_plan_gives_the_same_digest_twice_on_each_engine() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        let digest = || run(engine, &oracle(), &plan(3), &workload()).unwrap().trace.digest;
        assert_eq!(digest(), digest());
        assert_ne!(digest(), run(engine, &oracle(), &plan(4), &workload()).unwrap().trace.digest);
    }
}

#[test]
fn skipping_idle_time_changes_nothing_in_the_trace_of_the_turmoil_engine() {
    let digest = |idle_skip| {
        run(Engine::Turmoil { idle_skip }, &oracle(), &plan(3), &workload()).unwrap().trace.digest
    };
    assert_eq!(digest(true), digest(false));
}

/// A client of which a library spawns a task past its host, and that task one more; the second beats every 10 ms.
fn spawning() -> Design {
    #[expect(clippy::disallowed_methods, reason = "this is what other people's code does")]
    async fn connect(host: Host) -> Result<Client, LockError> {
        let beating = host.clone();
        tokio::spawn(async move {
            tokio::spawn(async move {
                loop {
                    beating.sleep(Duration::from_millis(10)).await;
                    beating.record(Origin::default(), What::Noticed { text: "beat".to_owned() });
                }
            });
        });
        Ok(Client::lock(Oracle(host)))
    }
    Design::new("spawning", |context| connect(context.host))
}

/// When the spawned task of client-1 beat, in milliseconds, with this done to the client after 100 ms.
fn beats(action: Action) -> Vec<u64> {
    let mut plan = plan(7);
    plan.clients.iter_mut().for_each(|client| client.sections[1].think = Duration::from_secs(1));
    let when = When::At { at_ns: TrueTime(0) + Duration::from_millis(100) };
    plan.injections =
        vec![Injection { fault: "test".into(), when, target: Target::host("client-1"), action }];
    let runs = || run(Engine::Event, &spawning(), &plan, &workload()).unwrap().trace;
    let trace = runs();
    assert_eq!(trace.digest, runs().digest);
    let of_client = trace.events.iter().filter(|event| trace.host_name(event.host) == "client-1");
    of_client
        .filter(|event| matches!(event.what, What::Noticed { .. }))
        .map(|event| event.at.as_millis())
        .collect()
}

#[test]
fn what_a_library_spawns_stands_still_with_its_host() {
    let beats = beats(Action::Pause { lasts: Duration::from_millis(500) });
    assert!(beats.iter().filter(|at| **at < 100).count() >= 8, "{beats:?}");
    assert!(!beats.iter().any(|at| (101..600).contains(at)), "{beats:?}");
    assert!(beats.iter().filter(|at| **at >= 600).count() >= 20, "{beats:?}");
}

#[test]
fn what_a_library_spawns_dies_with_its_host() {
    let crash = |restart_after| Action::Crash { power_loss: false, restart_after };
    assert!(beats(crash(None)).iter().all(|at| *at <= 100));
    let again = beats(crash(Some(Duration::from_millis(300))));
    assert!(!again.iter().any(|at| (101..400).contains(at)), "{again:?}");
    let after: Vec<u64> = again.into_iter().filter(|at| *at >= 400).collect();
    assert!(after.windows(2).all(|pair| pair[1] - pair[0] >= 9), "only the new process beats: {after:?}");
}

/// Its acquire is woken by a thread of its own.
struct Threaded(Host);

impl Lock for Threaded {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let mut waits = true;
        poll_fn(|cx| {
            let waker = cx.waker();
            std::thread::scope(|scope| scope.spawn(|| waker.wake_by_ref()).join()).unwrap();
            if std::mem::replace(&mut waits, false) { Poll::Pending } else { Poll::Ready(()) }
        })
        .await;
        Oracle(self.0.clone()).try_acquire(key).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let host = &self.0;
        let mut nap = Box::pin(host.sleep(Duration::from_millis(1)));
        poll_fn(|cx| Poll::Ready(nap.as_mut().poll(cx).is_ready())).await;
        let carried = move || (host.wall(), nap);
        let there = std::thread::scope(|scope| scope.spawn(carried).join().map(|_| ()));
        assert!(there.is_err(), "a host is of no use elsewhere");
        Oracle(self.0.clone()).release(grant).await
    }
}

#[test]
fn a_thread_of_the_locks_own_may_wake_it_and_do_nothing_else() {
    let threaded = Design::new("threaded", |context| async move { Ok(Client::lock(Threaded(context.host))) });
    assert_eq!(final_value(&threaded.believing(Belief::Naive), Engine::Event), 6);
}

/// A client that opens several connections to the resource at the same time, as client libraries with a pool do, and notes how many of
/// them it has a second later.
fn opening_many() -> Design {
    async fn connect(host: Host) -> Result<Client, LockError> {
        let open = || host.timeout(Duration::from_secs(1), host.connect(resource::HOST, 7000));
        let (one, two, three, four) = tokio::join!(open(), open(), open(), open());
        let open = [one, two, three, four].into_iter().filter(|outcome| matches!(outcome, Ok(Ok(_)))).count();
        host.record(Origin::default(), What::Noticed { text: format!("{open} of 4") });
        Ok(Client::lock(Oracle(host)))
    }
    Design::new("opening-many", |context| connect(context.host))
}

#[test]
fn connections_that_a_host_opens_at_the_same_time_all_open_on_both_engines() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        for seed in 0..10 {
            let trace = run(engine, &opening_many(), &plan(seed), &workload()).unwrap().trace;
            let open = trace.events.iter().filter_map(|event| match &event.what {
                What::Noticed { text } => Some(&**text),
                _ => None,
            });
            assert_eq!(open.collect::<Vec<_>>(), ["4 of 4"; 3], "{engine:?}, seed {seed}");
        }
    }
}
