//! The attempts of a section: a lock that is refused asks again, and only the last attempt is the one that was granted.
//!
//! A lock says when it begins one (`Host::begin_attempt`); the wait of one that
//! never does is a single attempt. Where an owner may acquire more than once, a later attempt takes up what an earlier one
//! left behind, and all are one.

use std::iter::successors;

use picklock_model::ids::EventId;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, What};

use super::parts::{Granted, History, Record, Section};

/// From when to when an attempt lasted; the next one begins where it ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Attempt {
    /// Its beginning.
    pub from: TrueTime,
    /// Its end: the next one, the answer, or the end of the run.
    pub until: TrueTime,
}

impl<'t> History<'t> {
    /// The attempt of a section that was under way at an instant.
    #[must_use]
    pub fn attempt_at(&self, section: &Section<'_>, at: TrueTime) -> Attempt {
        let begun =
            self.trace.attempts.get(&section.id).filter(|_| !self.trace.reentrant && !self.trace.takes_up);
        let begun = begun.map_or(&[][..], Vec::as_slice);
        let next = begun.partition_point(|begun| *begun <= at);
        let asked = section.asked.map_or(TrueTime::default(), |event| event.at);
        let from = next.checked_sub(1).map_or(asked, |this| begun[this]);
        let answered = || section.answered.map_or(self.trace.end, |event| event.at);
        Attempt { from, until: begun.get(next).copied().unwrap_or_else(answered) }
    }

    /// When the attempt began that a grant came of.
    #[must_use]
    pub fn attempted_at(&self, section: &Section<'_>, grant: &Granted<'_>) -> TrueTime {
        self.attempt_at(section, grant.acquired.at).from
    }

    /// The records that stores and replicas kept of a grant: not what failed attempts before it have left there.
    pub fn records_of_grant<'h>(
        &'h self,
        section: &'h Section<'t>,
        grant: &Granted<'t>,
    ) -> impl Iterator<Item = &'h Record<'t>> {
        let attempted = self.attempted_at(section, grant);
        self.records_of(section).filter(move |record| self.sent_at(record.created, section) >= attempted)
    }

    /// When the section's client sent what led to an event; the event's own time if the trace does not say.
    #[must_use]
    pub fn sent_at(&self, event: &Event, section: &Section<'_>) -> TrueTime {
        let cause = |of: &&Event| of.cause.and_then(|id| self.event(id));
        let sent = |of: &&Event| of.host == section.id.client && matches!(of.what, What::Sent { .. });
        successors(Some(event), cause).find(sent).map_or(event.at, |sent| sent.at)
    }

    /// An event by its name.
    #[must_use]
    pub fn event(&self, id: EventId) -> Option<&'t Event> {
        self.position(id).map(|at| &self.trace.events[at])
    }

    /// Where an event stands in its trace. An id is the order of emission, which is the true-time order but for events
    /// stamped ahead of their emission.
    #[must_use]
    pub fn position(&self, id: EventId) -> Option<usize> {
        let events = &self.trace.events;
        let guess = id.0 as usize;
        if events.get(guess).is_some_and(|event| event.id == id) {
            return Some(guess);
        }
        events.iter().position(|event| event.id == id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::*;

    #[test]
    fn an_attempt_lasts_until_the_next_one_and_the_last_until_the_answer() {
        let script = Script::new().at(0).waits(A1).at(5).attempts(A1).at(30).attempts(A1).at(50).acquires(A1);
        let trace = script.at(70).released(A1).trace();
        let history = History::of(&trace);
        let spans = [1, 5, 29, 30, 60].map(|ms| {
            let Attempt { from, until } = history.attempt_at(&history.sections[0], at(ms));
            (from.as_millis(), until.as_millis())
        });
        assert_eq!(spans, [(0, 5), (5, 30), (5, 30), (30, 50), (30, 50)]);
    }

    #[test]
    fn what_a_failed_attempt_left_is_not_the_grants() {
        let script = Script::new().at(0).waits(A1).attempts(A1).at(2).creates(A1, NODE_1).at(30).attempts(A1);
        let script = script.at(32).creates(A1, NODE_2).at(50).acquires(A1);
        let hosts = |trace: &picklock_model::trace::Trace| {
            let history = History::of(trace);
            let (section, grant) = history.grants().next().expect("there is a grant");
            history.records_of_grant(section, grant).map(|record| record.created.host).collect::<Vec<_>>()
        };
        assert_eq!(hosts(&script.trace()), [NODE_2]);
    }

    #[test]
    fn an_owner_that_may_enter_again_takes_up_what_its_earlier_attempts_left() {
        let script = Script::new().reentrant().at(0).waits(A1).attempts(A1).at(2).creates(A1, NODE_1);
        let trace = script.at(30).attempts(A1).at(50).acquires(A1).trace();
        let history = History::of(&trace);
        let (section, grant) = history.grants().next().expect("there is a grant");
        assert_eq!(history.records_of_grant(section, grant).count(), 1);
    }
}
