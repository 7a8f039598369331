//! The end of a run: it leaves nothing behind, and goes on past its horizon while somebody waits for a lock that nobody holds.

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use super::{Options, Run, Workload, run};
use crate::contract::design::Design;
use crate::contract::lock::{Client, Grant, Lock, LockError};
use crate::engine::Engine;
use crate::host::Host;
use crate::world::World;
use picklock_model::ids::Key;
use picklock_model::plan::{ClientPlan, ClientPolicy, Latency, Plan, SectionPlan, Settings, WorldSpec};
use picklock_model::points::PointsToRecord;
use picklock_model::seed::Seed;
use picklock_model::time::{Monotonic, TrueTime};

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
            decide: Duration::ZERO,
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

/// A lock that nobody gets before this reading of its host's clock.
struct FreedAt(Monotonic, Host);

impl Lock for FreedAt {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        Ok((self.1.monotonic() >= self.0).then(|| Grant::new(key, "me")))
    }

    async fn release(&self, _: Grant) -> Result<(), LockError> {
        Ok(())
    }
}

/// A client that waits for an hour, and holds for an hour. The fresh client does nothing.
fn waiting() -> Workload {
    Arc::new(|context| {
        Box::pin(async move {
            let (host, recorder, key) = (context.host, context.recorder, Key::new("k"));
            let Client::Lock(lock) = &context.client else { return };
            recorder.waiting(1, &key);
            if let Ok(Some(grant)) = lock.acquire(&host, &key, HOUR).await {
                recorder.acquired(&grant);
                host.sleep(HOUR).await;
            }
        })
    })
}

const HOUR: Duration = Duration::from_secs(3_600);

/// A run whose lock is free until then.
fn freed(freed: Duration, decide: u64, options: impl Into<Options>) -> Run {
    let design = Design::new("freed", move |context| async move {
        // Clients are started at the beginning of the run, but for the fresh one.
        let host = context.host;
        Ok(Client::lock(FreedAt(host.monotonic() + freed, host)))
    });
    let mut plan = plan();
    plan.world.horizon = Duration::from_secs(1);
    plan.world.decide = Duration::from_secs(decide);
    run(options, &design, &plan, &waiting()).expect("nothing panics")
}

/// The end of such a run.
fn end(freed_at: Duration, decide: u64, engine: Engine) -> Duration {
    freed(freed_at, decide, engine).trace.end.since(TrueTime(0))
}

#[test]
fn a_run_that_goes_on_past_its_horizon_records_the_points_of_a_run_for_its_points_alone() {
    let whole = freed(HOUR, 60, Options::default().recording_points(PointsToRecord::Sections));
    let short = freed(HOUR, 60, Options::for_points(None));
    assert!(whole.trace.end > short.trace.end);
    assert!(!short.probe.as_ref().expect("it is for its points").reached().is_empty());
    assert!(whole.probe == short.probe, "the points differ");
}

#[test]
fn a_run_goes_on_past_its_horizon_until_a_lock_that_is_free_is_granted_or_blocked_for_too_long() {
    let seconds = Duration::from_secs_f64;
    for engine in [Engine::Event, Engine::Turmoil { idle_skip: true }] {
        assert_eq!(end(HOUR, 0, engine), seconds(1.0), "{engine:?}: an old plan ends at its horizon");
        assert_eq!(end(seconds(0.5), 60, engine), seconds(1.0), "{engine:?}: a wait behind a holder is none");
        // The bound is a lease and a second, and a tenth of it is forgiven.
        let blocked = end(HOUR, 60, engine);
        assert!(blocked > seconds(2.2) && blocked < seconds(2.3), "{engine:?}: {blocked:?}");
        let granted = end(seconds(1.05), 60, engine);
        assert!(granted > seconds(1.05) && granted < seconds(1.1), "{engine:?}: {granted:?}");
    }
}
