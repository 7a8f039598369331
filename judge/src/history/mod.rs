//! The history that all invariants read: one pass over a trace sorts its events by section, record and operation.
//!
//! It models a run as the definitions of the invariants speak of it: *sections* that wait, are granted, believe and
//! let go; *records* that stores keep of grants; *operations* that reach the guarded resource. Messages, connections
//! and clocks are left out on purpose: what they did shows in these. Belief and grant order are measured here, in
//! true time, and nowhere else, so that no two invariants can disagree about them.

mod attempts;
mod contest;
mod lease_ends;
mod names;
mod parts;
mod pass;
mod sessions;
mod silence;
mod stretches;
mod wall;

pub use attempts::Attempt;
pub use parts::{
    Answer, Discarded, Granted, History, Operation, OperationKind, Record, Section, SharedRecord, Touch,
};
pub use silence::Silence;
pub use stretches::Stretch;

#[cfg(test)]
mod tests {
    use picklock_model::ids::{GrantId, HostId};
    use picklock_model::trace::Belief;
    use picklock_model::trace::{Trace, What};

    use super::*;
    use crate::invariants::testing::*;

    fn order(trace: &Trace) -> Vec<GrantId> {
        History::of(trace).grants().map(|(section, _)| section.id).collect()
    }

    fn granted_at(trace: &Trace) -> Vec<u64> {
        History::of(trace).grants().map(|(_, grant)| grant.granted_at.as_millis()).collect()
    }

    /// When the belief of the only grant ends.
    fn believed_until(trace: &Trace) -> u64 {
        let history = History::of(trace);
        history.grants().map(|(_, grant)| grant.believed_until.as_millis()).next().expect("there is a grant")
    }

    #[test]
    fn grants_are_ordered_by_the_store_and_not_by_the_replies() {
        let script = Script::new().at(0).waits(A1).waits(B1).at(5).creates(A1, NODE_1).at(8).expires(NODE_1);
        let trace = script.at(9).creates(B1, NODE_1).at(10).acquires(B1).at(20).acquires(A1).trace();
        assert_eq!(order(&trace), [A1, B1]);
        assert_eq!(granted_at(&trace), [5, 9]);
    }

    #[test]
    fn a_quorum_is_complete_with_the_store_that_completes_it() {
        let script =
            Script::new().quorum(2).at(0).waits(A1).at(3).creates(A1, NODE_3).at(5).creates(A1, NODE_1);
        let trace = script.at(7).creates(A1, NODE_2).at(8).acquires(A1).at(9).creates(A1, NODE_2).trace();
        assert_eq!(granted_at(&trace), [5]);
    }

    #[test]
    fn an_attempt_given_up_does_not_count_towards_a_quorum() {
        let script =
            Script::new().quorum(2).at(0).waits(A1).at(1).creates(A1, NODE_1).at(2).deletes(A1, NODE_1);
        let script = script.at(10).creates(A1, NODE_2).at(11).creates(A1, NODE_3);
        assert_eq!(granted_at(&script.at(12).acquires(A1).trace()), [11]);
    }

    #[test]
    fn a_second_attempt_on_a_store_supersedes_the_first() {
        let script = Script::new().quorum(2).at(0).waits(A1).at(1).creates(A1, NODE_1).at(2).expires(NODE_1);
        let script = script.at(10).creates(A1, NODE_2).at(11).creates(A1, NODE_1);
        assert_eq!(granted_at(&script.at(12).acquires(A1).trace()), [11]);
    }

    #[test]
    fn a_replica_counts_once_it_is_promoted() {
        let copied = |promoted: bool| {
            let script = Script::new().at(0).waits(A1).at(3).creates(A1, NODE_1).at(4);
            let script = if promoted { script.event(REPLICA, None, What::BecameLeader) } else { script };
            granted_at(&script.at(5).creates(A1, REPLICA).at(9).acquires(A1).trace())
        };
        assert_eq!(copied(false), [3]);
        assert_eq!(copied(true), [5]);
    }

