//! What the invariants share: one pass over a trace that sorts its events by section, record and operation.
//!
//! It models a run as the definitions of the invariants speak of it: *sections* that wait, are granted, believe and
//! let go; *records* that stores keep of grants; *operations* that reach the guarded resource. Messages, connections
//! and clocks are left out on purpose: what they did shows in these. Belief and grant order are measured here, in
//! true time, and nowhere else, so that no two invariants can disagree about them.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_sim::ids::{GrantId, Key, Token};
use picklock_sim::time::TrueTime;
use picklock_sim::trace::{Event, Trace, What};

use self::pass::Pass;

mod pass;

/// A run as invariants see it.
pub struct History<'t> {
    /// The trace it was derived from.
    pub trace: &'t Trace,
    /// The keys that were locked or changed, in order of appearance. Everything below names a key by its index here.
    pub keys: Vec<&'t Key>,
    /// The sections in order of appearance. Everything below names a section by its index here.
    pub sections: Vec<Section<'t>>,
    /// The indices of the sections by their names.
    named: BTreeMap<GrantId, usize>,
    /// The sections that were granted, in grant order: by the instant at which the store executed the request.
    pub granted: Vec<usize>,
    /// What stores and replicas kept of grants, in order of creation. Records of other keys, such as the counters
    /// that tokens are drawn from, are no locks and do not appear.
    pub records: Vec<Record<'t>>,
    /// Requests that met a live record on a host that took writes, in true-time order.
    pub touches: Vec<Touch<'t>>,
    /// What reached the guarded resource, in the order in which it was decided there.
    pub operations: Vec<Operation<'t>>,
    /// What clients learned of their changes, in true-time order.
    pub answers: Vec<Answer<'t>>,
    /// Promotions, demotions and crashes, in true-time order.
    pub upheavals: Vec<&'t Event>,
    /// The last event by which a fault began, struck or healed.
    pub last_fault: Option<&'t Event>,
}

/// One section: a request for the lock, and what became of it.
pub struct Section<'t> {
    /// Its name, and the name of the grant if it gets one.
    pub id: GrantId,
    /// What it locks and changes.
    pub key: usize,
    /// When it began to wait: for the lock, or without a lock for its change.
    pub asked: Option<&'t Event>,
    /// What ended the wait: the grant, giving up, or the client's crash; without a lock, what it learned of its change.
    /// `None` while it waits at the end of the run.
    pub answered: Option<&'t Event>,
    /// The grant, if it got one.
    pub grant: Option<Granted<'t>>,
    /// What its client noted of it beside that, in true-time order: acquires once more, deadlines, giving up, releases.
    pub steps: Vec<&'t Event>,
    /// Indices of what it created in [`History::records`], in order of creation.
    pub records: Vec<usize>,
    /// The last of its messages that reached a store or a replica.
    pub delivered: Option<&'t Event>,
}

/// A grant, from the moment when the client saw it.
pub struct Granted<'t> {
    /// The client's own code saw the grant: its belief begins.
    pub acquired: &'t Event,
    /// Who holds it, as the store knows it.
    pub owner: &'t str,
    /// The fencing token, if the design hands one out.
    pub token: Option<Token>,
    /// When the store executed the request, or the store that completed the quorum.
    pub granted_at: TrueTime,
    /// Its place in the grant order of the whole run.
    pub rank: usize,
    /// The end of the belief; not before [`acquired`](Granted::acquired), and the same instant if it was stillborn.
    pub believed_until: TrueTime,
    /// What ended the belief; `None` if the run's end did.
    pub belief_end: Option<&'t Event>,
    /// The section was over: its release returned, it gave up without one, or its client died.
    pub let_go: Option<&'t Event>,
}

/// What one host kept of one grant, from creation to its end.
pub struct Record<'t> {
    /// The key.
    pub key: usize,
    /// Its creation; host and creating grant stand there.
    pub created: &'t Event,
    /// True if the host took writes when it created the record: a replica's copy is not a grant.
    pub on_store: bool,
    /// Its deletion, expiry, loss, or replacement.
    pub ended: Option<&'t Event>,
    /// When it was over: when it ended, or, if its lease ran out, when the store could have dropped it.
    pub over_at: Option<TrueTime>,
}

impl<'t> Record<'t> {
    fn end(&mut self, event: &'t Event, over_at: TrueTime) {
        self.ended = Some(event);
        self.over_at = Some(over_at.max(self.created.at));
    }
}

