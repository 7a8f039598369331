//! A conversation in frames, with the machine or with a real server, written down line by line.
//!
//! A script has a line for each act of a client, which is named by a letter: `a: SQL` asks and reads the answer, `a> SQL`
//! only asks, `a<` reads the answer, `a~ MESSAGE` sends a message of the extended protocol (and reads the answer if that
//! is `sync` or `flush`), `a!` closes the connection, `wait MS` lets time pass. What is answered is written below, indented.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use picklock_model::time::WallTime;
use picklock_model::trace::What;
use picklock_sim::host::Origin;

use super::random::{Act, CLIENTS, SESSION, SET_UP, STEP_MS, Seen, Stage};
use crate::{Guarded, Machine, Now, SessionId};

/// Whoever one can talk to.
pub(super) trait Server {
    fn connect(&mut self, client: char);
    fn send(&mut self, client: char, bytes: &[u8]);
    /// The next message: none if the connection is closed.
    fn next(&mut self, client: char) -> Option<(u8, Vec<u8>)>;
    fn close(&mut self, client: char);
    fn pass(&mut self, span: Duration);
}

/// Plays a script: its lines with the answers below them.
pub(super) fn play(server: &mut dyn Server, script: &str) -> String {
    let mut transcript = String::new();
    let mut known = Vec::new();
    for line in script.lines().filter(|line| !line.starts_with(' ')) {
        transcript.push_str(line);
        transcript.push('\n');
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        if let Some(ms) = line.strip_prefix("wait ") {
            server.pass(Duration::from_millis(ms.parse().unwrap()));
            continue;
        }
        let client = line.chars().next().unwrap();
        if !known.contains(&client) {
            known.push(client);
            server.connect(client);
            server.send(client, &startup());
            read(server, client, &mut String::new());
        }
        let (act, rest) = (&line[1..2], line[2..].trim());
        match act {
            ":" => {
                server.send(client, &frame(b'Q', &[rest.as_bytes(), b"\0"].concat()));
                read(server, client, &mut transcript);
            }
            ">" => {
                server.send(client, &frame(b'Q', &[rest.as_bytes(), b"\0"].concat()));
                server.pass(Duration::from_millis(60));
            }
            "<" => read(server, client, &mut transcript),
            "~" => {
                server.send(client, &extended(rest));
                if rest == "sync" {
                    read(server, client, &mut transcript);
                }
            }
            "!" => {
                server.close(client);
                server.pass(Duration::from_millis(60));
                known.retain(|one| *one != client);
            }
            _ => panic!("no act: {line}"),
        }
    }
    transcript
}

/// Reads up to the end of an answer.
fn read(server: &mut dyn Server, client: char, transcript: &mut String) {
    loop {
        let Some((kind, content)) = server.next(client) else {
            transcript.push_str("  closed\n");
            return;
        };
        transcript.push_str(&format!("  {}\n", describe(kind, &content)));
        if kind == b'Z' {
            return;
        }
    }
}

pub(super) fn frame(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut bytes = vec![kind];
    bytes.extend(u32::try_from(content.len() + 4).unwrap().to_be_bytes());
    bytes.extend(content);
    bytes
}

pub(super) fn startup() -> Vec<u8> {
    let content = b"\0\x03\0\0user\0postgres\0database\0postgres\0\0";
    frame(0, content).split_off(1)
}

/// A message of the extended protocol: `parse NAME SQL`, `bind PORTAL NAME t|b VALUE...`, `describe S|P NAME`,
/// `execute PORTAL MAX`, `close S|P NAME`, `sync`; `.` stands for no name.
fn extended(line: &str) -> Vec<u8> {
    let words: Vec<&str> = line.split(' ').collect();
    let named = |at: usize| [words[at].trim_matches('.').as_bytes(), b"\0"].concat();
    match words[0] {
        "parse" => {
            let sql = words[2..].join(" ");
            frame(b'P', &[&named(1), sql.as_bytes(), b"\0\0\0"].concat())
        }
        "bind" => {
            let values = &words[4..];
            let mut content = [named(1), named(2)].concat();
            let count = u16::try_from(values.len()).unwrap().to_be_bytes();
            content.extend(count);
            for value in values {
                content.extend([0, u8::from(value.starts_with("i4:") || value.starts_with("i8:"))]);
            }
            content.extend(count);
            for value in values {
                let bytes = match value.split_once(':') {
                    Some(("i4", number)) => number.parse::<i32>().unwrap().to_be_bytes().to_vec(),
                    Some(("i8", number)) => number.parse::<i64>().unwrap().to_be_bytes().to_vec(),
                    _ => value.as_bytes().to_vec(),
                };
                if *value == "null" {
                    content.extend((-1_i32).to_be_bytes());
                } else {
                    content.extend(u32::try_from(bytes.len()).unwrap().to_be_bytes());
                    content.extend(bytes);
                }
            }
            content.extend([0, 1, 0, u8::from(words[3] == "b")]);
            frame(b'B', &content)
        }
        "describe" | "close" => {
            let kind = if words[0] == "close" { b'C' } else { b'D' };
            frame(kind, &[words[1].as_bytes(), &named(2)].concat())
        }
        "execute" => frame(b'E', &[&named(1)[..], &words[2].parse::<i32>().unwrap().to_be_bytes()].concat()),
        "sync" => frame(b'S', b""),
        "query" => frame(b'Q', &[words[1..].join(" ").as_bytes(), b"\0"].concat()),
        other => panic!("no message: {other}"),
    }
}

