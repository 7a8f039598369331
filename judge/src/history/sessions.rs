//! The sessions that records of locks depend on, where a record has no lease of its own: it counts as long as another key, that of
//! its client's session, which every request that takes a lock sets or extends in the same step.
//!
//! Nothing is known of how a record names its session: the link is what one request did to two keys at one instant. A copy on another
//! host depends on the same key.

use std::collections::{BTreeMap, BTreeSet};

use picklock_model::ids::{GrantId, HostId, Key};
use picklock_model::time::TrueTime;
use picklock_model::trace::Event;

/// The keys of sessions by the grants whose records depend on them.
#[derive(Default)]
pub(super) struct SessionKeys<'t> {
    of: BTreeMap<GrantId, &'t Key>,
    /// Those that a record depends on.
    known: BTreeSet<&'t Key>,
    /// The last key that is no lock's and that a request has set or extended.
    last: Option<(HostId, GrantId, TrueTime, &'t Key)>,
}

impl<'t> SessionKeys<'t> {
    /// A request has set or extended a key that is no lock's.
    pub(super) fn kept(&mut self, event: &Event, key: &'t Key) {
        self.last = event.grant.map(|grant| (event.host, grant, event.at, key));
    }

    /// True if a record depends on this key.
    pub(super) fn has(&self, key: &'t Key) -> bool {
        self.known.contains(key)
    }

    /// The key of the session of a record that is created.
    pub(super) fn of(&mut self, created: &Event) -> Option<&'t Key> {
        let grant = created.grant?;
        if let Some((host, by, at, key)) = self.last
            && (host, by, at) == (created.host, grant, created.at)
        {
            self.of.insert(grant, key);
            self.known.insert(key);
        }
        self.of.get(&grant).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::super::History;
    use crate::invariants::testing::*;
    use crate::invariants::{clean_failure, ownership};
    use crate::outcome::Outcome;

    /// A1's request keeps the session of its client and creates the record.
    fn created() -> Script {
        let script = Script::new().in_sessions().at(0).waits(A1).waits(B1).at(5).on("session:a");
        script.creates(A1, NODE_1).on("stock").creates(A1, NODE_1)
    }

    /// B1 puts its record in the place of A1's.
    fn taken_over(script: Script) -> Script {
        script
            .at(200)
            .on("session:b")
            .creates(B1, NODE_1)
            .on("stock")
            .creates(B1, NODE_1)
            .at(201)
            .acquires(B1)
    }

    fn session_runs_out(script: Script) -> Script {
        script.at(150).on("session:a").expires(NODE_1).on("stock")
    }

    #[test]
    fn the_record_of_a_session_that_is_over_may_be_replaced() {
        let trace = taken_over(session_runs_out(created())).trace();
        assert_eq!(judge(&ownership::INVARIANT, &trace), Outcome::Holds);
        let history = History::of(&trace);
        assert_eq!(history.records.len(), 2);
        assert_eq!(history.records[0].over_at, Some(at(150)));
    }

    #[test]
    fn the_record_of_a_session_that_lasts_may_not() {
        let found = finding(&ownership::INVARIANT, &taken_over(created()).trace());
        assert!(found.text.contains("replaced the record"), "{}", found.text);
        let elsewhere = created().at(150).on("session:c").expires(NODE_1).on("stock");
        assert_eq!(findings(&ownership::INVARIANT, &taken_over(elsewhere).trace()).len(), 1);
        let on_another_host = created().at(150).on("session:a").expires(NODE_2).on("stock");
        assert_eq!(findings(&ownership::INVARIANT, &taken_over(on_another_host).trace()).len(), 1);
    }

    #[test]
    fn a_session_that_is_set_again_makes_its_records_count_again() {
        let revived = session_runs_out(created()).at(160).on("session:a").creates(A1, NODE_1).on("stock");
        assert_eq!(findings(&ownership::INVARIANT, &taken_over(revived).trace()).len(), 1);
    }

    #[test]
    fn nobody_but_its_creator_deletes_what_a_session_has_left() {
        let left = || session_runs_out(created()).at(170);
        assert_eq!(judge(&ownership::INVARIANT, &left().deletes(A1, NODE_1).trace()), Outcome::Holds);
        assert_eq!(findings(&ownership::INVARIANT, &left().deletes(B1, NODE_1).trace()).len(), 1);
    }

    #[test]
    fn without_sessions_no_key_excuses_anything() {
        let mut trace = taken_over(session_runs_out(created())).trace();
        trace.sessions = false;
        assert_eq!(findings(&ownership::INVARIANT, &trace).len(), 1);
    }

    #[test]
    fn what_a_failed_acquire_left_is_gone_with_its_session() {
        let failed = |script: Script| {
            let delivered = picklock_model::trace::What::Delivered { peer: CLIENT_1, segment: 0 };
            script.at(5).event(NODE_1, Some(A1), delivered).at(20).gives_up(A1)
        };
        let in_time = failed(created()).at(110).on("session:a").expires(NODE_1).on("stock").trace();
        assert_eq!(judge(&clean_failure::INVARIANT, &in_time), Outcome::Holds);
        let late = failed(created()).at(600).on("session:a").expires(NODE_1).on("stock").trace();
        assert_eq!(findings(&clean_failure::INVARIANT, &late).len(), 1);
        assert_eq!(findings(&clean_failure::INVARIANT, &failed(created()).trace()).len(), 1);
    }
}
