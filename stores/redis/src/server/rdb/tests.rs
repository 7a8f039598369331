//! The format against a snapshot that a real server wrote, against itself, and against garbage.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::file::{Loaded, decode, encode};
use super::*;
use crate::server::store::{Fields, List, Members, SortedSet, Value};

/// Written by redis-server 7.0.15: every encoding that it has for the five types, two databases, LFU counters.
const REAL: &[u8] = include_bytes!("tests/redis-7.0.15.rdb");

fn text(text: &str) -> Vec<u8> {
    text.as_bytes().to_vec()
}

fn list(items: &[&str]) -> Value {
    Value::List(items.iter().map(|item| text(item)).collect::<List>())
}

fn set(items: &[&str]) -> Value {
    Value::Set(items.iter().map(|item| text(item)).collect::<Members>())
}

fn hash(items: &[(&str, &str)]) -> Value {
    Value::Hash(items.iter().map(|(field, value)| (text(field), text(value))).collect::<Fields>())
}

fn sorted_set(items: &[(&str, f64)]) -> Value {
    let mut set = SortedSet::default();
    for (member, score) in items {
        set.insert(member.as_bytes(), *score);
    }
    Value::SortedSet(set)
}

#[test]
fn a_snapshot_of_a_real_server_is_read_in_all_its_encodings() {
    let Content { aux, entries, .. } = decode(REAL).unwrap();
    assert!(aux.ctime > 1_600_000_000 && aux.stream.is_none() && !aux.aof_base);
    let found: BTreeMap<(u32, String), Value> = entries
        .iter()
        .map(|entry| ((entry.db, String::from_utf8(entry.key.clone()).unwrap()), entry.value.clone()))
        .collect();
    let string = |value: &str| Value::String(text(value));
    let expected = [
        (0, "int8", string("-7")),
        (0, "int16", string("300")),
        (0, "int32", string("-70000")),
        (0, "text", string("hello")),
        (0, "long", string("9223372036854775807")),
        (0, "lzf", string(&("a".repeat(60) + &"b".repeat(30)))),
        (0, "lease", string("owner")),
        (
            0,
            "list-packed",
            list(&[
                "a",
                "1",
                "-1",
                "100",
                "4000",
                "-4000",
                "70000",
                "-8388608",
                "2147483647",
                "-9223372036854775808",
                &"c".repeat(70),
                &"d".repeat(5000),
            ]),
        ),
        (0, "list-nodes", list(&["a", "b", "c", "d", "e"])),
        (0, "list-plain", list(&[&"p".repeat(9000), "q"])),
        (0, "set-int16", set(&["1", "-2"])),
        (0, "set-int32", set(&["1", "70000"])),
        (0, "set-int64", set(&["1099511627776", "-1"])),
        (0, "set-table", set(&["a", "b", "1"])),
        (0, "zset-packed", sorted_set(&[("a", 1.0), ("b", 2.5), ("c", f64::NEG_INFINITY), ("d", 1e300)])),
        (0, "zset-table", sorted_set(&[("a", 0.1), ("b", f64::INFINITY)])),
        (0, "hash-packed", hash(&[("f", "v"), ("n", "12")])),
        (0, "hash-table", hash(&[("f", "v"), ("g", "w")])),
        (3, "in-3", string("x")),
    ];
    assert_eq!(found.len(), expected.len());
    for (db, key, value) in expected {
        assert_eq!(found.get(&(db, key.to_owned())), Some(&value), "{key}");
    }
    let lease = entries.iter().find(|entry| entry.key == b"lease").unwrap();
    assert!(lease.record && lease.expires == Some(4_102_444_800_000));
}

#[test]
fn the_packed_forms_of_older_servers_are_read() {
    // Redis 6.2: RPUSH a 1 -2 300 "hello".
    let ziplist = b"\x1e\0\0\0\x17\0\0\0\x05\0\0\x01a\x03\xf2\x02\xfe\xfe\x03\xc0\x2c\x01\x04\x05hello\xff";
    assert_eq!(
        packed::ziplist(ziplist).unwrap(),
        [text("a"), text("1"), text("-2"), text("300"), text("hello")]
    );
    let zipmap = b"\x02\x03foo\x03\0bar\x01k\x01\x02vxx\xff";
    assert_eq!(packed::zipmap(zipmap).unwrap(), [text("foo"), text("bar"), text("k"), text("v")]);
    let mut scores = input::Input::new(b"\x02\x01a\x031.5\x01b\xfe");
    let expected = sorted_set(&[("a", 1.5), ("b", f64::INFINITY)]);
    assert_eq!(value::decode(kind::SORTED_SET, &mut scores).unwrap(), Some(expected));
}

#[test]
fn what_the_node_does_not_have_is_named_in_the_error() {
    let stream = |kind| value::decode(kind, &mut input::Input::new(b"\0")).unwrap_err().to_string();
    assert_eq!(stream(kind::STREAM_2), "streams are not supported");
    assert_eq!(stream(kind::MODULE_2), "values of modules are not supported");
    assert_eq!(decode(b"REDIS0010\xf5").unwrap_err(), RdbError::Unsupported("functions"));
    assert_eq!(decode(b"REDIS0011\xff").unwrap_err(), RdbError::Version(11));
    assert_eq!(decode(b"RIDES0010\xff").unwrap_err(), RdbError::Signature);
    let mut damaged = REAL.to_vec();
    damaged[12] ^= 1;
    assert_eq!(decode(&damaged).unwrap_err(), RdbError::Checksum);
}