fn texts(content: &[u8]) -> Vec<String> {
    content.split(|byte| *byte == 0).map(|text| String::from_utf8_lossy(text).into_owned()).collect()
}

fn short(content: &[u8], at: usize) -> i16 {
    i16::from_be_bytes(content[at..at + 2].try_into().unwrap())
}

fn long(content: &[u8], at: usize) -> i32 {
    i32::from_be_bytes(content[at..at + 4].try_into().unwrap())
}

/// A message in words.
pub(super) fn describe(kind: u8, content: &[u8]) -> String {
    let rest = match kind {
        b'T' => columns(content),
        b'D' => row(content),
        b'E' | b'N' => fault(content),
        b't' => (0..short(content, 0))
            .map(|at| oid(long(content, 2 + 4 * at as usize)))
            .collect::<Vec<_>>()
            .join(" "),
        b'C' | b'S' => texts(content)[..texts(content).len() - 1].join(" "),
        b'Z' => String::from_utf8_lossy(content).into_owned(),
        // Without the number of the process.
        b'A' => texts(&content[4..]).join(" "),
        _ => String::new(),
    };
    format!("{} {rest}", char::from(kind)).trim_end().to_owned()
}

/// The number of a type; those that somebody has created have others on each server.
fn oid(oid: i32) -> String {
    if oid < 16_384 { oid.to_string() } else { "own".to_owned() }
}

fn columns(content: &[u8]) -> String {
    let mut at = 2;
    let mut parts = Vec::new();
    for _ in 0..short(content, 0) {
        let end = at + content[at..].iter().position(|byte| *byte == 0).unwrap();
        let name = String::from_utf8_lossy(&content[at..end]);
        let at_type = end + 7;
        let (oid, size, modifier) =
            (long(content, at_type), short(content, at_type + 4), long(content, at_type + 6));
        let oid = self::oid(oid);
        parts.push(format!("{name}:{oid}:{size}:{modifier}:{}", short(content, at_type + 10)));
        at = at_type + 12;
    }
    parts.join(" ")
}

fn row(content: &[u8]) -> String {
    let mut at = 2;
    let mut parts = Vec::new();
    for _ in 0..short(content, 0) {
        let len = long(content, at);
        at += 4;
        let Ok(len) = usize::try_from(len) else {
            parts.push("(null)".to_owned());
            continue;
        };
        let bytes = &content[at..at + len];
        at += len;
        if bytes.iter().all(|byte| (32..127).contains(byte)) {
            parts.push(String::from_utf8_lossy(bytes).into_owned());
        } else {
            parts.push(bytes.iter().map(|byte| format!("{byte:02x}")).collect());
        }
    }
    parts.join("|")
}

/// Severity, code and message; detail and position only where they are part of what a program could look at.
fn fault(content: &[u8]) -> String {
    let fields: BTreeMap<char, String> = texts(content)
        .into_iter()
        .filter_map(|text| Some((text.chars().next()?, text.chars().skip(1).collect())))
        .collect();
    let mut text = format!("{} {} {}", fields[&'S'], fields[&'C'], fields[&'M']);
    if fields[&'C'] == "23505" {
        text.push_str(&format!(" ({})", fields[&'D']));
    }
    text
}

/// The machine, with clocks that are moved by hand.
pub(super) struct Tame {
    machine: Machine,
    now: Now,
    /// The number and the secret of each client's session.
    keys: BTreeMap<char, [u8; 8]>,
    sessions: BTreeMap<char, SessionId>,
    received: BTreeMap<char, Inbox>,
    pub(super) events: Vec<What>,
}

#[derive(Default)]
struct Inbox {
    bytes: VecDeque<u8>,
    closed: bool,
}

impl Tame {
    pub(super) fn new() -> Tame {
        let now = Now { wall: WallTime(picklock_model::time::EPOCH_NS), ..Now::default() };
        Tame {
            machine: Machine::new(Guarded::default(), []),
            now,
            keys: BTreeMap::new(),
            sessions: BTreeMap::new(),
            received: BTreeMap::new(),
            events: Vec::new(),
        }
    }

