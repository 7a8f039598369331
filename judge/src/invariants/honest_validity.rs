//! I8: the deadline that a grant advertises is not after the instant at which another client could first be granted.
//!
//! Another client *could* be granted from the moment when so many stores no longer keep the grant's record that they
//! and the stores that never had it are a majority; of a replicated store, when a host that takes writes does not have
//! it. Nobody need be granted then: that is what mutual exclusion judges. A record counts until its lease has run out by
//! the store's clock, whenever the store drops it: whoever asks first finds it gone.
//!
//! The deadline is the instant at which it passed on the holder's clock, or, if it had not by the end of the section, the
//! end of the section: what is advertised to nobody misleads nobody. Not applicable to grants without a deadline; inconclusive where
//! no server said of any that it kept its record.

use std::collections::BTreeSet;

use picklock_model::ids::HostId;
use picklock_model::time::TrueTime;
use picklock_model::trace::Exclusion;
use picklock_model::trace::{Event, Role, What};

use super::findings::{between, cite, judged, who};
use super::invariant::{Evidence, Invariant, Promise, Recorded};
use crate::history::{Granted, History, Record, Section};
use crate::outcome::{Finding, Outcome};

/// See the [module](self).
pub const INVARIANT: Invariant = Invariant {
    name: "honest-validity",
    number: "I8",
    property: "the deadline that a grant advertises is not after the instant when another client could be granted",
    promise: Promise::Deadlines,
    severity: 9,
    evidence: Evidence::Records,
    recorded: Recorded::Never,
    check,
};

fn check(history: &History<'_>) -> Outcome {
    if history.trace.exclusion != Exclusion::Mutual || !history.knows_origins() {
        return Outcome::NotApplicable;
    }
    let advertised =
        |grant: &Granted<'_>| matches!(grant.acquired.what, What::Acquired { deadline: Some(_), .. });
    if !history.grants().any(|(_, grant)| advertised(grant)) || history.trace.quorum == 0 {
        return Outcome::NotApplicable;
    }
    // Of real servers it is known who leads, and not what they keep.
    let recorded =
        |section: &Section<'_>| history.records_of(section).any(|record| record.key == section.key);
    if !history.grants().any(|(section, grant)| advertised(grant) && recorded(section)) {
        return Outcome::Undecided("no store reported a record of what was granted".to_owned());
    }
    let mut findings = Vec::new();
    for (section, grant) in history.grants().filter(|(_, grant)| advertised(grant)) {
        let Some((freed_at, freed)) = freed(history, section, grant) else { continue };
        let forgotten = forgotten(history, section, freed_at);
        let (until, passed) = relied_upon(history, section, grant);
        if freed_at < until {
            let width = until.since(freed_at);
            findings.push(Finding {
                text: format!(
                    "another client could be granted `{}` from {freed_at} on, but the deadline of {} stood until {until}, \
                     {}: for {}",
                    history.key_name(section.key),
                    who(history, section.id),
                    ended(passed),
                    between(freed_at, until),
                ),
                grants: vec![section.id],
                events: cite([Some(grant.acquired), Some(freed), passed].into_iter().flatten().chain(forgotten)),
                width: Some(width),
            });
        }
    }
    judged(history, findings)
}

/// The end of the time for which the holder could rely on its answer, and what ended it.
fn relied_upon<'t>(
    history: &History<'t>,
    section: &Section<'t>,
    grant: &Granted<'t>,
) -> (TrueTime, Option<&'t Event>) {
    let ends = |event: &&Event| {
        matches!(event.what, What::DeadlinePassed { .. } | What::Releasing { .. } | What::Aborted { .. })
    };
    // A deadline that had passed when the grant was seen misleads nobody.
    if let What::Acquired { deadline: Some(deadline), .. } = grant.acquired.what
        && deadline <= grant.acquired.at
    {
        return (TrueTime::default(), None);
    }
    let step = section.steps_since(grant.acquired.at).find(ends);
    let death = history.death_of(section, grant.acquired.at);
    let end = step.into_iter().chain(death).min_by_key(|event| (event.at, event.id));
    (end.map_or(history.trace.end, |event| event.at), end)
}

/// The end of the holder's reliance on its deadline, in words.
fn ended(event: Option<&Event>) -> &'static str {
    match event.map(|event| &event.what) {
        Some(What::DeadlinePassed { .. }) => "when it passed on the client's clock",
        Some(What::Releasing { .. }) => "when the client began to release",
        Some(What::Aborted { .. }) => "when the client gave up",
        Some(_) => "when the client crashed",
        None => "when the run ended",
    }
}

