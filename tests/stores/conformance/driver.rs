//! Sends the same steps to both servers and compares what comes back.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::SocketAddr;
use std::sync::Mutex;
use std::time::Duration;

use proptest::test_runner::TestCaseError;

use super::CONNECTIONS;
use super::compare::{alike, arrange};
use super::servers::{self, Server};
use super::template::Words;
use super::wire::{Conn, Frame};

/// How long a server that has to answer may take.
const PATIENCE: Duration = Duration::from_secs(5);

/// How many of the last commands of a connection a frame may answer, if others have come meanwhile.
const RECENT: usize = 12;

/// One command on one connection.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) conn: usize,
    pub(crate) words: Words,
}

impl fmt::Debug for Step {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.conn)?;
        self.words.iter().try_for_each(|word| write!(f, " \"{}\"", word.escape_ascii()))
    }
}

/// A stream of commands over several connections.
#[derive(Clone)]
pub(crate) struct Case {
    pub(crate) steps: Vec<Step>,
    pub(crate) resp3: bool,
    /// True if commands may wait, or connections may be sent something unasked.
    pub(crate) waits: bool,
}

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}", if self.resp3 { "RESP3" } else { "RESP2" })?;
        self.steps.iter().try_for_each(|step| writeln!(f, "  {step:?}"))
    }
}

/// Both servers, and what has been compared so far.
pub(crate) struct Driver {
    real: Server,
    ours: Server,
    compared: Mutex<BTreeMap<String, u64>>,
}

impl Driver {
    /// Starts both servers; `None` without a redis-server.
    ///
    /// # Panics
    /// When `CI` is set and there is no redis-server.
    pub(crate) fn start() -> Option<Driver> {
        let Some(real) = servers::real("redis-server") else {
            assert!(
                std::env::var_os("CI").is_none(),
                "no redis-server to compare with: install redis-server"
            );
            println!("no redis-server to compare with: nothing was compared");
            return None;
        };
        Some(Driver { real, ours: servers::ours("7.0"), compared: Mutex::default() })
    }

    pub(crate) fn addresses(&self) -> [SocketAddr; 2] {
        [self.real.address, self.ours.address]
    }

    /// Compares one stream of commands on fresh connections and empty servers.
    pub(crate) fn check(&self, case: &Case) -> Result<(), TestCaseError> {
        let count = if case.waits { CONNECTIONS } else { 1 };
        let mut pairs: Vec<Pair> = (0..count).map(|_| Pair::open(self.addresses())).collect();
        let text = |text: &str| text.split(' ').map(|word| word.as_bytes().to_vec()).collect::<Words>();
        let clean = ["FLUSHALL SYNC", "SCRIPT FLUSH SYNC", "CONFIG SET notify-keyspace-events "];
        pairs[0].prepare(&clean.map(text));
        if case.resp3 {
            pairs.iter_mut().for_each(|pair| pair.prepare(&[text("HELLO 3")]));
        }
        let failed = |step: &Step, why| TestCaseError::fail(format!("{step:?}\n{why}"));
        if !case.waits {
            // Each command has one reply, so that all of them may be on their way at once.
            case.steps.iter().for_each(|step| pairs[0].send(&step.words));
            for step in &case.steps {
                pairs[0].exchange(&step.words).map_err(|why| failed(step, why))?;
                self.count(&step.words);
            }
            return Ok(());
        }
        let mut bystander = Pair::open(self.addresses());
        for step in &case.steps {
            pairs[step.conn].send(&step.words);
            bystander.wait_for_quiet();
            pairs[step.conn].take_all().map_err(|why| failed(step, why))?;
            self.count(&step.words);
        }
        for (conn, pair) in pairs.iter_mut().enumerate() {
            pair.take_all().map_err(|why| TestCaseError::fail(format!("connection {conn}\n{why}")))?;
        }
        Ok(())
    }

    fn count(&self, words: &Words) {
        let mut name = String::from_utf8_lossy(&words[0]).to_uppercase();
        if matches!(name.as_str(), "CLIENT" | "CONFIG" | "SCRIPT" | "OBJECT" | "COMMAND" | "PUBSUB")
            && let Some(sub) = words.get(1)
        {
            name.push(' ');
            name.push_str(&String::from_utf8_lossy(sub).to_uppercase());
        }
        *self.compared.lock().expect("nothing panics while it counts").entry(name).or_default() += 1;
    }
}

