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
    /// What was before this revision is forgotten.
    pub(crate) compacted: i64,
    current: BTreeMap<Vec<u8>, KeyValue>,
    history: Vec<Change>,
}

impl Default for Keys {
    fn default() -> Keys {
        Keys { revision: 1, compacted: 0, current: BTreeMap::new(), history: Vec::new() }
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

/// The first key that does not begin with a prefix.
pub(crate) fn end_of_prefix(prefix: &[u8]) -> Vec<u8> {
    let mut end = prefix.to_vec();
    while let Some(last) = end.pop() {
        if last < u8::MAX {
            end.push(last + 1);
            return end;
        }
    }
    vec![0]
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
        let between = |value: i64, min: i64, max: i64| value >= min && (max == 0 || value <= max);
        kvs.retain(|kv| {
            between(kv.mod_revision, request.min_mod_revision, request.max_mod_revision)
                && between(kv.create_revision, request.min_create_revision, request.max_create_revision)
        });
        sort(&mut kvs, request.sort_target(), request.sort_order());
        let limit = usize::try_from(request.limit).unwrap_or_default();
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
        // The last change of a key that is still there stays: a read at the revision finds it.
        let current = &self.current;
        self.history.retain(|change| {
            let kv = change.event.kv.as_ref();
            change.revision >= revision
                || kv.is_some_and(|kv| {
                    current.get(&kv.key).is_some_and(|now| now.mod_revision == kv.mod_revision)
                })
        });
    }
}

fn sort(kvs: &mut [KeyValue], target: SortTarget, order: SortOrder) {
    match target {
        // They are in the order of their keys.
        SortTarget::Key => {}
        SortTarget::Version => kvs.sort_by_key(|kv| kv.version),
        SortTarget::Create => kvs.sort_by_key(|kv| kv.create_revision),
        SortTarget::Mod => kvs.sort_by_key(|kv| kv.mod_revision),
        SortTarget::Value => kvs.sort_by(|one, other| one.value.cmp(&other.value)),
    }
    if order == SortOrder::Descend {
        kvs.reverse();
    }
}
