//! Locks on ZooKeeper in a world: when a holder that is cut off from all members stops, and when the next one holds.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::plan::{
    Action, ClientPlan, ClientPolicy, Injection, Latency, Plan, ReadyOrder, SectionPlan, Settings, Target,
    When, WorldSpec,
};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Trace, What};
use picklock_sim::engine::Engine;
use picklock_sim::lock::Client;
use picklock_sim::run::{Workload, run};

/// The session's time.
const T: u64 = 4_000;

/// When the holder is cut off, and when the members can be reached again.
const CUT: (u64, u64) = (2_000, 14_000);

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Holds a lock for so long, unless a checkpoint finds it lost.
fn workload() -> Workload {
    Arc::new(|context| {
        Box::pin(async move {
            let (recorder, host) = (context.recorder.clone(), context.host.clone());
            let Client::Lock(lock) = &context.client else { panic!("a lock") };
            for section in &context.plan.sections {
                host.sleep(section.think).await;
                recorder.waiting(section.ordinal, &section.key);
                let mut grant = lock.acquire(&host, &section.key, context.wait).await.unwrap().unwrap();
                recorder.acquired(&grant);
                let until = host.monotonic() + section.work;
                while host.monotonic() < until {
                    host.sleep(lock.checkpoint().unwrap()).await;
                    if !lock.renew(&mut grant).await.unwrap() {
                        recorder.aborted(&section.key);
                        break;
                    }
                }
                recorder.releasing(section.ordinal, &section.key);
                let error = lock.release(grant).await.err();
                recorder.released(section.ordinal, &section.key, error.as_ref());
                recorder.idle(section.ordinal);
            }
            recorder.finished();
        })
    })
}

/// One client holds for long and is cut off meanwhile; another one waits.
fn cut_off(design: &str) -> Trace {
    let design = picklock_impls::design(design).unwrap();
    let client = |nth: u64, think, work| {
        let section = SectionPlan::new(1, Key::new("k"), ms(think), ms(work));
        ClientPlan::new(format!("client-{nth}"), vec![section])
    };
    let members = (1..=3).map(|nth| format!("node-{nth}")).collect();
    let cut = Action::Cut { to: Target::Hosts(members), both: true, lasts: ms(CUT.1 - CUT.0) };
    let injection = Injection {
        fault: "test".into(),
        when: When::At { at_ns: TrueTime(CUT.0 * 1_000_000) },
        target: Target::host("client-1"),
        action: cut,
    };
    let plan = Plan {
        seed: Seed(7),
        network_seed: Seed(7),
        world: WorldSpec {
            ttl: ms(T),
            wait: ms(30_000),
            horizon: ms(60_000),
            decide: Duration::ZERO,
            latency: Latency { min: Duration::from_micros(200), max: ms(2) },
            tcp_timeout: ms(15_000),
            stock: 0,
            final_client: false,
            ready_order: ReadyOrder::Woken,
            policy: ClientPolicy::default(),
            store: Settings::default(),
        },
        workload: "test".into(),
        clients: vec![client(1, 100, 20_000), client(2, 1_000, 100)],
        choices: Vec::new(),
        injections: vec![injection],
    };
    run(Engine::Event, &design, &plan, &workload()).unwrap().trace
}

/// When the first holder stopped before its work was done, and when the second one was granted the lock, in milliseconds.
fn stop_and_grant(design: &str) -> (Option<u64>, u64) {
    let trace = cut_off(design);
    let at = |is: &dyn Fn(&What) -> bool, nth: usize| {
        let found = trace.events.iter().filter(|event| is(&event.what)).nth(nth);
        found.map(|event| event.at.0 / 1_000_000)
    };
    let stopped = at(&|what| matches!(what, What::Aborted { .. }), 0);
    let granted = at(&|what| matches!(what, What::Acquired { .. }), 1);
    (stopped, granted.expect("the second one gets the lock"))
}

/// ZooKeeper ends the session at a whole tick (2 s) after its time, which counts from the holder's last sign of life; a member that does not lead reports
/// that up to half a tick later.
#[test]
fn the_next_holder_is_granted_the_lock_when_the_session_of_the_one_that_is_cut_off_has_expired() {
    let (_, granted) = stop_and_grant("zookeeper");
    let first = CUT.0 - T / 3 + T;
    assert!((first..first + 2_000 + 2_000 + 1_000).contains(&granted), "{granted}");
}

#[test]
fn a_holder_that_obeys_the_suspension_stops_before_the_next_one_holds() {
    let (stopped, granted) = stop_and_grant("curator");
    let stopped = stopped.expect("it stops");
    assert!((CUT.0 + T / 3 - 100..CUT.0 + T * 2 / 3 + 300).contains(&stopped), "{stopped}");
    assert!(stopped < granted, "{stopped} {granted}");
}

#[test]
fn a_holder_that_obeys_the_loss_alone_stops_a_session_time_later() {
    let (suspended, lost) =
        (stop_and_grant("curator").0.unwrap(), stop_and_grant("curator{obeys=lost}").0.unwrap());
    assert!(lost.abs_diff(suspended + T) < 300, "{suspended} {lost}");
}

#[test]
fn a_holder_that_obeys_neither_works_to_the_end_of_its_section() {
    assert_eq!(stop_and_grant("curator{obeys=neither}").0, None);
}

#[test]
fn a_holder_by_the_bare_recipe_stops_when_a_member_says_that_its_session_has_expired() {
    let stopped = stop_and_grant("zookeeper").0.expect("it stops");
    // It tries a member every second, or twice.
    assert!((CUT.1..CUT.1 + 4_000).contains(&stopped), "{stopped}");
}
