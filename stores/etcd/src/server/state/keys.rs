//! Keys with their revisions, and all that was ever done to them.

use std::collections::BTreeMap;
use std::ops::Bound;

use crate::messages::{EventKind, KeyValue, RangeRequest, RangeResponse, SortOrder, SortTarget, WatchEvent};

/// One change of a key.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Change {
    pub(crate) revision: i64,
    pub(crate) event: WatchEvent,
}

/// The keys of a store.
#[derive(Clone, Debug)]
pub(crate) struct Keys {
    /// The revision of the last change; 1 at the beginning.
    pub(crate) revision: i64,
    /// What was before this revision is forgotten; -1 if nothing is.
    pub(crate) compacted: i64,
    current: BTreeMap<Vec<u8>, KeyValue>,
    history: Vec<Change>,
}

impl Default for Keys {
    fn default() -> Keys {
        Keys { revision: 1, compacted: -1, current: BTreeMap::new(), history: Vec::new() }
    }
}

/// A range of keys, as requests give it: one key, `[key, end)`, or with the end `\0` everything from the key on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Range<'r> {
    pub(crate) key: &'r [u8],
    pub(crate) end: &'r [u8],
}

/// Where a range begins and ends.
type Bounds = (Bound<Vec<u8>>, Bound<Vec<u8>>);

impl Range<'_> {
    pub(crate) fn contains(&self, key: &[u8]) -> bool {
        match self.end {
            [] => key == self.key,
            [0] => key >= self.key,
            end => key >= self.key && key < end,
        }
    }

    fn bounds(&self) -> Option<Bounds> {
        let from = Bound::Included(self.key.to_vec());
        match self.end {
            [] => Some((from, Bound::Included(self.key.to_vec()))),
            [0] => Some((from, Bound::Unbounded)),
            end if end > self.key => Some((from, Bound::Excluded(end.to_vec()))),
            _ => None,
        }
    }
}

impl Keys {
    pub(crate) fn get(&self, key: &[u8]) -> Option<&KeyValue> {
        self.current.get(key)
    }

    /// The keys of a range, in order.
    pub(crate) fn in_range(&self, range: Range<'_>) -> impl Iterator<Item = &KeyValue> {
        range.bounds().into_iter().flat_map(|bounds| self.current.range(bounds)).map(|(_, kv)| kv)
    }

    /// The keys of a range as they were at this revision.
    fn in_range_at(&self, range: Range<'_>, revision: i64) -> Vec<KeyValue> {
        let mut then = BTreeMap::new();
        let changes = self.history.iter().take_while(|change| change.revision <= revision);
        for Change { event, .. } in changes {
            let Some(kv) = event.kv.as_ref().filter(|kv| range.contains(&kv.key)) else { continue };
            match event.kind() {
                EventKind::Put => drop(then.insert(kv.key.clone(), kv.clone())),
                EventKind::Delete => drop(then.remove(&kv.key)),
            }
        }
        then.into_values().collect()
    }

    /// What a request for a range finds, without a header.
    pub(crate) fn range(&self, request: &RangeRequest) -> RangeResponse {
        let range = Range { key: &request.key, end: &request.range_end };
        let mut kvs: Vec<KeyValue> = match request.revision {
            1.. if request.revision < self.revision => self.in_range_at(range, request.revision),
            _ => self.in_range(range).cloned().collect(),
        };
        let count = kvs.len() as i64;
        if request.count_only {
            return RangeResponse { count, ..RangeResponse::default() };
        }
        let limit = usize::try_from(request.limit).unwrap_or_default();
        let filters = [
            request.min_mod_revision,
            request.max_mod_revision,
            request.min_create_revision,
            request.max_create_revision,
        ];
        if limit > 0 && request.sort_order() == SortOrder::None && filters == [0; 4] {
            // Without an order etcd reads no more than it needs: what it sorts by another target are the first keys.
            kvs.truncate(limit.saturating_add(1));
        }
        let between = |value: i64, min: i64, max: i64| value >= min && (max == 0 || value <= max);
        kvs.retain(|kv| {
            between(kv.mod_revision, request.min_mod_revision, request.max_mod_revision)
                && between(kv.create_revision, request.min_create_revision, request.max_create_revision)
        });
        sort(&mut kvs, request.sort_target(), request.sort_order());
        let more = limit > 0 && kvs.len() > limit;
        if more {
            kvs.truncate(limit);
        }
        if request.keys_only {
            kvs.iter_mut().for_each(|kv| kv.value.clear());
        }
        RangeResponse { header: None, kvs, more, count }
    }

