//! I2: whatever holders believe, the guarded resource sees one critical section after another.
//!
//! Two breaches: a *stale write*, a change by an earlier grant that is applied after an operation of a later one;
//! and *interleaving*, a change of one section applied between two operations of another, or a read between two changes of
//! another, which sees half of them. A read between a read and the first change of another section is none: the sections have
//! the same effect one after the other, and if the reader changes something later, its own two operations are interleaved. A
//! pair of sections that is guilty of a stale write is not reported again for interleaving. What the resource refused was not applied, and is fine. Where no
//! server reported when a grant was made, a write is stale only if it is sure that its grant came first; if that is so in the
//! order of the answers alone, it stays open.
//! A run in which nobody wanted what others held shows nothing, and is inconclusive.
//!
//! Not applicable to designs without a belief: they retry by interleaving on purpose, and
//! [`no_lost_update`](super::no_lost_update) judges them. Source: Kleppmann, "How to do distributed locking" (2016),
//! whose figure of a write delayed past its lease is the stale write.

use picklock_model::time::TrueTime;
use picklock_model::trace::{Belief, Exclusion};

use super::findings::{cite, judged, who};
use super::invariant::{Evidence, Invariant, Promise, Recorded};
use crate::history::{Granted, History, Operation, OperationKind};
use crate::outcome::{Finding, Outcome};

/// See the [module](self).
pub const INVARIANT: Invariant = Invariant {
    name: "effective-exclusion",
    number: "I2",
    property: "the resource applies no stale write, and no section sees or makes a change within another",
    promise: Promise::Data,
    severity: 2,
    evidence: Evidence::Resource,
    recorded: Recorded::Never,
    check,
};

/// An applied operation of a section that was granted.
#[derive(Clone, Copy)]
struct Applied<'h, 't> {
    section: usize,
    grant: &'h Granted<'t>,
    operation: &'h Operation<'t>,
}

fn check(history: &History<'_>) -> Outcome {
    let many = matches!(history.trace.exclusion, Exclusion::Holders(most) if most > 1);
    if history.trace.belief == Belief::None || many {
        return Outcome::NotApplicable;
    }
    let applied = |operation| applied(history, operation);
    let operations: Vec<Applied<'_, '_>> = history.operations.iter().filter_map(applied).collect();
    if !shared(history, &operations) {
        return Outcome::NotAsked("no key was operated on by two sections".to_owned());
    }
    let mut findings = Vec::new();
    let mut guilty = Vec::new();
    let open = stale_writes(history, &operations, &mut guilty, &mut findings);
    interleavings(history, &operations, &mut guilty, &mut findings);
    if findings.is_empty() && open {
        let why = "no server reported which of two grants came first, and a write may have been stale";
        return Outcome::Undecided(why.to_owned());
    }
    if findings.is_empty() && !history.is_contested() {
        return Outcome::NotAsked("nobody wanted what others held".to_owned());
    }
    judged(history, findings)
}

fn applied<'h, 't>(history: &'h History<'t>, operation: &'h Operation<'t>) -> Option<Applied<'h, 't>> {
    let section = operation.section?;
    let grant = history.sections[section].grant.as_ref()?;
    operation.kind.applied().then_some(Applied { section, grant, operation })
}

/// True if two sections operated on the same key.
fn shared(history: &History<'_>, operations: &[Applied<'_, '_>]) -> bool {
    let mut first = vec![None; history.keys.len()];
    operations.iter().any(|one| *first[one.operation.key].get_or_insert(one.section) != one.section)
}