/// How many replies were compared, by command.
pub(crate) fn summary<'a>(drivers: impl IntoIterator<Item = &'a Driver>) -> String {
    let mut compared: BTreeMap<String, u64> = BTreeMap::new();
    for driver in drivers {
        for (name, count) in driver.compared.lock().expect("no other driver panicked").iter() {
            *compared.entry(name.clone()).or_default() += count;
        }
    }
    let total: u64 = compared.values().sum();
    let mut text = format!("{total} commands compared, 0 differences\n");
    for (name, count) in &compared {
        text.push_str(&format!("{count:>9}  {name}\n"));
    }
    text
}

/// The same connection to both servers.
struct Pair {
    real: Conn,
    ours: Conn,
    /// The last commands: a frame that comes now answers one of them, if it answers any.
    recent: VecDeque<Words>,
    /// Commands queued by MULTI.
    queued: Vec<Words>,
}

impl Pair {
    fn open([real, ours]: [SocketAddr; 2]) -> Pair {
        let open = |address| Conn::open(address).expect("the server listens");
        let (real, ours) = (open(real), open(ours));
        Pair { real, ours, recent: VecDeque::new(), queued: Vec::new() }
    }

    fn send(&mut self, words: &Words) {
        self.real.send(words);
        self.ours.send(words);
        self.recent.push_back(words.clone());
    }

    /// Sends commands that both answer with one frame each, whatever it is.
    fn prepare(&mut self, commands: &[Words]) {
        for conn in [&mut self.real, &mut self.ours] {
            commands.iter().for_each(|words| conn.send(words));
        }
        for conn in [&mut self.real, &mut self.ours] {
            for _ in commands {
                conn.next(PATIENCE).expect("the command is answered");
            }
        }
    }

    /// Takes the reply to a command that has one.
    fn exchange(&mut self, words: &Words) -> Result<(), String> {
        let replies = (self.real.next(PATIENCE), self.ours.next(PATIENCE));
        judge(&replies, |real, ours| alike(words, real, ours))
    }

    /// Waits until both servers have done what they were sent over other connections. Each does one thing after the
    /// other, but a reply may overtake another one on its way out; the second reply does not.
    fn wait_for_quiet(&mut self) {
        for _ in 0..2 {
            self.prepare(&[vec![b"PING".to_vec()]]);
        }
    }

    /// Takes all that has come, for the last command or unasked.
    fn take_all(&mut self) -> Result<(), String> {
        let (mut real, mut ours) = (self.real.all_arrived(), self.ours.all_arrived());
        arrange(&mut real);
        arrange(&mut ours);
        // One was slower than it seemed.
        while real.len() != ours.len() {
            let (behind, frames) = if real.len() < ours.len() {
                (&mut self.real, &mut real)
            } else {
                (&mut self.ours, &mut ours)
            };
            match behind.next(PATIENCE) {
                Some(frame) => {
                    frames.push(frame);
                    arrange(frames);
                }
                None => return Err(format!("redis-server: {real:?}\nthe node:     {ours:?}")),
            }
        }
        let answered = !real.is_empty();
        for (real, ours) in real.into_iter().zip(ours) {
            if real == Frame::Line(b'+', b"QUEUED".to_vec()) {
                self.queued.extend(self.recent.back().cloned());
            }
            let replies = (Some(real), Some(ours));
            judge(&replies, |real, ours| self.recent.iter().any(|words| self.alike(words, real, ours)))?;
        }
        // While nothing comes, all commands may still wait for their replies.
        if answered {
            self.recent.drain(..self.recent.len().saturating_sub(RECENT));
        }
        Ok(())
    }

    fn alike(&self, words: &Words, real: &Frame, ours: &Frame) -> bool {
        match (real, ours) {
            (Frame::Parts(b'*', Some(reals)), Frame::Parts(b'*', Some(all_ours)))
                if words[0].eq_ignore_ascii_case(b"EXEC") =>
            {
                // Commands that were queued by a transaction that was discarded stand in front.
                let queued = &self.queued[self.queued.len().saturating_sub(reals.len())..];
                reals.len() == all_ours.len()
                    && reals
                        .iter()
                        .zip(all_ours)
                        .zip(queued)
                        .all(|((real, ours), words)| alike(words, real, ours))
            }
            _ => alike(words, real, ours),
        }
    }
}

/// Compares what both servers sent.
fn judge(
    replies: &(Option<Frame>, Option<Frame>),
    alike: impl FnOnce(&Frame, &Frame) -> bool,
) -> Result<(), String> {
    match replies {
        (Some(real), Some(ours)) if real == ours || alike(real, ours) => Ok(()),
        (Some(real), Some(ours)) => Err(format!("redis-server: {real:?}\nthe node:     {ours:?}")),
        (real, ours) => Err(format!("redis-server: {real:?}\nthe node:     {ours:?}")),
    }
}
