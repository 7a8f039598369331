//! I6: what was acquired more than once is held until it was released as often, and then it is free.
//!
//! Three demands on the sections that acquire once more what they hold, on purpose or, with a design that lets them, because they
//! find what an earlier request of theirs left behind. A holder whose record a majority of stores still
//! keeps is not refused. The record is not deleted in the service of its own grant before the last release begins. And
//! when the last release has returned without an error, as all before it, the record is gone: a count that is still
//! above zero blocks everybody. The count itself is not looked at, so no store need have one; what a store keeps that has died or
//! been demoted since counts no more, nor what a section left whose release failed.
//!
//! Not applicable where nobody acquires twice and nobody could.

use picklock_model::ids::GrantId;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, What};

use super::findings::{NOTHING_REPORTED, cite, judged, who};
use super::invariant::{Evidence, Invariant, Promise, Recorded};
use crate::history::{Granted, History, Record, Section};
use crate::outcome::{Finding, Outcome};

/// See the [module](self).
pub const INVARIANT: Invariant = Invariant {
    name: "reentrancy",
    number: "I6",
    property: "what was acquired more than once is held until it was released as often, and then it is free",
    promise: Promise::Conduct,
    severity: 8,
    evidence: Evidence::Records,
    recorded: Recorded::Never,
    check,
};

fn check(history: &History<'_>) -> Outcome {
    let nests = |event: &&Event| matches!(event.what, What::Reentered { .. } | What::NotReentered { .. });
    let mut steps = history.sections.iter().flat_map(|section| &section.steps);
    if !history.trace.reentrant && !steps.any(nests) {
        return Outcome::NotApplicable;
    }
    if !history.knows_origins() {
        return Outcome::Undecided("the requests of several tasks cannot be distinguished".to_owned());
    }
    if history.granted.is_empty() {
        return Outcome::NotAsked("nobody was granted anything".to_owned());
    }
    if !history.sees_records() {
        return Outcome::Undecided(NOTHING_REPORTED.to_owned());
    }
    let mut findings = Vec::new();
    for (section, grant) in history.grants() {
        let life = Life::of(history, section, grant);
        if life.nested.is_empty() && !history.trace.reentrant {
            continue;
        }
        life.refused(&mut findings);
        life.gone_too_soon(&mut findings);
        life.still_there(&mut findings);
    }
    judged(history, findings)
}

/// The events of one grant that was acquired more than once.
struct Life<'h, 't> {
    history: &'h History<'t>,
    section: &'h Section<'t>,
    /// Acquires once more, refusals, and releases but the last.
    nested: Vec<&'t Event>,
    /// The last release begins.
    releasing: Option<&'t Event>,
    /// The last release has returned.
    released: Option<&'t Event>,
    records: Vec<&'h Record<'t>>,
}

/// The records that the grant may rest on: its own, and where an owner may acquire more than once, what earlier sections of the
/// same task left behind.
fn records<'h, 't>(history: &'h History<'t>, section: &Section<'t>) -> Vec<&'h Record<'t>> {
    let first = GrantId { section: 0, ..section.id };
    let earlier = history.sections_between(first, section.id);
    let of_key = |other: &&Section<'_>| {
        other.id == section.id || (history.trace.reentrant && other.key == section.key && !gave_up(other))
    };
    let records = earlier.filter(of_key).flat_map(|other| history.records_of(other));
    records.filter(|record| record.on_store && record.key == section.key).collect()
}

/// True if a release of the section failed: what it left is left to its lease.
fn gave_up(section: &Section<'_>) -> bool {
    section.steps.iter().any(|event| failed(event))
}

fn failed(event: &Event) -> bool {
    match &event.what {
        What::NotReentered { .. } => true,
        What::Left { error, .. } | What::Released { error, .. } => error.is_some(),
        _ => false,
    }
}

