//! I9: a renewal that succeeded means that nobody else was granted the lock between the holder's grant and the renewal.
//!
//! A holder is *superseded* if another client was granted the same key after it, and the trace leaves no doubt about the order of the
//! two grants. A client that learns of its grant after its records on stores have ended supersedes nobody. The renewals of a superseded holder that has not let go must not succeed: it would go on in the belief that all is
//! well. Renewals are changes that stores made, by causal origin: extensions of the key's record for the superseded grant, on as many
//! stores as make a majority; or records that are created once more. A request counts as a renewal only if the holder sent it after it
//! had received the grant. A late request of the acquire, as the EXPIRE after a SETNX may be, does not count; if it changes another
//! client's record, [`ownership`](super::ownership) judges it.
//! An unchecked timer breaks this, and so does a primary that does not know that it is one no longer, and an extension
//! that takes a lock that has run out.

use picklock_model::ids::{GrantId, HostId};
use picklock_model::trace::Exclusion;
use picklock_model::trace::{Event, What};

use super::findings::{cite, judged, who};
use super::invariant::{Evidence, Invariant, Promise, Recorded};
use crate::history::{Granted, History, Record, Section};
use crate::outcome::{Finding, Outcome};

/// See the [module](self).
pub const INVARIANT: Invariant = Invariant {
    name: "continuity",
    number: "I9",
    property: "a renewal succeeds only if nobody else was granted the lock between the holder's grant and the renewal",
    promise: Promise::Conduct,
    severity: 7,
    evidence: Evidence::Records,
    recorded: Recorded::Never,
    check,
};

/// A section with its grant.
type Held<'h, 't> = (&'h Section<'t>, &'h Granted<'t>);

fn check(history: &History<'_>) -> Outcome {
    if history.trace.exclusion != Exclusion::Mutual || !history.knows_origins() {
        return Outcome::NotApplicable;
    }
    let mut renewals: Vec<(usize, &Event)> = history
        .touches
        .iter()
        .filter(|touch| matches!(touch.event.what, What::Extended { .. }))
        .map(|touch| (history.records[touch.record].key, touch.event))
        .collect();
    renewals.extend(created_once_more(history));
    renewals.sort_by_key(|(_, event)| (event.at, event.id));
    if renewals.is_empty() {
        return Outcome::NotApplicable;
    }
    // Each grant looks at its own renewals alone; those of one stay in true-time order.
    renewals.sort_by_key(|(_, event)| event.grant);
    let own = |id: GrantId| {
        let from = renewals.partition_point(|(_, event)| event.grant < Some(id));
        renewals[from..].iter().take_while(move |(_, event)| event.grant == Some(id))
    };
    let successors = successors(history);
    let mut findings = Vec::new();
    for (section, grant) in history.grants() {
        if own(section.id).next().is_none() {
            continue;
        }
        let Some((successor, successor_grant)) =
            successors[grant.rank].and_then(|next| surely(history, &(section, grant), next))
        else {
            continue;
        };
        let let_go = grant.let_go.map_or(history.trace.end, |event| event.at);
        let mut stores: Vec<HostId> = Vec::new();
        for (key, event) in own(section.id) {
            let after_successor =
                *key == section.key && event.at > successor_grant.granted_at && event.at < let_go;
            if after_successor && !stores.contains(&event.host) && renews(history, event, section, grant) {
                stores.push(event.host);
                if stores.len() == history.trace.quorum.max(1) as usize {
                    findings.push(breach(history, section, (successor, successor_grant), event));
                }
            }
        }
    }
    judged(history, findings)
}

/// For each grant, by rank, the next one of the same key to another client.
fn successors<'h, 't>(history: &'h History<'t>) -> Vec<Option<Held<'h, 't>>> {
    // Of each key, the next grant, and the next one that went to another client than that.
    let mut next: Vec<[Option<Held<'_, '_>>; 2]> = vec![[None; 2]; history.keys.len()];
    let mut successors = vec![None; history.granted.len()];
    for held in history.grants().collect::<Vec<_>>().into_iter().rev() {
        let (section, grant) = held;
        let [first, second] = &mut next[section.key];
        let differs = first.is_some_and(|(other, _)| other.id.client != section.id.client);
        successors[grant.rank] = if differs { *first } else { *second };
        if supersedes(history, held) {
            if differs {
                *second = *first;
            }
            *first = Some(held);
        }
    }
    successors
}

/// False if the records of a grant had ended when its client learned of it: then the grant is wrong, not the renewals of the client before
/// it, and [`mutual-exclusion`](super::mutual_exclusion) judges it.
fn supersedes(history: &History<'_>, (section, grant): Held<'_, '_>) -> bool {
    let mut records = history.records_of_grant(section, grant).filter(|record| record.on_store).peekable();
    let ended = |record: &Record<'_>| record.ended.is_some_and(|ended| ended.at <= grant.acquired.at);
    records.peek().is_none() || !records.all(ended)
}

/// The first from this one on that surely came after the superseded one.
fn surely<'h, 't>(
    history: &'h History<'t>,
    superseded: &Held<'h, 't>,
    next: Held<'h, 't>,
) -> Option<Held<'h, 't>> {
    if superseded.1.surely_before(next.1) {
        return Some(next);
    }
    history.grants().find(|(section, grant)| {
        section.key == superseded.0.key
            && section.id.client != superseded.0.id.client
            && superseded.1.surely_before(grant)
            && supersedes(history, (section, grant))
    })
}

/// The records that were created by requests that a holder sent after it had received its grant.
fn created_once_more<'h>(history: &'h History<'_>) -> impl Iterator<Item = (usize, &'h Event)> {
    history.grants().flat_map(|(section, grant)| {
        let own = history.records_of(section).filter(|record| record.on_store && record.key == section.key);
        own.filter(|record| renews(history, record.created, section, grant))
            .map(|record| (record.key, record.created))
    })
}

