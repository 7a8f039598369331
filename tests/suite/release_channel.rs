//! Waiting by a release channel: a waiter is notified at once, and one whose notification is lost waits for no longer than a
//! lease.

use std::path::Path;
use std::time::Duration;

use picklock_campaign::check::Checked;
use picklock_model::plan::{Action, Injection, Target};
use picklock_model::trace::What;
use picklock_scenarios::scenario::Scenario;
use picklock_sim::engine::Engine;

use crate::cells::{Cell, design};
use crate::stage::*;

const BY_CHANNEL: &str = "reentrant{wait=pubsub}";

/// How long the lock lay free before client-2 had it.
fn idle(run: &Checked) -> Duration {
    let freed = when(run, "node-1", |what| matches!(what, What::Deleted { .. })).unwrap();
    granted(run, "client-2").unwrap().since(freed)
}

/// The requests of client-2 to the store until it had the lock.
fn messages(run: &Checked) -> usize {
    let until = granted(run, "client-2").unwrap();
    let sent = of(run, "client-2").filter(|event| matches!(event.what, What::Sent { .. }));
    sent.filter(|event| event.at < until).count()
}

/// The next message of the store to client-2, which waits by then, is lost with its connection.
fn lost_notification() -> Injection {
    let from = Target::host("node-1");
    injection(at(200), Target::host("client-2"), Action::LoseReply { from })
}

#[test]
fn a_waiter_is_notified_of_a_release_and_asks_less_than_one_that_polls() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        let notified = run_on(engine, BY_CHANNEL, stage([]));
        let polled = run_on(engine, "reentrant", stage([]));
        assert_eq!(notified.violated(), [""; 0]);
        assert!(idle(&notified) < ms(5), "{engine}: {:?}", idle(&notified));
        assert!(messages(&notified) < messages(&polled), "{} and {}", messages(&notified), messages(&polled));
    }
}

#[test]
fn a_lost_notification_is_a_stall_of_a_lease_at_most_and_no_deadlock() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        let run = run_on(engine, BY_CHANNEL, stage([lost_notification()]));
        assert!(took_effect(&run), "{engine}");
        assert_eq!(run.violated(), [""; 0], "{engine}: a stall is no violation");
        // It asked at 100 ms, and learned that the lease of client-1 lasts until 1000 ms.
        let had = granted(&run, "client-2").unwrap();
        assert!((at_ms(990)..at_ms(1_020)).contains(&had), "{engine}: {had}");
        assert!(idle(&run) > ms(650), "{engine}: the lock lay free meanwhile");
    }
}

#[test]
fn a_client_that_polls_does_not_depend_on_notifications() {
    let run = run("reentrant", stage([lost_notification()]));
    assert!(took_effect(&run) && idle(&run) < ms(100), "{:?}", idle(&run));
}

#[test]
fn no_lost_notification_blocks_for_longer_than_a_lease() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/experiments/lost-notification.toml");
    let cell =
        Cell::of(&design(BY_CHANNEL), Scenario::load(&file, &picklock_stores::params()).unwrap()).unwrap();
    let (mut stalled, mut longest) = (0, Duration::ZERO);
    for seed in 0..200 {
        let run = cell.run(Engine::Event, seed);
        assert!(!run.violates("progress") && !run.violates("mutual-exclusion"), "seed {seed}");
        let blocked = Duration::from_nanos(run.metrics.blocked_ns);
        stalled += usize::from(blocked > LEASE / 4);
        longest = longest.max(blocked);
    }
    assert!(stalled > 20, "{stalled} of 200 were stalled");
    // The rest of a lease when the waiter asks, and the ordinary waits of the run.
    assert!(longest < LEASE + ms(100), "{longest:?}");
}