impl<'h, 't> Life<'h, 't> {
    fn of(history: &'h History<'t>, section: &'h Section<'t>, grant: &Granted<'t>) -> Life<'h, 't> {
        let mut life = Life {
            history,
            section,
            nested: Vec::new(),
            releasing: None,
            released: None,
            records: records(history, section),
        };
        for event in section.steps_since(grant.acquired.at) {
            match event.what {
                What::Reentered { .. } | What::NotReentered { .. } | What::Left { .. } => {
                    life.nested.push(event)
                }
                What::Releasing { .. } => life.releasing = life.releasing.or(Some(event)),
                What::Released { .. } => life.released = life.released.or(Some(event)),
                _ => {}
            }
        }
        life
    }

    /// The records that stores keep at an instant and answer by.
    fn kept(&self, at: TrueTime) -> impl Iterator<Item = &'h Record<'t>> {
        let live = move |record: &&Record<'_>| {
            record.created.at <= at
                && record.over_at.is_none_or(|over| over > at)
                && !self.history.is_upset(record, at)
        };
        self.records.iter().copied().filter(live)
    }

    fn is_kept(&self, at: TrueTime) -> bool {
        self.kept(at).count() >= self.quorum()
    }

    fn quorum(&self) -> usize {
        self.history.trace.quorum.max(1) as usize
    }

    fn refused(&self, findings: &mut Vec<Finding>) {
        for event in &self.nested {
            if matches!(event.what, What::NotReentered { .. }) && self.is_kept(event.at) {
                findings.push(self.breach("was refused", "although it holds it", [Some(event), None]));
            }
        }
    }

    fn gone_too_soon(&self, findings: &mut Vec<Finding>) {
        let its_own = |event: &&Event| {
            matches!(event.what, What::Deleted { .. }) && event.grant == Some(self.section.id)
        };
        let before = |event: &&Event| self.releasing.is_none_or(|releasing| event.at < releasing.at);
        let nested = |event: &&Event| self.nested.first().is_some_and(|first| event.at >= first.at);
        let ended = self.records.iter().filter_map(|record| record.ended);
        for event in ended.filter(its_own).filter(before).filter(nested) {
            if !self.is_kept(event.at) {
                findings.push(self.breach(
                    "lost",
                    "with a release that was not its last",
                    [Some(event), None],
                ));
                return;
            }
        }
    }

    fn still_there(&self, findings: &mut Vec<Finding>) {
        let Some(released) = self.released else { return };
        let balanced = {
            let count =
                |wanted: fn(&What) -> bool| self.nested.iter().filter(|event| wanted(&event.what)).count();
            count(|what| matches!(what, What::Reentered { .. }))
                == count(|what| matches!(what, What::Left { .. }))
        };
        if !balanced || failed(released) || self.nested.iter().any(|event| failed(event)) {
            return;
        }
        if let Some(record) = self.kept(released.at).next().filter(|_| self.is_kept(released.at)) {
            let stores = self.kept(released.at);
            let mut stores: Vec<&str> =
                stores.map(|record| self.history.trace.host_name(record.created.host)).collect();
            stores.dedup();
            let why = format!("on {}, though released as often as acquired", stores.join(", "));
            let events = [Some(record.created), Some(released)];
            findings.push(self.breach("still has", &why, events));
        }
    }

    fn breach(&self, what: &str, why: &str, events: [Option<&'t Event>; 2]) -> Finding {
        let key = self.history.key_name(self.section.key);
        let nested = self.nested.first().copied();
        Finding {
            text: format!("{} {what} `{key}` {why}", who(self.history, self.section.id)),
            grants: vec![self.section.id],
            events: cite(events.into_iter().chain([nested]).flatten()),
            width: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use picklock_model::ids::Key;
    use picklock_model::trace::Trace;

    use super::*;
    use crate::invariants::testing::*;

    fn own(script: Script, what: impl FnOnce(Key) -> What) -> Script {
        script.event(A1.client, Some(A1), what(Key::new("stock")))
    }

    fn reenters(script: Script) -> Script {
        own(script, |key| What::Reentered { key, depth: 2 })
    }

    fn leaves(script: Script, error: Option<&str>) -> Script {
        let error = error.map(str::to_owned);
        own(script, |key| What::Left { key, depth: 1, error })
    }

    /// A1 holds and has acquired once more.
    fn nested() -> Script {
        reenters(Script::new().at(0).waits(A1).creates(A1, NODE_1).at(1).acquires(A1).at(10))
    }

    #[test]
    fn a_sound_nesting_holds() {
        let script = leaves(nested().at(20), None).at(30).releasing(A1).at(31).deletes(A1, NODE_1);
        assert_eq!(judge(&INVARIANT, &script.at(32).released(A1).trace()), Outcome::Holds);
    }

    #[test]
    fn a_holder_that_is_refused_is_found_unless_it_has_lost_the_lock() {
        let held = || Script::new().at(0).waits(A1).creates(A1, NODE_1).at(1).acquires(A1);
        let refused = |script: Script| {
            own(script.at(110), |key| What::NotReentered { key, why: "taken".to_owned() }).trace()
        };
        assert_eq!(finding(&INVARIANT, &refused(held())).grants, [A1]);
        assert_eq!(judge(&INVARIANT, &refused(held().at(100).expires(NODE_1))), Outcome::Holds);
    }

    #[test]
    fn a_lock_that_the_first_release_frees_is_found() {
        let script = leaves(nested().at(15).deletes(A1, NODE_1).at(20), None);
        let found = finding(&INVARIANT, &script.at(30).releasing(A1).at(32).released(A1).trace());
        assert!(found.text.contains("not its last"), "{}", found.text);
    }

    #[test]
    fn a_lock_that_the_last_release_does_not_free_is_found() {
        let script = leaves(nested().at(20), None).at(30).releasing(A1).at(32).released(A1);
        let trace = script.at(100).expires(NODE_1).trace();
        assert!(finding(&INVARIANT, &trace).text.contains("still has"));
        let script = leaves(nested().at(20), Some("no reply")).at(30).releasing(A1).at(32).released(A1);
        assert_eq!(judge(&INVARIANT, &script.trace()), Outcome::Holds, "nobody knows what the count is");
    }

    /// A1 takes and releases, and its record stays, unless something happens to it in between.
    fn left_behind(between: impl FnOnce(Script) -> Script) -> Trace {
        let script = Script::new().reentrant().at(0).waits(A1).creates(A1, NODE_1).at(1).acquires(A1);
        between(script.at(10)).at(30).releasing(A1).at(32).released(A1).trace()
    }

    #[test]
    fn what_a_dead_store_keeps_is_not_held() {
        assert_eq!(finding(&INVARIANT, &left_behind(|script| script)).grants, [A1]);
        assert_eq!(judge(&INVARIANT, &left_behind(|script| script.crashes(NODE_1))), Outcome::Holds);
    }

    #[test]
    fn a_record_whose_lease_is_over_is_not_held_though_it_is_dropped_late() {
        let expires = |overdue| {
            let script = Script::new().reentrant().at(0).waits(A1).creates(A1, NODE_1).at(1).acquires(A1);
            script.at(30).releasing(A1).at(32).released(A1).at(50).expires_late(NODE_1, overdue).trace()
        };
        assert_eq!(finding(&INVARIANT, &expires(5)).grants, [A1]);
        assert_eq!(judge(&INVARIANT, &expires(25)), Outcome::Holds);
    }

    #[test]
    fn what_an_earlier_section_left_counts_unless_its_release_failed() {
        let first = || Script::new().reentrant().at(0).waits(A1).creates(A1, NODE_1);
        let second = |script: Script| {
            script.at(40).waits(A2).at(41).acquires(A2).at(50).releasing(A2).at(52).released(A2).trace()
        };
        assert_eq!(finding(&INVARIANT, &second(first().at(5).gives_up(A1))).grants, [A2]);
        let failed = first().at(1).acquires(A1).at(5).releasing(A1).at(6).release_in_doubt(A1);
        assert_eq!(judge(&INVARIANT, &second(failed)), Outcome::Holds);
    }

    #[test]
    fn without_nesting_there_is_nothing_to_say() {
        assert_eq!(judge(&INVARIANT, &Script::new().held(A1, 0, 5).trace()), Outcome::NotApplicable);
    }
}
