//! The scripts beside a real PostgreSQL 15, over sockets of the machine.
//!
//! Ignored unless asked for: `cargo test -p picklock-postgres real -- --ignored`. It needs PostgreSQL's server, found by
//! `PG_BIN` or under `/usr/lib/postgresql`, and says so where there is none. With `PICKLOCK_BLESS=1` the scripts are
//! written anew with what the real server has answered; with `PICKLOCK_SCRIPT=18` those whose names begin so. A session that is to wait has
//! `PICKLOCK_PATIENCE` ms more to come to that on a busy machine.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use picklock_testing::skip;
use proptest::strategy::{Strategy as _, ValueTree as _};
use proptest::test_runner::{Config, RngAlgorithm, TestRng, TestRunner};

use crate::real::{as_user, programs};

use super::random::{self, Act, CLEAR, CLIENTS, SESSION, SET_UP, STEP_MS, Seen, Stage};
use super::talk::{Server, Tame, describe, play, query, startup};
use super::transcripts::{assert_same, scripts};

/// A real server in a directory of its own; both are gone at the end.
struct Real {
    child: Child,
    port: u16,
    clients: BTreeMap<char, TcpStream>,
    /// What each client was sent and is not a whole message yet.
    partial: BTreeMap<char, Vec<u8>>,
    /// The number and the secret of each client's session.
    keys: BTreeMap<char, [u8; 8]>,
    /// The clients that have asked and were not answered.
    busy: Vec<char>,
    /// What each client was sent in this step.
    seen: Seen,
    _dir: tempfile::TempDir,
}

