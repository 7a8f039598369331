//! I1: two holders never believe at the same time that they hold the same lock.
//!
//! Belief is what the simulator measured, not what a client says of itself: from the moment when the client's own
//! code saw the grant until its release call began, its deadline passed (for clients that heed it), or it died.
//! Spans are half-open: a belief that begins when another ends does not overlap it, and an empty one overlaps none.
//!
//! Two grants clash if their owners, their clients or the tasks of these differ, so that designs whose clients share one value
//! are judged as well, and so are locks that take two tasks of a client for one owner. Where so many may hold at the same time,
//! one more is a clash; where grants can be shared, those that are exclude only those that are not. A run in which nobody wanted
//! what others held shows nothing, and is inconclusive. What the holders *did* meanwhile is not judged here: see
//! [`effective_exclusion`](super::effective_exclusion).

use picklock_model::ids::GrantId;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Belief, Exclusion};

use super::findings::{between, cite, in_order, judged, who};
use super::invariant::{Evidence, Invariant, Promise, Recorded};
use crate::history::{Granted, History, Section};
use crate::outcome::{Finding, Outcome};

/// See the [module](self).
pub const INVARIANT: Invariant = Invariant {
    name: "mutual-exclusion",
    number: "I1",
    property: "two holders never believe at the same time that they hold the same lock",
    promise: Promise::Holders,
    severity: 6,
    evidence: Evidence::Clients,
    recorded: Recorded::ByIntervals,
    check,
};

/// A belief span that is not empty.
struct Span<'h, 't> {
    section: &'h Section<'t>,
    grant: &'h Granted<'t>,
    from: TrueTime,
    until: TrueTime,
}

fn check(history: &History<'_>) -> Outcome {
    if history.trace.belief == Belief::None {
        return Outcome::NotApplicable;
    }
    let findings = match history.trace.exclusion {
        Exclusion::Holders(most) => crowds(history, &spans(history), most as usize),
        exclusion => overlaps(history, &spans(history), exclusion == Exclusion::Modes),
    };
    if findings.is_empty() && !history.is_contested() {
        return Outcome::NotAsked("nobody wanted what others held".to_owned());
    }
    judged(history, findings)
}

/// The beliefs by key, in the order of their beginnings.
fn spans<'h, 't>(history: &'h History<'t>) -> Vec<Span<'h, 't>> {
    let mut spans = Vec::with_capacity(history.granted.len());
    for (section, grant) in history.grants() {
        let (from, until) = (grant.acquired.at, grant.believed_until);
        if from < until {
            spans.push(Span { section, grant, from, until });
        }
    }
    spans.sort_unstable_by_key(|span| (span.section.key, span.from, span.grant.acquired.id));
    spans
}

/// The pairs of beliefs that overlap and exclude each other; with modes, two that share do not.
fn overlaps(history: &History<'_>, spans: &[Span<'_, '_>], modes: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (at, first) in spans.iter().enumerate() {
        let overlapping =
            |second: &&Span<'_, '_>| second.section.key == first.section.key && second.from < first.until;
        let clashing = spans[at + 1..]
            .iter()
            .take_while(overlapping)
            .filter(|second| clash(first, second) && !(modes && first.grant.shared && second.grant.shared));
        findings.extend(clashing.map(|second| overlap(history, first, second)));
    }
    findings
}

fn clash(first: &Span<'_, '_>, second: &Span<'_, '_>) -> bool {
    let holder = |span: &Span<'_, '_>| (span.section.id.client, span.section.id.task);
    holder(first) != holder(second) || first.grant.owner != second.grant.owner
}

/// The beginnings of beliefs at which more than so many hold the same key.
fn crowds(history: &History<'_>, spans: &[Span<'_, '_>], most: usize) -> Vec<Finding> {
    let mut findings = Vec::new();
    for of_key in spans.chunk_by(|one, other| one.section.key == other.section.key) {
        let mut holding: Vec<&Span<'_, '_>> = Vec::new();
        for span in of_key {
            holding.retain(|other| other.until > span.from);
            holding.push(span);
            if holding.len() > most {
                findings.push(crowd(history, &holding, most));
            }
        }
    }
    findings
}