/// When another client could first be granted what this grant holds, and the event that shows it.
fn freed<'t>(
    history: &History<'t>,
    section: &Section<'t>,
    grant: &Granted<'t>,
) -> Option<(TrueTime, &'t Event)> {
    let records: Vec<&Record<'t>> =
        history.records_of(section).filter(|record| record.key == section.key).collect();
    if records.is_empty() {
        return None;
    }
    let stores = history.trace.hosts.iter().filter(|host| host.role == Role::Leader).count();
    let needed = stores.saturating_sub(history.trace.quorum as usize) + 1;
    // A record that is on its way when the grant is made counts as kept; records that earlier attempts of the section left beside it
    // do not.
    let kept = |at: TrueTime, on: &dyn Fn(&Record<'t>) -> bool| {
        let live = |record: &&&Record<'t>| {
            record.created.at <= at.max(grant.acquired.at)
                && record.over_at.is_none_or(|over| over > at)
                && on(record)
        };
        let hosts: BTreeSet<HostId> = records.iter().filter(live).map(|record| record.created.host).collect();
        hosts.len()
    };
    let ended = records.iter().filter_map(|record| record.over_at.zip(record.ended));
    let by_loss = ended.filter(|(over_at, _)| *over_at >= grant.granted_at).filter(|(over_at, event)| {
        let on = |record: &Record<'t>| history.trace.quorum == 1 || record.on_store;
        takes_writes(history, event.host, *over_at) && kept(*over_at, &on) < needed
    });
    let promoted = |event: &&Event| {
        matches!(event.what, What::BecameLeader)
            && event.at >= grant.granted_at
            && kept(event.at, &|record| record.created.host == event.host) == 0
    };
    let by_promotion = history.host_changes.iter().copied().filter(promoted).map(|event| (event.at, event));
    by_loss.chain(by_promotion).min_by_key(|(at, event)| (*at, event.id))
}

/// How stores that take writes had come to keep the grant's record no longer at an instant.
fn forgotten<'h, 't>(
    history: &'h History<'t>,
    section: &'h Section<'t>,
    at: TrueTime,
) -> impl Iterator<Item = &'t Event> + 'h {
    let over = move |record: &&Record<'t>| {
        record.key == section.key
            && record.over_at.is_some_and(|over| over <= at)
            && takes_writes(history, record.created.host, at)
    };
    history.records_of(section).filter(over).filter_map(|record| record.ended)
}

