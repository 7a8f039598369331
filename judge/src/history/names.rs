//! Under which names stores keep the records of locks, where these are not the names by which the locks are asked for: many
//! libraries put a word of their own before it.
//!
//! A name is taken for that of a lock's record if it holds the lock's name, every grant of the lock created a record of that name
//! before the client knew of it, and no other name is like it. A library that knows its owner by the process, and finds the record
//! that an earlier section of the same client has left behind, extends that record in place of creating one: such a grant counts
//! as well where no name was created by every grant. What does not come out so clearly is left out: then nothing is
//! said of these records, which is better than to judge those of a queue or a signal as if they were the lock's.

use std::collections::{BTreeMap, BTreeSet};

use picklock_model::ids::{HostId, Key};
use picklock_model::trace::{Event, What};

use super::parts::History;

/// The names that each section made or took up, by the index of the section.
type Names<'t> = BTreeMap<usize, BTreeSet<&'t Key>>;

/// The names of records, where these are not those of the locks.
#[derive(Default)]
pub(super) struct RecordNames<'t> {
    /// The locks by the names of their records.
    pub(super) locks: BTreeMap<&'t Key, &'t Key>,
    /// True if a grant took up a record that an earlier section of its client had left behind.
    pub(super) taken_up: bool,
}

/// The names of the records of a run, as far as they differ from those of the locks.
pub(super) fn of<'t>(history: &History<'t>) -> RecordNames<'t> {
    let (mut created, mut taken) = (Names::new(), Names::new());
    // The clients that created the records that are there, by store and name.
    let mut creators: BTreeMap<(HostId, &'t Key), HostId> = BTreeMap::new();
    for event in &history.trace.events {
        match &event.what {
            What::Created { key: name } => {
                match event.grant {
                    Some(grant) => creators.insert((event.host, name), grant.client),
                    None => creators.remove(&(event.host, name)),
                };
                note(history, event, name, &mut created);
                note(history, event, name, &mut taken);
            }
            What::Extended { key: name }
                if event
                    .grant
                    .is_some_and(|grant| creators.get(&(event.host, name)) == Some(&grant.client)) =>
            {
                note(history, event, name, &mut taken);
            }
            What::Deleted { key: name } | What::Expired { key: name, .. } | What::Lost { key: name } => {
                creators.remove(&(event.host, name));
            }
            _ => {}
        }
    }
    let mut names = RecordNames::default();
    for (key, lock) in history.keys.iter().enumerate() {
        let created = common(history, key, &created);
        let taken_up = created.is_empty();
        let found = if taken_up { common(history, key, &taken) } else { created };
        let mut found = found.into_iter();
        if let (Some(name), None) = (found.next(), found.next()) {
            names.locks.insert(name, lock);
            names.taken_up |= taken_up;
        }
    }
    names
}

/// Notes a name that holds the lock's name, if the client did not know of its grant before.
fn note<'t>(history: &History<'t>, event: &Event, name: &'t Key, names: &mut Names<'t>) {
    let Some(place) = event.grant.and_then(|id| history.place_of(id)) else { return };
    let section = &history.sections[place];
    let in_time = section.grant.as_ref().is_some_and(|grant| event.at <= grant.acquired.at);
    if in_time && name.as_str().contains(history.key_name(section.key)) {
        names.entry(place).or_default().insert(name);
    }
}

