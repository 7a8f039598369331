//! Processes that stand still: pauses, stalls, and hosts that are suspended.

use picklock_model::plan::{Action, Plan};
use picklock_model::trace::{Event, What};

use super::assert_sound;
use crate::stage::*;

/// Far longer than the lease, and than any time limit that the client has set itself.
fn paused_before_the_write() -> Plan {
    stage([injection(before_the_write(), first(), Action::Pause { lasts: 3 * LEASE })])
}

#[test]
fn a_paused_holder_writes_over_its_successor_without_a_fence() {
    for naive in ["single", "watchdog", "redlock-naive", "set-px-del"] {
        let run = run(naive, paused_before_the_write());
        assert!(run.violates("mutual-exclusion") && run.violates("effective-exclusion"), "{naive}");
        assert!(took_effect(&run));
        assert!(written(&run, "client-1") > written(&run, "client-2"), "{naive}: the late write comes last");
    }
}

#[test]
fn a_paused_holder_cannot_write_after_takeover_when_fenced() {
    for fenced in ["single-fenced", "redlock-fenced-quorum"] {
        let run = run(fenced, paused_before_the_write());
        assert!(!run.violates("effective-exclusion") && !run.violates("no-lost-update"), "{fenced}");
        assert_eq!(written(&run, "client-1"), [], "{fenced}");
        assert_eq!(written(&run, "client-2").len(), 1, "{fenced}");
        let refused = when(&run, "resource", |what| matches!(what, What::ResourceRefused { .. })).unwrap();
        assert!(refused > at_ms(2_000), "{fenced}");
    }
    // The fence protects the resource; it does not end the belief of a holder that never looks.
    assert!(run("single-fenced", paused_before_the_write()).violates("mutual-exclusion"));
}

#[test]
fn an_honest_holder_has_no_double_belief_but_its_write_is_late_all_the_same() {
    let run = run("redlock", paused_before_the_write());
    assert!(!run.violates("mutual-exclusion") && run.violates("effective-exclusion"), "{:?}", run.violated());
}

#[test]
fn an_honest_holder_that_was_paused_at_work_gives_up() {
    let plan = stage([injection(at(200), first(), Action::Pause { lasts: 2 * LEASE })]);
    let run = run("redlock", plan);
    assert_eq!(run.violated(), [""; 0]);
    assert_eq!(written(&run, "client-1"), []);
    assert!(when(&run, "client-1", |what| matches!(what, What::Aborted { .. })) >= Some(at_ms(2_200)));
}

#[test]
fn nobody_overtakes_a_paused_holder_of_the_oracle() {
    let run = run("oracle", paused_before_the_write());
    assert_sound(&run);
    assert!(granted(&run, "client-2") > Some(at_ms(2_300)));
}

#[test]
fn a_stall_leaves_the_watchdog_running_and_a_pause_does_not() {
    let halted = |action| run("watchdog", stage([injection(at(150), first(), action)]));
    let stalled = halted(Action::Stall { lasts: 3 * LEASE });
    assert_sound(&stalled);
    let renewals = of(&stalled, "node-1").filter(|event| matches!(event.what, What::Extended { .. }));
    assert!(renewals.count() >= 8, "three renewals for each lease");
    assert!(written(&stalled, "client-1")[0] >= at_ms(3_150));
    let paused = halted(Action::Pause { lasts: 3 * LEASE });
    assert!(expired(&paused, "node-1").is_some() && paused.violates("mutual-exclusion"));
}

#[test]
fn a_suspended_host_trusts_a_monotonic_clock_that_stood_still() {
    let plan = || stage([injection(at(200), first(), Action::Suspend { lasts: 2 * LEASE })]);
    assert!(run("redlock", plan()).violates("mutual-exclusion"));
    // The wall clock goes on while the host is suspended.
    assert_eq!(run("redlock{clock=wall}", plan()).violated(), [""; 0]);
}

#[test]
fn nothing_happens_in_a_paused_process_until_it_resumes() {
    let run = run("watchdog", stage([injection(at(200), first(), Action::Pause { lasts: ms(700) })]));
    let stood_still = at_ms(200)..at_ms(900);
    let during: Vec<&Event> = of(&run, "client-1").filter(|event| stood_still.contains(&event.at)).collect();
    let passive = |what: &What| {
        matches!(
            what,
            What::Paused { .. } | What::Injected { .. } | What::Delivered { .. } | What::TookEffect { .. }
        )
    };
    assert!(during.iter().all(|event| passive(&event.what)), "{during:?}");
    assert_eq!(when(&run, "client-1", |what| matches!(what, What::Resumed)), Some(stood_still.end));
}
