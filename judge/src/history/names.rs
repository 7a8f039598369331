//! The names under which stores keep the records of locks, where these are not the names by which the locks are asked for: many
//! libraries put a word of their own before it, and some make a hash or a number of it.
//!
//! A record belongs to the request that created it. A name that holds the lock's name is taken for that of the lock's record if every
//! grant of the lock created a record of that name before the client knew of it, and no other name is like it. A library that knows its
//! owner by the process, and finds the record that an earlier section of the same client has left behind, extends that record in place
//! of creating one: such a grant counts as well where no name was created by every grant.
//! Where no name holds the lock's name, one of any other kind is taken by the same rule, if its record was still there when the client
//! knew of its grant, and it is of no other lock. Where all names are of other locks too, the locks share their record.
//! What does not come out so clearly is left out: then nothing is
//! said of these records, which is better than to judge those of a queue or a signal as if they were the lock's.

use std::collections::{BTreeMap, BTreeSet};

use picklock_model::ids::{GrantId, HostId, Key};
use picklock_model::trace::{Event, What};

use super::parts::{History, SharedRecord};

/// The names that each section made or took up, by the index of the section.
type Names<'t> = BTreeMap<usize, BTreeSet<&'t Key>>;

/// The names of records, where these are not those of the locks.
#[derive(Default)]
pub(super) struct RecordNames<'t> {
    /// The locks by the names of their records; of several locks that share one, the first.
    pub(super) locks: BTreeMap<&'t Key, &'t Key>,
    /// The records that are of several locks.
    pub(super) shared: Vec<SharedRecord<'t>>,
    /// True if a grant took up a record that an earlier section of its client had left behind.
    pub(super) taken_up: bool,
}

/// The names that sections made, and those that they made or took up.
#[derive(Default)]
struct Seen<'t> {
    created: Names<'t>,
    taken: Names<'t>,
}

/// The names of the records of a run, as far as they differ from those of the locks.
pub(super) fn of<'t>(history: &History<'t>) -> RecordNames<'t> {
    let (alike, others) = seen(history);
    let mut names = RecordNames::default();
    let mut hidden: BTreeMap<usize, BTreeSet<&'t Key>> = BTreeMap::new();
    for (key, lock) in history.keys.iter().enumerate() {
        let (found, taken_up) = alike.of_lock(history, key);
        if found.is_empty() {
            let (found, taken_up) = others.of_lock(history, key);
            names.taken_up |= taken_up && !found.is_empty();
            hidden.insert(key, found);
        } else if let Some(name) = only(found) {
            names.locks.insert(name, lock);
            names.taken_up |= taken_up;
        }
    }
    for (key, found) in &hidden {
        let elsewhere =
            |name: &&Key| hidden.iter().any(|(other, names)| other != key && names.contains(name));
        let own: BTreeSet<&Key> = found.iter().copied().filter(|name| !elsewhere(name)).collect();
        let is_shared = own.is_empty();
        let Some(name) = only(if is_shared { found.clone() } else { own }) else { continue };
        names.locks.entry(name).or_insert(history.keys[*key]);
        if is_shared {
            match names.shared.iter_mut().find(|shared| shared.name == name) {
                Some(shared) => shared.locks.push(*key),
                None => names.shared.push(SharedRecord { name, locks: vec![*key] }),
            }
        }
    }
    names.shared.retain(|shared| shared.locks.len() > 1);
    names
}

/// The only one of these names.
fn only(names: BTreeSet<&Key>) -> Option<&Key> {
    let mut names = names.into_iter();
    names.next().filter(|_| names.next().is_none())
}

