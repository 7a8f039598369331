//! I7: the guarded resource ends with every acknowledged change in it, and with nothing that nobody asked for.
//!
//! A register counts changes: sections read a value and write the next one. Its final value must lie between the
//! number of acknowledged changes and that number plus the changes whose outcome their client never learned, because
//! any subset of those may have been applied. A stock, which is what a key is once something was taken from it, is
//! counted in the same way by the takes that succeeded; besides, it never falls below zero, and never more is sold
//! than there was.
//!
//! No lock is looked at: this is what all the others are for.

use std::collections::{BTreeMap, BTreeSet};

use picklock_model::trace::Exclusion;
use picklock_model::trace::{Event, HostInfo, Role, What};

use super::findings::{cite, judged, were};
use super::invariant::{Evidence, Invariant, Promise, Recorded};
use crate::history::{Discarded, History, Operation, OperationKind};
use crate::outcome::{Finding, Outcome};

/// See the [module](self).
pub const INVARIANT: Invariant = Invariant {
    name: "no-lost-update",
    number: "I7",
    property: "every acknowledged change is in the final value, and never more is sold than there was",
    promise: Promise::Data,
    severity: 1,
    evidence: Evidence::Resource,
    recorded: Recorded::OfResource("several may change it at once"),
    check,
};

/// The tally of one key.
#[derive(Clone, Default)]
struct Tally<'h, 't> {
    /// Changes that a client knows to be applied.
    acknowledged: i64,
    /// Changes of which no client knows.
    unknown: i64,
    /// The last write to the register.
    last: Option<&'h Operation<'t>>,
    /// The register's final value, or the number of takes from the stock.
    applied: i64,
    /// The first write that did not build on the write before it, after that one.
    clobber: Option<[&'h Operation<'t>; 2]>,
    /// The last acknowledgement of a change that never reached the resource.
    baseless: Option<&'t Event>,
    stock: Option<Stock>,
}

/// The state of a stock.
#[derive(Clone, Copy)]
struct Stock {
    initial: i64,
    sold: i64,
}

/// The known facts of the change of a section.
#[derive(Clone, Copy, Default)]
struct Fate {
    applied: bool,
    answered: bool,
}

fn check(history: &History<'_>) -> Outcome {
    // Those who may hold at the same time read what the others are about to change.
    if matches!(history.trace.exclusion, Exclusion::Holders(most) if most > 1) {
        return Outcome::NotApplicable;
    }
    let changed = history.operations.iter().any(|operation| operation.kind.changes());
    let acknowledged = |event: &Event| matches!(event.what, What::WriteAcknowledged { .. });
    if !changed && !history.answers.iter().any(|answer| acknowledged(answer.event)) {
        return Outcome::NotAsked("nothing was changed".to_owned());
    }
    // Where data lie in a server that reports nothing, nobody knows what was applied.
    let is_silent = |host: &HostInfo| host.silent && host.role == Role::Leader;
    if history.operations.is_empty() && history.trace.hosts.iter().any(is_silent) {
        let why = "the data lie in a real server, which does not report what it applies";
        return Outcome::Undecided(why.to_owned());
    }
    let mut findings = Vec::new();
    let tallies = tallies(history, &mut findings);
    findings.extend(tallies.iter().enumerate().filter_map(|(key, tally)| imbalance(history, key, tally)));
    judged(history, findings)
}

fn tallies<'h, 't>(history: &'h History<'t>, findings: &mut Vec<Finding>) -> Vec<Tally<'h, 't>> {
    let mut tallies = vec![Tally::default(); history.keys.len()];
    let mut fates = vec![Fate::default(); history.sections.len()];
    for operation in &history.operations {
        let tally = &mut tallies[operation.key];
        match operation.kind {
            OperationKind::Write(value) => tally.write(operation, value),
            OperationKind::Take { amount, left, taken } => {
                if tally.take(amount, left, taken) {
                    findings.push(oversold(history, operation, left));
                }
            }
            OperationKind::Read | OperationKind::Refused { .. } => {}
        }
        if let Some(section) = operation.section {
            fates[section].applied |= operation.kind.changes();
        }
    }
    for answer in &history.answers {
        let fate = answer.section.map(|section| &mut fates[section]);
        let tally = &mut tallies[answer.key];
        match answer.event.what {
            What::WriteAcknowledged { .. } => {
                tally.acknowledged += 1;
                if fate.as_ref().is_some_and(|fate| !fate.applied) {
                    tally.baseless = Some(answer.event);
                }
            }
            What::WriteUnknown { .. } => tally.unknown += 1,
            _ => {}
        }
        if let Some(fate) = fate {
            fate.answered = true;
        }
    }
    // The client died, or the run ended, while the change was on its way.
    for (section, fate) in history.sections.iter().zip(fates) {
        tallies[section.key].unknown += i64::from(fate.applied && !fate.answered);
    }
    tallies
}

