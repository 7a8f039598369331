//! A driver for tests: it owns time and a network of one toy store, and writes down all steps.

use std::{collections::BTreeMap, net::Ipv4Addr};

use picklock_supervisor::{Broken, Clock, ConnectError, Ending, Group, Setup, SocketId, Status, Step, ready};
use picklock_testing::skip;

/// Where the toy store is.
pub(crate) const STORE: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 9);
const MILLISECOND: u64 = 1_000_000;
/// The clocks at the start.
pub(crate) const START: Clock = Clock { monotonic_ns: 1_000_000_000, wall_ns: 1_700_000_000_000_000_000 };

/// A setup of `command` on a host that knows the store as `store`.
pub(crate) fn setup(command: &[&str], seed: u64) -> Setup {
    let mut setup = Setup::new(command, "client-1", Ipv4Addr::new(10, 0, 0, 1), seed);
    setup.clock = START;
    setup.hosts = vec![("store".to_owned(), STORE)];
    setup.env = vec![("PYTHONHASHSEED".into(), "0".into()), ("PYTHONDONTWRITEBYTECODE".into(), "1".into())];
    setup
}

/// The steps of a program, and how it ended.
#[derive(Debug)]
pub(crate) struct Story {
    /// One line a step, with its time.
    pub(crate) steps: Vec<String>,
    /// How the program ended.
    pub(crate) status: Option<Status>,
    /// The reason why it could not be stepped any further.
    pub(crate) broken: Option<Broken>,
    /// Virtual time at the end, from the start.
    pub(crate) elapsed_ms: u64,
}

impl Story {
    /// The lines that it printed.
    pub(crate) fn printed(&self) -> Vec<&str> {
        self.steps.iter().filter_map(|step| step.split_once(" printed ")).map(|(_, line)| line).collect()
    }

    /// True if a step holds these words.
    pub(crate) fn says(&self, words: &str) -> bool {
        self.steps.iter().any(|step| step.contains(words))
    }
}

/// Answers that are due.
enum Delivery {
    Connected(SocketId, Result<(), ConnectError>),
    Bytes(SocketId, Vec<u8>),
    Ended(SocketId, Ending),
    Line(String),
    Close,
}

/// Runs a program: its lines come one after the other, each when the last one was answered, with a store at `STORE`.
pub(crate) fn run(setup: &Setup, lines: &[&str]) -> Story {
    finish(Group::start(setup).expect("start the program"), lines)
}

/// Runs a program that was started, to its end.
pub(crate) fn finish(group: Group, lines: &[&str]) -> Story {
    let mut run = Run::new(group, lines);
    for _ in 0..200_000 {
        if !run.step() {
            break;
        }
    }
    run.story
}

/// A program, its time, and its network.
pub(crate) struct Run {
    group: Group,
    clock: Clock,
    lines: std::vec::IntoIter<String>,
    due: BTreeMap<(u64, u64), Delivery>,
    number: u64,
    store: Store,
    /// The last step, until somebody takes it.
    pub(crate) last: Option<Step>,
    pub(crate) story: Story,
}

impl Run {
    pub(crate) fn new(group: Group, lines: &[&str]) -> Self {
        let story = Story { steps: Vec::new(), status: None, broken: None, elapsed_ms: 0 };
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let (due, store) = (BTreeMap::new(), Store::default());
        let lines = lines.into_iter();
        let mut run = Self { group, clock: START, lines, due, number: 0, store, last: None, story };
        run.next_line(0);
        run
    }

    /// Runs the program until it waits after it has printed this line.
    pub(crate) fn run_to(mut self, line: &str) -> Group {
        let mut printed = false;
        while self.step() {
            printed |= self.last == Some(Step::Printed(line.to_owned()));
            if printed && matches!(self.last, Some(Step::Waits { .. })) {
                break;
            }
        }
        self.group
    }

    fn after(&mut self, ms: u64, what: Delivery) {
        self.number += 1;
        self.due.insert((self.clock.monotonic_ns + ms * MILLISECOND, self.number), what);
    }

    fn next_line(&mut self, ms: u64) {
        let line = self.lines.next().map_or(Delivery::Close, Delivery::Line);
        self.after(ms, line);
    }