/// Changes by a grant after an operation on that key by one that surely came later: of these, the one that came last. True if
/// there is a change that is stale only if the answers came in the order of the grants.
fn stale_writes(
    history: &History<'_>,
    operations: &[Applied<'_, '_>],
    guilty: &mut Vec<(usize, usize)>,
    findings: &mut Vec<Finding>,
) -> bool {
    let mut newest: Vec<Option<Applied<'_, '_>>> = vec![None; history.keys.len()];
    let mut last_answered = vec![0; history.keys.len()];
    let mut open = false;
    for late in operations {
        let last_answered = &mut last_answered[late.operation.key];
        *last_answered = late.grant.rank.max(*last_answered);
        match &mut newest[late.operation.key] {
            Some(newest) if late.grant.surely_before(newest.grant) => {
                if late.operation.kind.changes() {
                    guilty.push(pair(late, newest));
                    findings.push(stale_write(history, newest, late));
                }
                continue;
            }
            Some(newest) if begins(late) <= begins(newest) => {}
            newest => *newest = Some(*late),
        }
        open |= late.operation.kind.changes() && late.grant.rank < *last_answered;
    }
    open
}

/// When the grant of an operation can have been made at the earliest; grants of one instant are in their order.
fn begins(one: &Applied<'_, '_>) -> (TrueTime, usize) {
    (one.grant.earliest, one.grant.rank)
}

fn stale_write(history: &History<'_>, newer: &Applied<'_, '_>, late: &Applied<'_, '_>) -> Finding {
    let text = format!(
        "stale write: {} {} `{}` after {}, granted later, had {} it",
        name(history, late),
        verb(late),
        history.key_name(late.operation.key),
        name(history, newer),
        participle(newer),
    );
    breach(history, text, &[late, newer])
}

/// Changes of one section between two operations of another, and reads between two changes of another.
fn interleavings(
    history: &History<'_>,
    operations: &[Applied<'_, '_>],
    guilty: &mut Vec<(usize, usize)>,
    findings: &mut Vec<Finding>,
) {
    let mut last: Vec<Option<usize>> = vec![None; history.sections.len()];
    let mut last_change = last.clone();
    // The operations so far on each key: only these can come between.
    let mut on: Vec<Vec<usize>> = vec![Vec::new(); history.keys.len()];
    for (at, closing) in operations.iter().enumerate() {
        let on = &mut on[closing.operation.key];
        let opening = last[closing.section].replace(at);
        let opening_change = match closing.operation.kind.changes() {
            true => last_change[closing.section].replace(at),
            false => None,
        };
        for (opening, by_changes) in [(opening, true), (opening_change, false)] {
            let Some(opening) = opening else { continue };
            let after = on.partition_point(|other| *other <= opening);
            for between in on[after..].iter().map(|other| &operations[*other]) {
                let foreign = between.section != closing.section;
                let counts = foreign && between.operation.kind.changes() == by_changes;
                if counts && !guilty.contains(&pair(closing, between)) {
                    guilty.push(pair(closing, between));
                    findings.push(interleaving(history, &operations[opening], between, closing));
                }
            }
        }
        on.push(at);
    }
}

fn interleaving(
    history: &History<'_>,
    opening: &Applied<'_, '_>,
    between: &Applied<'_, '_>,
    closing: &Applied<'_, '_>,
) -> Finding {
    let key = history.key_name(between.operation.key);
    let (first, other) = (name(history, closing), name(history, between));
    let text = if closing.grant.rank < between.grant.rank {
        format!("interleaving: between two operations of {first} on `{key}`, {other} {} it", verb(between))
    } else {
        format!("interleaving: {other} {} `{key}` between two operations of {first}", verb(between))
    };
    breach(history, text, &[opening, between, closing])
}

fn breach(history: &History<'_>, text: String, operations: &[&Applied<'_, '_>]) -> Finding {
    Finding {
        text,
        grants: operations.iter().map(|one| history.sections[one.section].id).collect(),
        events: cite(operations.iter().flat_map(|one| [one.grant.acquired, one.operation.event])),
        width: None,
    }
}

/// The two sections, in an order that does not depend on which of them is looked at.
fn pair(one: &Applied<'_, '_>, other: &Applied<'_, '_>) -> (usize, usize) {
    (one.section.min(other.section), one.section.max(other.section))
}

fn name(history: &History<'_>, one: &Applied<'_, '_>) -> String {
    who(history, history.sections[one.section].id)
}

fn verb(one: &Applied<'_, '_>) -> &'static str {
    match one.operation.kind {
        OperationKind::Write(_) => "wrote",
        OperationKind::Take { .. } => "took from",
        OperationKind::Read | OperationKind::Refused { .. } => "read",
    }
}