impl<'h, 't> Tally<'h, 't> {
    fn write(&mut self, operation: &'h Operation<'t>, value: i64) {
        if let Some(before) = self.last.filter(|_| value <= self.applied) {
            self.clobber.get_or_insert([before, operation]);
        }
        self.last = Some(operation);
        self.applied = value;
    }

    /// Counts a take. True if it was one too many.
    fn take(&mut self, amount: i64, left: i64, taken: bool) -> bool {
        // Nothing is recorded before the first take, which therefore shows what there was.
        let initial = if taken { left.saturating_add(amount) } else { left };
        let stock = self.stock.get_or_insert(Stock { initial, sold: 0 });
        if taken {
            stock.sold = stock.sold.saturating_add(amount);
            self.applied = self.applied.saturating_add(1);
        }
        taken && (left < 0 || stock.sold > stock.initial)
    }
}

/// The finding cites the take with what its section had read, and what others took since then.
fn oversold(history: &History<'_>, operation: &Operation<'_>, left: i64) -> Finding {
    let read = read_before(history, operation);
    let since = earlier(history, operation)
        .iter()
        .rev()
        .take_while(|other| Some(other.event.id) != read.map(|it| it.id));
    let took = |other: &&Operation<'_>| {
        other.key == operation.key
            && matches!(other.kind, OperationKind::Take { taken: true, .. })
            && read.is_some()
    };
    let takes: Vec<&Operation<'_>> = since.filter(took).chain([operation]).collect();
    Finding {
        text: format!("`{}` was oversold: {left} left", history.key_name(operation.key)),
        grants: takes.iter().filter_map(|one| Some(history.sections[one.section?].id)).collect(),
        events: cite(takes.iter().map(|one| one.event).chain(read)),
        width: None,
    }
}

/// The earlier operations on the resource.
fn earlier<'h, 't>(history: &'h History<'t>, operation: &Operation<'_>) -> &'h [Operation<'t>] {
    let here = history.operations.iter().position(|other| other.event.id == operation.event.id);
    &history.operations[..here.unwrap_or(0)]
}

/// The read of the section of a change before it.
fn read_before<'t>(history: &History<'t>, change: &Operation<'_>) -> Option<&'t Event> {
    let read = |other: &&Operation<'_>| {
        other.key == change.key
            && other.section == change.section
            && matches!(other.kind, OperationKind::Read)
    };
    change.section?;
    earlier(history, change).iter().rev().find(read).map(|read| read.event)
}

/// The first write to a register of which nothing is left, and the one that wiped it out: a later write that builds neither on it
/// nor on what was built on it. Where nobody knows what a write was made from, it is held to build on the one before.
fn wiped_out<'h, 't>(history: &'h History<'t>, key: usize) -> Option<[&'h Operation<'t>; 2]> {
    let mut writes: Vec<&Operation<'t>> = Vec::new();
    // The write that each one builds on: the last one when its section read.
    let mut built_on: Vec<Option<usize>> = Vec::new();
    let mut read_at: BTreeMap<usize, Option<usize>> = BTreeMap::new();
    for operation in history.operations.iter().filter(|operation| operation.key == key) {
        let latest = writes.len().checked_sub(1);
        match operation.kind {
            OperationKind::Read => drop(operation.section.map(|section| read_at.insert(section, latest))),
            OperationKind::Write(_) => {
                let read = operation.section.and_then(|section| read_at.get(&section).copied());
                built_on.push(read.unwrap_or(latest));
                writes.push(operation);
            }
            OperationKind::Take { .. } | OperationKind::Refused { .. } => {}
        }
    }
    let last = writes.len().checked_sub(1)?;
    let kept: BTreeSet<usize> = std::iter::successors(Some(last), |at| built_on[*at]).collect();
    let lost = (0..last).find(|write| !kept.contains(write))?;
    let mut built_on_lost = BTreeSet::from([lost]);
    let by = (lost + 1..=last).find(|write| {
        let builds = built_on[*write].is_some_and(|on| built_on_lost.contains(&on));
        !(builds && built_on_lost.insert(*write))
    })?;
    Some([writes[lost], writes[by]])
}