    #[test]
    fn a_demoted_primary_no_longer_counts() {
        let script = Script::new().at(0).waits(A1).at(1).event(NODE_1, None, What::StoppedLeading);
        assert_eq!(granted_at(&script.at(3).creates(A1, NODE_1).at(9).acquires(A1).trace()), [9]);
    }

    #[test]
    fn without_a_quorum_a_grant_is_dated_by_its_return() {
        let script = || Script::new().at(0).waits(A1).at(3).creates(A1, NODE_1).at(9).acquires(A1);
        assert_eq!(granted_at(&script().quorum(2).trace()), [9]);
        assert_eq!(granted_at(&script().quorum(0).trace()), [9]);
    }

    #[test]
    fn naive_belief_ends_with_release_abort_or_crash_and_not_with_the_deadline() {
        let held = || Script::new().at(0).waits(A1).at(10).acquires_with(A1, None, Some(5));
        let held = || held().at(40).deadline_passes(A1);
        assert_eq!(believed_until(&held().at(60).releasing(A1).at(70).released(A1).trace()), 60);
        assert_eq!(believed_until(&held().at(50).aborts(A1).at(60).releasing(A1).trace()), 50);
        assert_eq!(believed_until(&held().at(55).crashes(CLIENT_1).at(60).releasing(A1).trace()), 55);
        assert_eq!(believed_until(&held().at(55).crashes(CLIENT_2).trace()), 1_000);
    }

    #[test]
    fn careful_belief_ends_when_the_deadline_passes_and_not_when_that_was_forecast() {
        for belief in [Belief::Trusting, Belief::Honest] {
            let held = |deadline| {
                let script = Script::new().believing(belief).at(0).waits(A1).at(10);
                script.acquires_with(A1, None, Some(deadline)).at(60).releasing(A1)
            };
            assert_eq!(believed_until(&held(40).at(45).deadline_passes(A1).trace()), 45);
            assert_eq!(believed_until(&held(40).trace()), 60);
            assert_eq!(believed_until(&held(10).trace()), 10, "stillborn");
        }
    }

    #[test]
    fn a_section_lets_go_when_its_release_returns_or_it_gives_up_without_one() {
        let let_go = |script: Script| {
            let trace = script.trace();
            let history = History::of(&trace);
            history.grants().next().and_then(|(_, grant)| Some(grant.let_go?.at.as_millis()))
        };
        let held = || Script::new().held(A1, 0, 20);
        assert_eq!(let_go(held()), Some(20));
        let held = || Script::new().at(0).waits(A1).acquires(A1).at(20);
        assert_eq!(let_go(held().aborts(A1)), Some(20));
        assert_eq!(let_go(held().aborts(A1).at(30).releasing(A1)), None);
        assert_eq!(let_go(held().aborts(A1).at(30).releasing(A1).at(35).released(A1)), Some(35));
        assert_eq!(let_go(held().releasing(A1).at(30).crashes(CLIENT_1)), Some(30));
    }

    #[test]
    fn records_of_other_keys_are_no_locks() {
        let trace = Script::new().at(0).waits(A1).on("stock:token").at(3).creates(A1, NODE_1).trace();
        assert!(History::of(&trace).records.is_empty());
    }

    #[test]
    fn a_damaged_trace_is_judged_without_a_panic() {
        let stray = GrantId::new(HostId(999), u32::MAX);
        let script =
            Script::new().quorum(3).at(5).released(stray).releasing(stray).gives_up(stray).aborts(A1);
        let script = script.creates(stray, HostId(777)).deletes(stray, HostId(777)).crashes(HostId(888));
        let script = script.waits(stray).waits(stray).acquires(stray).acquires(stray).released(stray);
        let script = script.reads(stray, i64::MIN).writes(stray, i64::MAX).takes(stray, i64::MAX, i64::MAX);
        let mut trace =
            script.fenced_off(stray, 3).takes(stray, i64::MAX, i64::MIN).acknowledged(stray).trace();
        trace.end = at(0);
        trace.events.reverse();
        for invariant in crate::invariants::ALL {
            judge(invariant, &trace);
        }
    }
}