    /// One step; whether there will be another.
    pub(crate) fn step(&mut self) -> bool {
        let now = self.clock.monotonic_ns;
        while let Some(entry) = self.due.first_entry().filter(|entry| entry.key().0 <= now) {
            match entry.remove() {
                Delivery::Connected(socket, outcome) => self.group.connected(socket, outcome),
                Delivery::Bytes(socket, bytes) => self.group.deliver(socket, &bytes),
                Delivery::Ended(socket, how) => self.group.closed(socket, how),
                Delivery::Line(line) => self.group.line(&line),
                Delivery::Close => self.group.end_input(),
            }
        }
        let step = match self.group.step(self.clock) {
            Ok(step) => step,
            Err(broken) => {
                self.story.broken = Some(broken);
                return false;
            }
        };
        let text = match &step {
            Step::Point(call) => format!("point {} {:?}", call.thread, call.what),
            Step::Sent { socket, bytes } => {
                format!("{socket} sent {}", String::from_utf8_lossy(bytes).escape_debug())
            }
            Step::Printed(line) => format!("printed {line}"),
            Step::Stderr(line) => format!("standard error {line}"),
            other => format!("{other:?}"),
        };
        self.story.steps.push(format!("{:>12} {text}", now - START.monotonic_ns));
        self.last = Some(step.clone());
        match step {
            Step::Connect { socket, to } => {
                let outcome = match to.port() {
                    6379 if *to.ip() == STORE => Ok(()),
                    _ => Err(ConnectError::Refused),
                };
                self.after(2, Delivery::Connected(socket, outcome));
            }
            Step::Sent { socket, bytes } => {
                let answer = self.store.answer(socket, &bytes, now);
                if answer == b"RESET" {
                    self.after(2, Delivery::Ended(socket, Ending::Reset));
                } else if !answer.is_empty() {
                    self.after(2, Delivery::Bytes(socket, answer));
                }
            }
            Step::Shut { socket } => self.after(1, Delivery::Ended(socket, Ending::Eof)),
            Step::Printed(_) => self.next_line(1),
            Step::Waits { until_ns } => {
                let soonest = self.due.keys().next().map(|key| key.0);
                let Some(time) = [soonest, until_ns].into_iter().flatten().min() else { return false };
                let time = time.max(now);
                self.clock.wall_ns += time - now;
                self.clock.monotonic_ns = time;
                self.story.elapsed_ms = (time - START.monotonic_ns) / MILLISECOND;
            }
            Step::Exited(status) => {
                self.story.status = Some(status);
                return false;
            }
            _ => {}
        }
        true
    }
}

/// A toy store: what the clients here say, and no more.
#[derive(Default)]
struct Store {
    pending: BTreeMap<SocketId, Vec<u8>>,
    keys: BTreeMap<Vec<u8>, (Vec<u8>, u64)>,
    modern: bool,
    loaded: bool,
}

impl Store {
    fn answer(&mut self, socket: SocketId, bytes: &[u8], now: u64) -> Vec<u8> {
        let mut pending = self.pending.remove(&socket).unwrap_or_default();
        pending.extend(bytes);
        let mut answer = Vec::new();
        while let Some((words, used)) = command(&pending) {
            pending.drain(..used);
            answer.extend(self.execute(&words, now));
        }
        self.pending.insert(socket, pending);
        answer
    }

    fn execute(&mut self, words: &[Vec<u8>], now: u64) -> Vec<u8> {
        self.keys.retain(|_, (_, end)| *end > now);
        let none = if self.modern { b"_\r\n".to_vec() } else { b"$-1\r\n".to_vec() };
        let number = |word: &[u8]| String::from_utf8_lossy(word).parse::<u64>().unwrap_or(0);
        match words[0].to_ascii_uppercase().as_slice() {
            b"SET" => {
                if self.keys.contains_key(&words[1])
                    && words.iter().any(|word| word.eq_ignore_ascii_case(b"NX"))
                {
                    return none;
                }
                let ttl = words
                    .iter()
                    .position(|word| word.eq_ignore_ascii_case(b"PX"))
                    .map(|at| number(&words[at + 1]));
                let end = ttl.map_or(u64::MAX, |ttl| now + ttl * MILLISECOND);
                self.keys.insert(words[1].clone(), (words[2].clone(), end));
                b"+OK\r\n".to_vec()
            }
            b"GET" => self.keys.get(&words[1]).map_or(none, |(value, _)| bulk(value)),
            b"SCRIPT" => {
                self.loaded = true;
                bulk(&[b'a'; 40])
            }
            b"EVALSHA" if !self.loaded => b"-NOSCRIPT No matching script.\r\n".to_vec(),
            b"EVALSHA" | b"EVAL" => {
                // Node's redlock takes by a script; all others here only release by one.
                let takes = words[1].windows(6).any(|part| part.eq_ignore_ascii_case(b"exists"));
                let (key, value) = (&words[3], &words[4]);
                let own = self.keys.get(key).is_some_and(|(held, _)| held == value);
                if takes && !self.keys.contains_key(key) {
                    self.keys.insert(key.clone(), (value.clone(), now + number(&words[5]) * MILLISECOND));
                    return b":1\r\n".to_vec();
                }
                if own && !takes {
                    self.keys.remove(key);
                    return b":1\r\n".to_vec();
                }
                b":0\r\n".to_vec()
            }
            b"HELLO" => {
                self.modern = true;
                b"%1\r\n$5\r\nproto\r\n:3\r\n".to_vec()
            }
            b"INFO" => bulk(b"redis_version:7.0.15\r\nloading:0\r\n"),
            b"RESET" => b"RESET".to_vec(),
            _ => b"+OK\r\n".to_vec(),
        }
    }
}

