//! The ways in for bytes that others wrote: requests, replies, snapshots, append-only files, a primary's stream. Each takes
//! any bytes, must neither panic nor exhaust the memory, and checks what holds for all of them. The fuzz targets of
//! `fuzz/` call these, and so do the tests, with fewer bytes.
//!
//! Not meant for use: nothing here is part of the interface.

use picklock_model::seed::Seed;
use picklock_model::time::WallTime;

use crate::protocol::resp::{Protocol, Reply, Requests};
use crate::server::following::Link;
use crate::server::node::{LinkState, Node, SessionId};
use crate::server::store::Store;
use crate::server::version::Version;
use crate::server::{aof, rdb, snapshot};

/// When everything here happens.
const NOW: WallTime = WallTime(1_700_000_000_000_000_000);

fn blank() -> Store {
    Store::blank(Version::default(), NOW)
}

/// A reader may keep so many times the bytes that it was given, and the room for a read.
const KEPT_MAX: usize = 4;
const ROOM: usize = 64 * 1024;

/// A connection's requests are the same however its bytes are cut into reads.
pub fn requests(bytes: &[u8]) {
    let whole = read_requests(&[bytes]);
    let cut: Vec<&[u8]> = bytes.chunks(7).collect();
    assert_eq!(read_requests(&cut), whole, "the reads make a difference");
}

/// The requests that come in these reads, and how they end: in an error, or in what is not complete.
fn read_requests(reads: &[&[u8]]) -> (Vec<Vec<Vec<u8>>>, bool) {
    let mut requests = Requests::default();
    let (mut taken, mut given) = (Vec::new(), 0);
    for read in reads {
        given += read.len();
        requests.room().extend_from_slice(read);
        assert!(requests.room().capacity() <= KEPT_MAX * given + ROOM, "{given} bytes take too much");
        loop {
            match requests.take() {
                Ok(Some(request)) => taken.push(request.args.iter().map(|arg| arg.to_vec()).collect()),
                Ok(None) => break,
                Err(_) => return (taken, true),
            }
        }
    }
    (taken, false)
}

/// Replies as a client reads them. A reply that is written again is read as it was written.
pub fn reply(bytes: &[u8]) {
    if let Ok(Some((reply, len))) = Reply::decode(bytes) {
        assert!(len <= bytes.len());
        let written = encoded(&reply);
        let again = Reply::decode(&written).map(|read| read.map(|(reply, len)| (encoded(&reply), len)));
        assert_eq!(again, Ok(Some((written.clone(), written.len()))));
    }
}

fn encoded(reply: &Reply) -> Vec<u8> {
    let mut bytes = Vec::new();
    reply.encode(Protocol::Two, &mut bytes);
    bytes
}

/// A file of snapshots. What is loaded can be looked at, and is loaded the same from the snapshot that is made of it.
pub fn snapshot(bytes: &[u8]) {
    for bytes in [bytes, &unchecked(bytes)] {
        let _ = snapshot::load(bytes, blank(), true);
        if let Ok(copy) = snapshot::load(bytes, blank(), false) {
            look_at(copy.store);
        }
    }
}

/// The same without a checksum, so that damage gets as far as it can.
fn unchecked(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    let end = bytes.len().saturating_sub(8);
    bytes[end..].fill(0);
    bytes
}

/// The payload of RESTORE.
pub fn payload(bytes: &[u8]) {
    if let Ok(value) = rdb::restore(bytes) {
        assert_eq!(rdb::restore(&rdb::dump(&value)), Ok(value));
    }
}

/// The part of an append-only file behind its base.
pub fn append_only(bytes: &[u8]) {
    let mut store = Store::default();
    store.now = NOW;
    aof::replay(&mut store, bytes);
    look_at(store);
}

/// The stream of a primary to a replica, which has followed it before if the first byte is odd; then its replica's replica
/// has the same bytes of the stream.
pub fn primary(bytes: &[u8]) {
    let (first, bytes) = bytes.split_first().map_or((0, bytes), |(first, rest)| (*first, rest));
    let mut node = Node::new(Store::default(), Some("primary 6379".to_owned()));
    node.replication.rename(Seed(7));
    if first % 2 == 1 {
        let copy = snapshot::of_node(&Node::new(Store::default(), None), false);
        let agreed =
            format!("+PONG\r\n+OK\r\n+OK\r\n+FULLRESYNC {} 1\r\n${}\r\n", "f".repeat(40), copy.len());
        hear(&mut node, &[agreed.as_bytes(), &copy]);
        node.link_is(NOW, LinkState::Down);
    }
    hear(&mut node, &bytes.chunks(1 + usize::from(first)).collect::<Vec<_>>());
    look_at(std::mem::take(&mut node.store));
}

fn hear(node: &mut Node, reads: &[&[u8]]) {
    let mut link = Link::new(node.introduction());
    for read in reads {
        link.room().extend_from_slice(read);
        loop {
            match node.hear(NOW, &mut link) {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(_) => return,
            }
        }
        let _ = link.take_output();
        let _ = node.take_deliveries();
    }
}

/// The words of a replica to its primary, between the writes of somebody else.
pub fn replica(bytes: &[u8]) {
    let mut node = Node::new(Store::default(), None);
    node.replication.rename(Seed(7));
    let (client, replica) = (node.connect("client"), node.connect("replica"));
    let mut requests = Requests::default();
    requests.room().extend_from_slice(bytes);
    let mut count = 0_u32;
    while let Ok(Some(request)) = requests.take() {
        let speaks = [b"PSYNC".as_slice(), b"SYNC", b"REPLCONF", b"PING", b"SELECT", b"WAIT"];
        if speaks.iter().any(|name| request.args[0].eq_ignore_ascii_case(name)) {
            execute(&mut node, replica, &request.args);
        }
        count += 1;
        execute(&mut node, client, &[b"SET", b"k", count.to_string().as_bytes(), b"PX", b"1000"]);
        let _ = node.beat(NOW);
        let _ = node.take_deliveries();
    }
    node.disconnect(replica);
}

fn execute(node: &mut Node, session: SessionId, args: &[&[u8]]) -> Vec<u8> {
    let mut reply = Vec::new();
    let _ = node.execute(NOW, session, args, &mut reply);
    reply
}

/// Asks for everything that depends on what a key holds and on when it ends, and saves it all.
fn look_at(store: Store) {
    let mut node = Node::new(store, None);
    node.store.now = NOW;
    let saved = snapshot::of_node(&node, false);
    let loaded = snapshot::load(&saved, blank(), false)
        .map(|copy| snapshot::of_node(&Node::new(copy.store, None), false));
    assert_eq!(loaded.as_ref(), Ok(&saved), "what was saved is loaded as it was");
    let keys: Vec<Vec<u8>> = node.store.live_keys().map(|(key, _)| key.to_vec()).collect();
    let session = node.connect("client");
    for key in &keys {
        for command in [b"TTL".as_slice(), b"PTTL", b"PEXPIRETIME", b"TYPE", b"DUMP", b"PERSIST"] {
            execute(&mut node, session, &[command, key]);
        }
    }
    let _ = node.tick(NOW);
}
