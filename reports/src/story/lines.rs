//! Repetitions in one line, at the first of their times.
//!
//! Each host's repetitions are counted for themselves; what several hosts do as often and at about the same times stands in one
//! line then. An event that interrupts begins new lines, so that no line spans it.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::ids::HostId;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Disconnect, Event, What};

use super::exchanges::{Exchange, Outcome};
use super::relevance::is_mishap;
use crate::page::numbers::span;

use super::paragraph::list;
use super::writer::{Row, Writer, brief};

/// A line under way, which more of the same may join.
pub(crate) struct Line<'a> {
    row: Row,
    exchange: Option<&'a Exchange>,
    /// The hosts that it is about.
    hosts: Vec<HostId>,
    /// The commands that it stands for, of what only sets up connections and scripts.
    commands: Vec<&'static str>,
    /// The request, with `..` for each word that was another one every time.
    asked: String,
    /// The last answer, or how far the numbers go that several hosts answered.
    answer: Option<String>,
    /// How often it happened, at each of the hosts.
    count: usize,
    first: TrueTime,
    /// When it last happened at the first of the hosts.
    last: TrueTime,
    /// When it last happened at any of them.
    until: TrueTime,
    /// The shortest and the longest time between two of them at the same host.
    gaps: Option<(Duration, Duration)>,
    /// The key that joins it with the same lines of other hosts, unless an event interrupts them.
    alike: Option<(usize, String)>,
}

impl<'a> Line<'a> {
    fn of(row: Row, exchange: Option<&'a Exchange>, host: HostId, at: TrueTime) -> Line<'a> {
        Line {
            row,
            exchange,
            hosts: vec![host],
            commands: exchange.and_then(|exchange| exchange.setup.clone()).unwrap_or_default(),
            asked: exchange.map(|exchange| exchange.asked.clone()).unwrap_or_default(),
            answer: exchange.and_then(answer).map(str::to_owned),
            count: 1,
            first: at,
            last: at,
            until: at,
            gaps: None,
            alike: None,
        }
    }

    /// Another of the same, at the same host.
    fn join(&mut self, exchange: Option<&'a Exchange>, at: TrueTime) {
        self.count += 1;
        let gap = at.since(self.last);
        let (shortest, longest) = self.gaps.unwrap_or((gap, gap));
        self.gaps = Some((shortest.min(gap), longest.max(gap)));
        (self.last, self.until) = (at, at);
        if let Some(exchange) = exchange {
            self.asked = in_common(&self.asked, &exchange.asked);
            self.answer = answer(exchange).map(str::to_owned);
            self.add_commands(exchange.setup.iter().flatten());
        }
    }

    fn add_commands<'c>(&mut self, commands: impl Iterator<Item = &'c &'static str>) {
        for command in commands {
            if !self.commands.contains(command) {
                self.commands.push(command);
            }
        }
    }

    /// The same at another host.
    fn join_host(&mut self, other: Line<'a>) {
        self.asked = in_common(&self.asked, &other.asked);
        self.add_commands(other.commands.iter());
        self.until = self.until.max(other.until);
        self.gaps = self.gaps.zip(other.gaps).map(|(one, other)| (one.0.min(other.0), one.1.max(other.1)));
        self.hosts.extend(other.hosts);
        self.row.requests.extend(other.row.requests);
    }

    /// The answers: the first and the last one, of numbers that differ.
    fn answers(&self, first: &str) -> String {
        match self.answer.as_deref().filter(|last| *last != first) {
            Some(last) => format!("{} at first, {} at last", brief(first), brief(last)),
            None => brief(first),
        }
    }

    /// " (14 times, every 333ms, until 5.012345s)"; empty for what happened once at each host.
    fn often(&self, near: Duration) -> String {
        if !self.commands.is_empty() {
            let again = self.last.since(self.first) > near;
            return if again { format!(", again until {}", self.until) } else { String::new() };
        }
        let times = self.count;
        let Some((shortest, longest)) = self.gaps else { return String::new() };
        let mean = self.last.since(self.first) / (times as u32 - 1);
        if longest == Duration::ZERO {
            return format!(" ({times} times)");
        }
        let every = if shortest < mean / 2 || longest > 2 * mean {
            String::new()
        } else if longest - shortest <= mean / 100 {
            format!(" every {},", span(mean))
        } else {
            format!(" about every {},", span(mean))
        };
        format!(" ({times} times,{every} until {})", self.until)
    }

    /// True if the same happened at another host as often and at about the same times.
    fn goes_with(&self, other: &Line<'_>, near: Duration) -> bool {
        let is_setup = !self.commands.is_empty();
        let near = match self.count {
            1 => near,
            _ if is_setup => near,
            times => near.min(self.last.since(self.first) / (2 * (times as u32 - 1))),
        };
        let close = |one: TrueTime, other: TrueTime| other.since(one).max(one.since(other)) <= near;
        self.alike.is_some()
            && self.alike == other.alike
            && if is_setup { self.commands == other.commands } else { self.count == other.count }
            && self.first_answer() == other.first_answer()
            && self.answer == other.answer
            && !other.hosts.iter().any(|host| self.hosts.contains(host))
            && close(self.first, other.first)
            && close(self.last, other.last)
    }