/// True if the holder sent the request for it after it had received its grant.
fn renews(history: &History<'_>, event: &Event, section: &Section<'_>, grant: &Granted<'_>) -> bool {
    event.at > grant.acquired.at && history.sent_at(event, section) > grant.acquired.at
}

fn breach(
    history: &History<'_>,
    superseded: &Section<'_>,
    (successor, successor_grant): (&Section<'_>, &Granted<'_>),
    renewal: &Event,
) -> Finding {
    Finding {
        text: format!(
            "a renewal of `{}` for {} succeeded on {} after {} had been granted it",
            history.key_name(superseded.key),
            who(history, superseded.id),
            history.trace.host_name(renewal.host),
            who(history, successor.id),
        ),
        grants: vec![superseded.id, successor.id],
        events: cite([successor_grant.acquired, renewal]),
        width: Some(renewal.at.since(successor_grant.granted_at)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::*;

    /// A1 was granted, its lease ran out, and B1 was granted.
    fn lapsed() -> Script {
        let script = Script::new().at(0).waits(A1).waits(B1).creates(A1, NODE_1).at(1).acquires(A1);
        script.at(100).expires(NODE_1).at(110).creates(B1, NODE_1).at(111).acquires(B1)
    }

    #[test]
    fn renewals_of_the_present_holder_hold() {
        let script = Script::new().at(0).waits(A1).creates(A1, NODE_1).at(1).acquires(A1);
        let trace = script.at(30).extends(A1, NODE_1).at(60).extends(A1, NODE_1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_renewal_that_succeeds_after_somebody_else_was_granted_is_found_once() {
        let trace = lapsed().at(130).extends(A1, NODE_1).at(160).extends(A1, NODE_1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.grants, [A1, B1]);
        assert_eq!(found.width, wide(20));
        assert_eq!(cited(&trace, &found), ["111 client-2 acquired", "130 node-1 extended"]);
    }

    #[test]
    fn a_renewal_that_creates_the_record_once_more_is_found_too() {
        let script = lapsed().at(120).releasing(B1).deletes(B1, NODE_1).released(B1);
        let found = finding(&INVARIANT, &script.at(130).creates(A1, NODE_1).trace());
        assert_eq!((found.grants, found.width), (vec![A1, B1], wide(20)));
        // Nobody else was granted: what had run out is taken again, and nobody is deceived.
        let script = Script::new().at(0).waits(A1).creates(A1, NODE_1).at(1).acquires(A1).at(100);
        let trace = script.expires(NODE_1).at(130).creates(A1, NODE_1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_holder_that_has_let_go_may_be_extended_by_what_was_still_under_way() {
        let trace = lapsed().at(120).releasing(A1).released(A1).at(130).extends(A1, NODE_1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn of_several_stores_a_majority_must_have_extended() {
        let taken = |script: Script, grant| {
            [NODE_1, NODE_2].iter().fold(script, |script, node| script.creates(grant, *node))
        };
        let renewed = || {
            let script = taken(Script::new().quorum(2).at(0).waits(A1).waits(B1), A1).at(1).acquires(A1);
            let script = script.at(100).expires(NODE_1).expires(NODE_2).at(110);
            taken(script, B1).at(111).acquires(B1).at(130).extends(A1, NODE_1)
        };
        assert_eq!(judge(&INVARIANT, &renewed().trace()), Outcome::Holds);
        assert_eq!(finding(&INVARIANT, &renewed().extends(A1, NODE_2).trace()).grants, [A1, B1]);
    }

    #[test]
    fn a_client_that_learns_of_its_grant_after_its_record_has_ended_supersedes_nobody() {
        let granted = || {
            let script = Script::new().at(0).waits(A1).waits(B1).creates(A1, NODE_1).at(1).acquires(A1);
            script.at(5).creates(B1, NODE_2)
        };
        let renewed = |script: Script| script.acquires(B1).at(30).extends(A1, NODE_1).trace();
        assert_eq!(judge(&INVARIANT, &renewed(granted().at(9).expires(NODE_2))), Outcome::Holds);
        assert_eq!(finding(&INVARIANT, &renewed(granted().at(9))).grants, [A1, B1]);
    }

    #[test]
    fn what_an_acquire_asked_for_is_no_renewal_however_late_it_comes() {
        let script = Script::new().at(0).waits(A1).waits(B1).creates(A1, NODE_1).at(1).deletes(C1, NODE_1);
        let script = script.at(2).creates(B1, NODE_1).at(3).extends(A1, NODE_1).at(4).acquires(B1);
        let trace = script.at(5).acquires(A1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_successor_that_may_have_been_granted_first_is_none() {
        // No server reported when C1 was granted: it may have been before A1, which then renews its own.
        let script = Script::new().at(0).waits(C1).waits(A1).at(5).creates(A1, NODE_1).at(6).acquires(A1);
        let succeeded = |asked: u64| {
            let script = Script::new().at(asked).waits(C1).at(0).waits(A1).at(5).creates(A1, NODE_1);
            script.at(6).acquires(A1).at(20).acquires(C1).at(30).extends(A1, NODE_1).trace()
        };
        assert_eq!(
            judge(&INVARIANT, &script.at(20).acquires(C1).at(30).extends(A1, NODE_1).trace()),
            Outcome::Holds
        );
        assert_eq!(finding(&INVARIANT, &succeeded(10)).grants, [A1, C1]);
    }

    #[test]
    fn without_renewals_there_is_nothing_to_say() {
        assert_eq!(judge(&INVARIANT, &lapsed().trace()), Outcome::NotApplicable);
    }
}
