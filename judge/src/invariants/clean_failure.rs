//! I10: an acquire that failed leaves nothing behind for longer than a lease.
//!
//! An acquire has failed when its section gave up, got an error, or died asking. What stores still keep of it
//! must be gone one lease after the last message that its client sent before the failure was delivered to them, or after the record was made if that message
//! waited in a queue, and a little: a store drops what
//! has run out only when it looks. Shorter leftovers keep others waiting, which is measured, and no violation. Stores that
//! died meanwhile are not judged: nobody can ask them. A lease is counted by the clock of the store that keeps it.
//!
//! Where a grant ends with its connection, a store keeps what a client left that lost its power, until it notices that nobody is
//! there: that is judged from then on.
//!
//! Not applicable to designs without a belief: of what a section asks for in its own way, nobody knows what was granted.

use std::time::Duration;

use picklock_model::time::TrueTime;
use picklock_model::trace::Belief;
use picklock_model::trace::Event;

use super::findings::{NOTHING_REPORTED, between, cite, judged, who};
use super::invariant::{Evidence, Invariant, Promise, Recorded};
use crate::history::{History, Record, Section, Silence};
use crate::outcome::{Finding, Outcome};

/// See the [module](self).
pub const INVARIANT: Invariant = Invariant {
    name: "clean-failure",
    number: "I10",
    property: "nothing of a failed acquire is left later than one lease after its last message was delivered",
    promise: Promise::Conduct,
    severity: 11,
    evidence: Evidence::Records,
    recorded: Recorded::Never,
    check,
};

/// How much later than it runs out a store may drop a record: Redis looks ten times a second, and a scheduler is not
/// exact.
const SLACK: Duration = Duration::from_millis(250);

fn check(history: &History<'_>) -> Outcome {
    if history.trace.belief == Belief::None {
        return Outcome::NotApplicable;
    }
    if !history.knows_origins() {
        return Outcome::Undecided("the requests of several tasks cannot be distinguished".to_owned());
    }
    if !history.sees_records() {
        return Outcome::Undecided(NOTHING_REPORTED.to_owned());
    }
    let failed = |section: &&Section<'_>| {
        section.asked.is_some() && section.answered.is_some() && section.grant.is_none()
    };
    let (mut judged_some, mut hidden) = (false, None);
    let mut findings = Vec::new();
    for section in history.sections.iter().filter(failed) {
        let left = |record: &&Record<'_>| record.on_store && record.key == section.key;
        let Some(last) = section.delivered else { continue };
        judged_some |= last.at + history.trace.ttl + SLACK < history.trace.end;
        for record in history.records_of(section).filter(left) {
            // A request that waited in a queue of the store makes its record long after it was delivered.
            let from = last.at.max(record.created.at);
            let due = history.lease_end(record.created.host, from, history.trace.ttl) + SLACK;
            // It counts until its lease has run out by the store's clock, whenever the store drops it.
            let until = record.over_at.unwrap_or(history.trace.end);
            let silent = |silence: &Silence<'_>| {
                let host = silence.begin.host;
                silence.of_client && host == section.id.client && silence.until() + SLACK >= until
            };
            if until > due && !history.is_upset(record, until) {
                if let Some(silence) = history.silences().find(silent) {
                    hidden = Some(history.hidden_by(&silence));
                    continue;
                }
                findings.push(leftover(history, section, record, last, until));
            }
        }
    }
    if let Some(why) = hidden.filter(|_| findings.is_empty()) {
        return Outcome::Undecided(why);
    }
    if findings.is_empty() && !judged_some {
        return Outcome::NotAsked("no acquire failed a lease before the end".to_owned());
    }
    judged(history, findings)
}

fn leftover(
    history: &History<'_>,
    section: &Section<'_>,
    record: &Record<'_>,
    last: &Event,
    until: TrueTime,
) -> Finding {
    let width = until.since(last.at);
    Finding {
        text: format!(
            "{} still kept `{}` for {} {} after the last message of its failed acquire",
            history.trace.host_name(record.created.host),
            history.key_name(section.key),
            who(history, section.id),
            between(last.at, until),
        ),
        grants: vec![section.id],
        events: cite(
            [Some(record.created), Some(last), section.answered, record.ended].into_iter().flatten(),
        ),
        width: Some(width),
    }
}

#[cfg(test)]
mod tests {
    use picklock_model::trace::What;

    use super::*;
    use crate::invariants::testing::*;

    /// A1 asks, node-1 takes its request and creates a record, and then A1 gives up.
    fn failed() -> Script {
        let script = Script::new().at(0).waits(A1).at(1);
        let delivered = What::Delivered { peer: CLIENT_1, segment: 0 };
        script.event(NODE_1, Some(A1), delivered).creates(A1, NODE_1).at(20).gives_up(A1)
    }

