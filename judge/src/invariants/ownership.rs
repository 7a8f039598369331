//! I4: the record of a lock is deleted, extended or created anew only by the grant whose request created it.
//!
//! Judged on hosts that take writes, by causal origin and not by the value stored, so that designs whose clients
//! share one value are judged too, and so is a client that releases with a late request what it has acquired anew.
//! An owner is a grant; where a holder may acquire once more what it holds, or takes up what an earlier section of it has left, it is
//! the client's task, whichever of its sections asks: what becomes of its count is judged by [`reentrancy`](super::reentrancy).
//! The requests of an unmodified program belong to its client: its library may send again for an earlier section while the present
//! one is served, and only the client is known for sure.
//! Requests of unknown origin and records that came by replication are not judged; expiry and loss belong to nobody.

use std::cell::LazyCell;
use std::collections::BTreeSet;
use std::ops::Deref;

use picklock_model::ids::HostId;
use picklock_model::trace::Exclusion;
use picklock_model::trace::{Event, Role, What};

use super::findings::{cite, in_order, judged, who};
use super::invariant::{Evidence, Invariant, Promise, Recorded};
use crate::history::{History, Touch};
use crate::outcome::{Finding, Outcome};

/// See the [module](self).
pub const INVARIANT: Invariant = Invariant {
    name: "ownership",
    number: "I4",
    property: "a lock's record is deleted, extended or created anew only by the grant that created it",
    promise: Promise::Conduct,
    severity: 5,
    evidence: Evidence::Records,
    recorded: Recorded::AsInRuns("no store noted anything"),
    check,
};

fn check(history: &History<'_>) -> Outcome {
    if history.trace.exclusion != Exclusion::Mutual || !history.knows_origins() {
        return Outcome::NotApplicable;
    }
    if !history.trace.hosts.iter().any(|host| host.role == Role::Leader) {
        return Outcome::NotApplicable;
    }
    if !history.knows_records() {
        let is_made = |event: &Event| event.grant.is_some() && matches!(event.what, What::Created { .. });
        return if history.trace.events.iter().any(is_made) {
            let why =
                "no record that every grant created, and no other one like it, is known to be the lock's";
            Outcome::Undecided(why.to_owned())
        } else {
            Outcome::NotAsked("no store created a record".to_owned())
        };
    }
    // Looked for only if it is asked: it takes the whole trace.
    let programs = LazyCell::new(|| programs(history));
    let findings = history.touches.iter().filter_map(|touch| foreign(history, touch, &programs)).collect();
    judged(history, findings)
}

fn foreign(
    history: &History<'_>,
    touch: &Touch<'_>,
    programs: &impl Deref<Target = BTreeSet<HostId>>,
) -> Option<Finding> {
    let record = &history.records[touch.record];
    let (creator, toucher) = (record.created.grant?, touch.event.grant?);
    // A lock that one owner may acquire more than once, it may also continue and release where another of its sections left it.
    let by_task = history.trace.reentrant || history.takes_up;
    let same_owner = by_task && creator.client == toucher.client && creator.task == toucher.task;
    if creator == toucher || same_owner {
        return None;
    }
    if creator.client == toucher.client && programs.contains(&creator.client) {
        return None;
    }
    let did = match touch.event.what {
        What::Deleted { .. } => "deleted",
        What::Extended { .. } => "extended",
        _ => "replaced",
    };
    let grants = in_order(history, [creator, toucher]);
    let (toucher, owner) = (who(history, toucher), who(history, creator));
    let (key, host) = (history.key_name(record.key), history.trace.host_name(touch.event.host));
    let text = if grants[0] == creator {
        format!("the record of `{key}` on {host} that {owner} had created was {did} by {toucher}")
    } else {
        let granted = history.grants().any(|(section, _)| section.id == creator);
        let later = if granted { ", granted later," } else { "" };
        format!("{toucher} {did} the record of `{key}` on {host} that {owner}{later} had created")
    };
    Some(Finding { text, grants: grants.to_vec(), events: cite([record.created, touch.event]), width: None })
}

/// The clients that are unmodified programs.
pub(crate) fn programs(history: &History<'_>) -> BTreeSet<HostId> {
    let of_program = |what: &What| matches!(what, What::Asked { .. } | What::Printed { .. });
    let lines = history.trace.events.iter().filter(|event| of_program(&event.what));
    lines.map(|event| event.host).collect()
}

#[cfg(test)]
mod tests {
    use picklock_model::ids::{GrantId, Key};
    use proptest::prelude::*;

    use super::*;
    use crate::invariants::testing::*;

    /// A1 has created the record, and B1 wants it.
    fn created() -> Script {
        Script::new().at(0).waits(A1).waits(B1).creates(A1, NODE_1).at(10)
    }

