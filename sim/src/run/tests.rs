//! A run that is over leaves nothing behind.

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use super::{Options, Workload, run};
use crate::contract::design::Design;
use crate::contract::lock::{Client, Grant, Lock, LockError};
use crate::engine::Engine;
use crate::world::World;
use picklock_model::ids::Key;
use picklock_model::plan::{ClientPlan, ClientPolicy, Latency, Plan, SectionPlan, Settings, WorldSpec};
use picklock_model::seed::Seed;

struct NoLock;

impl Lock for NoLock {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        Ok(Some(Grant::new(key, "me")))
    }

    async fn release(&self, _: Grant) -> Result<(), LockError> {
        Ok(())
    }
}

fn plan() -> Plan {
    let section = SectionPlan::new(1, Key::new("k"), Duration::ZERO, Duration::ZERO);
    Plan {
        seed: Seed(1),
        network_seed: Seed(1),
        world: WorldSpec {
            ttl: Duration::from_secs(1),
            wait: Duration::from_secs(1),
            horizon: Duration::from_secs(5),
            latency: Latency { min: Duration::from_micros(200), max: Duration::from_millis(1) },
            tcp_timeout: Duration::from_secs(15),
            store: Settings::default(),
            stock: 0,
            final_client: true,
            ready_order: picklock_model::plan::ReadyOrder::Woken,
            policy: ClientPolicy::default(),
        },
        workload: "sleep".to_owned(),
        clients: vec![ClientPlan::new("client-1", vec![section])],
        choices: Vec::new(),
        injections: Vec::new(),
    }
}

/// Every client sleeps for so long and is done; it keeps its world in sight.
fn sleeping(span: Duration) -> (Workload, Arc<Mutex<Vec<Weak<World>>>>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let worlds = Arc::clone(&seen);
    let workload: Workload = Arc::new(move |context| {
        worlds.lock().expect("nobody panics here").push(Arc::downgrade(&context.host.world));
        Box::pin(async move {
            let recorder = context.recorder;
            context.host.sleep(span).await;
            recorder.finished();
        })
    });
    (workload, seen)
}

/// How many of the worlds seen are still there.
fn left(seen: &Mutex<Vec<Weak<World>>>) -> usize {
    let seen = seen.lock().expect("nobody panics here");
    assert!(!seen.is_empty(), "no client was started");
    seen.iter().filter(|world| world.upgrade().is_some()).count()
}

#[test]
fn a_world_goes_with_its_run_whether_or_not_the_fresh_client_was_let_in() {
    let design = Design::new("no-lock", |_| async { Ok(Client::lock(NoLock)) });
    let (short, long) = (Duration::from_millis(10), Duration::from_secs(60));
    for (span, engine) in
        [(short, Engine::Event), (long, Engine::Event), (long, Engine::Turmoil { idle_skip: true })]
    {
        let (workload, seen) = sleeping(span);
        run(engine, &design, &plan(), &workload).expect("nothing panics");
        assert_eq!(left(&seen), 0, "after a run on {engine:?} whose client sleeps for {span:?}");
    }
    let (workload, seen) = sleeping(short);
    run(Options::for_points(None), &design, &plan(), &workload).expect("nothing panics");
    assert_eq!(left(&seen), 0, "after a run for its points alone");
}