/// The names that hold the lock's name, of all that came before the client knew of its grant, and the others, of what was there when it did.
fn seen<'t>(history: &History<'t>) -> (Seen<'t>, Seen<'t>) {
    let (mut alike, mut others) = (Seen::default(), Seen::default());
    // The requests that created the records that are there, by store and name.
    let mut creators: BTreeMap<(HostId, &'t Key), GrantId> = BTreeMap::new();
    for event in &history.trace.events {
        match &event.what {
            What::Created { key: name } => {
                match event.grant {
                    Some(grant) => creators.insert((event.host, name), grant),
                    None => creators.remove(&(event.host, name)),
                };
                note(history, event, name, &mut alike.created);
                note(history, event, name, &mut alike.taken);
            }
            What::Extended { key: name } => {
                let creator = creators.get(&(event.host, name)).map(|creator| creator.client);
                if creator.is_some() && creator == event.grant.map(|grant| grant.client) {
                    note(history, event, name, &mut alike.taken);
                }
            }
            What::Deleted { key: name } | What::Expired { key: name, .. } | What::Lost { key: name } => {
                creators.remove(&(event.host, name));
            }
            What::Acquired { .. } => {
                let Some((grant, place)) = event.grant.and_then(|id| Some((id, history.place_of(id)?)))
                else {
                    continue;
                };
                for ((_, name), creator) in creators.iter().filter(|(_, one)| one.client == grant.client) {
                    others.taken.entry(place).or_default().insert(name);
                    if *creator == grant {
                        others.created.entry(place).or_default().insert(name);
                    }
                }
            }
            _ => {}
        }
    }
    (alike, others)
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

impl<'t> Seen<'t> {
    /// The names that all grants of a lock have in common; true if one of them took up what was there.
    fn of_lock(&self, history: &History<'t>, key: usize) -> (BTreeSet<&'t Key>, bool) {
        let created = common(history, key, &self.created);
        if created.is_empty() { (common(history, key, &self.taken), true) } else { (created, false) }
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
        assert!(matches!((ownership::INVARIANT.check)(&History::of(&trace)), Outcome::Undecided(_)));
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
    fn a_hash_or_a_number_that_every_grant_created_is_the_lock_s() {
        for name in ["0a4d55a8d778e5022fab701977c5d840", "advisory 7"] {
            assert!(is_violated(&under(name, foreign_release().trace())), "{name}");
        }
    }

    #[test]
    fn a_record_that_was_gone_when_the_client_knew_of_its_grant_is_no_lock_s() {
        let script = Script::new().at(0).waits(A1).at(1).creates(A1, NODE_1).deletes(A1, NODE_1);
        let trace = under("signal", script.at(2).acquires(A1).trace());
        assert!(!History::of(&trace).knows_records());
    }

    /// A holds one lock, and B waits for another one until A has let go.
    fn two_locks() -> Script {
        let script = Script::new().on("lock:1").at(0).waits(A1).at(1).creates(A1, NODE_1).at(2).acquires(A1);
        let script = script.on("lock:2").at(5).waits(B1).on("lock:1").at(90).deletes(A1, NODE_1).at(91);
        script.released(A1).on("lock:2").at(92).creates(B1, NODE_1).at(93).acquires(B1)
    }

    #[test]
    fn a_record_that_two_locks_have_in_common_is_shared_and_belongs_to_each_request_s_lock() {
        let trace = under("advisory 1", two_locks().trace());
        let history = History::of(&trace);
        let shared: Vec<_> = history.shared.iter().map(|one| (one.name.as_str(), &one.locks[..])).collect();
        assert_eq!(shared, [("advisory 1", &[0, 1][..])]);
        assert_eq!(history.records.iter().map(|record| record.key).collect::<Vec<_>>(), [0, 1]);
        let trace = under("hash of *", two_locks().trace());
        assert!(History::of(&trace).shared.is_empty());
    }

    #[test]
    fn a_counter_beside_records_of_their_own_is_shared_by_no_locks() {
        let mut trace = under("#*", two_locks().trace());
        let hashed = |name: &str| Key::new(&name.replace("lock:", "").replace('#', "hash "));
        let twice = trace.events.iter().flat_map(|event| match &event.what {
            What::Created { key } => {
                let (mut own, mut counter) = (event.clone(), event.clone());
                own.what = What::Created { key: hashed(key.as_str()) };
                counter.what = What::Created { key: Key::new("last owner") };
                vec![own, counter]
            }
            What::Deleted { key } => {
                vec![Event { what: What::Deleted { key: hashed(key.as_str()) }, ..event.clone() }]
            }
            _ => vec![event.clone()],
        });
        trace.events = twice.collect();
        let history = History::of(&trace);
        assert!(history.shared.is_empty());
        assert_eq!(history.records.iter().map(|record| record.key).collect::<Vec<_>>(), [0, 1]);
    }
}