    fn first_answer(&self) -> Option<&str> {
        self.exchange.filter(|exchange| exchange.setup.is_none()).and_then(answer)
    }

    /// The request, the store and the outcome.
    fn request(&self, exchange: &Exchange, writer: &Writer<'_>) -> String {
        let once = self.count == 1;
        let targets: Vec<&str> = self.hosts.iter().map(|host| writer.host(*host)).collect();
        if exchange.setup.is_some() {
            return format!("→ {}: sets up ({})", targets.join(", "), self.commands.join(", "));
        }
        let first = if once { "" } else { "the first " };
        let arrives = exchange.arrived.map(|at| format!(" ({first}arrives at {at})")).unwrap_or_default();
        let late = exchange.late.map(|took| format!(", {first}after {}", span(took))).unwrap_or_default();
        let outcome = match &exchange.outcome {
            Outcome::Answered(said) => format!("{}{late}", self.answers(said)),
            Outcome::AnswerLost(said) if once => format!("{}, an answer that never arrived", brief(said)),
            Outcome::AnswerLost(said) => format!("{}, answers that never arrived", self.answers(said)),
            Outcome::Unanswered => "no answer".to_owned(),
            Outcome::NeedsNoAnswer => {
                return format!("→ {}: {}{arrives}", targets.join(", "), brief(&self.asked));
            }
            Outcome::NeverArrived => "never arrived".to_owned(),
        };
        format!("→ {}: {}{arrives} → {outcome}", targets.join(", "), brief(&self.asked))
    }

    /// The line in words.
    fn finish(mut self, writer: &Writer<'_>, near: Duration) -> Row {
        match self.exchange {
            Some(exchange) => self.row.text = self.request(exchange, writer),
            None if self.hosts.len() > 1 => {
                let others: Vec<&str> = self.hosts[1..].iter().map(|host| writer.host(*host)).collect();
                let so = if others.len() == 1 { "so does" } else { "so do" };
                self.row.text.push_str(&format!("; {so} {}", list(&others)));
            }
            None => {}
        }
        self.row.times = self.count;
        self.row.text.push_str(&self.often(near));
        self.row
    }
}

fn answer(exchange: &Exchange) -> Option<&str> {
    match &exchange.outcome {
        Outcome::Answered(said) | Outcome::AnswerLost(said) if exchange.setup.is_none() => Some(said),
        _ => None,
    }
}

/// The words that two requests have in common, and `..` for each other one.
fn in_common(one: &str, other: &str) -> String {
    if one == other || one.split(' ').count() != other.split(' ').count() {
        return one.to_owned();
    }
    let words = one.split(' ').zip(other.split(' '));
    words.map(|(one, other)| if one == other { one } else { ".." }).collect::<Vec<_>>().join(" ")
}

/// Lines under way.
pub(crate) struct Fold<'a> {
    writer: Writer<'a>,
    /// The lines that may be joined, by what joins them.
    open: BTreeMap<String, usize>,
    /// As `open`, for what only sets up connections and scripts: nothing begins a new line of these.
    setups: BTreeMap<String, usize>,
    /// How often `open` was closed.
    interruptions: usize,
    /// Times that are not further apart are about the same: a client asks one host after the other, and each may take as long as
    /// the network does.
    near: Duration,
    lines: Vec<Line<'a>>,
}

