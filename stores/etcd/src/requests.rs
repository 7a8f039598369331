//! Requests of etcd's recipes for locks and elections: a client makes them, and a member for its services of the same name.
//!
//! Each who waits, holds or leads has a key `name/lease`, with the lease in hexadecimal digits. The oldest one holds.
//!
//! *Source:* `client/v3/concurrency/{key,mutex,election}.go` of etcd 3.6.

use picklock_model::ids::Key;

use crate::messages::{
    Answered, Asked, Compare, KeyValue, PutRequest, RangeRequest, RequestOp, SortOrder, SortTarget,
    TxnRequest, TxnResponse,
};

/// The key of a lease below a name. A number below 0 is written with its sign.
#[must_use]
pub fn key_of(name: &[u8], lease: i64) -> Vec<u8> {
    let sign = if lease < 0 { "-" } else { "" };
    [name, b"/", format!("{sign}{:x}", lease.unsigned_abs()).as_bytes()].concat()
}

/// Asks for a key.
#[must_use]
pub fn get(key: &[u8]) -> RangeRequest {
    RangeRequest { key: key.to_vec(), ..RangeRequest::default() }
}

/// Asks for the oldest key below a name.
#[must_use]
pub fn oldest_below(name: &[u8]) -> RangeRequest {
    one_below(name, SortOrder::Ascend)
}

/// Asks for the last key below a name that was made before this revision.
#[must_use]
pub fn last_before(name: &[u8], revision: i64) -> RangeRequest {
    RangeRequest { max_create_revision: revision - 1, ..one_below(name, SortOrder::Descend) }
}

fn one_below(name: &[u8], order: SortOrder) -> RangeRequest {
    let prefix = [name, b"/"].concat();
    RangeRequest {
        range_end: end_of_prefix(&prefix),
        key: prefix,
        limit: 1,
        sort_order: order.into(),
        sort_target: SortTarget::Create.into(),
        ..RangeRequest::default()
    }
}

/// Puts a key unless it is there, or reads it; and then makes another request for a range.
#[must_use]
pub fn make_or_read(put: PutRequest, then: Option<RangeRequest>) -> TxnRequest {
    let read = get(&put.key);
    let compare = vec![Compare::made_at(put.key.clone(), 0)];
    let with = |asked: Asked| {
        let all = [Some(asked), then.clone().map(Asked::Range)];
        all.into_iter().flatten().map(|asked| RequestOp { asked: Some(asked) }).collect()
    };
    TxnRequest { compare, success: with(Asked::Put(put)), failure: with(Asked::Range(read)) }
}

/// Does something if a key is still the one that was made at this revision.
#[must_use]
pub fn if_made_at(key: Vec<u8>, revision: i64, asked: Asked) -> TxnRequest {
    let success = vec![RequestOp { asked: Some(asked) }];
    TxnRequest { compare: vec![Compare::made_at(key, revision)], success, failure: Vec::new() }
}

/// The first key that one of the ranges of a transaction has found.
#[must_use]
pub fn found(answer: &TxnResponse, place: usize) -> Option<&KeyValue> {
    match answer.responses.get(place)?.answered.as_ref()? {
        Answered::Range(found) => found.kvs.first(),
        _ => None,
    }
}

/// The revision at which the own key was made, by the answer to [`make_or_read`] with [`oldest_below`]; and true if it is the oldest one.
#[must_use]
pub fn place(answer: &TxnResponse) -> (i64, bool) {
    let now = answer.header.map_or(0, |header| header.revision);
    let revision = found(answer, 0).map_or(now, |own| own.create_revision);
    (revision, found(answer, 1).is_none_or(|oldest| oldest.create_revision == revision))
}

/// Below this are the data that locks guard, where they lie in etcd.
const GUARDED: &str = "guarded/";

/// The key of the register that a lock of this name guards.
#[must_use]
pub fn register(name: &str) -> Vec<u8> {
    [GUARDED, name].concat().into_bytes()
}

/// The register that a key is.
pub(crate) fn register_of(key: &[u8]) -> Option<Key> {
    key.strip_prefix(GUARDED.as_bytes()).map(|name| Key::new(&String::from_utf8_lossy(name)))
}

/// The number that a register holds: 0 in the beginning.
#[must_use]
pub fn number_in(value: &[u8]) -> i64 {
    std::str::from_utf8(value).ok().and_then(|text| text.parse().ok()).unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_ends_before_the_next_key() {
        assert_eq!(end_of_prefix(b"a"), b"b");
        assert_eq!(end_of_prefix(b"a\xff"), b"b");
        assert_eq!(end_of_prefix(b"\xff"), b"\0");
    }

    #[test]
    fn a_lease_stands_in_its_key_as_go_writes_it() {
        assert_eq!(key_of(b"lock", 255), b"lock/ff");
        assert_eq!(key_of(b"lock", -16), b"lock/-10");
    }
}
