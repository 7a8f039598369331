//! Under which names stores keep the records of locks, where these are not the names by which the locks are asked for: many
//! libraries put a word of their own before it.
//!
//! A name is taken for that of a lock's record if it holds the lock's name, every grant of the lock created a record of that name
//! before the client knew of it, and no other name is like it. What does not come out so clearly is left out: then nothing is
//! said of these records, which is better than to judge those of a queue or a signal as if they were the lock's.

use std::collections::{BTreeMap, BTreeSet};

use picklock_model::ids::Key;
use picklock_model::trace::What;

use super::parts::History;

/// The locks by the names of their records, as far as these differ.
pub(super) fn of<'t>(history: &History<'t>) -> BTreeMap<&'t Key, &'t Key> {
    let mut created: BTreeMap<usize, BTreeSet<&'t Key>> = BTreeMap::new();
    for event in &history.trace.events {
        let What::Created { key: name } = &event.what else { continue };
        let Some(place) = event.grant.and_then(|id| history.place_of(id)) else { continue };
        let section = &history.sections[place];
        let in_time = section.grant.as_ref().is_some_and(|grant| event.at <= grant.acquired.at);
        if in_time && name.as_str().contains(history.key_name(section.key)) {
            created.entry(place).or_default().insert(name);
        }
    }
    let named = |(key, lock): (usize, &&'t Key)| {
        let grants = history.granted.iter().filter(|at| history.sections[**at].key == key);
        let common = grants.map(|at| created.get(at).cloned().unwrap_or_default());
        let common = common.reduce(|one, other| one.intersection(&other).copied().collect())?;
        let mut names = common.into_iter();
        names.next().filter(|_| names.next().is_none()).map(|name| (name, *lock))
    };
    history.keys.iter().enumerate().filter_map(named).collect()
}

#[cfg(test)]
mod tests {
    use picklock_model::trace::Trace;

    use super::*;
    use crate::invariants::ownership;
    use crate::invariants::testing::*;
    use crate::outcome::Outcome;

    /// The same run on stores that were given another name than the lock has.
    fn under(name: &str, mut trace: Trace) -> Trace {
        for event in &mut trace.events {
            if let What::Created { key } | What::Deleted { key } = &mut event.what {
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