impl<'a> Fold<'a> {
    pub(crate) fn new(writer: Writer<'a>) -> Fold<'a> {
        let near = 10 * writer.latency();
        let (open, setups) = (BTreeMap::new(), BTreeMap::new());
        Fold { writer, open, setups, interruptions: 0, near, lines: Vec::new() }
    }

    pub(crate) fn event(&mut self, position: usize, event: &Event, cited: bool) {
        let row = self.writer.row(position, event);
        if cited || interrupts(&event.what) {
            self.open.clear();
            self.interruptions += 1;
        }
        let alike = if cited { None } else { repeated(event).map(|alike| format!("{alike}: {}", row.text)) };
        // Each hold of a re-entrant lock that is counted is one of its own.
        let again = alike.as_ref().filter(|_| self.writer.count(event).is_empty());
        let line = again.and_then(|alike| self.open.get(&at_host(alike, event.host)));
        match line.copied() {
            Some(line) => self.lines[line].join(None, event.at),
            None => self.begin(Line::of(row, None, event.host, event.at), alike),
        }
    }

    pub(crate) fn exchange(&mut self, exchange: &'a Exchange, at: TrueTime) {
        let shape = exchange.shape();
        let by = at_host(&shape, exchange.target);
        let open = if exchange.setup.is_some() { &self.setups } else { &self.open };
        match open.get(&by).copied() {
            Some(line) => self.lines[line].join(Some(exchange), at),
            None => {
                let row = Row::asking(exchange);
                self.begin(Line::of(row, Some(exchange), exchange.target, at), Some(shape));
            }
        }
    }

    fn begin(&mut self, mut line: Line<'a>, alike: Option<String>) {
        if let Some(alike) = alike {
            let is_setup = line.exchange.is_some_and(|exchange| exchange.setup.is_some());
            let open = if is_setup { &mut self.setups } else { &mut self.open };
            open.insert(at_host(&alike, line.hosts[0]), self.lines.len());
            line.alike = Some((if is_setup { 0 } else { self.interruptions }, alike));
        }
        self.lines.push(line);
    }

    /// The lines of what several hosts do alike in one, in words.
    pub(crate) fn finish(self) -> Vec<Row> {
        let Fold { writer, near, lines, .. } = self;
        let mut gathered: Vec<Line<'a>> = Vec::new();
        for line in lines {
            match gathered.iter_mut().find(|earlier| earlier.goes_with(&line, near)) {
                Some(earlier) => earlier.join_host(line),
                None => gathered.push(line),
            }
        }
        gathered.into_iter().map(|line| line.finish(&writer, near)).collect()
    }
}

fn at_host(alike: &str, host: HostId) -> String {
    format!("{alike} at {}", host.0)
}

/// The key that joins an event with others of its kind: the repeated acts of a holder.
fn repeated(event: &Event) -> Option<String> {
    let kind = match event.what {
        What::Extended { .. } => "extended",
        What::Renewed { .. } => "renewed",
        What::Disconnected { peer, why: Disconnect::Refused } => {
            return Some(format!("refused {} {}", event.host.0, peer.0));
        }
        _ => return None,
    };
    event.grant.map(|grant| format!("{kind} {} {}", grant.client.0, grant.section))
}

/// True if repetitions before it and after it stand in different lines.
pub(crate) fn interrupts(what: &What) -> bool {
    is_mishap(what)
        || matches!(
            what,
            What::Acquired { .. }
                | What::Reentered { .. }
                | What::Left { .. }
                | What::Releasing { .. }
                | What::Aborted { .. }
                | What::DeadlinePassed { .. }
                | What::Expired { .. }
                | What::Lost { .. }
                | What::LeaseLost { .. }
                | What::Disconnected {
                    why: Disconnect::Closed | Disconnect::Reset | Disconnect::TimedOut,
                    ..
                }
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    const NEAR: Duration = Duration::from_millis(10);

    fn line(host: u16, at: &[u64]) -> Line<'static> {
        let row = Row {
            position: 0,
            host: HostId(host),
            text: String::new(),
            requests: Vec::new(),
            times: 1,
            sets_up: false,
        };
        let ms = |at: u64| TrueTime(at * 1_000_000);
        let mut line = Line::of(row, None, HostId(host), ms(at[0]));
        at[1..].iter().for_each(|at| line.join(None, ms(*at)));
        line.alike = Some((0, "extended".to_owned()));
        line
    }

    #[test]
    fn a_period_is_stated_as_far_as_there_is_one() {
        assert_eq!(line(0, &[0]).often(NEAR), "");
        assert_eq!(line(0, &[0, 100, 200]).often(NEAR), " (3 times, every 100ms, until 0.200000s)");
        assert_eq!(line(0, &[0, 80, 200]).often(NEAR), " (3 times, about every 100ms, until 0.200000s)");
        assert_eq!(line(0, &[0, 1, 2, 3, 200]).often(NEAR), " (5 times, until 0.200000s)");
        assert_eq!(line(0, &[0, 10, 100, 110, 200]).often(NEAR), " (5 times, until 0.200000s)");
        assert_eq!(line(0, &[7, 7]).often(NEAR), " (2 times)");
    }

    #[test]
    fn only_what_hosts_do_as_often_and_at_the_same_times_stands_in_one_line() {
        let goes = |one: &[u64], other: &[u64]| line(0, one).goes_with(&line(1, other), NEAR);
        assert!(goes(&[0], &[5]));
        assert!(!goes(&[0], &[500]), "later");
        assert!(goes(&[0, 100, 200], &[5, 105, 205]));
        assert!(!goes(&[0, 100, 200], &[5, 205]), "less often");
        assert!(!line(0, &[0]).goes_with(&line(0, &[5]), NEAR), "the same host");
    }

    #[test]
    fn words_that_differ_from_one_request_to_the_next_are_left_open() {
        assert_eq!(
            in_common("SET lock:1 a NX PX 1000", "SET lock:1 b NX PX 1000"),
            "SET lock:1 .. NX PX 1000"
        );
        assert_eq!(in_common("DEL lock:1", "DEL lock:1 x"), "DEL lock:1");
    }
}
