//! Libraries of functions as a part of the dataset: in snapshots and files, and for each node its own.

use picklock_model::time::{EPOCH_NS, WallTime};

use crate::protocol::resp::Reply;
use crate::server::node::{Node, SessionId};
use crate::server::store::Store;
use crate::server::version::Version;
use crate::server::{aof, snapshot};

const NOW: WallTime = WallTime(EPOCH_NS);

/// A library with a function that counts, and one that takes a lock.
pub(super) const COUNTER: &[u8] = b"#!lua name=counter\nlocal n = 0\n\
    redis.register_function{function_name='count', callback=function() n = n + 1 return n end, flags={'no-writes'}}\n\
    redis.register_function('take', function(keys, args) return redis.call('set', keys[1], args[1], 'NX') end)";

struct Client {
    node: Node,
    session: SessionId,
}

impl Client {
    fn of(mut node: Node) -> Client {
        let session = node.connect("client:1");
        Client { node, session }
    }

    /// Has a command executed: the reply, and the bytes of its effects for a file.
    fn run(&mut self, args: &[&[u8]]) -> (Reply, Vec<u8>) {
        let mut out = Vec::new();
        let outcome = self.node.execute(NOW, self.session, args, &mut out);
        let effects = crate::server::stream::Writer::default().write(&outcome.effects).into_owned();
        (Reply::decode(&out).unwrap().unwrap().0, effects)
    }

    fn call(&mut self, name: &str) -> Reply {
        self.run(&[b"FCALL", name.as_bytes(), b"1", b"k", b"v"]).0
    }
}

fn loaded() -> Client {
    let mut client = Client::of(Node::default());
    assert_eq!(client.run(&[b"FUNCTION", b"LOAD", COUNTER]).0, Reply::Bulk(b"counter".to_vec()));
    client
}

#[test]
fn nodes_of_one_thread_share_nothing_that_a_library_keeps() {
    let (mut first, mut second) = (loaded(), loaded());
    let counts = [&mut first, &mut second].map(|client| (client.call("count"), client.call("COUNT")));
    assert_eq!(counts, [(Reply::Integer(1), Reply::Integer(2)), (Reply::Integer(1), Reply::Integer(2))]);
}

#[test]
fn a_function_goes_with_its_node_to_another_thread() {
    let mut client = loaded();
    assert_eq!(client.call("count"), Reply::Integer(1));
    let elsewhere = std::thread::scope(|scope| scope.spawn(|| client.call("take")).join().unwrap());
    assert_eq!(elsewhere, Reply::OK);
}

#[test]
fn libraries_are_in_snapshots_and_in_files() {
    let mut client = loaded();
    client.call("count");
    let bytes = snapshot::of_node(&client.node, false);
    let copy = snapshot::load(&bytes, Store::blank(Version::default(), NOW), true).unwrap();
    let mut restarted = Client::of(Node::new(copy.store, None));
    assert_eq!(restarted.call("count"), Reply::Integer(1), "it begins anew");

    let mut client = Client::of(Node::default());
    let (_, mut file) = client.run(&[b"FUNCTION", b"LOAD", COUNTER]);
    file.extend(client.run(&[b"FCALL", b"take", b"1", b"k", b"v"]).1);
    let mut store = Store::blank(Version::default(), NOW);
    aof::replay(&mut store, &file);
    let mut restarted = Client::of(Node::new(store, None));
    assert_eq!(restarted.run(&[b"GET", b"k"]).0, Reply::Bulk(b"v".to_vec()));
    assert_eq!(restarted.call("take"), Reply::Nil);
    let (_, deleted) = client.run(&[b"FUNCTION", b"DELETE", b"counter"]);
    aof::replay(&mut restarted.node.store, &deleted);
    assert_eq!(restarted.call("count"), Reply::error("ERR Function not found"));
}