    #[test]
    fn the_leftover_of_a_silent_client_is_judged_from_when_the_store_notices() {
        let left = |silent_ms: u64| {
            let script = Script::new().at(0).waits(A1).at(1);
            let delivered = What::Delivered { peer: CLIENT_1, segment: 0 };
            let script = script.event(NODE_1, Some(A1), delivered).creates(A1, NODE_1);
            let mut trace = script.at(20).loses_power(CLIENT_1).trace();
            trace.silent_client = std::time::Duration::from_millis(silent_ms);
            judge(&INVARIANT, &trace)
        };
        assert!(matches!(left(0), Outcome::Violated(_)) && matches!(left(700), Outcome::Violated(_)));
        assert!(matches!(left(7_000), Outcome::Undecided(_)));
    }

    #[test]
    fn a_record_that_is_made_long_after_its_request_has_its_lease_from_then_on() {
        let made = |until: u64| {
            let script = Script::new().at(0).waits(A1).at(1);
            let delivered = What::Delivered { peer: CLIENT_1, segment: 0 };
            let script = script.event(NODE_1, Some(A1), delivered).at(400).creates(A1, NODE_1);
            judge(&INVARIANT, &script.at(410).crashes(CLIENT_1).at(until).expires(NODE_1).trace())
        };
        assert_eq!(made(420), Outcome::Holds);
        assert!(matches!(made(800), Outcome::Violated(_)));
    }

    #[test]
    fn what_a_client_sends_after_its_acquire_failed_does_not_postpone_the_judgement() {
        let delivered = What::Delivered { peer: CLIENT_1, segment: 1 };
        let renewed =
            failed().at(800).event(NODE_1, Some(A1), delivered).at(1_000).deletes(A1, NODE_1).trace();
        assert!(matches!(judge(&INVARIANT, &renewed), Outcome::Violated(_)));
    }

    #[test]
    fn a_leftover_that_its_lease_ends_holds() {
        assert_eq!(judge(&INVARIANT, &failed().at(110).expires(NODE_1).trace()), Outcome::Holds);
    }

    #[test]
    fn a_leftover_without_a_lease_is_found() {
        let trace = failed().trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.grants, [A1]);
        assert_eq!(found.width, wide(999));
        let events = ["1 node-1 delivered", "1 node-1 created", "20 client-1 not-acquired"];
        assert_eq!(cited(&trace, &found), events);
    }

    #[test]
    fn a_client_that_died_asking_has_failed_too() {
        let script = Script::new().at(0).waits(A1).at(1);
        let delivered = What::Delivered { peer: CLIENT_1, segment: 0 };
        let script = script.event(NODE_1, Some(A1), delivered).creates(A1, NODE_1);
        assert_eq!(finding(&INVARIANT, &script.at(2).crashes(CLIENT_1).trace()).grants, [A1]);
    }

    #[test]
    fn a_lease_lasts_as_long_as_the_clock_of_its_store_says() {
        let slow = |ppm| failed().at(0).drifts(NODE_1, ppm).at(360).expires(NODE_1).trace();
        assert_eq!(finding(&INVARIANT, &slow(0)).grants, [A1]);
        assert_eq!(judge(&INVARIANT, &slow(-100_000)), Outcome::Holds);
    }

    #[test]
    fn a_step_of_the_wall_clock_ends_no_lease_that_the_monotonic_one_counts() {
        let stepped = |script: Script| script.at(30).steps(NODE_1, 60).at(330).expires(NODE_1).trace();
        assert_eq!(finding(&INVARIANT, &stepped(failed())).grants, [A1]);
        assert_eq!(judge(&INVARIANT, &stepped(failed().counts_monotonically(NODE_1))), Outcome::Holds);
    }

    #[test]
    fn a_record_counts_until_its_lease_ran_out_whenever_that_is_noticed() {
        let late = |overdue| failed().at(500).expires_late(NODE_1, overdue).trace();
        assert_eq!(finding(&INVARIANT, &late(100)).width, wide(399));
        assert_eq!(judge(&INVARIANT, &late(390)), Outcome::Holds);
    }

    #[test]
    fn without_a_belief_nobody_knows_what_was_granted() {
        assert_eq!(judge(&INVARIANT, &failed().believing(Belief::None).trace()), Outcome::NotApplicable);
    }

    #[test]
    fn what_is_granted_has_not_failed_and_a_dead_store_is_not_judged() {
        let granted = Script::new().at(0).waits(A1).creates(A1, NODE_1).at(5).acquires(A1).trace();
        assert!(is_unknown(&INVARIANT, &granted));
        assert_eq!(judge(&INVARIANT, &failed().at(50).crashes(NODE_1).trace()), Outcome::Holds);
    }
}