    #[test]
    fn a_grant_may_do_with_its_record_as_it_likes() {
        let trace = created().extends(A1, NODE_1).creates(A1, NODE_1).deletes(A1, NODE_1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_foreign_release_is_found() {
        let trace = created().deletes(B1, NODE_1).trace();
        let found = finding(&INVARIANT, &trace);
        assert_eq!(found.grants, [A1, B1]);
        assert_eq!(cited(&trace, &found), ["0 node-1 created", "10 node-1 deleted"]);
        let text = "the record of `stock` on node-1 that client-1 (section 1) had created was deleted by client-2 (section 1)";
        assert_eq!(found.text, text);
    }

    #[test]
    fn a_foreign_extension_and_a_foreign_creation_are_found() {
        assert!(finding(&INVARIANT, &created().extends(B1, NODE_1).trace()).text.contains("extended"));
        assert!(finding(&INVARIANT, &created().creates(B1, NODE_1).trace()).text.contains("replaced"));
    }

    #[test]
    fn a_late_release_of_a_clients_earlier_section_is_foreign_too() {
        let script = created().deletes(A1, NODE_1).at(15).waits(A2).creates(A2, NODE_1);
        assert_eq!(finding(&INVARIANT, &script.at(20).deletes(A1, NODE_1).trace()).grants, [A1, A2]);
    }

    #[test]
    fn what_a_program_sends_late_for_an_earlier_section_is_its_own() {
        let asked =
            || created().asked(A1, "release lock:1").deletes(A1, NODE_1).at(15).waits(A2).creates(A2, NODE_1);
        assert_eq!(judge(&INVARIANT, &asked().at(20).deletes(A1, NODE_1).trace()), Outcome::Holds);
        assert_eq!(finding(&INVARIANT, &asked().at(20).deletes(B1, NODE_1).trace()).grants, [B1, A2]);
    }

    #[test]
    fn an_owner_that_may_enter_again_takes_up_what_it_left_and_nobody_else_does() {
        let again = || created().gives_up(A1).at(15).waits(A2).extends(A2, NODE_1);
        assert_eq!(judge(&INVARIANT, &again().reentrant().trace()), Outcome::Holds);
        assert_eq!(finding(&INVARIANT, &again().trace()).grants, [A1, A2]);
        let leaves = || created().at(15).waits(A2).extends(A2, NODE_1).deletes(A2, NODE_1);
        assert_eq!(judge(&INVARIANT, &leaves().reentrant().trace()), Outcome::Holds);
        assert_eq!(findings(&INVARIANT, &leaves().trace()).len(), 2);
        let other_task = GrantId { task: 1, ..A2 };
        assert_eq!(findings(&INVARIANT, &created().reentrant().deletes(other_task, NODE_1).trace()).len(), 1);
        let other = created().reentrant().extends(B1, NODE_1).trace();
        assert_eq!(finding(&INVARIANT, &other).grants, [A1, B1]);
    }

    #[test]
    fn a_record_that_is_gone_belongs_to_nobody() {
        let trace =
            created().expires(NODE_1).deletes(B1, NODE_1).creates(B1, NODE_1).deletes(B1, NODE_1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn stores_and_keys_have_records_of_their_own() {
        let script = created().creates(B1, NODE_2).deletes(B1, NODE_2);
        let trace = script.on("other").waits(C1).creates(C1, NODE_1).deletes(C1, NODE_1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn a_replica_is_judged_once_it_is_promoted() {
        let copied = || created().creates(A1, REPLICA);
        assert_eq!(judge(&INVARIANT, &copied().deletes(B1, REPLICA).trace()), Outcome::Holds);
        let trace = copied().event(REPLICA, None, What::BecameLeader).deletes(B1, REPLICA).trace();
        assert_eq!(finding(&INVARIANT, &trace).grants, [A1, B1]);
    }

    #[test]
    fn requests_and_records_of_unknown_origin_are_not_judged() {
        let unknown = |what: fn(Key) -> What| created().event(NODE_1, None, what(Key::new("stock")));
        assert_eq!(judge(&INVARIANT, &unknown(|key| What::Deleted { key }).trace()), Outcome::Holds);
        let trace = unknown(|key| What::Created { key }).deletes(B1, NODE_1).trace();
        assert_eq!(judge(&INVARIANT, &trace), Outcome::Holds);
    }

    #[test]
    fn without_stores_there_is_nothing_to_own_and_without_records_nothing_to_see() {
        assert_eq!(judge(&INVARIANT, &created().without_stores().trace()), Outcome::NotApplicable);
        assert!(is_unknown(&INVARIANT, &Script::new().held(A1, 0, 5).trace()));
    }

    proptest! {
        #[test]
        fn only_touches_of_live_foreign_records_are_found(steps in prop::collection::vec((0..4_u8, 0..2_u16), 1..20)) {
            let mut script = Script::new().at(0).waits(A1).waits(B1);
            let (mut owner, mut foreign) = (None, 0);
            for (what, client) in &steps {
                let grant = section(*client, 1);
                foreign += usize::from(*what < 3 && owner.is_some_and(|owner| owner != grant));
                (script, owner) = match what {
                    0 => (script.creates(grant, NODE_1), Some(grant)),
                    1 => (script.extends(grant, NODE_1), owner),
                    2 => (script.deletes(grant, NODE_1), None),
                    _ => (script.expires(NODE_1), None),
                };
            }
            prop_assume!(steps.iter().any(|(what, _)| *what == 0));
            prop_assert_eq!(findings(&INVARIANT, &script.trace()).len(), foreign);
        }
    }
}
