//! Bytes that are damaged or made up, given to everything that reads bytes of others. The targets of `fuzz/` do the same
//! for as long as one likes.

use proptest::prelude::*;
use proptest::sample::Index;

use crate::hostile;
use crate::protocol::resp::{Requests, request};
use crate::server::node::Node;
use crate::server::snapshot;
use crate::server::store::Store;

/// A snapshot of a real server, in all its encodings.
const SNAPSHOT: &[u8] = include_bytes!("../server/rdb/tests/redis-7.0.15.rdb");

/// Lengths that nobody means: longer than any input, the most that Redis takes and one more, below nothing.
const LENGTHS: &[&str] = &[
    "-1",
    "0",
    "-9223372036854775808",
    "9223372036854775807",
    "9223372036854775808",
    "1152921504606846976",
    "536870912",
    "536870913",
    "1048576",
    "1048577",
    "00000000000000000000001",
];

/// Effects as a stream or a file has them.
const EFFECTS: &[&str] = &[
    "SELECT 0",
    "SET k v PXAT 1700000005000",
    "MULTI",
    "HSET h f 1",
    "PEXPIREAT h 1700000005000",
    "EXEC",
    "RPUSH l a b c",
    "LPOP l",
    "SADD s 1 2 x",
    "ZADD z 1 a 2.5 b",
    "SELECT 3",
    "INCRBY n 41",
    "LPUSH l w",
    "DEL k",
    "PING",
    "REPLCONF GETACK *",
    "PUBLISH c m",
    "FLUSHALL",
    "SET last 1",
];

fn effects() -> Vec<u8> {
    let mut bytes = Vec::new();
    for line in EFFECTS {
        request(&mut bytes, &line.split(' ').map(str::as_bytes).collect::<Vec<_>>());
    }
    bytes
}

/// The stream of a primary from the beginning of a link on: with a length sent beforehand, between marks, or going on.
fn primaries() -> Vec<Vec<u8>> {
    let id = "f".repeat(40);
    let copy = snapshot::of_node(&Node::new(Store::default(), None), false);
    let greeting = b"\x00+PONG\r\n+OK\r\n+OK\r\n";
    let full = format!("+FULLRESYNC {id} 10\r\n\n${}\r\n", copy.len());
    let marked = format!("+FULLRESYNC {id} 10\r\n$EOF:{id}\r\n");
    let goes_on = format!("+CONTINUE {id}\r\n");
    let mut all = vec![
        [greeting, full.as_bytes(), &copy, &effects()].concat(),
        [greeting, marked.as_bytes(), &copy, id.as_bytes(), &effects()].concat(),
        [greeting, goes_on.as_bytes(), &effects()].concat(),
    ];
    // The same to a replica that has followed before, in longer and shorter reads.
    for first in [1, 201] {
        let mut again = all[2].clone();
        again[0] = first;
        all.push(again);
    }
    all
}

/// The words of replicas.
fn replicas() -> Vec<u8> {
    let mut bytes = Vec::new();
    let id = "f".repeat(40);
    for line in [
        "PING",
        "REPLCONF listening-port 6380",
        "REPLCONF ip-address 10.0.0.1 capa eof capa psync2",
        &format!("PSYNC {id} 1"),
        "REPLCONF ACK 12",
        "WAIT 1 0",
        "PSYNC ? -1",
        "REPLCONF ACK 9223372036854775807",
        "SYNC",
    ] {
        request(&mut bytes, &line.split(' ').map(str::as_bytes).collect::<Vec<_>>());
    }
    bytes
}

/// One thing done to bytes.
#[derive(Clone, Debug)]
enum Damage {
    Byte(Index, u8),
    Cut(Index),
    Drop(Index, usize),
    Repeat(Index, usize),
    /// Digits become a length that nobody means.
    Length(Index, Index),
    /// A length of eight bytes, as snapshots have it.
    Huge(Index),
}