    /// Sets a key at this revision, which is the last one or the next. The value that it had.
    pub(crate) fn put(&mut self, key: &[u8], value: Vec<u8>, lease: i64, revision: i64) -> Option<KeyValue> {
        let before = self.current.get(key).cloned();
        let kv = KeyValue {
            key: key.to_vec(),
            create_revision: before.as_ref().map_or(revision, |before| before.create_revision),
            mod_revision: revision,
            version: before.as_ref().map_or(0, |before| before.version) + 1,
            value,
            lease,
        };
        self.current.insert(key.to_vec(), kv.clone());
        self.change(revision, EventKind::Put, kv, before.clone());
        before
    }

    /// Deletes the keys of a range at this revision. Those that were there.
    pub(crate) fn delete(&mut self, range: Range<'_>, revision: i64) -> Vec<KeyValue> {
        let gone: Vec<KeyValue> = self.in_range(range).cloned().collect();
        for kv in &gone {
            self.current.remove(&kv.key);
            let tombstone = KeyValue { key: kv.key.clone(), mod_revision: revision, ..KeyValue::default() };
            self.change(revision, EventKind::Delete, tombstone, Some(kv.clone()));
        }
        gone
    }

    fn change(&mut self, revision: i64, kind: EventKind, kv: KeyValue, prev_kv: Option<KeyValue>) {
        self.revision = revision;
        // Who watches is shown what the key was at the revision before: what the same transaction has made of it is left out.
        let prev_kv = match prev_kv {
            Some(previous) if previous.mod_revision == revision => {
                let key = Some(&previous.key);
                let is_same = |change: &&Change| change.event.kv.as_ref().map(|kv| &kv.key) == key;
                self.since(revision).iter().find(is_same).and_then(|change| change.event.prev_kv.clone())
            }
            other => other,
        };
        let event = WatchEvent { kind: kind.into(), kv: Some(kv), prev_kv };
        self.history.push(Change { revision, event });
    }

    /// Keys after these changes, which are those that are not forgotten.
    pub(crate) fn after(revision: i64, compacted: i64, changes: Vec<Change>) -> Keys {
        let mut keys = Keys { revision, compacted, current: BTreeMap::new(), history: changes };
        for Change { event, .. } in &keys.history {
            let Some(kv) = event.kv.as_ref() else { continue };
            match event.kind() {
                EventKind::Put => drop(keys.current.insert(kv.key.clone(), kv.clone())),
                EventKind::Delete => drop(keys.current.remove(&kv.key)),
            }
        }
        keys
    }

    /// What was done from this revision on.
    pub(crate) fn since(&self, revision: i64) -> &[Change] {
        let first = self.history.partition_point(|change| change.revision < revision);
        &self.history[first..]
    }

    /// Forgets what was before this revision.
    pub(crate) fn compact(&mut self, revision: i64) {
        self.compacted = revision;
        // What a key was at the revision stays: a read at the revision finds it.
        let mut there = BTreeMap::new();
        for Change { revision: at, event } in self.history.iter().filter(|change| change.revision < revision)
        {
            let Some(kv) = &event.kv else { continue };
            match event.kind() {
                EventKind::Put => drop(there.insert(kv.key.clone(), *at)),
                EventKind::Delete => drop(there.remove(&kv.key)),
            }
        }
        self.history.retain(|change| {
            let kv = change.event.kv.as_ref();
            change.revision >= revision || kv.is_some_and(|kv| there.get(&kv.key) == Some(&change.revision))
        });
    }
}