/// A request that extended, deleted or replaced a live record.
pub struct Touch<'t> {
    /// Index of the record in [`History::records`].
    pub record: usize,
    /// What the store did.
    pub event: &'t Event,
}

/// Something asked of the guarded resource.
pub struct Operation<'t> {
    /// What the resource did.
    pub event: &'t Event,
    /// The section it came from, if known.
    pub section: Option<usize>,
    /// The register or stock.
    pub key: usize,
    /// The token that came with it, unless it was refused.
    pub token: Option<Token>,
    /// What it was.
    pub act: Act,
}

/// The kinds of operations on the resource.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// The register was read.
    Read,
    /// The register was set to this value.
    Write(i64),
    /// The stock was asked for an amount.
    Take {
        /// How much.
        amount: i64,
        /// What is left.
        left: i64,
        /// False if too little was left.
        taken: bool,
    },
    /// Refused for its token.
    Refused {
        /// How many running stores still kept the record of the section's grant.
        standing: u32,
    },
}

impl Act {
    /// True if it changed the resource.
    #[must_use]
    pub fn changes(self) -> bool {
        matches!(self, Act::Write(_) | Act::Take { taken: true, .. })
    }

    /// True if the resource carried it out: all but those refused for their token.
    #[must_use]
    pub fn applied(self) -> bool {
        !matches!(self, Act::Refused { .. })
    }
}

/// What a client learned of a change: acknowledged, refused, or that it will never know.
pub struct Answer<'t> {
    /// What it learned.
    pub event: &'t Event,
    /// The section that made the change, if known.
    pub section: Option<usize>,
    /// The register or stock.
    pub key: usize,
}

impl<'t> History<'t> {
    /// Derives the history of a trace.
    #[must_use]
    pub fn of(trace: &'t Trace) -> History<'t> {
        let mut pass = Pass::over(trace);
        for event in &trace.events {
            pass.take(event);
        }
        pass.into_history()
    }

    /// The granted sections with their grants, in grant order.
    pub fn grants(&self) -> impl Iterator<Item = (&Section<'t>, &Granted<'t>)> {
        self.granted
            .iter()
            .filter_map(|at| self.sections[*at].grant.as_ref().map(|g| (&self.sections[*at], g)))
    }

    /// The index of a section.
    #[must_use]
    pub fn place_of(&self, id: GrantId) -> Option<usize> {
        self.named.get(&id).copied()
    }

    /// What the stores and replicas kept of a section, in order of creation.
    pub fn records_of(&self, section: &Section<'t>) -> impl Iterator<Item = &Record<'t>> {
        section.records.iter().map(|at| &self.records[*at])
    }

    /// When the host of a section's client died first, at this instant or after it.
    #[must_use]
    pub fn death_of(&self, section: &Section<'t>, from: TrueTime) -> Option<&'t Event> {
        let died = |event: &&Event| {
            event.host == section.id.client && event.at >= from && matches!(event.what, What::Crashed { .. })
        };
        self.upheavals.iter().copied().find(died)
    }

    /// The name of a key as reports print it.
    #[must_use]
    pub fn key_name(&self, key: usize) -> &'t str {
        self.keys[key].as_str()
    }
}

impl<'t> Section<'t> {
    /// Its client's steps at an instant and after it.
    pub fn steps_since(&self, at: TrueTime) -> impl Iterator<Item = &'t Event> {
        self.steps.iter().copied().filter(move |event| event.at >= at)
    }

    /// How long the section waited within `from..until`, a wait that never ended counting up to `until`.
    #[must_use]
    pub fn waited_within(&self, from: TrueTime, until: TrueTime) -> Duration {
        let Some(asked) = self.asked else { return Duration::ZERO };
        let answered = self.answered.map_or(until, |event| event.at);
        answered.min(until).since(asked.at.max(from))
    }
}

#[cfg(test)]
mod tests {
    use picklock_sim::ids::HostId;
    use picklock_sim::lock::Belief;

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
            let script = if promoted { script.event(REPLICA, None, What::Promoted) } else { script };
            granted_at(&script.at(5).creates(A1, REPLICA).at(9).acquires(A1).trace())
        };
        assert_eq!(copied(false), [3]);
        assert_eq!(copied(true), [5]);
    }

    #[test]
    fn a_demoted_primary_no_longer_counts() {
        let script = Script::new().at(0).waits(A1).at(1).event(NODE_1, None, What::Demoted);
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
        let stray = GrantId { client: HostId(999), section: u32::MAX };
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