fn damage() -> impl Strategy<Value = Damage> {
    let at = any::<Index>;
    prop_oneof![
        4 => (at(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        1 => at().prop_map(Damage::Cut),
        1 => (at(), 1..40_usize).prop_map(|(at, len)| Damage::Drop(at, len)),
        1 => (at(), 1..200_usize).prop_map(|(at, len)| Damage::Repeat(at, len)),
        2 => (at(), at()).prop_map(|(at, length)| Damage::Length(at, length)),
        1 => at().prop_map(Damage::Huge),
    ]
}

fn damages() -> impl Strategy<Value = Vec<Damage>> {
    prop::collection::vec(damage(), 1..6)
}

fn damaged(bytes: &[u8], damages: &[Damage]) -> Vec<u8> {
    damages.iter().fold(bytes.to_vec(), |mut bytes, damage| {
        if bytes.is_empty() {
            return bytes;
        }
        let len = bytes.len();
        match damage {
            Damage::Byte(at, byte) => bytes[at.index(len)] = *byte,
            Damage::Cut(at) => bytes.truncate(at.index(len)),
            Damage::Drop(at, count) => {
                let from = at.index(len);
                bytes.drain(from..len.min(from + count));
            }
            Damage::Repeat(at, count) => {
                let from = at.index(len);
                let part = bytes[from..len.min(from + count)].to_vec();
                bytes.splice(from..from, part);
            }
            Damage::Length(at, length) => {
                let from = at.index(len);
                let Some(from) = (from..len).find(|at| bytes[*at].is_ascii_digit()) else { return bytes };
                let until = (from..len).find(|at| !bytes[*at].is_ascii_digit()).unwrap_or(len);
                bytes.splice(from..until, LENGTHS[length.index(LENGTHS.len())].bytes());
            }
            Damage::Huge(at) => {
                let from = at.index(len);
                bytes.splice(from..from + 1, *b"\x81\x10\0\0\0\0\0\0\0");
            }
        }
        bytes
    })
}

fn anything() -> impl Strategy<Value = Vec<u8>> {
    prop::collection::vec(any::<u8>(), 0..400)
}

/// Bytes of which much looks like the protocol.
fn protocol() -> impl Strategy<Value = Vec<u8>> {
    let word = prop::sample::select(vec![
        "*", "$", ":", "+", "-", "\r\n", "\n", "1", "3", "SET", "\"", "'", " ", "\\x", "\0",
    ]);
    let length = prop::sample::select(LENGTHS.to_vec());
    prop::collection::vec(prop_oneof![4 => word, 1 => length], 0..60)
        .prop_map(|words| words.concat().into_bytes())
}

#[test]
fn what_is_not_damaged_is_read() {
    hostile::requests(&effects());
    hostile::snapshot(SNAPSHOT);
    hostile::append_only(&effects());
    hostile::replica(&replicas());
    primaries().iter().for_each(|bytes| hostile::primary(bytes));
}

#[test]
fn a_primary_that_selects_a_database_that_is_not_there_selects_none() {
    for number in ["16", "99", "-1", "18446744073709551616", "x"] {
        let mut bytes = primaries()[0].clone();
        request(&mut bytes, &[b"SELECT", number.as_bytes()]);
        request(&mut bytes, &[b"SET", b"k", b"v"]);
        hostile::primary(&bytes);
        let mut file = effects();
        request(&mut file, &[b"SELECT", number.as_bytes()]);
        request(&mut file, &[b"SET", b"k", b"v"]);
        hostile::append_only(&file);
    }
}

#[test]
fn lengths_that_nobody_means_take_no_memory() {
    let refused = |bytes: &[u8]| {
        let mut requests = Requests::default();
        requests.room().extend_from_slice(bytes);
        requests.take().is_err()
    };
    assert!(refused(b"*2147483648\r\n") && !refused(b"*2147483647\r\n"), "INT_MAX arguments since 7.0");
    assert!(refused(b"*1\r\n$536870913\r\n") && !refused(b"*1\r\n$536870912\r\n"), "proto-max-bulk-len");
    let inline = vec![b'a'; 64 * 1024 + 1];
    assert!(refused(&inline) && !refused(&inline[1..]), "PROTO_INLINE_MAX_SIZE");
    let mut requests = Requests::default();
    requests.limits.waiting_max = 1 << 20;
    requests.room().resize(1 << 20, b'*');
    assert!(!requests.is_overfull());
    requests.room().push(b'*');
    assert!(requests.is_overfull(), "client-query-buffer-limit");
    // What is announced is not there yet: a string, a list, a compressed string, a copy of 2^60 bytes.
    for value in [b"\x00\x01k".as_slice(), b"\x01\x01k", b"\x00\x01k\xc3\x01", b"\x0b\x01k"] {
        let huge = [b"REDIS0010".as_slice(), value, b"\x81\x10\0\0\0\0\0\0\0"].concat();
        hostile::snapshot(&huge);
    }
    let announced =
        format!("\x40+PONG\r\n+OK\r\n+OK\r\n+FULLRESYNC {} 1\r\n${}\r\n", "f".repeat(40), 1_u64 << 60);
    hostile::primary(announced.as_bytes());
    hostile::requests(b"*2147483647\r\n$536870912\r\n");
}

proptest! {
    #[test]
    fn damaged_requests_are_read_or_refused(damages in damages()) {
        hostile::requests(&damaged(&effects(), &damages));
    }

    #[test]
    fn a_damaged_snapshot_can_be_looked_at_or_is_refused(damages in damages()) {
        hostile::snapshot(&damaged(SNAPSHOT, &damages));
    }

    #[test]
    fn a_damaged_append_only_file_is_loaded_as_far_as_it_goes(damages in damages()) {
        hostile::append_only(&damaged(&effects(), &damages));
    }

    #[test]
    fn a_primary_that_talks_nonsense_does_no_harm(which in any::<Index>(), damages in damages()) {
        let primaries = primaries();
        hostile::primary(&damaged(&primaries[which.index(primaries.len())], &damages));
    }

    #[test]
    fn a_replica_that_talks_nonsense_does_no_harm(damages in damages()) {
        hostile::replica(&damaged(&replicas(), &damages));
    }

    #[test]
    fn anything_at_all_is_read_or_refused(bytes in prop_oneof![anything(), protocol()]) {
        hostile::requests(&bytes);
        hostile::reply(&bytes);
        hostile::payload(&bytes);
        hostile::snapshot(&[b"REDIS0010".as_slice(), &bytes].concat());
        hostile::append_only(&bytes);
        hostile::replica(&bytes);
        hostile::primary(&bytes);
        hostile::primary(&[b"\x03+PONG\r\n+OK\r\n+OK\r\n".as_slice(), &bytes].concat());
    }
}