fn participle(one: &Applied<'_, '_>) -> &'static str {
    match one.operation.kind {
        OperationKind::Write(_) => "written",
        OperationKind::Take { .. } => "taken from",
        OperationKind::Read | OperationKind::Refused { .. } => "read",
    }
}

#[cfg(test)]
mod tests {
    use picklock_model::trace::{Trace, What};
    use proptest::prelude::*;

    use super::*;
    use crate::invariants::testing::*;

    /// Two holders whose grants are in the order A1, B1.
    fn both() -> Script {
        Script::new().held(A1, 0, 90).held(B1, 20, 90)
    }

    #[test]
    fn what_a_promotion_discards_was_never_applied() {
        // The old primary takes a write of the earlier grant after the replica has served the later one.
        let script = Script::new().held(A1, 0, 50).held(B1, 20, 60).at(5).reads_at(NODE_1, A1, 0);
        let script = script.at(10).restores(REPLICA, 0).event(REPLICA, None, What::BecameLeader);
        let script = script.at(25).reads_at(REPLICA, B1, 0).writes_at(REPLICA, B1, 1);
        assert_eq!(judge(&INVARIANT, &script.at(30).writes_at(NODE_1, A1, 1).trace()), Outcome::Holds);
        let script = Script::new().held(A1, 0, 50).held(B1, 20, 60).at(5).reads_at(NODE_1, A1, 0);
        let script = script.at(25).reads_at(NODE_1, B1, 0).writes_at(NODE_1, B1, 1);
        let trace = script.at(30).writes_at(NODE_1, A1, 1).trace();
        assert!(matches!(judge(&INVARIANT, &trace), Outcome::Violated(_)), "without a promotion it is one");
    }

    #[test]
    fn sections_one_after_another_hold_even_if_beliefs_overlap() {
        let script = both().at(10).reads(A1, 0).at(25).writes(A1, 1).at(30).reads(B1, 1);
        assert_eq!(judge(&INVARIANT, &script.at(40).writes(B1, 2).trace()), Outcome::Holds);
    }

    #[test]
    fn a_write_after_a_later_grant_has_operated_is_stale() {
        let script = both().at(10).reads(A1, 0).at(30).reads(B1, 0).at(40).writes(B1, 1);
        let trace = script.at(50).writes(A1, 1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.grants, [A1, B1]);
        let proof = [
            "0 client-1 acquired",
            "20 client-2 acquired",
            "30 resource resource-read",
            "50 resource resource-written",
        ];
        assert_eq!(cited(&trace, &found), proof);
        let text = "stale write: client-1 (section 1) wrote `stock` after client-2 (section 1), granted later, had read it";
        assert_eq!(found.text, text);
    }

    #[test]
    fn a_write_is_stale_by_the_order_of_the_store_and_not_of_the_returns() {
        let run = || {
            let script =
                Script::new().at(0).waits(A1).waits(B1).at(5).creates(A1, NODE_1).at(6).expires(NODE_1);
            script.at(7).creates(B1, NODE_1).at(10).acquires(B1).at(20).acquires(A1).at(30)
        };
        assert_eq!(judge(&INVARIANT, &run().writes(A1, 1).writes(B1, 2).trace()), Outcome::Holds);
        assert_eq!(finding(&INVARIANT, &run().writes(B1, 1).writes(A1, 2).trace()).grants, [A1, B1]);
    }

    #[test]
    fn a_late_read_whose_section_changes_nothing_harms_no_data() {
        let script = both().at(30).reads(A1, 0).at(35).reads(B1, 0).at(40).writes(B1, 1);
        assert_eq!(judge(&INVARIANT, &script.trace()), Outcome::Holds);
        let late = || both().at(30).reads(B1, 0).at(35).reads(A1, 0).at(40).writes(B1, 1);
        assert_eq!(judge(&INVARIANT, &late().trace()), Outcome::Holds);
        let used = late().at(50).writes(A1, 1).trace();
        assert!(finding(&INVARIANT, &used).text.starts_with("stale write"), "it is the base of a change");
    }

