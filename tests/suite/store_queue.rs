//! Waiting in a queue that the store keeps: whoever asks first is served first, and whoever dies in the queue holds the
//! others up for as long as it has a place.

use picklock_model::plan::{Action, Injection, Plan, Target};
use picklock_model::time::TrueTime;
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

use crate::cells::{Cell, design};
use crate::stage::*;

/// How often waiters were passed by in a hundred fault-free runs.
fn bypasses(spelling: &str) -> u64 {
    let cell =
        Cell::of(&design(spelling), suite::named("calm", &picklock_stores::params()).unwrap()).unwrap();
    (0..100).map(|seed| cell.run(Engine::Event, seed).metrics.bypasses).sum()
}

#[test]
fn a_queue_lets_nobody_pass_who_asked_later() {
    let (queueing, polling) = (bypasses("fair"), bypasses("reentrant"));
    // Requests that are on their way together may overtake each other.
    assert!(queueing * 20 < polling, "{queueing} and {polling}");
}

/// `client-2` and then `client-3` wait for `client-1`, which lets go after 300 ms.
fn two_waiters(injections: impl IntoIterator<Item = Injection>) -> Plan {
    let mut plan = stage(injections);
    plan.clients.push(client("client-3", ms(200), ms(50), 1));
    plan
}

/// When `client-3` is served if `client-2` dies in the queue.
fn behind_the_dead(engine: Engine, spelling: &str) -> TrueTime {
    let dies = injection(
        at(250),
        Target::host("client-2"),
        Action::Crash { power_loss: false, restart_after: None },
    );
    let run = run_on(engine, spelling, two_waiters([dies]));
    assert_eq!(run.violated(), [""; 0], "{spelling} on {engine}");
    granted(&run, "client-3").unwrap()
}

#[test]
fn a_dead_waiter_keeps_its_place_until_its_patience_is_over() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        // It asked when the lease had 900 ms to go, and has a lease more.
        let had = behind_the_dead(engine, "fair");
        assert!((at_ms(2_000)..at_ms(2_070)).contains(&had), "{engine}: {had}");
        let had = behind_the_dead(engine, "fair{patience=10}");
        assert!((at_ms(1_100)..at_ms(1_170)).contains(&had), "{engine}: {had}");
        let had = behind_the_dead(engine, "reentrant");
        assert!(had < at_ms(400), "{engine}: {had}");
    }
}

#[test]
fn a_waiter_whose_clock_is_ahead_throws_the_others_out_of_the_queue() {
    let ahead = injection(at(150), Target::host("client-3"), Action::StepClock { by_ns: 60_000_000_000 });
    let run = run("fair", two_waiters([ahead]));
    assert!(granted(&run, "client-3") < granted(&run, "client-2"));
    assert_eq!(run.violated(), [""; 0], "it is out of turn, and safe");
}
