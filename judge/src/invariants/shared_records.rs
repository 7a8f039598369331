//! The locks that share a record, for [progress](super::progress): a client waits for a free lock until the holder of another one has let
//! go, because both are one record.
//!
//! The cause does not depend on how long the work lasts, so such a wait is a finding however short it is, if a server heard the
//! waiter while the record was there. A wait for a lock that its own client holds under another name is one too.

use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, What};

use super::findings::{between, cite, who};
use crate::history::{History, Record, Section, SharedRecord};
use crate::outcome::Finding;

/// A wait for a lock that is free, behind the record of another one.
struct Wait<'h, 't> {
    shared: &'h SharedRecord<'t>,
    section: &'h Section<'t>,
    asked: &'t Event,
    record: &'h Record<'t>,
    holder: &'h Section<'t>,
    from: TrueTime,
    until: TrueTime,
}

/// Of each two locks that share a record the longest wait for one while the other was held.
pub(super) fn findings(history: &History<'_>) -> Vec<Finding> {
    let mut longest: Vec<Wait<'_, '_>> = Vec::new();
    for wait in waits(history) {
        let same = |other: &&mut Wait<'_, '_>| {
            other.shared.name == wait.shared.name
                && other.section.key == wait.section.key
                && other.holder.key == wait.holder.key
        };
        match longest.iter_mut().find(same) {
            Some(other) if other.until.since(other.from) >= wait.until.since(wait.from) => {}
            Some(other) => *other = wait,
            None => longest.push(wait),
        }
    }
    longest.iter().map(|wait| wait.finding(history)).collect()
}

fn waits<'h, 't>(history: &'h History<'t>) -> impl Iterator<Item = Wait<'h, 't>> {
    let pairs = history.shared.iter().flat_map(|shared| {
        let of_shared = |section: &&Section<'_>| shared.locks.contains(&section.key);
        history.sections.iter().filter(of_shared).map(move |section| (shared, section))
    });
    pairs.flat_map(|(shared, section)| {
        let others = history.records.iter().filter(|record| {
            record.on_store
                && history.shared_by(record.key, section.key).is_some_and(|one| one.name == shared.name)
        });
        others.filter_map(|record| Wait::of(history, shared, section, record))
    })
}

impl<'h, 't> Wait<'h, 't> {
    fn of(
        history: &'h History<'t>,
        shared: &'h SharedRecord<'t>,
        section: &'h Section<'t>,
        record: &'h Record<'t>,
    ) -> Option<Wait<'h, 't>> {
        let holder = &history.sections[history.place_of(record.created.grant?)?];
        let asked = section.asked?;
        let (end, over) = (history.trace.end, record.over_at.unwrap_or(history.trace.end));
        let (from, until) =
            (asked.at.max(record.created.at), section.answered.map_or(end, |event| event.at).min(over));
        let heard = |event: &&Event| {
            event.host == record.created.host
                && event.grant == Some(section.id)
                && matches!(event.what, What::Delivered { .. })
        };
        let mut heard = history.trace.events.iter().filter(heard);
        let is_heard = from < until && heard.any(|event| (from..until).contains(&event.at));
        is_heard.then_some(Wait { shared, section, asked, record, holder, from, until })
    }

    fn finding(&self, history: &History<'_>) -> Finding {
        let (wanted, held) = (history.key_name(self.section.key), history.key_name(self.holder.key));
        let (waiter, holder) = (who(history, self.section.id), who(history, self.holder.id));
        let text = format!(
            "shared record: {waiter} waited {} for `{wanted}`, which none held, while {holder} had `{held}`, from {} until {}: both are \
             the record `{}` on {}",
            between(self.from, self.until),
            self.from,
            self.until,
            self.shared.name,
            history.trace.host_name(self.record.created.host),
        );
        let proof = [Some(self.record.created), Some(self.asked), self.record.ended, self.section.answered];
        let proof = proof.into_iter().flatten().filter(|event| event.at <= self.until);
        Finding {
            text,
            grants: vec![self.section.id, self.holder.id],
            events: cite(proof),
            width: Some(self.until.since(self.from)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::progress::INVARIANT;
    use crate::invariants::testing::*;
    use crate::outcome::Outcome;
    use picklock_model::ids::Key;

    /// A holds one lock for 60 ms, and B, whose request is heard or not, gets another one after that; each has the name that this gives.
    fn two_locks(heard: bool, name: impl Fn(&str) -> String) -> picklock_model::trace::Trace {
        let script = Script::new().on("lock:1").at(0).waits(A1).at(1).creates(A1, NODE_1).at(2).acquires(A1);
        let script = script.on("lock:2").at(10).waits(B1).at(12);
        let arrives = What::Delivered { peer: CLIENT_2, segment: 0 };
        let script = if heard { script.event(NODE_1, Some(B1), arrives) } else { script };
        let script = script.on("lock:1").at(60).releasing(A1).at(61).deletes(A1, NODE_1).at(62).released(A1);
        let mut trace = script.on("lock:2").at(63).creates(B1, NODE_1).at(64).acquires(B1).trace();
        for event in &mut trace.events {
            if let What::Created { key } | What::Deleted { key } = &mut event.what {
                *key = Key::new(&name(key.as_str()));
            }
        }
        trace
    }

    #[test]
    fn a_lock_that_waits_for_the_holder_of_another_one_shares_its_record() {
        let trace = two_locks(true, |_| "advisory 1".to_owned());
        let found = finding(&INVARIANT, &trace);
        assert_eq!(
            found.text,
            "shared record: client-2 (section 1) waited 51 ms for `lock:2`, which none held, while client-1 (section 1) had `lock:1`, \
             from 0.010000s until 0.061000s: both are the record `advisory 1` on node-1"
        );
        assert_eq!((found.grants, found.width), (vec![A1, B1], wide(51)));
    }

    #[test]
    fn locks_with_records_of_their_own_and_requests_that_came_later_share_nothing() {
        let own = two_locks(true, |key| key.replace("lock:", "advisory "));
        assert_eq!(judge(&INVARIANT, &own), Outcome::Holds);
        let later = two_locks(false, |_| "advisory 1".to_owned());
        assert_eq!(judge(&INVARIANT, &later), Outcome::Holds);
    }
}
