//! The answers and effects of the commands on data, where they are easy to get wrong. All of it was seen on Redis
//! 7.0.15.

use picklock_model::time::{EPOCH_NS, WallTime};

use crate::protocol::resp::Requests;
use crate::server::node::{Node, SessionId};
use crate::server::store::Store;

const EPOCH_MS: u64 = EPOCH_NS / 1_000_000;

/// A node and one client of it.
struct Bench {
    node: Node,
    client: SessionId,
    now: WallTime,
    writes: Vec<u8>,
}

impl Bench {
    fn new() -> Bench {
        let mut node = Node::default();
        let client = node.connect("client:1");
        Bench { node, client, now: WallTime(EPOCH_NS), writes: Vec::new() }
    }

    /// Calls a command of words without spaces; the reply as it goes over the wire.
    fn run(&mut self, line: &str) -> String {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut reply = Vec::new();
        self.writes = self.node.execute(self.now, self.client, &words, &mut reply).effects.writes;
        String::from_utf8_lossy(&reply).replace("\r\n", "|")
    }

    /// The effects of the last command.
    fn effects(&self) -> Vec<String> {
        let mut requests = Requests::default();
        requests.room().extend_from_slice(&self.writes);
        let mut all = Vec::new();
        while let Some(request) = requests.take().unwrap() {
            all.push(String::from_utf8(request.args.join(&b' ')).unwrap());
        }
        all
    }

    fn check(&mut self, cases: &[(&str, &str)]) {
        for (line, reply) in cases {
            assert_eq!(&self.run(line), reply, "{line}");
        }
    }
}

#[test]
fn effects_are_the_commands_themselves_unless_the_clock_matters() {
    let mut bench = Bench::new();
    for (line, effect) in [
        ("SET k v EX 10", format!("SET k v PXAT {}", EPOCH_MS + 10_000)),
        ("set k v xx get", "set k v xx".into()),
        ("PEXPIRE k 5", format!("PEXPIREAT k {}", EPOCH_MS + 5)),
        ("EXPIRE k 100 GT", format!("PEXPIREAT k {} GT", EPOCH_MS + 100_000)),
        ("PERSIST k", "PERSIST k".into()),
        ("GETSET k w", "SET k w".into()),
        ("SADD s a b c", "SADD s a b c".into()),
        ("RPUSH l a b c", "RPUSH l a b c".into()),
        ("RPOP l 2", "RPOP l 2".into()),
        ("ZADD z 1 a 2 b", "ZADD z 1 a 2 b".into()),
        ("PEXPIREAT z 1", "DEL z".into()),
    ] {
        bench.run(line);
        assert_eq!(bench.effects(), [effect], "{line}");
    }
    for line in ["ZADD none XX 1 a", "SREM none a", "PERSIST l"] {
        bench.run(line);
        assert!(bench.effects().is_empty(), "{line}");
    }
}

#[test]
fn databases_are_apart() {
    let mut bench = Bench::new();
    bench.check(&[
        ("SET k v", "+OK|"),
        ("SELECT 1", "+OK|"),
        ("DBSIZE", ":0|"),
        ("SET k w", "+OK|"),
        ("SELECT 0", "+OK|"),
        ("GET k", "$1|v|"),
    ]);
}

#[test]
fn replies_have_the_shapes_of_their_protocol() {
    let mut bench = Bench::new();
    bench.run("ZADD z 1.5 a 2 b");
    bench.run("SADD s m");
    bench.check(&[("ZRANGE z 0 -1 WITHSCORES", "*4|$1|a|$3|1.5|$1|b|$1|2|"), ("LPOP none 1", "*-1|")]);
    bench.run("HELLO 3");
    bench.check(&[
        ("ZRANGE z 0 -1 WITHSCORES", "*2|*2|$1|a|,1.5|*2|$1|b|,2|"),
        ("ZSCORE z c", "_|"),
        ("SMEMBERS s", "~1|$1|m|"),
        ("LPOP none 1", "_|"),
    ]);
}

#[test]
fn scores_are_shown_with_all_their_digits() {
    let mut bench = Bench::new();
    bench.check(&[
        ("ZADD z 1.1 a", ":1|"),
        ("ZSCORE z a", "$18|1.1000000000000001|"),
        ("ZADD z inf a", ":0|"),
        ("ZINCRBY z -inf a", "-ERR resulting score is not a number (NaN)|"),
    ]);
}

#[test]
fn a_snapshot_holds_all_types_and_databases() {
    let mut bench = Bench::new();
    for line in [
        "RPUSH l a b",
        "SADD s m",
        "ZADD z 1.5 a -inf b",
        "HSET h f v",
        "PEXPIREAT z 9999999999999",
        "SELECT 3",
        "SET k v",
    ] {
        bench.run(line);
    }
    let entries =
        |store: &Store| store.all().map(|(at, key, entry)| (at, key.to_vec(), entry.clone())).collect();
    let before: Vec<_> = entries(&bench.node.store);
    let mut copy = Bench::new();
    let mut requests = Requests::default();
    requests.room().extend_from_slice(&bench.node.store.snapshot());
    while let Some(request) = requests.take().unwrap() {
        let _ = copy.node.execute(copy.now, copy.client, &request.args, &mut Vec::new());
    }
    assert_eq!(entries(&copy.node.store), before);
}