/// True if a host took writes at an instant.
fn takes_writes(history: &History<'_>, host: HostId, at: TrueTime) -> bool {
    let changes = |event: &&Event| {
        event.host == host
            && event.at <= at
            && matches!(event.what, What::BecameLeader | What::StoppedLeading)
    };
    match history.host_changes.iter().rev().copied().find(changes) {
        Some(event) => matches!(event.what, What::BecameLeader),
        None => history.trace.role(host) == Some(Role::Leader),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::*;

    /// A1 holds on one store since 1 ms, with this deadline.
    fn granted(deadline: u64) -> Script {
        Script::new().at(0).waits(A1).creates(A1, NODE_1).at(1).acquires_with(A1, None, Some(deadline))
    }

    #[test]
    fn a_deadline_before_the_record_is_dropped_holds() {
        let trace = granted(98).at(98).deadline_passes(A1).at(100).expires(NODE_1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_deadline_after_the_record_is_dropped_is_found_even_if_nobody_came() {
        let trace = granted(150).at(100).expires(NODE_1).at(150).deadline_passes(A1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.width, wide(50));
        assert!(
            found.text.ends_with("until 0.150000s, when it passed on the client's clock: for 50 ms"),
            "{}",
            found.text
        );
        let events = ["1 client-1 acquired", "100 node-1 expired", "150 client-1 deadline-passed"];
        assert_eq!(cited(&trace, &found), events);
    }

    #[test]
    fn a_lease_is_over_when_it_has_run_out_and_not_when_the_store_drops_it() {
        let trace = granted(150).at(150).deadline_passes(A1).at(180).expires_late(NODE_1, 80).trace();
        assert_eq!(finding(&INVARIANT, &trace).width, wide(50));
    }

    #[test]
    fn a_store_that_is_down_grants_nothing_though_leases_run_out() {
        let script = granted(150).at(50).event(NODE_1, None, What::Crashed { power_loss: false });
        let script = script.at(120).event(NODE_1, None, What::Restarted).expires_late(NODE_1, 20);
        let trace = script.at(150).deadline_passes(A1).trace();
        assert_eq!(finding(&INVARIANT, &trace).width, wide(30), "from its restart on");
        let expired = trace.events.iter().find(|event| matches!(event.what, What::Expired { .. }));
        let ran_out = expired.map(|expired| History::of(&trace).ran_out(expired));
        assert_eq!(ran_out, Some(TrueTime(100_000_000)), "and yet it ran out before");
    }

    #[test]
    fn what_is_overdue_by_a_fast_clock_is_so_for_less_in_true_time() {
        let fast = |overdue| {
            let script = granted(98).at(0).drifts(NODE_1, 100_000).at(98).deadline_passes(A1);
            script.at(188).expires_late(NODE_1, overdue).trace()
        };
        assert_eq!(judge(&INVARIANT, &fast(99)), Outcome::Holds, "90 ms ago");
        assert_eq!(finding(&INVARIANT, &fast(110)).width, wide(10), "100 ms ago");
    }

    #[test]
    fn a_section_that_is_over_before_its_deadline_was_not_misled() {
        let trace = granted(500).at(50).releasing(A1).at(51).deletes(A1, NODE_1).at(52).released(A1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_holder_relies_on_its_deadline_until_it_releases() {
        let trace = granted(500).at(100).expires(NODE_1).at(130).releasing(A1).at(131).released(A1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.width, wide(30));
        assert!(
            found.text.ends_with("until 0.130000s, when the client began to release: for 30 ms"),
            "{}",
            found.text
        );
    }

    #[test]
    fn a_minority_that_forgets_frees_nothing() {
        let held = || {
            let script = Script::new().quorum(2).at(0).waits(A1);
            let script =
                [NODE_1, NODE_2, NODE_3].iter().fold(script, |script, node| script.creates(A1, *node));
            script.at(1).acquires_with(A1, None, Some(150)).at(60).expires(NODE_1)
        };
        let passes = |script: Script| script.at(150).deadline_passes(A1).trace();
        assert_eq!(judge(&INVARIANT, &passes(held())), Outcome::Holds);
        assert_eq!(finding(&INVARIANT, &passes(held().at(70).expires(NODE_2))).width, wide(80));
    }

    #[test]
    fn of_a_grant_that_is_seen_late_a_majority_must_have_lapsed_too() {
        let script = Script::new().quorum(2).at(0).waits(A1).creates(A1, NODE_1).creates(A1, NODE_2).at(1);
        let lapsed = script.creates(A1, NODE_3).at(100).expires(NODE_1).at(110).expires(NODE_2).at(120);
        let script = lapsed.expires(NODE_3).at(130).acquires_with(A1, None, Some(150));
        let found = finding(&INVARIANT, &script.at(150).deadline_passes(A1).trace());
        assert_eq!(found.width, wide(40), "{}", found.text);
    }

    #[test]
    fn a_promoted_replica_without_the_record_could_grant_it() {
        let copied = |copied: bool| {
            let script = granted(150).at(5);
            let script = if copied { script.creates(A1, REPLICA) } else { script };
            script.at(50).event(REPLICA, None, What::BecameLeader).at(150).deadline_passes(A1).trace()
        };
        assert_eq!(judge(&INVARIANT, &copied(true)), Outcome::Holds);
        assert_eq!(finding(&INVARIANT, &copied(false)).width, wide(100));
    }

    #[test]
    fn where_no_store_reports_what_it_keeps_nothing_is_known() {
        let script = Script::new().at(0).waits(A1).acquires_with(A1, None, Some(150)).at(5);
        let trace =
            script.at(50).event(REPLICA, None, What::BecameLeader).at(150).deadline_passes(A1).trace();
        assert!(is_unknown(&INVARIANT, &trace));
    }

    #[test]
    fn a_deadline_that_had_passed_when_the_grant_was_seen_misled_nobody() {
        let script = Script::new().at(0).waits(A1).creates(A1, NODE_1).at(100).expires(NODE_1);
        let trace = script.at(120).acquires_with(A1, None, Some(98)).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn grants_without_a_deadline_are_not_judged() {
        let trace = Script::new().at(0).waits(A1).creates(A1, NODE_1).acquires(A1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::NotApplicable);
    }
}