fn crowd(history: &History<'_>, holding: &[&Span<'_, '_>], most: usize) -> Finding {
    let last = holding[holding.len() - 1];
    let ends = holding.iter().min_by_key(|span| span.until).unwrap_or(&last);
    let width = ends.until.since(last.from);
    let mut grants: Vec<GrantId> = holding.iter().map(|span| span.section.id).collect();
    grants.sort_by_key(|grant| history.order_of(*grant));
    let names: Vec<String> = grants.iter().map(|grant| who(history, *grant)).collect();
    let (last_name, others) = names
        .split_last()
        .map_or((String::new(), String::new()), |(last, others)| (last.clone(), others.join(", ")));
    Finding {
        text: format!(
            "for {} {} believed that they held `{}`, which {most} may: {others} and {last_name}",
            between(last.from, ends.until),
            holding.len(),
            history.key_name(last.section.key),
        ),
        grants,
        events: cite(holding.iter().map(|span| span.grant.acquired).chain(ends.grant.belief_end)),
        width: Some(width),
    }
}

fn overlap(history: &History<'_>, first: &Span<'_, '_>, second: &Span<'_, '_>) -> Finding {
    let ends = if second.until < first.until { second } else { first };
    let width = ends.until.since(second.from);
    let [one, other] = in_order(history, [first.section.id, second.section.id]);
    let proof = [Some(first.grant.acquired), Some(second.grant.acquired), ends.grant.belief_end];
    Finding {
        text: format!(
            "for {} both {} and {} believed that they held `{}`",
            between(second.from, ends.until),
            who(history, one),
            who(history, other),
            history.key_name(first.section.key),
        ),
        grants: vec![one, other],
        events: cite(proof.into_iter().flatten()),
        width: Some(width),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use picklock_model::trace::Trace;
    use proptest::prelude::*;

    use super::*;
    use crate::invariants::testing::*;

    /// The findings; none also if nobody wanted what others held.
    fn found(trace: &Trace) -> Vec<Finding> {
        match judge(&INVARIANT, trace) {
            Outcome::Undecided(_) | Outcome::NotAsked(_) => Vec::new(),
            _ => findings(&INVARIANT, trace),
        }
    }

    #[test]
    fn sections_one_after_another_hold_if_one_waited_for_another_and_else_show_nothing() {
        let apart = Script::new().held(A1, 0, 50).held(B1, 60, 90).held(A2, 95, 99);
        assert!(is_unknown(&INVARIANT, &apart.trace()));
        let waits = Script::new().held(A1, 0, 50).at(40).waits(B1).at(60).acquires(B1).at(90).releasing(B1);
        assert_eq!(judge(&INVARIANT, &waits.trace()), Outcome::Holds);
        let in_vain = Script::new().held(A1, 0, 50).at(10).waits(B1).at(20).gives_up(B1);
        assert_eq!(judge(&INVARIANT, &in_vain.trace()), Outcome::Holds, "it was refused");
    }

    #[test]
    fn an_overlap_is_found_with_its_width_and_its_proof() {
        let trace = Script::new().held(A1, 0, 50).held(B1, 30, 90).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.width, wide(20));
        assert_eq!(found.grants, [A1, B1]);
        assert_eq!(
            cited(&trace, &found),
            ["0 client-1 acquired", "30 client-2 acquired", "50 client-1 releasing"]
        );
        let text =
            "for 20 ms both client-1 (section 1) and client-2 (section 1) believed that they held `stock`";
        assert_eq!(found.text, text);
    }

    #[test]
    fn the_earlier_grant_is_named_first_even_if_its_reply_came_last() {
        let script = Script::new().at(0).waits(A1).waits(B1).at(5).creates(A1, NODE_1).at(8).expires(NODE_1);
        let script = script.at(9).creates(B1, NODE_1).at(10).acquires(B1).at(20).acquires(A1);
        let found = finding(&INVARIANT, &script.at(30).releasing(B1).releasing(A1).trace());
        assert_eq!(found.grants, [A1, B1]);
        assert!(found.text.starts_with("for 10 ms both client-1 (section 1) and client-2"), "{}", found.text);
    }

    #[test]
    fn a_belief_within_another_overlaps_by_its_own_width() {
        let trace = Script::new().held(A1, 0, 90).held(B1, 30, 40).trace();
        assert_eq!(finding(&INVARIANT, &trace).width, wide(10));
    }

    #[test]
    fn every_clashing_pair_is_found() {
        let trace = Script::new().held(A1, 0, 50).held(B1, 10, 60).held(C1, 55, 90).trace();
        let pairs: Vec<_> = findings(&INVARIANT, &trace).into_iter().map(|found| found.grants).collect();
        assert_eq!(pairs, [vec![A1, B1], vec![B1, C1]]);
    }

    #[test]
    fn touching_beliefs_do_not_overlap() {
        let script = Script::new().held(A1, 0, 50).at(10).waits(B1).at(50).acquires(B1).at(90).releasing(B1);
        assert_eq!(judge(&INVARIANT, &script.trace()), Outcome::Holds);
    }

    #[test]
    fn an_empty_belief_overlaps_nothing() {
        let script = Script::new().believing(Belief::Honest).held(A1, 0, 50);
        let trace =
            script.at(20).waits(B1).at(30).acquires_with(B1, None, Some(29)).at(60).releasing(B1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn one_more_than_may_hold_is_found_and_as_many_are_not() {
        let script = || Script::new().excluding(Exclusion::Holders(2)).held(A1, 0, 50).held(B1, 10, 60);
        assert!(is_unknown(&INVARIANT, &script().held(A2, 70, 80).trace()), "a permit is always free");
        let waits = script().at(30).waits(C1).at(50).acquires(C1).at(90).releasing(C1);
        assert_eq!(judge(&INVARIANT, &waits.trace()), Outcome::Holds);
        let found = finding(&INVARIANT, &script().held(C1, 30, 90).held(A2, 95, 99).trace());
        assert_eq!((found.grants.as_slice(), found.width), ([A1, B1, C1].as_slice(), wide(20)));
        let text = "for 20 ms 3 believed that they held `stock`, which 2 may: client-1 (section 1), client-2 (section 1) and \
                    client-3 (section 1)";
        assert_eq!(found.text, text);
    }

    #[test]
    fn those_that_share_exclude_only_those_that_do_not() {
        let shared = |script: Script, grant, from, until| {
            script
                .at(from)
                .waits(grant)
                .shares(grant)
                .acquires(grant)
                .at(until)
                .releasing(grant)
                .released(grant)
        };
        let readers = |script| shared(shared(script, A1, 0, 50), B1, 10, 60);
        let script = readers(Script::new().excluding(Exclusion::Modes));
        assert!(is_unknown(&INVARIANT, &script.trace()), "there is no writer");
        let script = readers(Script::new().excluding(Exclusion::Modes)).at(20).waits(C1);
        assert_eq!(
            judge(&INVARIANT, &script.at(60).acquires(C1).at(90).releasing(C1).trace()),
            Outcome::Holds
        );
        let script = readers(Script::new().excluding(Exclusion::Modes)).held(C1, 55, 90);
        assert_eq!(finding(&INVARIANT, &script.trace()).grants, [B1, C1]);
    }

    #[test]
    fn keys_do_not_exclude_each_other() {
        let trace = Script::new().held(A1, 0, 50).held(A2, 60, 70).on("other").held(B1, 10, 65).trace();
        assert!(is_unknown(&INVARIANT, &trace));
    }

    #[test]
    fn clients_that_share_a_value_clash_nevertheless() {
        let shared = |script: Script, grant| script.waits(grant).acquires_as(grant, "locked", None, None);
        let script = shared(shared(Script::new().at(0), A1).at(30), B1);
        let trace = script.at(50).releasing(A1).at(90).releasing(B1).trace();
        assert_eq!(finding(&INVARIANT, &trace).width, wide(20));
    }

    #[test]
    fn a_client_does_not_clash_with_itself_under_one_owner() {
        let own = |script: Script, grant| script.waits(grant).acquires_as(grant, "me", None, None);
        let script = own(own(Script::new().at(0), A1).at(30), A2);
        let trace = script.at(50).releasing(A1).at(90).releasing(A2).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn two_tasks_of_a_client_are_two_even_under_one_owner() {
        let other = GrantId { task: 1, ..A2 };
        let own = |script: Script, grant| script.waits(grant).acquires_as(grant, "me", None, None);
        let script = own(own(Script::new().at(0), A1).at(30), other);
        let trace = script.at(50).releasing(A1).at(90).releasing(other).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.grants, [A1, other]);
        assert!(found.text.contains("client-1 (task 2, section 2)"), "{}", found.text);
    }

    #[test]
    fn a_crash_ends_the_belief_and_the_overlap() {
        let script = Script::new().at(0).waits(A1).acquires(A1).at(40).crashes(CLIENT_1);
        assert!(found(&script.held(B1, 40, 90).trace()).is_empty());
        let script = Script::new().at(0).waits(A1).acquires(A1).at(40).crashes(CLIENT_1);
        let trace = script.held(B1, 25, 90).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.width, wide(15));
        assert_eq!(cited(&trace, &found)[2], "40 client-1 crashed");
    }

    #[test]
    fn a_belief_that_never_ends_overlaps_until_the_end_of_the_run() {
        let trace = Script::new().at(0).waits(A1).acquires(A1).at(700).waits(B1).acquires(B1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!((found.width, found.events.len()), (wide(300), 2));
    }

    #[test]
    fn a_passed_deadline_ends_a_careful_belief_but_not_a_naive_one() {
        let run = |belief| {
            let script = Script::new().believing(belief).at(0).waits(A1).acquires_with(A1, None, Some(40));
            script.at(40).deadline_passes(A1).at(80).releasing(A1).held(B1, 50, 90).trace()
        };
        assert_eq!(judge(&INVARIANT, &run(Belief::Honest)), Outcome::Holds);
        assert_eq!(judge(&INVARIANT, &run(Belief::Trusting)), Outcome::Holds);
        assert_eq!(finding(&INVARIANT, &run(Belief::Naive)).width, wide(30));
    }

    #[test]
    fn one_grant_of_each_key_says_nothing_and_no_belief_is_not_judged() {
        let trace = Script::new().held(A1, 0, 50).on("other").held(B1, 10, 60).trace();
        assert!(is_unknown(&INVARIANT, &trace));
        let trace = Script::new().believing(Belief::None).held(A1, 0, 50).held(B1, 10, 60).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::NotApplicable);
    }

    /// Sections of different clients, each with a start and a length in milliseconds.
    fn spans_of(spans: &[(u64, u64)]) -> Trace {
        let add = |script: Script, (at, (from, length)): (usize, &(u64, u64))| {
            script.held(section((at % 3) as u16, at as u32 + 1), *from, from + length)
        };
        spans.iter().enumerate().fold(Script::new(), add).trace()
    }

    proptest! {
        #[test]
        fn serial_sections_never_clash(steps in prop::collection::vec((0..20_u64, 0..30_u64), 2..12)) {
            let serial = |free: &mut u64, (pause, length): &(u64, u64)| {
                let from = *free + pause;
                *free = from + length;
                Some((from, *length))
            };
            let spans: Vec<_> = steps.iter().scan(0, serial).collect();
            prop_assert_eq!(found(&spans_of(&spans)), []);
        }

        #[test]
        fn a_belief_shifted_into_the_one_before_always_clashes(
            lengths in prop::collection::vec(2..30_u64, 2..12),
            which in any::<prop::sample::Index>(),
            early in 1..30_u64,
        ) {
            let mut free = 100;
            let mut spans: Vec<_> = lengths.iter().map(|length| { free += length; (free - length, *length) }).collect();
            let which = 1 + which.index(spans.len() - 1);
            let early = early.min(spans[which - 1].1);
            spans[which].0 -= early;
            let overlap = early.min(spans[which].1);
            let widths: Vec<_> = found(&spans_of(&spans)).into_iter().map(|found| found.width).collect();
            prop_assert_eq!(widths, [wide(overlap)]);
        }

        #[test]
        fn the_widths_are_those_of_comparing_every_pair(
            spans in prop::collection::vec((0..100_u64, 0..30_u64), 2..12),
        ) {
            let mut expected = Vec::new();
            for (at, (from, length)) in spans.iter().enumerate() {
                for (start, span) in &spans[..at] {
                    let width = (from + length).min(start + span).saturating_sub(*from.max(start));
                    if width > 0 {
                        expected.push(Duration::from_millis(width));
                    }
                }
            }
            let found = found(&spans_of(&spans));
            let mut found: Vec<_> = found.into_iter().filter_map(|found| found.width).collect();
            found.sort_unstable();
            expected.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
