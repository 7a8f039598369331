//! The additions of later versions: conditions on the value of a key, and what a node says of itself. The replies to DELEX and to SET with
//! conditions are those of Redis 8.4's and Valkey's documentation, and of tests of clients against real servers.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::time::{EPOCH_NS, WallTime};
use picklock_model::trace::What;

use crate::protocol::resp::Reply;
use crate::server::node::{Node, SessionId};
use crate::server::version::Version;

pub(super) struct Bench {
    pub(super) node: Node,
    session: SessionId,
    pub(super) now: WallTime,
    pub(super) events: Vec<What>,
    pub(super) writes: String,
}

impl Bench {
    pub(super) fn of(version: Version) -> Bench {
        let mut node = Node::default();
        node.store.version = version;
        let session = node.connect("client");
        Bench { node, session, now: WallTime(EPOCH_NS), events: Vec::new(), writes: String::new() }
    }

    pub(super) fn run(&mut self, line: &str) -> Reply {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut out = Vec::new();
        let outcome = self.node.execute(self.now, self.session, &words, &mut out);
        self.events = outcome.effects.events;
        self.writes = String::from_utf8_lossy(&outcome.effects.writes).replace("\r\n", " ");
        Reply::decode(&out).unwrap().unwrap().0
    }
}

const ONE: Reply = Reply::Integer(1);
const ZERO: Reply = Reply::Integer(0);

fn key(name: &str) -> Key {
    Key::new(name)
}

fn error(text: &str) -> Reply {
    Reply::Error(text.to_owned().into())
}

#[test]
fn a_lease_is_renewed_by_set_if_the_value_is_the_owner_s() {
    for version in [Version::V8_4, Version::Valkey8_1, Version::Valkey9_0] {
        let mut bench = Bench::of(version);
        bench.run("SET k a NX PX 100");
        bench.now = bench.now + Duration::from_millis(50);
        assert_eq!(bench.run("SET k a IFEQ a PX 100"), Reply::OK);
        assert_eq!(bench.events, [What::Extended { key: key("k") }]);
        assert!(bench.writes.contains("SET $1 k $1 a $4 PXAT"), "{}", bench.writes);
        assert_eq!(bench.run("PTTL k"), Reply::Integer(100));
        assert_eq!(bench.run("SET k b PX 100 IFEQ b"), Reply::Nil);
        assert_eq!(bench.run("PTTL k"), Reply::Integer(100));
        assert_eq!(bench.run("SET k b IFEQ a PX 70 GET"), Reply::Bulk(b"a".to_vec()));
        assert_eq!(bench.events, [What::Created { key: key("k") }]);
        assert_eq!(bench.run("SET none a IFEQ a"), Reply::Nil);
        for wrong in ["SET k a IFEQ a NX", "SET k a XX IFEQ a", "SET k a IFEQ", "SET k a IFEQ a IFEQ a"] {
            assert_eq!(bench.run(wrong), error("ERR syntax error"), "{wrong}");
        }
        bench.run("RPUSH l a");
        let Reply::Error(text) = bench.run("SET l a IFEQ a") else { panic!("an error") };
        assert!(text.starts_with("WRONGTYPE"));
    }
}

#[test]
fn what_is_set_on_a_condition_without_a_lease_has_none() {
    let mut bench = Bench::of(Version::V8_4);
    bench.run("SET k a NX PX 100");
    assert_eq!(bench.run("SET k b IFEQ a KEEPTTL"), Reply::OK);
    assert_eq!(bench.run("PTTL k"), Reply::Integer(100));
    assert_eq!(bench.run("SET k c IFNE a"), Reply::OK);
    assert_eq!(bench.run("PTTL k"), Reply::Integer(-1));
    assert_eq!(bench.run("SET k d IFNE c"), Reply::Nil);
    assert_eq!(bench.run("SET none a IFNE b"), Reply::OK);
    let mut valkey = Bench::of(Version::Valkey9_0);
    assert_eq!(valkey.run("SET none a IFNE b"), error("ERR syntax error"));
}