    #[test]
    fn a_read_between_two_changes_of_another_section_interleaves() {
        let script = both().at(30).writes(B1, 1).at(35).reads(A1, 1).at(40).writes(B1, 2);
        let trace = script.trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.grants, [A1, B1]);
        let text =
            "interleaving: client-1 (section 1) read `stock` between two operations of client-2 (section 1)";
        assert_eq!(found.text, text);
        assert_eq!(
            cited(&trace, &found)[2..],
            ["30 resource resource-written", "35 resource resource-read", "40 resource resource-written"]
        );
    }

    #[test]
    fn a_refused_operation_was_not_applied() {
        let script =
            both().at(10).reads(A1, 0).at(30).reads(B1, 0).at(40).fenced_off(A1, 2).at(50).writes(B1, 1);
        assert_eq!(judge(&INVARIANT, &script.trace()), Outcome::Holds);
    }

    #[test]
    fn a_take_from_the_stock_is_a_change() {
        let trace = both().at(30).takes(B1, 1, 9).at(40).takes(A1, 1, 8).trace();
        assert_eq!(finding(&INVARIANT, &trace).grants, [A1, B1]);
    }

    #[test]
    fn keys_are_judged_apart() {
        let script = both().held(A2, 100, 110).at(105).writes(A2, 1).at(30).writes(B1, 1);
        let trace = script.on("other").at(40).writes(A1, 1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
        let script = both().at(10).reads(A1, 0).on("other").held(C1, 25, 35).at(30).reads(C1, 0);
        let trace = script.on("stock").at(40).writes(A1, 1).at(50).reads(B1, 1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn one_section_says_nothing_and_designs_without_belief_are_not_judged() {
        assert!(is_unknown(&INVARIANT, &both().at(10).reads(A1, 0).at(20).writes(A1, 1).trace()));
        let trace = both().believing(Belief::None).at(30).writes(B1, 1).at(40).writes(A1, 2).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::NotApplicable);
    }

    /// Operations in this order: by which of four sections, granted one after another, and whether it writes.
    fn operations_of(operations: &[(u32, bool)]) -> Trace {
        let script =
            (0..4).fold(Script::new(), |script, at| script.at(u64::from(at)).acquires(section(0, at)));
        let add = |script: Script, (by, writes): &(u32, bool)| {
            let grant = section(0, *by);
            if *writes { script.writes(grant, 0) } else { script.reads(grant, 0) }
        };
        operations.iter().fold(script.at(10), add).trace()
    }

    proptest! {
        #[test]
        fn a_violation_is_a_stale_write_or_an_interleaving_as_defined(
            operations in prop::collection::vec((0..4_u32, any::<bool>()), 2..9),
        ) {
            let three = |a: usize, b: usize, c: usize| {
                a < b && b < c && operations[a].0 == operations[c].0 && operations[a].0 != operations[b].0
            };
            let all = 0..operations.len();
            let stale = all.clone().any(|late| {
                operations[late].1 && operations[..late].iter().any(|before| before.0 > operations[late].0)
            });
            let seen = |a: usize, b: usize, c: usize| operations[b].1 || (operations[a].1 && operations[c].1);
            let interleaved = all
                .clone()
                .any(|a| all.clone().any(|b| all.clone().any(|c| three(a, b, c) && seen(a, b, c))));
            prop_assume!(operations.iter().any(|operation| operation.0 != operations[0].0));
            let found = findings(&INVARIANT, &operations_of(&operations));
            prop_assert_eq!(!found.is_empty(), stale || interleaved);
        }

        #[test]
        fn serial_sections_in_grant_order_hold(sizes in prop::collection::vec(1..4_usize, 2..5)) {
            let operations: Vec<_> = sizes
                .iter()
                .zip(0..)
                .flat_map(|(size, by)| (0..*size).map(move |at| (by, at + 1 == *size)))
                .collect();
            prop_assert_eq!(judge(&INVARIANT, &operations_of(&operations)), Outcome::Holds);
        }
    }
}