impl Real {
    fn start(bin: &Path) -> Real {
        let dir = tempfile::tempdir().unwrap();
        let data = dir.path().join("data");
        // The server's user makes its directory in one that anybody may write to.
        let mode = std::os::unix::fs::PermissionsExt::from_mode(0o777);
        std::fs::set_permissions(dir.path(), mode).unwrap();
        let made = as_user(bin.join("initdb"))
            .args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--locale=C", "--no-sync", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .status()
            .unwrap();
        assert!(made.success(), "initdb makes a cluster");
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let child = as_user(bin.join("postgres"))
            .args(["-p", &port.to_string(), "-c", "listen_addresses=127.0.0.1"])
            .args(["-c", "unix_socket_directories=", "-c", "fsync=off", "-c", "autovacuum=off", "-D"])
            .arg(&data)
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let up = (0..100).any(|_| {
            std::thread::sleep(Duration::from_millis(50));
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        assert!(up, "the server listens within five seconds");
        // It refuses sessions for a moment more.
        std::thread::sleep(Duration::from_millis(500));
        Real {
            child,
            port,
            clients: BTreeMap::new(),
            partial: BTreeMap::new(),
            keys: BTreeMap::new(),
            busy: Vec::new(),
            seen: Seen::new(),
            _dir: dir,
        }
    }
}

impl Drop for Real {
    fn drop(&mut self) {
        self.clients.clear();
        // SIGINT: fast shutdown, which removes its shared memory.
        let _ = Command::new("kill").args(["-INT", &self.child.id().to_string()]).status();
        let _ = self.child.wait();
    }
}

impl Server for Real {
    fn connect(&mut self, client: char) {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        stream.set_nodelay(true).unwrap();
        self.clients.insert(client, stream);
    }

    fn send(&mut self, client: char, bytes: &[u8]) {
        (&self.clients[&client]).write_all(bytes).unwrap();
    }

    fn next(&mut self, client: char) -> Option<(u8, Vec<u8>)> {
        let mut stream = &self.clients[&client];
        let mut head = [0; 5];
        if let Err(error) = stream.read_exact(&mut head) {
            assert_eq!(error.kind(), std::io::ErrorKind::UnexpectedEof, "{client} waits for an answer");
            return None;
        }
        let len = u32::from_be_bytes([head[1], head[2], head[3], head[4]]) as usize;
        let mut content = vec![0; len - 4];
        stream.read_exact(&mut content).unwrap();
        Some((head[0], content))
    }

    fn close(&mut self, client: char) {
        self.clients.remove(&client);
    }

    fn pass(&mut self, span: Duration) {
        let patience = std::env::var("PICKLOCK_PATIENCE").ok().and_then(|ms| ms.parse().ok()).unwrap_or(0);
        std::thread::sleep(span + Duration::from_millis(patience));
    }
}

/// Forgets the tables of a script, so that the next one begins with none.
const CLEAN: &str = "z: DROP SCHEMA public CASCADE\nz: CREATE SCHEMA public\nz!";

#[test]
#[ignore = "needs PostgreSQL"]
fn real_postgres_says_what_the_scripts_say() {
    let Some(bin) = programs() else {
        return skip("PostgreSQL is not installed, and PG_BIN is not set");
    };
    let mut server = Real::start(&bin);
    let wanted = std::env::var("PICKLOCK_SCRIPT").unwrap_or_default();
    for (file, expected) in scripts() {
        if !file.file_name().unwrap().to_str().unwrap().starts_with(&wanted) {
            continue;
        }
        let found = play(&mut server, &expected);
        server.clients.clear();
        server.pass(Duration::from_millis(100));
        play(&mut server, CLEAN);
        if std::env::var_os("PICKLOCK_BLESS").is_some() {
            std::fs::write(&file, &found).unwrap();
        } else {
            assert_same(&file.display().to_string(), &expected, &found);
        }
    }
}

/// The client that sets up, looks at the others and ends them.
const MONITOR: char = 'm';

impl Real {
    /// Reads what has come for a client, without waiting for more. Notes it unless `quiet`.
    fn poll(&mut self, client: char) -> bool {
        let Some(mut stream) = self.clients.get(&client) else { return false };
        stream.set_nonblocking(true).unwrap();
        let partial = self.partial.entry(client).or_default();
        let mut buffer = [0; 65_536];
        let mut closed = false;
        loop {
            match stream.read(&mut buffer) {
                Ok(0) => {
                    closed = true;
                    break;
                }
                Ok(len) => partial.extend(&buffer[..len]),
                Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break,
                Err(_) => {
                    closed = true;
                    break;
                }
            }
        }
        stream.set_nonblocking(false).unwrap();
        let lines = self.seen.entry(client).or_default();
        while partial.len() >= 5 {
            let len = u32::from_be_bytes([partial[1], partial[2], partial[3], partial[4]]) as usize;
            if partial.len() <= len {
                break;
            }
            let message: Vec<u8> = partial.drain(..=len).collect();
            match message[0] {
                b'K' => drop(self.keys.insert(client, message[5..13].try_into().unwrap())),
                b'Z' => self.busy.retain(|busy| *busy != client),
                _ => {}
            }
            lines.push(describe(message[0], &message[5..]));
        }
        if closed {
            lines.push("closed".to_owned());
            self.busy.retain(|busy| *busy != client);
            self.clients.remove(&client);
        }
        !closed
    }

    /// Asks and reads the whole answer.
    fn ask(&mut self, client: char, sql: &str) -> Vec<String> {
        self.send(client, &query(sql));
        self.answer(client)
    }

    fn answer(&mut self, client: char) -> Vec<String> {
        self.busy.push(client);
        while self.busy.contains(&client) {
            self.poll(client);
            std::thread::yield_now();
        }
        self.seen.remove(&client).unwrap_or_default()
    }

    fn open(&mut self, client: char) {
        self.partial.remove(&client);
        self.connect(client);
        self.send(client, &startup());
        self.answer(client);
        self.ask(client, SESSION);
    }

    fn pid(&self, client: char) -> i32 {
        i32::from_be_bytes(self.keys[&client][..4].try_into().unwrap())
    }

    /// Waits until each session has answered or waits for a lock.
    fn settle(&mut self) {
        loop {
            for client in CLIENTS {
                self.poll(client);
            }
            let busy = self.busy.clone();
            if busy.is_empty() {
                return;
            }
            let waits = self.ask(MONITOR, "SELECT DISTINCT pid FROM pg_locks WHERE NOT granted");
            let is_waiting = |client: &char| waits.contains(&format!("D {}", self.pid(*client)));
            if busy.iter().all(is_waiting) {
                return;
            }
        }
    }

    /// Waits until a session is gone.
    fn gone(&mut self, pid: i32) {
        let ask = format!("SELECT 1 FROM pg_stat_activity WHERE pid = {pid}");
        while self.ask(MONITOR, &ask).iter().any(|line| line == "D 1") {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

impl Stage for Real {
    fn begin(&mut self) {
        if !self.clients.contains_key(&MONITOR) {
            self.open(MONITOR);
        }
        for client in CLIENTS {
            if self.clients.remove(&client).is_some() {
                let pid = self.pid(client);
                self.ask(MONITOR, &format!("SELECT pg_terminate_backend({pid})"));
                self.gone(pid);
            }
        }
        self.busy.clear();
        self.seen.clear();
        self.ask(MONITOR, CLEAR);
        self.ask(MONITOR, SET_UP);
        CLIENTS.into_iter().for_each(|client| self.open(client));
    }

    fn act(&mut self, act: &Act) -> Seen {
        match act {
            Act::Say(client, text) if !self.busy.contains(client) => {
                self.send(*client, &query(text));
                self.busy.push(*client);
            }
            Act::Close(client) if !self.busy.contains(client) => {
                let pid = self.pid(*client);
                self.close(*client);
                self.gone(pid);
                self.open(*client);
            }
            Act::Say(..) | Act::Close(_) => {}
            Act::Cancel(client) => {
                let key = self.keys[client];
                let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
                stream.write_all(&[&[0, 0, 0, 16, 4, 210, 22, 46][..], &key].concat()).unwrap();
                // It is closed once the signal was sent.
                let _ = stream.read(&mut [0]);
                std::thread::sleep(Duration::from_millis(5));
            }
            Act::Terminate(client) => {
                let pid = self.pid(*client);
                self.ask(MONITOR, &format!("SELECT pg_terminate_backend({pid})"));
                self.gone(pid);
                while self.poll(*client) {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
        self.settle();
        if !self.busy.is_empty() {
            std::thread::sleep(Duration::from_millis(STEP_MS));
            self.settle();
        }
        for client in self.busy.clone() {
            self.seen.entry(client).or_default().push("waits".to_owned());
        }
        let mut seen = std::mem::take(&mut self.seen);
        seen.retain(|_, lines| !lines.is_empty());
        for (client, lines) in &seen {
            if lines.last().is_some_and(|line| line == "closed") {
                self.open(*client);
            }
        }
        seen
    }
}

/// A number that the environment gives.
fn given(name: &str, default: usize) -> usize {
    std::env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(default)
}

/// `PICKLOCK_EPISODES` is the number of episodes, `PICKLOCK_SEED` that of the first. With `PICKLOCK_BLESS=1` the episodes are
/// added to those that the machine is held against where there is no server.
#[test]
#[ignore = "needs PostgreSQL"]
fn real_postgres_answers_random_sessions_as_the_machine_does() {
    let Some(bin) = programs() else {
        return skip("PostgreSQL is not installed, and PG_BIN is not set");
    };
    let mut server = Real::start(&bin);
    let (first, episodes) = (given("PICKLOCK_SEED", 1), given("PICKLOCK_EPISODES", 20));
    let (mut statements, mut waits, mut races, mut differences) = (0, 0, 0, 0);
    for seed in first..first + episodes {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let rng = TestRng::from_seed(RngAlgorithm::ChaCha, &bytes);
        let acts = random::acts(60)
            .new_tree(&mut TestRunner::new_with_rng(Config::default(), rng))
            .unwrap()
            .current();
        let expected = random::play(&mut Tame::new(), &acts);
        let mut found = random::play(&mut server, &acts);
        statements += random::sent(&acts, &expected);
        waits +=
            expected.iter().flat_map(|seen| seen.values()).flatten().filter(|line| *line == "waits").count();
        let mut tries = 0;
        while found != expected && tries < 4 {
            tries += 1;
            found = random::play(&mut server, &acts);
        }
        if found == expected {
            races += usize::from(tries > 0);
            if std::env::var_os("PICKLOCK_BLESS").is_some() {
                let mut file =
                    std::fs::OpenOptions::new().append(true).create(true).open(random::golden()).unwrap();
                write!(file, "{}{seed}\n{}", random::EPISODE, random::transcript(&acts, &found)).unwrap();
            }
            continue;
        }
        differences += 1;
        let at = expected.iter().zip(&found).position(|(left, right)| left != right).unwrap();
        println!("seed {seed}, act {at}:\n{}", random::transcript(&acts[..=at], &found[..=at]));
        println!("the machine:\n{}", random::transcript(&acts[at..=at], &expected[at..=at]));
    }
    println!(
        "{statements} statements in {episodes} episodes, {waits} waits, {races} episodes with races, {differences} differences"
    );
    assert_eq!(differences, 0);
}
