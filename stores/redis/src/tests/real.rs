//! The node beside a real redis-server, over sockets of the machine: each reads what the other writes and follows it,
//! from a full copy on and, after the link was cut, from where it stopped: the same dataset at the same offset.
//!
//! Ignored unless asked for, since they need `redis-server` 7.0 on the path; they take about three seconds:
//! `cargo test -p picklock-redis --lib real -- --ignored`.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use picklock_model::seed::Seed;
use picklock_model::time::WallTime;

use crate::protocol::resp::{Reply, Requests, request};
use crate::server::following::Link;
use crate::server::node::LinkState;
use crate::server::node::{Node, SessionId};
use crate::server::store::Store;
use crate::server::{rdb, snapshot};

/// A real server with a directory of its own, stopped and removed at the end.
pub(super) struct Real {
    child: Child,
    port: u16,
    dir: PathBuf,
    client: TcpStream,
}

impl Real {
    pub(super) fn start(more: &[&str]) -> Real {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let dir = std::env::temp_dir().join(format!("picklock-real-{port}"));
        std::fs::create_dir_all(&dir).unwrap();
        Real::start_in(dir, port, more)
    }

    fn start_in(dir: PathBuf, port: u16, more: &[&str]) -> Real {
        let child = Command::new("redis-server")
            .args(["--port", &port.to_string(), "--save", "", "--dir", dir.to_str().unwrap()])
            .args(["--repl-diskless-sync-delay", "0"])
            .args(more)
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        let client = (0..200).find_map(|_| {
            std::thread::sleep(Duration::from_millis(20));
            TcpStream::connect(("127.0.0.1", port)).ok()
        });
        Real { child, port, dir, client: client.expect("the server listens within four seconds") }
    }

    fn call(&mut self, line: &str) -> Reply {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        self.command(&words)
    }

    fn command(&mut self, words: &[&[u8]]) -> Reply {
        let bytes = self.bytes(words);
        Reply::decode(&bytes).unwrap().expect("it is whole").0
    }

    /// The reply as it comes.
    pub(super) fn bytes(&mut self, words: &[&[u8]]) -> Vec<u8> {
        let mut bytes = Vec::new();
        request(&mut bytes, words);
        self.client.write_all(&bytes).unwrap();
        let mut received = Vec::new();
        loop {
            if Reply::decode(&received).unwrap().is_some() {
                return received;
            }
            let mut chunk = [0; 65_536];
            let len = self.client.read(&mut chunk).unwrap();
            received.extend_from_slice(&chunk[..len]);
        }
    }

    /// A field of what it says about replication.
    fn info(&mut self, name: &str) -> String {
        self.field("INFO replication", name)
    }

    /// One of its counters.
    fn stat(&mut self, name: &str) -> String {
        self.field("INFO stats", name)
    }

    fn field(&mut self, section: &str, name: &str) -> String {
        let Reply::Bulk(text) = self.call(section) else { panic!("a text") };
        let text = String::from_utf8(text).unwrap();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        line.unwrap_or_default().to_owned()
    }