fn imbalance(history: &History<'_>, place: usize, tally: &Tally<'_, '_>) -> Option<Finding> {
    let Tally { acknowledged, unknown, applied, .. } = *tally;
    if (acknowledged..=acknowledged + unknown).contains(&applied) {
        return None;
    }
    let key = history.key_name(place);
    // Whichever of the two is greater is said first.
    let what = match (tally.stock.is_some(), acknowledged.max(applied)) {
        (true, 1) => "take from",
        (true, _) => "takes from",
        (false, 1) => "change of",
        (false, _) => "changes of",
    };
    let discarded: Vec<&Discarded<'_>> = history
        .discarded
        .iter()
        .filter(|one| one.operation.key == place && one.operation.kind.changes())
        .collect();
    let text = if applied < acknowledged {
        let lost = acknowledged.saturating_sub(applied);
        let (were_acknowledged, were_kept) = (were(acknowledged), were(applied));
        // What is kept may be a change that was never acknowledged.
        let least = if unknown > 0 { "at least " } else { "" };
        let by = discarded.last().map(|last| {
            let host = history.trace.host_name(last.by.host);
            let written = last.operation.event;
            match last.by.host == written.host {
                true => format!(", as {host} did not keep what it had written"),
                false if written.id > last.by.id => format!(
                    ", as {} still wrote at {} what {host}, which had taken over at {}, does not have",
                    history.trace.host_name(written.host),
                    written.at,
                    last.by.at
                ),
                false => format!(
                    ", as {host} took over without what {} had written",
                    history.trace.host_name(last.operation.event.host)
                ),
            }
        });
        format!(
            "{acknowledged} {what} `{key}` {were_acknowledged} acknowledged, but only {applied} {were_kept} kept: {least}{lost} lost{}",
            by.unwrap_or_default()
        )
    } else {
        let kept = were(applied);
        format!("{applied} {what} `{key}` {kept} kept, but {acknowledged} acknowledged and {unknown} unknown")
    };
    // Of two changes of which one wiped out the other, what each was made from shows why.
    let wiped_out = if tally.stock.is_none() { wiped_out(history, place) } else { None };
    let clash: Vec<&Operation<'_>> = wiped_out.or(tally.clobber).into_iter().flatten().collect();
    let last = tally.last.filter(|_| clash.is_empty());
    let reads = clash.iter().filter_map(|one| read_before(history, one));
    let gone = discarded.first().into_iter().flat_map(|one| [one.operation.event, one.by]);
    let changes = clash.iter().copied().chain(last).map(|one| one.event).chain(gone);
    Some(Finding {
        text,
        grants: clash.iter().filter_map(|one| Some(history.sections[one.section?].id)).collect(),
        events: cite(reads.chain(changes).chain(tally.baseless)),
        width: None,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::invariants::testing::*;

    /// A section that reads a value, writes the next one, and learns of it.
    fn adds(script: Script, grant: picklock_model::ids::GrantId, value: i64) -> Script {
        script.reads(grant, value).writes(grant, value + 1).acknowledged(grant)
    }

    /// Three acknowledged changes in a store, of which its replica has the first when it takes over.
    fn replaced(restores: Option<i64>) -> Script {
        let add = |script: Script, grant, value| {
            script.reads_at(NODE_1, grant, value).writes_at(NODE_1, grant, value + 1).acknowledged(grant)
        };
        let script = add(Script::new().at(0), A1, 0);
        let script = add(script.at(10), B1, 1);
        let script = match restores {
            Some(value) => script.at(20).restores(REPLICA, value),
            None => script.at(20),
        };
        script.event(REPLICA, None, What::BecameLeader)
    }

    #[test]
    fn what_a_promoted_replica_does_not_have_is_lost() {
        let found = finding(&INVARIANT, &replaced(Some(1)).trace());
        let text = "2 changes of `stock` were acknowledged, but only 1 was kept: 1 lost, as replica-1-1 took over without what node-1 had written";
        assert_eq!(found.text, text);
        let found = finding(&INVARIANT, &replaced(None).trace());
        assert!(found.text.contains("only 0 were kept: 2 lost"), "{}", found.text);
        assert_eq!(judge(&INVARIANT, &replaced(Some(2)).trace()), Outcome::Holds);
        // A commit that its standby had and its primary had not shown yet.
        assert_eq!(judge(&INVARIANT, &replaced(Some(3)).trace()), Outcome::Holds);
    }

    #[test]
    fn what_an_old_primary_goes_on_to_write_is_lost() {
        let trace = replaced(Some(2)).at(30).writes_at(NODE_1, A2, 3).acknowledged(A2).trace();
        let text = finding(&INVARIANT, &trace).text;
        assert!(text.starts_with("3 changes of `stock` were acknowledged, but only 2"), "{text}");
        assert!(
            text.contains("as node-1 still wrote at 0.030000s what replica-1-1, which had taken over at "),
            "{text}"
        );
        let back = replaced(Some(2)).at(30).restores(NODE_1, 0);
        assert_eq!(
            judge(&INVARIANT, &back.trace()),
            Outcome::Holds,
            "an old primary that comes back with less"
        );
        let trace = replaced(Some(2)).at(30).writes_at(REPLICA, A2, 3).acknowledged(A2).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn of_a_server_that_reports_nothing_nobody_knows_what_it_has_applied() {
        let mut trace = Script::new().held(A1, 0, 10).at(5).acknowledged(A1).trace();
        assert!(matches!(judge(&INVARIANT, &trace), Outcome::Violated(_)));
        trace.hosts[usize::from(NODE_1.0)].silent = true;
        assert!(is_unknown(&INVARIANT, &trace));
    }

    #[test]
    fn changes_that_build_on_each_other_hold() {
        let trace = adds(adds(Script::new().at(0), A1, 0).at(10), B1, 1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_lost_update_is_found_with_the_write_that_undid_it() {
        let trace = adds(adds(Script::new().at(0), A1, 0).at(10), B1, 0).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.grants, [A1, B1]);
        let of_both = ["resource-read", "resource-written"].map(|what| format!("resource {what}"));
        let events: Vec<String> = ["0", "10"]
            .iter()
            .flat_map(|at| of_both.iter().map(move |what| format!("{at} {what}")))
            .collect();
        assert_eq!(cited(&trace, &found), events);
        assert_eq!(found.text, "2 changes of `stock` were acknowledged, but only 1 was kept: 1 lost");
    }

    #[test]
    fn a_write_that_was_wiped_out_for_a_while_is_not_the_lost_one() {
        let script = Script::new().at(0).reads(B1, 0);
        let script = adds(script.at(1), A1, 0).at(2).reads(C1, 1).at(3).writes(B1, 1).acknowledged(B1);
        let trace = script.at(4).writes(C1, 2).acknowledged(C1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.grants, [B1, C1]);
        assert_eq!(found.text, "3 changes of `stock` were acknowledged, but only 2 were kept: 1 lost");
        let cited = cited(&trace, &found);
        let events = ["0 resource resource-read", "2 resource resource-read"];
        assert_eq!(cited[..2], events);
    }

    #[test]
    fn a_late_write_of_the_earlier_grant_does_not_make_it_the_later_one() {
        let script = Script::new().at(0).waits(A1).acquires(A1).reads(A1, 0).at(5).waits(B1).acquires(B1);
        let trace = adds(script.at(6), B1, 0).at(10).writes(A1, 1).acknowledged(A1).trace();
        assert_eq!(finding(&INVARIANT, &trace).grants, [A1, B1]);
    }

    #[test]
    fn an_unknown_change_may_have_been_applied_or_not() {
        let applied = adds(Script::new().at(0), A1, 0).at(10).writes(B1, 2).unknown(B1);
        assert_eq!(judge(&INVARIANT, &applied.trace()), Outcome::Holds);
        let not_applied = adds(Script::new().at(0), A1, 0).at(10).unknown(B1);
        assert_eq!(judge(&INVARIANT, &not_applied.trace()), Outcome::Holds);
    }

    #[test]
    fn an_unknown_change_does_not_excuse_the_loss_of_another() {
        let trace =
            adds(adds(Script::new().at(0), A1, 0).at(10), B1, 1).at(20).writes(C1, 1).unknown(C1).trace();
        assert_eq!(finding(&INVARIANT, &trace).grants, [B1, C1]);
    }

    #[test]
    fn a_change_whose_client_died_before_it_knew_is_unknown() {
        let trace = adds(Script::new().at(0), A1, 0).at(10).writes(B1, 2).crashes(CLIENT_2).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_refused_change_must_not_show() {
        let trace = adds(Script::new().at(0), A1, 0).at(10).writes(B1, 2).refused(B1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.text, "2 changes of `stock` were kept, but 1 acknowledged and 0 unknown");
        assert_eq!(cited(&trace, &found), ["10 resource resource-written"]);
    }

    #[test]
    fn an_acknowledged_change_that_never_reached_the_resource_is_found() {
        let trace = adds(Script::new().at(0), A1, 0).at(10).acknowledged(B1).trace();
        assert_eq!(cited(&trace, &finding(&INVARIANT, &trace))[1], "10 client-2 write-acknowledged");
    }

    #[test]
    fn registers_are_counted_apart() {
        let trace = adds(adds(Script::new().at(0), A1, 0).on("other").at(10), B1, 0).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_stock_sold_one_by_one_holds() {
        let script =
            Script::new().at(0).takes(A1, 1, 1).acknowledged(A1).at(10).takes(B1, 1, 0).acknowledged(B1);
        assert_eq!(judge(&INVARIANT, &script.trace()), Outcome::Holds);
    }

    #[test]
    fn who_sells_what_is_gone_is_named_with_what_it_had_read_and_what_went_meanwhile() {
        let script = Script::new().at(0).takes(C1, 1, 1).at(5).reads(A1, 1).at(10).takes(B1, 1, 0);
        let trace = script.at(20).takes(A1, 1, -1).trace();
        let found = finding(&INVARIANT, &trace);
        let events = ["5 resource resource-read", "10 resource resource-taken", "20 resource resource-taken"];
        assert_eq!(cited(&trace, &found), events);
        assert!(found.grants.contains(&B1) && !found.grants.contains(&C1), "{:?}", found.grants);
    }

    #[test]
    fn a_stock_below_zero_or_sold_twice_is_found() {
        let below = Script::new().at(0).takes(A1, 2, -1).acknowledged(A1).trace();
        assert_eq!(finding(&INVARIANT, &below).text, "`stock` was oversold: -1 left");
        let script = Script::new().at(0).takes(A1, 1, 5).acknowledged(A1).at(10).takes(B1, 1, -1);
        assert_eq!(finding(&INVARIANT, &script.acknowledged(B1).trace()).grants, [B1]);
        let script =
            Script::new().at(0).takes(A1, 1, 0).acknowledged(A1).at(10).takes(B1, 1, 0).acknowledged(B1);
        let twice = script.trace();
        let found = finding(&INVARIANT, &twice);
        assert_eq!(
            (cited(&twice, &found).as_slice(), found.grants),
            (&["10 resource resource-taken".into()][..], vec![B1])
        );
    }

    #[test]
    fn takes_are_balanced_against_what_clients_know() {
        let script = Script::new().at(0).takes(A1, 1, 5).acknowledged(A1).at(10).acknowledged(B1);
        let found = finding(&INVARIANT, &script.trace());
        assert_eq!(found.text, "2 takes from `stock` were acknowledged, but only 1 was kept: 1 lost");
    }

    #[test]
    fn without_a_change_there_is_nothing_to_lose() {
        assert!(is_unknown(&INVARIANT, &Script::new().held(A1, 0, 10).at(5).reads(A1, 0).trace()));
    }

    proptest! {
        #[test]
        fn serial_changes_hold_whatever_their_clients_learn(fates in prop::collection::vec(0..5_u8, 1..15)) {
            let (mut script, mut value) = (Script::new(), 0);
            for (fate, ordinal) in fates.iter().zip(1..) {
                let grant = section(0, ordinal);
                // Acknowledged, applied without its client knowing, unknown, applied and unanswered, refused.
                value += i64::from(matches!(fate, 0 | 1 | 3));
                script = match fate {
                    0 => script.writes(grant, value).acknowledged(grant),
                    1 => script.writes(grant, value).unknown(grant),
                    2 => script.unknown(grant),
                    3 => script.writes(grant, value),
                    _ => script.refused(grant),
                };
            }
            prop_assume!(value > 0);
            prop_assert_eq!(judge(&INVARIANT, &script.trace()), Outcome::Holds);
        }

        #[test]
        fn an_acknowledged_change_that_was_overwritten_is_always_missed(
            count in 2..10_u32,
            which in any::<prop::sample::Index>(),
        ) {
            let late = 1 + which.index(count as usize - 1) as u32;
            let (mut script, mut value) = (Script::new(), 0);
            for ordinal in 0..count {
                value += i64::from(ordinal != late);
                script = script.writes(section(0, ordinal), value).acknowledged(section(0, ordinal));
            }
            prop_assert_eq!(finding(&INVARIANT, &script.trace()).grants, [section(0, late - 1), section(0, late)]);
        }
    }
}
