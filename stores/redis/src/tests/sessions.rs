//! The effects of sessions on each other: who is served first, whose transaction fails, who is kept waiting or notified.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::time::{EPOCH_NS, WallTime};
use picklock_model::trace::What;
use proptest::prelude::*;

use crate::protocol::resp::Requests;
use crate::server::node::{Next, Node, SessionId, Then};

/// A node and named clients, each with what it has been sent.
struct Table {
    node: Node,
    now: WallTime,
    clients: BTreeMap<&'static str, SessionId>,
    /// The effects so far.
    writes: Vec<u8>,
    closed: Vec<SessionId>,
    received: BTreeMap<SessionId, Vec<u8>>,
}

impl Table {
    fn new(names: &[&'static str]) -> Table {
        let mut node = Node::default();
        let clients = names.iter().map(|name| (*name, node.connect(name))).collect();
        Table {
            node,
            now: WallTime(EPOCH_NS),
            clients,
            writes: Vec::new(),
            closed: Vec::new(),
            received: BTreeMap::new(),
        }
    }

    /// Sends a command of words; what came back by now, in the notation of the protocol with spaces for line ends.
    fn run(&mut self, name: &str, line: &str) -> String {
        self.send(name, line);
        self.heard(name)
    }

    fn send(&mut self, name: &str, line: &str) -> Next {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let id = self.clients[name];
        let mut out = Vec::new();
        let outcome = self.node.execute(self.now, id, &words, &mut out);
        self.writes.extend(outcome.effects.writes);
        self.received.entry(id).or_default().extend(out);
        self.carry();
        outcome.next
    }

    fn carry(&mut self) {
        for delivery in self.node.take_deliveries() {
            self.received.entry(delivery.session).or_default().extend_from_slice(&delivery.bytes);
            if delivery.then == Then::Close {
                self.closed.push(delivery.session);
            }
        }
    }

    fn pass(&mut self, ms: u64) {
        self.now = self.now + Duration::from_millis(ms);
        let effects = self.node.tick(self.now);
        self.writes.extend(effects.writes);
        self.carry();
    }

    /// The messages to a client since the last call.
    fn heard(&mut self, name: &str) -> String {
        let bytes = self.received.remove(&self.clients[name]).unwrap_or_default();
        String::from_utf8(bytes).unwrap().replace("\r\n", " ").trim_end().to_owned()
    }

    /// The effects since it was last asked.
    fn effects(&mut self) -> Vec<String> {
        let mut requests = Requests::default();
        requests.room().extend(std::mem::take(&mut self.writes));
        let mut all = Vec::new();
        while let Some(request) = requests.take().unwrap() {
            all.push(String::from_utf8(request.args.join(&b' ')).unwrap());
        }
        all
    }
}

#[test]
fn who_waits_longest_is_served_first() {
    let mut table = Table::new(&["a", "b", "c"]);
    assert_eq!(table.send("b", "BLPOP list 0"), Next::Blocked);
    assert_eq!(table.send("c", "BLPOP list 0"), Next::Blocked);
    assert_eq!(table.run("a", "RPUSH list 1 2 3"), ":3");
    assert_eq!(table.heard("b"), "*2 $4 list $1 1");
    assert_eq!(table.heard("c"), "*2 $4 list $1 2");
    assert_eq!(table.effects(), ["RPUSH list 1 2 3", "LPOP list", "LPOP list"]);
}

#[test]
fn keys_are_looked_at_in_the_order_in_which_they_were_changed() {
    let mut table = Table::new(&["a", "b", "c"]);
    table.send("b", "BLPOP x y 0");
    table.send("c", "BLPOP y x 0");
    for line in ["MULTI", "RPUSH y 1", "RPUSH x 2", "EXEC"] {
        table.send("a", line);
    }
    assert_eq!((table.heard("b"), table.heard("c")), ("*2 $1 y $1 1".into(), "*2 $1 x $1 2".into()));
    assert_eq!(table.effects(), ["MULTI", "RPUSH y 1", "RPUSH x 2", "EXEC", "LPOP y", "LPOP x"]);
}

#[test]
fn a_deadline_passes_on_the_wall_clock_and_at_a_tick() {
    let mut table = Table::new(&["a", "b"]);
    table.send("b", "BLPOP list 10");
    table.pass(10_000);
    assert_eq!(table.heard("b"), "");
    table.pass(1);
    assert_eq!(table.heard("b"), "*-1");
    assert_eq!(table.run("a", "RPUSH list 1"), ":1");
    assert_eq!(table.run("a", "LLEN list"), ":1");
}

#[test]
fn a_client_may_be_unblocked_with_or_without_an_error() {
    let mut table = Table::new(&["a", "b"]);
    let id = table.clients["b"].0;
    table.send("b", "BLPOP list 0");
    assert_eq!(table.run("a", &format!("CLIENT UNBLOCK {id}")), ":1");
    assert_eq!(table.heard("b"), "*-1");
    table.send("b", "BLPOP list 0");
    assert_eq!(table.run("a", &format!("CLIENT UNBLOCK {id} ERROR")), ":1");
    assert_eq!(table.heard("b"), "-UNBLOCKED client unblocked via CLIENT UNBLOCK");
    assert_eq!(table.run("a", &format!("CLIENT UNBLOCK {id}")), ":0");
}

#[test]
fn who_disconnects_while_waiting_takes_nothing() {
    let mut table = Table::new(&["a", "b", "c"]);
    table.send("b", "BLPOP list 0");
    table.send("c", "BLPOP list 0");
    let gone = table.clients["b"];
    table.node.disconnect(gone);
    table.send("a", "RPUSH list 1");
    assert_eq!(table.heard("c"), "*2 $4 list $1 1");
}

#[test]
fn a_transaction_fails_when_a_watched_key_was_changed_or_has_died() {
    let mut table = Table::new(&["a", "b"]);
    for (before, after, fails) in [
        ("SET k 1", "SET k 2", true),
        ("SET k 1", "GET k", false),
        ("SET k 1", "SET other 2", false),
        ("DEL k", "SET k 2", true),
        ("SET k 1", "DEL k", true),
        ("SET k 1", "FLUSHALL", true),
        ("DEL k", "FLUSHALL", false),
    ] {
        table.run("b", before);
        table.run("a", "WATCH k");
        table.run("b", after);
        table.run("a", "MULTI");
        table.run("a", "PING");
        let expected = if fails { "*-1" } else { "*1 +PONG" };
        assert_eq!(table.run("a", "EXEC"), expected, "{before}, {after}");
    }
    table.run("b", "SET k v PX 100");
    table.run("a", "WATCH k");
    table.now = table.now + Duration::from_millis(101);
    table.run("a", "MULTI");
    assert_eq!(table.run("a", "EXEC"), "*-1", "it has died, though nobody has deleted it");
}

#[test]
fn a_refused_command_makes_the_transaction_fail() {
    let mut table = Table::new(&["a"]);
    table.run("a", "MULTI");
    assert_eq!(table.run("a", "SET k v"), "+QUEUED");
    assert!(table.run("a", "NOPE").starts_with("-ERR unknown command"));
    assert_eq!(table.run("a", "EXEC"), "-EXECABORT Transaction discarded because of previous errors.");
    assert_eq!(table.run("a", "EXISTS k"), ":0");
    assert_eq!(table.effects(), Vec::<String>::new());
}

#[test]
fn a_pause_keeps_writes_until_it_is_over() {
    let mut table = Table::new(&["a", "b", "c"]);
    table.run("a", "SET k v PX 50");
    assert_eq!(table.run("a", "CLIENT PAUSE 100 WRITE"), "+OK");
    assert_eq!(table.send("b", "SET k b"), Next::Blocked);
    assert_eq!(table.send("c", "INCR n"), Next::Blocked);
    assert_eq!(table.run("a", "GET k"), "$1 v");
    table.effects();
    table.pass(99);
    assert_eq!(table.run("a", "GET k"), "$-1", "it is dead");
    assert_eq!(table.effects(), Vec::<String>::new(), "and not deleted");
    table.pass(1);
    assert_eq!((table.heard("b"), table.heard("c")), ("+OK".into(), ":1".into()));
    assert_eq!(table.effects(), ["MULTI", "DEL k", "SET k b", "EXEC", "INCR n"]);
}

#[test]
fn a_message_reaches_channels_and_patterns() {
    let mut table = Table::new(&["a", "b", "c"]);
    table.run("b", "SUBSCRIBE feed");
    table.run("c", "PSUBSCRIBE f*");
    assert_eq!(table.run("a", "PUBLISH feed hi"), ":2");
    assert_eq!(table.heard("b"), "*3 $7 message $4 feed $2 hi");
    assert_eq!(table.heard("c"), "*4 $8 pmessage $2 f* $4 feed $2 hi");
    assert_eq!(table.effects(), ["PUBLISH feed hi"]);
    assert!(table.run("b", "GET k").starts_with("-ERR Can't execute 'get': only"));
    assert_eq!(table.run("b", "RESET"), "+RESET");
    assert_eq!(table.run("b", "GET k"), "$-1");
    assert_eq!(table.run("a", "PUBLISH feed hi"), ":1");
}

#[test]
fn scripts_publish() {
    let mut table = Table::new(&["a", "b"]);
    table.run("b", "SUBSCRIBE feed");
    table.received.clear();
    table.run("a", "EVAL redis.call('set','k','v');redis.call('publish','feed','hi') 0");
    assert_eq!(table.heard("b"), "*3 $7 message $4 feed $2 hi");
    assert_eq!(table.effects(), ["MULTI", "set k v", "publish feed hi", "EXEC"]);
}

#[test]
fn who_is_killed_gets_nothing_more_done() {
    let mut table = Table::new(&["a", "b"]);
    let id = table.clients["b"];
    assert_eq!(table.run("a", &format!("CLIENT KILL ID {}", id.0)), ":1");
    assert_eq!(table.closed, [id]);
    assert_eq!(table.send("b", "SET k v"), Next::Close);
    assert_eq!(table.run("a", "EXISTS k"), ":0");
}

#[test]
fn a_password_is_asked_of_new_clients() {
    let mut table = Table::new(&["a"]);
    table.run("a", "CONFIG SET requirepass secret");
    let other = table.node.connect("b");
    table.clients.insert("b", other);
    assert_eq!(table.run("b", "GET k"), "-NOAUTH Authentication required.");
    assert!(table.run("b", "AUTH wrong").starts_with("-WRONGPASS"));
    assert_eq!(table.run("b", "AUTH secret"), "+OK");
    assert_eq!(table.run("b", "GET k"), "$-1");
    assert_eq!(table.run("a", "GET k"), "$-1");
}

proptest! {
    /// Elements go out in the order in which they came in, to clients in the order in which they asked.
    #[test]
    fn a_queue_of_waiting_clients_is_fair(pushes in proptest::collection::vec(1usize..4, 1..12)) {
        const NAMES: [&str; 6] = ["b", "c", "d", "e", "f", "g"];
        let mut table = Table::new(&["a", "b", "c", "d", "e", "f", "g"]);
        let mut waiting: std::collections::VecDeque<&str> = std::collections::VecDeque::new();
        let (mut pushed, mut taken) = (0, 0);
        for name in NAMES {
            table.send(name, "BLPOP q 0");
            waiting.push_back(name);
        }
        for count in pushes {
            let items: Vec<String> = (pushed..pushed + count).map(|item| item.to_string()).collect();
            pushed += count;
            table.send("a", &format!("RPUSH q {}", items.join(" ")));
            for _ in 0..count.min(waiting.len()) {
                let name = waiting.pop_front().unwrap();
                let item = taken.to_string();
                prop_assert_eq!(table.heard(name), format!("*2 $1 q ${} {item}", item.len()));
                taken += 1;
            }
            while taken < pushed {
                table.run("a", "LPOP q");
                taken += 1;
            }
            for name in NAMES {
                if !waiting.contains(&name) {
                    table.send(name, "BLPOP q 0");
                    waiting.push_back(name);
                }
            }
        }
    }
}

#[test]
fn a_script_that_waits_for_the_clock_comes_to_an_end() {
    let mut table = Table::new(&["a"]);
    let id = table.clients["a"];
    let body = "local t = redis.call('time')[1] while redis.call('time')[1] - t < 1 do end return 'done'";
    let mut out = Vec::new();
    let outcome = table.node.execute(table.now, id, &[b"EVAL", body.as_bytes(), b"0"], &mut out);
    assert_eq!(out, b"$4\r\ndone\r\n");
    assert!(matches!(outcome.next, Next::Stall(999..=1001)), "{:?}", outcome.next);
    let body = "redis.call('set', 'k', 'v', 'px', 50) while redis.call('pttl', 'k') > 0 do end return redis.call('get', 'k')";
    out.clear();
    let outcome = table.node.execute(table.now, id, &[b"EVAL", body.as_bytes(), b"0"], &mut out);
    assert_eq!(out, b"$1\r\nv\r\n", "the key is valid as long as the script runs");
    assert!(matches!(outcome.next, Next::Stall(50..=51)), "{:?}", outcome.next);
}

#[test]
fn sleep_in_a_transaction_adds_up_and_keys_die_of_it() {
    let mut table = Table::new(&["a", "b"]);
    for line in ["MULTI", "TIME", "DEBUG SLEEP 0.3", "TIME", "DEBUG SLEEP 0.3"] {
        table.run("a", line);
    }
    let at = table.now.as_millis() / 1000;
    assert_eq!(table.send("a", "EXEC"), Next::Stall(600));
    let (first, second) = (format!("${} {at} $1 0", 10), format!("${} {at} $6 300000", 10));
    assert_eq!(table.heard("a"), format!("*4 *2 {first} +OK *2 {second} +OK"));
    assert_eq!(table.send("b", "BRPOP k 0"), Next::Blocked);
    for line in ["MULTI", "LPUSH k x", "PEXPIRE k 100", "DEBUG SLEEP 0.2"] {
        table.run("a", line);
    }
    assert_eq!(table.run("a", "EXEC"), "*3 :1 :1 +OK");
    assert_eq!(table.heard("b"), "");
    assert_eq!(table.run("a", "EXISTS k"), ":0");
}

#[test]
fn who_speaks_http_is_cut_off() {
    let mut table = Table::new(&["a"]);
    assert_eq!(table.send("a", "post / HTTP/1.1"), Next::Close);
    assert_eq!(table.send("a", "SET k v"), Next::Close);
    assert_eq!(table.heard("a"), "");
    let mut table = Table::new(&["a"]);
    assert_eq!(table.send("a", "Host: localhost"), Next::Close);
}

#[test]
fn a_monitor_sees_what_scripts_and_transactions_do_but_no_passwords() {
    let mut table = Table::new(&["m", "a"]);
    table.run("m", "MONITOR");
    let shown = |table: &mut Table| -> Vec<String> {
        let heard = table.heard("m");
        heard
            .split('+')
            .filter_map(|line| line.split_once('['))
            .map(|(_, rest)| rest.trim().to_owned())
            .collect()
    };
    let id = table.clients["a"];
    let mut out = Vec::new();
    let _ = table.node.execute(table.now, id, &[b"EVAL", b"return redis.call('get','a')", b"0"], &mut out);
    table.carry();
    let seen = shown(&mut table);
    assert_eq!(seen.len(), 2, "{seen:?}");
    assert!(seen[0].contains("\"EVAL\"") && seen[1] == "0 lua] \"get\" \"a\"", "{seen:?}");
    table.run("a", "AUTH default secret");
    assert!(shown(&mut table)[0].ends_with("\"AUTH\" \"(redacted)\" \"(redacted)\""));
    for line in ["MULTI", "SET a 1", "EXEC"] {
        table.run("a", line);
    }
    let seen = shown(&mut table);
    let names: Vec<&str> = seen.iter().filter_map(|line| line.split('"').nth(1)).collect();
    assert_eq!(names, ["MULTI", "SET", "EXEC"]);
}

#[test]
fn clients_with_a_cache_are_counted_and_shown_and_forgotten_when_they_go() {
    let mut table = Table::new(&["a", "b", "c"]);
    table.run("a", "HELLO 3");
    table.run("a", "CLIENT TRACKING ON");
    table.run("b", "CLIENT TRACKING ON BCAST PREFIX k PREFIX l REDIRECT 3");
    table.run("a", "MGET k m");
    let info = table.run("c", "INFO everything");
    let counts = [
        "tracking_clients:2",
        "tracking_total_keys:2",
        "tracking_total_items:2",
        "tracking_total_prefixes:2",
    ];
    assert!(counts.iter().all(|count| info.contains(count)), "{info}");
    let list = table.run("c", "CLIENT LIST");
    assert!(list.contains("flags=t db=0") && list.contains("redir=0 resp=3"), "{list}");
    assert!(list.contains("flags=tB db=0") && list.contains("redir=3 resp=2"), "{list}");
    for name in ["a", "b"] {
        table.node.disconnect(table.clients[name]);
    }
    let info = table.run("c", "INFO everything");
    assert!(info.contains("tracking_clients:0") && info.contains("tracking_total_prefixes:0"), "{info}");
    assert_eq!(table.run("c", "SET k 1"), "+OK");
}

#[test]
fn a_client_is_notified_of_what_expires_is_evicted_or_is_too_much_to_remember() {
    let mut table = Table::new(&["a", "b"]);
    table.run("a", "HELLO 3");
    table.run("a", "CLIENT TRACKING ON");
    table.run("b", "SET k 1 PX 50");
    table.run("a", "GET k");
    table.pass(200);
    assert_eq!(table.heard("a"), ">2 $10 invalidate *1 $1 k");
    table.run("b", "SET k 1 PX 50000");
    table.run("a", "GET k");
    let _ = table.node.drop_leased(table.now, 1);
    table.carry();
    assert_eq!(table.heard("a"), ">2 $10 invalidate *1 $1 k");
    table.run("b", "CONFIG SET tracking-table-max-keys 1");
    table.run("a", "MGET k l");
    table.pass(100);
    assert!(table.heard("a").starts_with(">2 $10 invalidate *1 $1 "));
    assert!(table.run("b", "INFO stats").contains("tracking_total_keys:1"));
}

#[test]
fn what_redis_takes_and_the_node_does_not_is_an_event_of_the_run() {
    let mut table = Table::new(&["a"]);
    let mut lacks = |line: &str| {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let id = table.clients["a"];
        let mut out = Vec::new();
        let outcome = table.node.execute(table.now, id, &words, &mut out);
        let events = outcome.effects.events.into_iter().map(|event| match event {
            What::NotModelled { name } => name,
            other => panic!("{other:?}"),
        });
        (events.collect::<Vec<_>>().join(", "), String::from_utf8(out).unwrap())
    };
    let refusal = "-ERR XADD is not modelled; try picklock run --servers real\r\n";
    assert_eq!(lacks("xadd s * a 1"), ("XADD".into(), refusal.into()));
    assert_eq!(lacks("XGROUP CREATE s g $").0, "XGROUP");
    assert_eq!(lacks("SCRIPT DEBUG YES").0, "SCRIPT DEBUG");
    assert_eq!(lacks("EVAL return{redis.pcall('PFADD','k','a')} 0").0, "PFADD");
    // Errors of Redis itself.
    assert_eq!(lacks("SCRIPT NOSUCH").0, "");
    assert_eq!(lacks("NOSUCH").0, "");
    assert_eq!(lacks("WAITAOF 0 0 0").0, "");
    assert_eq!(lacks("CLUSTER INFO").0, "");
}