#[test]
fn conditions_on_digests_are_not_modelled() {
    let mut bench = Bench::of(Version::V8_4);
    let lacks = |name| error(&format!("ERR {name} is not modelled; try picklock run --servers real"));
    assert_eq!(bench.run("SET k test IFDNE 9EC9F7918D7DFC40"), lacks("SET with IFDNE"));
    assert_eq!(bench.run("DELEX k IFDEQ 9ec9f7918d7dfc40"), lacks("DELEX with IFDEQ"));
    assert_eq!(bench.run("DIGEST k"), lacks("DIGEST"));
    let mut earlier = Bench::of(Version::V7_0);
    assert_eq!(earlier.run("SET k test IFDNE 9EC9F7918D7DFC40"), error("ERR syntax error"));
}

#[test]
fn a_key_is_deleted_if_it_has_a_value() {
    let mut redis = Bench::of(Version::V8_4);
    redis.run("SET k a NX PX 100");
    assert_eq!(redis.run("DELEX k IFEQ b"), ZERO);
    assert_eq!(redis.run("DELEX none IFEQ b"), ZERO);
    assert_eq!(redis.run("DELEX k ifeq a"), ONE);
    assert_eq!(redis.events, [What::Deleted { key: key("k") }]);
    assert!(redis.writes.contains("DEL $1 k"), "{}", redis.writes);
    redis.run("SET k a");
    assert_eq!(redis.run("DELEX k IFNE a"), ZERO);
    assert_eq!(redis.run("DELEX k FOO a"), error("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"));
    assert_eq!(redis.run("DELEX k IFEQ"), error("ERR wrong number of arguments for 'delex' command"));
    assert_eq!(redis.run("DELEX k"), ONE);
    redis.run("RPUSH l a");
    let text = "ERR Key should be of string type if conditions are specified";
    assert_eq!(redis.run("DELEX l IFEQ a"), error(text));
    assert_eq!(redis.run("DELEX l"), ONE);
    let mut valkey = Bench::of(Version::Valkey9_0);
    valkey.run("SET k a NX PX 100");
    assert_eq!(valkey.run("DELIFEQ k b"), ZERO);
    assert_eq!(valkey.run("DELIFEQ k a"), ONE);
    assert_eq!(valkey.run("DELIFEQ k a"), ZERO);
    valkey.run("RPUSH l a");
    let Reply::Error(text) = valkey.run("DELIFEQ l a") else { panic!("an error") };
    assert!(text.starts_with("WRONGTYPE"));
}

#[test]
fn a_version_does_not_know_what_came_after_it_nor_what_the_other_product_has() {
    for (name, version) in Version::NAMED {
        let mut bench = Bench::of(version);
        bench.run("SET k a");
        let knows =
            |reply: Reply| !matches!(&reply, Reply::Error(text) if text.starts_with("ERR unknown command"));
        assert_eq!(knows(bench.run("DELEX k IFEQ a")), version == Version::V8_4, "{name}");
        assert_eq!(knows(bench.run("DELIFEQ k a")), version == Version::Valkey9_0, "{name}");
        assert_eq!(knows(bench.run("WAITAOF 0 0 0")), version >= Version::V7_2, "{name}");
        bench.run("SET k a");
        let sets = bench.run("SET k a IFEQ a") == Reply::OK;
        assert_eq!(sets, version >= Version::V8_4, "{name}");
        let Reply::Array(listed) = bench.run("COMMAND INFO delex") else { panic!("a list") };
        assert_eq!(listed != [Reply::Nil], version == Version::V8_4, "{name}");
    }
}

#[test]
fn a_node_says_of_which_version_it_is() {
    let says = |version: Version| {
        let mut bench = Bench::of(version);
        let Reply::Bulk(info) = bench.run("INFO server") else { panic!("a text") };
        let info = String::from_utf8(info).unwrap();
        let lines = info.lines().filter(|line| line.contains("version:") || line.contains("server_name:"));
        (lines.take(3).collect::<Vec<_>>().join(" "), format!("{:?}", bench.run("HELLO")))
    };
    assert!(says(Version::V8_4).0.starts_with("redis_version:8.4.0 "));
    let (info, hello) = says(Version::Valkey9_0);
    assert_eq!(info, "redis_version:7.2.4 server_name:valkey valkey_version:9.0.0");
    let bytes = |text: &str| format!("{:?}", Reply::text(text));
    assert!(hello.contains(&bytes("valkey")) && hello.contains(&bytes("9.0.0")), "{hello}");
}