fn bulk(value: &[u8]) -> Vec<u8> {
    [format!("${}\r\n", value.len()).as_bytes(), value, b"\r\n"].concat()
}

/// The first whole command, and its length.
fn command(bytes: &[u8]) -> Option<(Vec<Vec<u8>>, usize)> {
    let line = |from: usize| {
        let end = from + bytes.get(from..)?.windows(2).position(|pair| pair == b"\r\n")?;
        let number: usize = std::str::from_utf8(bytes.get(from + 1..end)?).ok()?.parse().ok()?;
        Some((number, end + 2))
    };
    let (count, mut at) = line(0)?;
    let mut words = Vec::new();
    for _ in 0..count {
        let (length, start) = line(at)?;
        words.push(bytes.get(start..start + length)?.to_vec());
        at = start + length + 2;
    }
    (at <= bytes.len()).then_some((words, at))
}

/// The first of these programs that is there; a test without its runtime says so and passes.
pub(crate) fn runtime(candidates: &[&str]) -> Option<String> {
    if !can_run() {
        return None;
    }
    let found = candidates.iter().find(|name| {
        let path = std::env::var_os("PATH").unwrap_or_default();
        name.contains('/') && std::path::Path::new(name).is_file()
            || std::env::split_paths(&path).any(|dir| dir.join(name).is_file())
    });
    if found.is_none() {
        skip(format_args!("none of {candidates:?} is installed"));
    }
    found.map(|name| (*name).to_owned())
}

/// The program that this source in C is compiled to; a test without a compiler says so and passes.
pub(crate) fn compiled(name: &str, source: &str) -> Option<String> {
    let compiler = runtime(&["cc", "gcc"])?;
    let program = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let file = program.with_extension("c");
    std::fs::write(&file, source).expect("write a program");
    let built =
        std::process::Command::new(compiler).args(["-pthread", "-o"]).arg(&program).arg(&file).status();
    assert!(built.expect("run the compiler").success());
    Some(program.to_str().expect("a path of text").to_owned())
}

/// Python with redis-py: `PICKLOCK_PYTHON` names one that has it.
pub(crate) fn python_with_redis(script: &str, seed: u64) -> Option<Setup> {
    let named = std::env::var("PICKLOCK_PYTHON").unwrap_or_default();
    let python = runtime(&[&named, "python3"])?;
    let has_redis = std::process::Command::new(&python).args(["-c", "import redis"]).output();
    if !has_redis.is_ok_and(|output| output.status.success()) {
        skip(format_args!("{python} has no redis-py"));
        return None;
    }
    Some(setup(&[&python, "-c", script], seed))
}

/// True if this machine runs programs at all; prints why not.
pub(crate) fn can_run() -> bool {
    static LACKS: std::sync::OnceLock<Option<String>> = std::sync::OnceLock::new();
    let lacks = LACKS.get_or_init(|| {
        let lacking = ready::findings().into_iter().find(|finding| finding.is_needed && !finding.is_there);
        lacking.map(|finding| format!("{}: {}", finding.what, finding.remedy))
    });
    if let Some(lacks) = lacks {
        skip(lacks);
    }
    lacks.is_none()
}

/// The name by which the harness knows a test of a module, which is named as `module_path!()` does.
pub(crate) fn harness_name(module: &str, test: &str) -> String {
    let (_, module) = module.split_once("::").expect("a test lies in a module of this program");
    format!("{module}::{test}")
}