#[test]
fn payloads_are_those_of_a_real_server() {
    // Redis 7.0.15: SET k 10, DUMP k; SET k hello, DUMP k.
    assert_eq!(dump(&Value::String(text("10"))), b"\0\xc0\x0a\x0a\0n\x9fWE\x0e\xaec\xbb".to_vec());
    let payload = dump(&Value::String(text("hello")));
    assert_eq!(restore(&payload), Ok(Value::String(text("hello"))));
    let mut damaged = payload.clone();
    damaged[1] ^= 1;
    assert_eq!(restore(&damaged), Err("ERR DUMP payload version or checksum are wrong"));
    assert_eq!(restore(b""), Err("ERR DUMP payload version or checksum are wrong"));
}

#[test]
fn a_huge_length_takes_no_memory() {
    let mut claims = input::Input::new(b"\x81\xff\xff\xff\xff\xff\xff\xff\xff");
    assert_eq!(claims.string(), Err(RdbError::Truncated));
    let mut claims = input::Input::new(b"\x81\x7f\xff\xff\xff\xff\xff\xff\xff\x01a");
    assert_eq!(value::decode(kind::LIST, &mut claims), Err(RdbError::Truncated));
    assert!(lzf::decompress(b"\x01ab", usize::MAX).is_err());
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        any::<i64>().prop_map(|number| number.to_string().into_bytes()),
        any::<i8>().prop_map(|number| number.to_string().into_bytes()),
        prop::collection::vec(any::<u8>(), 0..100),
    ]
}

fn any_value() -> impl Strategy<Value = Value> {
    let scores = prop::num::f64::NORMAL | prop::num::f64::INFINITE | prop::num::f64::ZERO;
    prop_oneof![
        bytes().prop_map(Value::String),
        prop::collection::vec(bytes(), 1..20).prop_map(|items| Value::List(items.into_iter().collect())),
        prop::collection::vec(bytes(), 1..20).prop_map(|items| Value::Set(items.into_iter().collect())),
        prop::collection::vec((bytes(), bytes()), 1..20)
            .prop_map(|items| Value::Hash(items.into_iter().collect())),
        prop::collection::vec((bytes(), scores), 1..20).prop_map(|items| {
            let mut set = SortedSet::default();
            for (member, score) in items {
                set.insert(&member, score);
            }
            Value::SortedSet(set)
        }),
    ]
}

fn any_entry() -> impl Strategy<Value = Loaded> {
    (0..3_u32, bytes(), any_value(), proptest::option::of(any::<i64>()), any::<bool>())
        .prop_map(|(db, key, value, expires, record)| Loaded { db, key, value, expires, record })
}

proptest! {
    #[test]
    fn a_snapshot_survives_the_file(mut entries in prop::collection::vec(any_entry(), 0..12), offset in any::<u32>()) {
        entries.sort_by_key(|entry| entry.db);
        let stream = file::StreamAt { db: Some(2), id: vec![b'f'; 40], offset: u64::from(offset) };
        let aux = Aux { ctime: 7, stream: Some(stream), aof_base: true };
        let saved = |db: u32| entries.iter().filter(move |entry| entry.db == db).map(|entry| Saved {
            key: &entry.key,
            value: &entry.value,
            expires: entry.expires,
            record: entry.record,
        }).collect::<Vec<_>>();
        let databases = [saved(0), saved(1), saved(2)];
        let databases = (0..).zip(databases.iter().map(|entries| entries.iter().copied()));
        let file = encode(&aux, databases);
        prop_assert_eq!(decode(&file), Ok(Content { aux, entries: entries.clone() }));
        for end in 0..file.len() {
            prop_assert!(decode(&file[..end]).is_err());
        }
    }

    #[test]
    fn a_payload_survives(value in any_value()) {
        prop_assert_eq!(restore(&dump(&value)), Ok(value));
    }

    #[test]
    fn garbage_is_refused_without_a_panic(kind in 0..20_u8, bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = value::decode(kind, &mut input::Input::new(&bytes));
        let _ = decode(&[b"REDIS0010".as_slice(), &bytes].concat());
        let _ = restore(&bytes);
        let _ = lzf::decompress(&bytes, 200);
    }

    #[test]
    fn a_damaged_snapshot_is_read_or_refused(
        damages in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..8),
    ) {
        let mut file = REAL.to_vec();
        // Without a checksum, the damage gets as far as it can.
        let end = file.len() - 8;
        for (at, byte) in damages {
            file[at.index(end)] = byte;
        }
        file[end..].fill(0);
        let _ = decode(&file);
    }

    #[test]
    fn damaged_packed_collections_are_read_or_refused(mut bytes in prop::collection::vec(any::<u8>(), 7..60)) {
        let length = bytes.len() as u32;
        bytes[..4].copy_from_slice(&length.to_le_bytes());
        let _ = packed::listpack(&bytes);
        let _ = packed::ziplist(&bytes);
        let _ = packed::zipmap(&bytes);
        let _ = packed::intset(&bytes);
    }
}