/// The names that all grants of a lock have in common.
fn common<'t>(history: &History<'t>, key: usize, names: &Names<'t>) -> BTreeSet<&'t Key> {
    let grants = history.granted.iter().filter(|at| history.sections[**at].key == key);
    let each = grants.map(|at| names.get(at).cloned().unwrap_or_default());
    each.reduce(|one, other| one.intersection(&other).copied().collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use picklock_model::trace::Trace;

    use super::*;
    use crate::invariants::testing::*;
    use crate::invariants::{ownership, truthful_answers};
    use crate::outcome::Outcome;

    /// The same run on stores that were given another name than the lock has.
    fn under(name: &str, mut trace: Trace) -> Trace {
        for event in &mut trace.events {
            if let What::Created { key }
            | What::Extended { key }
            | What::Deleted { key }
            | What::Expired { key, .. } = &mut event.what
            {
                *key = Key::new(&name.replace('*', key.as_str()));
            }
        }
        trace
    }

    /// A lets go late, and deletes what B has got meanwhile.
    fn foreign_release() -> Script {
        let script = Script::new().at(0).waits(A1).at(1).creates(A1, NODE_1).at(2).acquires(A1);
        let script = script.at(3).waits(B1).at(100).expires(NODE_1).at(101).creates(B1, NODE_1);
        script.at(102).acquires(B1).at(110).deletes(A1, NODE_1).at(111).released(A1)
    }

    fn is_violated(trace: &Trace) -> bool {
        matches!((ownership::INVARIANT.check)(&History::of(trace)), Outcome::Violated(_))
    }

    #[test]
    fn records_under_a_name_that_holds_the_lock_s_are_the_lock_s() {
        assert!(is_violated(&foreign_release().trace()));
        for name in ["lock:*", "redlock:*", "*-lease", "job-lock:default:*"] {
            assert!(is_violated(&under(name, foreign_release().trace())), "{name}");
        }
    }

    /// A1 lets go and leaves its record behind.
    fn left_behind() -> Script {
        let script = Script::new().at(0).waits(A1).at(1).creates(A1, NODE_1).at(2).acquires(A1);
        script.at(10).releasing(A1).at(11).released(A1).at(20)
    }

    #[test]
    fn a_grant_that_takes_up_what_its_client_left_behind_is_of_that_name_too() {
        let again = |script: Script, grant| {
            let trace = script.waits(grant).at(21).extends(grant, NODE_1).at(22).acquires(grant).trace();
            under("locks:*", trace)
        };
        let trace = again(left_behind(), A2);
        assert!(History::of(&trace).knows_records());
        assert_eq!(finding(&truthful_answers::INVARIANT, &trace).grants, [A1]);
        // What another client made is no sign of it: it may be a counter of all.
        assert!(!History::of(&again(left_behind(), B1)).knows_records());
        assert!(!History::of(&again(left_behind().expires(NODE_1), A2)).knows_records());
    }

    #[test]
    fn a_name_that_every_grant_created_goes_before_one_that_was_extended() {
        let named = |script: Script, grant| script.on("lock:stock").creates(grant, NODE_1);
        let counted = |script: Script| script.on("count of stock");
        let script = counted(named(Script::new().at(0).waits(A1).at(1), A1)).creates(A1, NODE_1).on("stock");
        let script = script.at(2).acquires(A1).on("lock:stock").at(10).deletes(A1, NODE_1).on("stock");
        let script = counted(named(script.at(20).waits(A2).at(21), A2)).extends(A2, NODE_1);
        let trace = script.on("stock").at(22).acquires(A2).trace();
        assert_eq!(History::of(&trace).records.len(), 2, "those of `lock:stock` alone");
    }

    #[test]
    fn what_not_every_grant_made_is_no_record_of_the_lock() {
        let mut trace = under("lock:*", foreign_release().trace());
        let first = trace.events.iter_mut().find(|event| matches!(event.what, What::Created { .. })).unwrap();
        first.what = What::Created { key: Key::new("signal of lock:1") };
        assert!(!History::of(&trace).knows_records());
        assert!(matches!((ownership::INVARIANT.check)(&History::of(&trace)), Outcome::Inconclusive(_)));
    }

    #[test]
    fn of_two_names_that_every_grant_made_neither_is_taken() {
        let mut trace = under("lock:*", foreign_release().trace());
        let twice = trace.events.iter().flat_map(|event| {
            let mut other = event.clone();
            if let What::Created { key } = &mut other.what {
                *key = Key::new(&format!("owner of {key}"));
                vec![event.clone(), other]
            } else {
                vec![other]
            }
        });
        trace.events = twice.collect();
        assert!(!History::of(&trace).knows_records());
    }

    #[test]
    fn a_name_of_nothing_to_do_with_the_lock_is_left_alone() {
        assert!(!History::of(&under("leases", foreign_release().trace())).knows_records());
    }
}