    /// The messages that have come, in words.
    fn drain(&mut self, client: char) -> Vec<String> {
        let mut lines = Vec::new();
        let inbox = self.received.entry(client).or_default();
        while let [kind, a, b, c, d, ..] = *inbox.bytes.make_contiguous() {
            let len = u32::from_be_bytes([a, b, c, d]) as usize;
            let message: Vec<u8> = inbox.bytes.drain(..=len).collect();
            if kind == b'K' {
                self.keys.insert(client, message[5..13].try_into().unwrap());
            }
            lines.push(describe(kind, &message[5..]));
        }
        if inbox.closed {
            lines.push("closed".to_owned());
        }
        lines
    }

    fn collect(&mut self) {
        let effects = self.machine.take_effects();
        self.events.extend(effects.events.into_iter().map(|(_, what)| what));
        for delivery in effects.deliveries {
            let client =
                self.sessions.iter().find(|(_, id)| **id == delivery.session).map(|(client, _)| *client);
            let Some(inbox) = client.and_then(|client| self.received.get_mut(&client)) else { continue };
            inbox.bytes.extend(delivery.bytes);
            inbox.closed |= delivery.closes;
        }
    }

    /// Moves the clocks to the next thing that happens, or to `until` if that comes first.
    fn advance(&mut self, until: Option<picklock_model::time::Monotonic>) {
        let next = self.machine.deadline().into_iter().chain(until).min().expect("nothing will ever happen");
        let span = next.since(self.now.monotonic);
        self.now = Now { wall: self.now.wall + span, monotonic: self.now.monotonic + span };
        self.machine.tick(self.now);
        self.collect();
    }
}

impl Server for Tame {
    fn connect(&mut self, client: char) {
        let id = self.machine.connect();
        self.sessions.insert(client, id);
        self.received.insert(client, Inbox::default());
    }

    fn send(&mut self, client: char, bytes: &[u8]) {
        self.machine.receive(self.sessions[&client], Origin::default(), bytes, self.now);
        self.collect();
    }

    fn next(&mut self, client: char) -> Option<(u8, Vec<u8>)> {
        loop {
            let inbox = self.received.get_mut(&client).expect("the client has connected");
            if let [kind, a, b, c, d, ..] = *inbox.bytes.make_contiguous() {
                let len = u32::from_be_bytes([a, b, c, d]) as usize;
                let message: Vec<u8> = inbox.bytes.drain(..=len).collect();
                return Some((kind, message[5..].to_vec()));
            }
            if inbox.closed {
                return None;
            }
            self.advance(None);
        }
    }

    fn close(&mut self, client: char) {
        // A session that waits does not see that its client has gone.
        if let Some(id) = self.sessions.remove(&client).filter(|id| !self.machine.is_waiting(*id)) {
            self.machine.disconnect(id, self.now);
            self.collect();
        }
    }

    fn pass(&mut self, span: Duration) {
        let until = self.now.monotonic + span;
        while self.now.monotonic < until {
            self.advance(Some(until));
        }
    }
}

/// The client that sets up, and that ends others.
const MONITOR: char = 'm';

impl Tame {
    fn open(&mut self, client: char) {
        self.connect(client);
        self.send(client, &startup());
        self.drain(client);
        self.send(client, &query(SESSION));
        self.drain(client);
    }

    fn waits(&self, client: char) -> bool {
        self.sessions.get(&client).is_some_and(|id| self.machine.is_waiting(*id))
    }
}

pub(super) fn query(sql: &str) -> Vec<u8> {
    frame(b'Q', &[sql.as_bytes(), b"\0"].concat())
}

impl Stage for Tame {
    fn begin(&mut self) {
        *self = Tame::new();
        self.open(MONITOR);
        self.send(MONITOR, &query(SET_UP));
        CLIENTS.into_iter().for_each(|client| self.open(client));
    }

    fn act(&mut self, act: &Act) -> Seen {
        match act {
            Act::Say(client, text) if !self.waits(*client) => self.send(*client, &query(text)),
            Act::Close(client) if !self.waits(*client) => {
                self.close(*client);
                self.open(*client);
            }
            Act::Say(..) | Act::Close(_) => {}
            Act::Cancel(client) => {
                let key = self.keys[client];
                self.connect('x');
                self.send('x', &[&[0, 0, 0, 16, 4, 210, 22, 46][..], &key].concat());
            }
            Act::Terminate(client) => {
                let pid = i32::from_be_bytes(self.keys[client][..4].try_into().unwrap());
                self.send(MONITOR, &query(&format!("SELECT pg_terminate_backend({pid})")));
            }
        }
        if CLIENTS.into_iter().any(|client| self.waits(client)) {
            self.pass(Duration::from_millis(STEP_MS));
        }
        let mut seen = Seen::new();
        for client in CLIENTS {
            let mut lines = self.drain(client);
            if self.waits(client) {
                lines.push("waits".to_owned());
            }
            if lines.last().is_some_and(|line| line == "closed") {
                self.open(client);
            }
            if !lines.is_empty() {
                seen.insert(client, lines);
            }
        }
        seen
    }
}