    /// Every key with its payload and expiry, of all databases.
    fn dataset(&mut self) -> Vec<(usize, Vec<u8>, Reply, Reply)> {
        let mut all = Vec::new();
        for database in 0..16 {
            self.call(&format!("SELECT {database}"));
            let Reply::Array(keys) = self.call("KEYS *") else { panic!("a list") };
            for key in keys {
                let Reply::Bulk(key) = key else { panic!("a key") };
                let value = self.command(&[b"DUMP", &key]);
                let expires = self.command(&[b"PEXPIRETIME", &key]);
                all.push((database, key, value, expires));
            }
        }
        self.call("SELECT 0");
        all.sort_by(|a, b| (a.0, &a.1).cmp(&(b.0, &b.1)));
        all
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Effects of every form that locks send: absolute times, scripts, a key that ends by itself; and values of all types in
/// two databases. What was there before is gone.
const LINES: &[&str] = &[
    "SET gone 1",
    "FLUSHALL",
    "SET lease owner NX PX 600000",
    "SET short owner NX PX 30",
    "SET n 41",
    "INCRBY n 1",
    "EXPIRE n 700",
    "PEXPIRE lease 650000",
    "RPUSH list a b 3 -70000",
    "SADD set a b 1",
    "SADD ints 1 2 99999",
    "ZADD ranks 1 a 2.5 b -inf c",
    "HSET hash f 1 g x",
    "PEXPIRE hash 500000",
    "SELECT 3",
    "SET other 1",
    "EVAL redis.call('set','x',1)redis.call('incr','x') 0",
    "EVAL return(redis.call('set','by-script',1,'px',600000)) 0",
    "SELECT 0",
    "DEL list",
    "LPUSH list z",
];

/// Has a server execute all of [`LINES`], and find that the key with the short lease is dead.
fn fill(mut run: impl FnMut(&str)) {
    LINES.iter().for_each(|line| run(line));
    std::thread::sleep(Duration::from_millis(40));
    run("GET short");
}

fn now() -> WallTime {
    let now = std::process::Command::new("date").arg("+%s%N").output().unwrap();
    WallTime(String::from_utf8(now.stdout).unwrap().trim().parse().unwrap())
}

/// The dataset of a node as [`Real::dataset`] shows one, by way of the payloads of our own.
fn same_dataset(node: &Node, real: &mut Real) {
    let theirs = real.dataset();
    let ours: Vec<_> = node.store.all().collect();
    assert_eq!(ours.len(), theirs.len());
    for ((database, key, entry), (their_database, their_key, payload, expires)) in
        ours.into_iter().zip(theirs)
    {
        assert_eq!((database, key), (their_database, their_key.as_slice()));
        let Reply::Bulk(payload) = payload else { panic!("a payload") };
        assert_eq!(rdb::restore(&payload).as_ref(), Ok(&entry.value), "{}", String::from_utf8_lossy(key));
        assert_eq!(Reply::Integer(entry.expires.unwrap_or(-1)), expires);
    }
}

/// A client of a node in this process.
struct Local {
    node: Node,
    session: SessionId,
}

impl Local {
    fn new(primary: Option<String>) -> Local {
        let mut node = Node::new(Store::default(), primary);
        node.replication.rename(Seed(7));
        let session = node.connect("client");
        Local { node, session }
    }

    fn run(&mut self, line: &str) {
        let words: Vec<&[u8]> = line.split(' ').map(str::as_bytes).collect();
        let mut out = Vec::new();
        let _ = self.node.execute(now(), self.session, &words, &mut out);
        assert_ne!(out.first(), Some(&b'-'), "{line}: {}", String::from_utf8_lossy(&out));
    }
}

#[test]
#[ignore = "needs redis-server"]
fn a_real_server_loads_our_snapshot_and_takes_our_payloads() {
    let mut local = Local::new(None);
    fill(|line| local.run(line));
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let dir = std::env::temp_dir().join(format!("picklock-real-{port}"));
    std::fs::create_dir_all(&dir).unwrap();
    std::fs::write(dir.join("dump.rdb"), snapshot::of_node(&local.node, false)).unwrap();
    let mut real = Real::start_in(dir, port, &[]);
    same_dataset(&local.node, &mut real);
    real.call("FLUSHALL");
    for (database, key, entry) in local.node.store.all() {
        real.call(&format!("SELECT {database}"));
        let when = entry.expires.unwrap_or(0).to_string();
        let payload = rdb::dump(&entry.value);
        assert_eq!(real.command(&[b"RESTORE", key, when.as_bytes(), &payload, b"ABSTTL"]), Reply::OK);
    }
    same_dataset(&local.node, &mut real);
    let _ = std::fs::remove_dir_all(&real.dir);
}

/// How long a link is waited for: a real server looks once a second whether it has something to do for a replica.
const PATIENCE: u32 = 1000;

/// How long a read waits.
const READ_TIMEOUT: Duration = Duration::from_millis(10);

/// The node's link to a real primary.
struct Upward<'a> {
    node: &'a mut Node,
    link: Link,
    socket: TcpStream,
    resynced: bool,
}

impl<'a> Upward<'a> {
    fn new(node: &'a mut Node, port: u16) -> Upward<'a> {
        let link = Link::new(node.introduction());
        let socket = TcpStream::connect(("127.0.0.1", port)).unwrap();
        socket.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
        Upward { node, link, socket, resynced: false }
    }

    fn until(&mut self, what: &str, mut done: impl FnMut(&Node) -> bool) {
        for _ in 0..PATIENCE {
            if done(self.node) {
                return;
            }
            self.socket.write_all(&self.link.take_output()).unwrap();
            let mut chunk = vec![0; 65_536];
            if let Ok(len) = self.socket.read(&mut chunk) {
                self.link.room().extend_from_slice(&chunk[..len]);
            }
            while let Some(heard) = self.node.hear(now(), &mut self.link).unwrap() {
                self.resynced |= heard.resynced;
            }
        }
        panic!("{what}: not in time");
    }
}

#[test]
#[ignore = "needs redis-server"]
fn the_node_follows_a_real_server() {
    for diskless in ["yes", "no"] {
        let mut real = Real::start(&["--repl-diskless-sync", diskless]);
        real.call("SET before 1");
        let mut local = Local::new(Some(format!("127.0.0.1 {}", real.port)));
        let mut was_full = Vec::new();
        for round in 0..2 {
            let mut link = Upward::new(&mut local.node, real.port);
            link.until("the link is up", |node| node.upstream().unwrap().link == LinkState::Up);
            fill(|line| assert!(!matches!(real.call(line), Reply::Error(_)), "{line}"));
            let mut asker = real.client.try_clone().unwrap();
            asker.write_all(b"SET acked 1\r\nWAIT 1 5000\r\n").unwrap();
            asker.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
            let mut answers = Vec::new();
            link.until("WAIT has its answer", |_| {
                let mut chunk = [0; 16];
                let len = asker.read(&mut chunk).unwrap_or(0);
                answers.extend_from_slice(&chunk[..len]);
                answers == b"+OK\r\n:1\r\n"
            });
            asker.set_read_timeout(None).unwrap();
            assert_eq!(real.info("connected_slaves"), "1");
            link.until("the offsets are the same", |node| {
                real.info("master_repl_offset") == node.offset().to_string()
            });
            was_full.push(link.resynced);
            drop(link);
            same_dataset(&local.node, &mut real);
            local.node.link_is(now(), LinkState::Down);
            real.call(&format!("SET while-away {round} PX 600000"));
        }
        assert_eq!(was_full, [true, false], "the second link goes on where the first stopped");
        assert_eq!(real.stat("sync_full"), "1");
        assert_eq!(real.stat("sync_partial_ok"), "1");
        let _ = std::fs::remove_dir_all(&real.dir);
    }
}

/// The link of a real replica to the node.
struct Downward<'a> {
    local: &'a mut Local,
    session: SessionId,
    requests: Requests,
    socket: TcpStream,
    sent: Vec<u8>,
    /// The messages to others than the replica.
    answers: Vec<u8>,
}

impl<'a> Downward<'a> {
    fn new(local: &'a mut Local, listener: &TcpListener) -> Downward<'a> {
        let (socket, _) = listener.accept().unwrap();
        socket.set_read_timeout(Some(READ_TIMEOUT)).unwrap();
        let session = local.node.connect("127.0.0.1");
        Downward {
            local,
            session,
            requests: Requests::default(),
            socket,
            sent: Vec::new(),
            answers: Vec::new(),
        }
    }

    fn until(&mut self, what: &str, mut done: impl FnMut(&Self) -> bool) {
        for _ in 0..PATIENCE {
            let mut chunk = vec![0; 65_536];
            if let Ok(len) = self.socket.read(&mut chunk) {
                self.requests.room().extend_from_slice(&chunk[..len]);
            }
            let (node, mut out) = (&mut self.local.node, Vec::new());
            while let Some(request) = self.requests.take().unwrap() {
                let _ = node.execute(now(), self.session, &request.args, &mut out);
            }
            for delivery in node.take_deliveries() {
                let to = if delivery.session == self.session { &mut out } else { &mut self.answers };
                to.extend_from_slice(&delivery.bytes);
            }
            self.sent.extend_from_slice(&out);
            self.socket.write_all(&out).unwrap();
            if done(self) {
                return;
            }
        }
        panic!("{what}: not in time");
    }
}

#[test]
#[ignore = "needs redis-server"]
fn a_real_server_follows_the_node() {
    ["yes", "no"].into_iter().for_each(a_real_server_follows);
}

/// The same with a copy that goes straight over the socket, and with one that has a length.
fn a_real_server_follows(diskless: &str) {
    let mut local = Local::new(None);
    local.run(&format!("CONFIG SET repl-diskless-sync {diskless} repl-diskless-sync-delay 0"));
    local.run("SET before 1 PX 600000");
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut real = Real::start(&[]);
    let port = listener.local_addr().unwrap().port();
    assert_eq!(real.call(&format!("REPLICAOF 127.0.0.1 {port}")), Reply::OK);
    let mut starts = Vec::new();
    for round in 0..2 {
        let mut link = Downward::new(&mut local, &listener);
        link.until("the link is up", |_| real.info("master_link_status") == "up");
        fill(|line| link.local.run(line));
        link.local.run("SET acked 1");
        let asker = link.local.session;
        let _ = link.local.node.execute(now(), asker, &[b"WAIT", b"1", b"0"], &mut Vec::new());
        link.until("WAIT has its answer, and the offsets are the same", |link| {
            let offset = link.local.node.offset().to_string();
            link.answers == b":1\r\n" && real.info("slave_repl_offset") == offset
        });
        starts.push(String::from_utf8_lossy(&link.sent).contains("+CONTINUE"));
        let session = link.session;
        drop(link);
        same_dataset(&local.node, &mut real);
        local.node.disconnect(session);
        local.run(&format!("SET while-away {round} PX 600000"));
    }
    assert_eq!(starts, [false, true], "the second link goes on where the first stopped");
    let _ = std::fs::remove_dir_all(&real.dir);
}

#[test]
#[ignore = "needs redis-server"]
fn a_real_server_hands_over_to_the_node() {
    let mut real = Real::start(&[]);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut local = Local::new(Some(format!("127.0.0.1 {}", real.port)));
    local.node.replication.settings.announced_port = listener.local_addr().unwrap().port();
    let mut link = Upward::new(&mut local.node, real.port);
    link.until("the link is up", |node| node.upstream().unwrap().link == LinkState::Up);
    fill(|line| assert!(!matches!(real.call(line), Reply::Error(_)), "{line}"));
    link.until("the offsets are the same", |node| {
        real.info("master_repl_offset") == node.offset().to_string()
    });
    assert_eq!(real.call("FAILOVER TIMEOUT 5000"), Reply::OK);
    let offset = link.node.offset();
    link.link.acknowledge(offset);
    link.until("it wants to hand over", |_| real.info("master_failover_state") == "failover-in-progress");
    drop(link);
    let mut link = Downward::new(&mut local, &listener);
    link.until("it follows", |_| real.info("master_link_status") == "up");
    assert!(!link.local.node.is_replica());
    assert!(String::from_utf8_lossy(&link.sent).contains("+CONTINUE"), "nothing has to be copied");
    link.local.run("SET after 1");
    link.until("the offsets are the same", |link| {
        real.info("slave_repl_offset") == link.local.node.offset().to_string()
    });
    assert_eq!(real.info("master_failover_state"), "no-failover");
    drop(link);
    same_dataset(&local.node, &mut real);
    let _ = std::fs::remove_dir_all(&real.dir);
}

#[test]
#[ignore = "needs redis-server"]
fn the_node_hands_over_to_a_real_server() {
    let mut local = Local::new(None);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let mut real = Real::start(&[]);
    let port = listener.local_addr().unwrap().port();
    assert_eq!(real.call(&format!("REPLICAOF 127.0.0.1 {port}")), Reply::OK);
    let mut link = Downward::new(&mut local, &listener);
    link.until("the link is up", |_| real.info("master_link_status") == "up");
    fill(|line| link.local.run(line));
    link.local.run(&format!("FAILOVER TO 127.0.0.1 {} TIMEOUT 5000", real.port));
    link.until("the replica has said that it has everything", |link| link.local.node.is_replica());
    drop(link);
    let mut link = Upward::new(&mut local.node, real.port);
    link.until("the link is up", |node| node.upstream().unwrap().link == LinkState::Up);
    assert!(!link.resynced, "nothing has to be copied");
    assert_eq!(real.info("role"), "master");
    assert_eq!(real.call("SET after 1"), Reply::OK);
    link.until("the offsets are the same", |node| {
        real.info("master_repl_offset") == node.offset().to_string()
    });
    drop(link);
    same_dataset(&local.node, &mut real);
    let _ = std::fs::remove_dir_all(&real.dir);
}