fn sort(kvs: &mut [KeyValue], target: SortTarget, order: SortOrder) {
    let compare = |one: &KeyValue, other: &KeyValue| match target {
        SortTarget::Key => one.key.cmp(&other.key),
        SortTarget::Version => one.version.cmp(&other.version),
        SortTarget::Create => one.create_revision.cmp(&other.create_revision),
        SortTarget::Mod => one.mod_revision.cmp(&other.mod_revision),
        SortTarget::Value => one.value.cmp(&other.value),
    };
    // Equal ones stay in the order of their keys, in either direction. etcd leaves open how more than twelve of them stand.
    match order {
        SortOrder::Descend => kvs.sort_by(|one, other| compare(other, one)),
        SortOrder::Ascend | SortOrder::None => kvs.sort_by(compare),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys that are put one after the other, from revision 2 on.
    fn keys(puts: &[(&str, &str)]) -> Keys {
        let mut keys = Keys::default();
        for (key, value) in puts {
            let revision = keys.revision + 1;
            keys.put(key.as_bytes(), value.as_bytes().to_vec(), 0, revision);
        }
        keys
    }

    fn all() -> RangeRequest {
        RangeRequest { key: vec![0], range_end: vec![0], ..RangeRequest::default() }
    }

    fn names(found: &RangeResponse) -> Vec<&str> {
        found.kvs.iter().filter_map(|kv| std::str::from_utf8(&kv.key).ok()).collect()
    }

    #[test]
    fn an_end_that_comes_first_makes_an_empty_range() {
        let request =
            RangeRequest { key: b"b".to_vec(), range_end: b"a".to_vec(), ..RangeRequest::default() };
        assert_eq!(keys(&[("a", ""), ("b", "")]).range(&request).count, 0);
    }

    #[test]
    fn a_put_keeps_when_a_key_was_made_and_counts() {
        let keys = keys(&[("a", "1"), ("a", "2")]);
        let kv = keys.get(b"a").expect("it is there");
        assert_eq!((kv.create_revision, kv.mod_revision, kv.version), (2, 3, 2));
    }

    #[test]
    fn a_key_that_is_made_again_begins_anew() {
        let mut keys = keys(&[("a", "1")]);
        keys.delete(Range { key: b"a", end: b"" }, 3);
        keys.put(b"a", Vec::new(), 0, 4);
        let kv = keys.get(b"a").expect("it is there");
        assert_eq!((kv.create_revision, kv.version), (4, 1));
    }

    #[test]
    fn an_earlier_revision_is_found_as_it_was() {
        let keys = keys(&[("a", "1"), ("b", ""), ("a", "2")]);
        let found = keys.range(&RangeRequest { revision: 2, ..all() });
        assert_eq!(names(&found), ["a"]);
        assert_eq!(found.kvs[0].value, b"1");
    }

    #[test]
    fn equal_values_stay_in_the_order_of_keys_whichever_way_is_sorted() {
        let keys = keys(&[("a", "x"), ("b", "y"), ("c", "x")]);
        let sorted = |order: SortOrder| {
            let request =
                RangeRequest { sort_order: order.into(), sort_target: SortTarget::Value.into(), ..all() };
            keys.range(&request)
        };
        assert_eq!(names(&sorted(SortOrder::Ascend)), ["a", "c", "b"]);
        assert_eq!(names(&sorted(SortOrder::Descend)), ["b", "a", "c"]);
    }

    #[test]
    fn a_limit_says_that_there_is_more_and_counts_all() {
        let found = keys(&[("a", ""), ("b", "")]).range(&RangeRequest { limit: 1, ..all() });
        assert_eq!((names(&found), found.more, found.count), (vec!["a"], true, 2));
    }

    #[test]
    fn a_limit_without_an_order_sorts_the_first_keys_only() {
        let keys = keys(&[("a", "3"), ("b", "2"), ("c", "1")]);
        let by = |order: SortOrder| RangeRequest {
            limit: 1,
            sort_target: SortTarget::Value.into(),
            sort_order: order.into(),
            ..all()
        };
        assert_eq!(names(&keys.range(&by(SortOrder::None))), ["b"]);
        assert_eq!(names(&keys.range(&by(SortOrder::Ascend))), ["c"]);
    }

    #[test]
    fn a_limit_below_nothing_is_none() {
        let found = keys(&[("a", ""), ("b", "")]).range(&RangeRequest { limit: -1, ..all() });
        assert_eq!((found.kvs.len(), found.more), (2, false));
    }

    #[test]
    fn filters_do_not_change_the_count() {
        let found = keys(&[("a", ""), ("b", "")]).range(&RangeRequest { min_mod_revision: 3, ..all() });
        assert_eq!((names(&found), found.count), (vec!["b"], 2));
    }

    #[test]
    fn a_compaction_keeps_what_was_there_at_its_revision() {
        let mut keys = keys(&[("a", "1"), ("b", ""), ("a", "2")]);
        keys.compact(3);
        let found = keys.range(&RangeRequest { revision: 3, ..all() });
        assert_eq!(names(&found), ["a", "b"]);
        assert_eq!(found.kvs[0].value, b"1");
    }

    #[test]
    fn a_compaction_forgets_what_was_replaced_and_what_was_deleted() {
        let mut keys = keys(&[("a", "1"), ("a", "2"), ("b", "")]);
        keys.delete(Range { key: b"b", end: b"" }, 5);
        keys.compact(6);
        assert_eq!(keys.since(0).len(), 1);
    }

    #[test]
    fn the_value_before_a_change_is_that_of_the_revision_before() {
        let mut keys = keys(&[("a", "1")]);
        keys.put(b"a", b"2".to_vec(), 0, 3);
        assert_eq!(keys.delete(Range { key: b"a", end: b"" }, 3)[0].value, b"2");
        let before: Vec<Option<&[u8]>> = keys
            .since(3)
            .iter()
            .map(|change| change.event.prev_kv.as_ref().map(|kv| kv.value.as_slice()))
            .collect();
        assert_eq!(before, [Some(b"1".as_slice()), Some(b"1".as_slice())]);
    }

    #[test]
    fn keys_from_their_changes_are_the_same() {
        let mut before = keys(&[("a", "1"), ("b", ""), ("a", "2")]);
        before.delete(Range { key: b"b", end: b"" }, 5);
        let after = Keys::after(before.revision, before.compacted, before.since(0).to_vec());
        assert_eq!(after.range(&all()), before.range(&all()));
    }
}
