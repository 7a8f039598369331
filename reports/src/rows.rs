//! The lines of a timeline: an event each, a request with its answer, or something that was repeated, once.
//!
//! A holder renews many times and a waiter asks many times; that is said in one line at the first of them, with how often,
//! how fast and until when. What interrupts, such as a fault, a grant or a lease that runs out, begins a new line, so
//! that nothing is told across it; and what proves a finding is never folded away.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_scenarios::story::Story;
use picklock_sim::ids::{EventId, HostId};
use picklock_sim::time::TrueTime;
use picklock_sim::trace::{Disconnect, Event, What};

use crate::exchanges::{Exchange, Outcome, is_late, shortened};
use crate::layout::cut;
use crate::numbers::span;
use crate::spans;
use crate::words::Names;

/// A request or an answer is told in so many columns at most; a script in full helps nobody.
const SAID: usize = 72;

/// A line of the timeline.
pub(crate) struct Row {
    /// The event at which it stands, by position.
    pub(crate) position: usize,
    /// Where it happened, or who sent it.
    pub(crate) host: HostId,
    /// What happened.
    pub(crate) text: String,
    /// Of a request, where it was sent: the first to each host that was asked.
    pub(crate) requests: Vec<usize>,
    /// How often it happened, at each of the hosts that it is about.
    pub(crate) times: usize,
}

/// The lines for the events shown and the exchanges told, folded, and how many events they stand for.
pub(crate) fn relevant(
    story: &Story,
    shown: &[usize],
    exchanges: &[&Exchange],
    cited: &BTreeSet<EventId>,
) -> (Vec<Row>, usize) {
    let writer = Writer::of(story);
    let events = story.trace.events.as_slice();
    let of_exchanges = exchanges.iter().flat_map(|one| one.positions.iter().copied());
    let covered: BTreeSet<usize> = shown.iter().copied().chain(of_exchanges).collect();
    let by_sending: BTreeMap<usize, &Exchange> = exchanges.iter().map(|one| (one.sent, *one)).collect();
    let lines: BTreeSet<usize> = shown.iter().copied().chain(by_sending.keys().copied()).collect();
    let (open, setups) = (BTreeMap::new(), BTreeMap::new());
    let mut fold = Fold { writer, open, setups, interruptions: 0, lines: Vec::new() };
    for position in in_order(story, lines) {
        let event = &events[position];
        match by_sending.get(&position) {
            Some(exchange) => fold.exchange(exchange, event.at),
            None => fold.event(position, event, cited.contains(&event.id)),
        }
    }
    (fold.finish(), covered.len())
}

/// A line for every event.
pub(crate) fn full(story: &Story) -> Vec<Row> {
    let writer = Writer::of(story);
    let row = |position: usize| writer.event(position, &story.trace.events[position]);
    in_order(story, 0..story.trace.events.len()).into_iter().map(row).collect()
}

/// The positions in the order in which they are told: what a process does when it runs again comes after that.
fn in_order(story: &Story, positions: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let deferred = spans::deferred(&story.trace, &spans::of(&story.trace));
    let place = |at: &usize| deferred.get(at).map_or((*at, 0), |resumed| (*resumed, *at + 1));
    let mut positions: Vec<usize> = positions.into_iter().collect();
    positions.sort_by_key(place);
    positions
}

/// At most `most` of the lines, in their order, and how many are left out: first those that prove a finding, then those of what
/// interrupts, then from the beginning on.
pub(crate) fn shortened_to(
    most: usize,
    rows: Vec<Row>,
    story: &Story,
    cited: &BTreeSet<EventId>,
) -> (Vec<Row>, usize) {
    let rank = |row: &Row| {
        let event = &story.trace.events[row.position];
        (!cited.contains(&event.id), !interrupts(&event.what))
    };
    let mut order: Vec<usize> = (0..rows.len()).collect();
    order.sort_by_key(|at| rank(&rows[*at]));
    let kept: BTreeSet<usize> = order.into_iter().take(most).collect();
    let left_out = rows.len() - kept.len();
    let rows = rows.into_iter().enumerate().filter(|(at, _)| kept.contains(at)).map(|(_, row)| row).collect();
    (rows, left_out)
}

/// Where each injection struck first. What a fault did later is an event of nobody's, and is told there.
pub(crate) fn struck(story: &Story) -> BTreeMap<u32, HostId> {
    let mut struck = BTreeMap::new();
    for event in &story.trace.events {
        if let What::Injected { injection, .. } = event.what {
            struck.entry(injection).or_insert(event.host);
        }
    }
    struck
}

/// The host at which an event is told.
pub(crate) fn told_at(event: &Event, struck: &BTreeMap<u32, HostId>) -> HostId {
    match event.what {
        What::Bit { injection } | What::Healed { injection } => {
            struck.get(&injection).copied().unwrap_or(event.host)
        }
        _ => event.host,
    }
}

/// Puts events and exchanges into words.
pub(crate) struct Writer<'a> {
    story: &'a Story,
    names: Names<'a>,
    struck: BTreeMap<u32, HostId>,
}

impl<'a> Writer<'a> {
    pub(crate) fn of(story: &'a Story) -> Writer<'a> {
        Writer { story, names: Names::of(&story.trace), struck: struck(story) }
    }

    fn event(&self, position: usize, event: &Event) -> Row {
        let said = self.story.wire.get(&event.id).map(|said| format!(": {said}")).unwrap_or_default();
        let text = format!("{}{said}", self.names.say(event));
        Row { position, host: told_at(event, &self.struck), text, requests: Vec::new(), times: 1 }
    }

    /// What an event says, without its host; of a message, what it says, and when it was sent if it was held up on its way.
    pub(crate) fn say(&self, event: &Event) -> String {
        self.message(event).unwrap_or_else(|| self.names.say(event))
    }

    fn message(&self, event: &Event) -> Option<String> {
        let (sent, peer) = match event.what {
            What::Sent { peer, .. } => (event.id, peer),
            What::Delivered { peer, .. } => (event.cause?, peer),
            _ => return None,
        };
        let said = brief(&shortened(self.story.wire.get(&sent)?));
        let sent = self.story.trace.events.iter().find(|event| event.id == sent)?;
        let peer = self.names.host(peer);
        let way = match event.what {
            What::Sent { .. } => format!("sends to {peer}"),
            _ if is_late(self.story, sent, event) => format!("receives what {peer} sent at {}", sent.at),
            _ => format!("receives from {peer}"),
        };
        Some(format!("{way}{}: {said}", self.names.whose(event)))
    }

    fn exchange(&self, exchange: &Exchange, line: &Line<'_>) -> String {
        let once = line.count == 1;
        let targets: Vec<&str> = line.hosts.iter().map(|host| self.names.host(*host)).collect();
        if exchange.setup.is_some() {
            return format!("→ {}: sets up ({})", targets.join(", "), line.commands.join(", "));
        }
        let first = if once { "" } else { "the first " };
        let arrives = exchange.arrived.map(|at| format!(" ({first}arrives at {at})")).unwrap_or_default();
        let late = exchange.late.map(|took| format!(", {first}after {}", span(took))).unwrap_or_default();
        let outcome = match &exchange.outcome {
            Outcome::Answered(said) => format!("{}{late}", line.answers(said)),
            Outcome::AnswerLost(said) => format!("{}, an answer that never arrived", brief(said)),
            Outcome::Unanswered => "no answer".to_owned(),
            Outcome::NeverArrived => "never arrived".to_owned(),
        };
        format!("→ {}: {}{arrives} → {outcome}", targets.join(", "), brief(&line.asked))
    }
}

fn brief(text: &str) -> String {
    let short = cut(text, SAID);
    if short.len() < text.len() { format!("{}..", short.trim_end()) } else { short }
}

/// A line under way, which more of the same may join.
struct Line<'a> {
    row: Row,
    exchange: Option<&'a Exchange>,
    /// The hosts that it is about, for what several stores are asked or do alike.
    hosts: Vec<HostId>,
    /// The commands that it stands for, of what only sets up connections and scripts.
    commands: Vec<&'static str>,
    /// What was asked, and `..` for each word that was another one every time.
    asked: String,
    /// The last answer.
    answer: Option<&'a str>,
    count: usize,
    first: TrueTime,
    last: TrueTime,
    /// The shortest and the longest time between two of them at the same host.
    gaps: Option<(Duration, Duration)>,
    /// When it last happened at each of the hosts.
    seen: Vec<TrueTime>,
    /// What joins it with lines of the same at other hosts, within what is not interrupted.
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
            answer: exchange.and_then(answer),
            count: 1,
            first: at,
            last: at,
            gaps: None,
            seen: vec![at],
            alike: None,
        }
    }

    /// Another of the same.
    fn join(&mut self, exchange: Option<&'a Exchange>, host: HostId, at: TrueTime) {
        self.count += 1;
        self.last = at;
        if let Some(exchange) = exchange {
            self.asked = in_common(&self.asked, &exchange.asked);
            self.answer = answer(exchange);
            for command in exchange.setup.iter().flatten() {
                if !self.commands.contains(command) {
                    self.commands.push(command);
                }
            }
        }
        match self.hosts.iter().position(|other| *other == host) {
            Some(nth) => {
                let gap = at.since(std::mem::replace(&mut self.seen[nth], at));
                let (shortest, longest) = self.gaps.unwrap_or((gap, gap));
                self.gaps = Some((shortest.min(gap), longest.max(gap)));
            }
            None => {
                self.hosts.push(host);
                self.seen.push(at);
                self.row.requests.extend(exchange.map(|exchange| exchange.sent));
            }
        }
    }

    /// The answers: the first and the last one, of numbers that differ.
    fn answers(&self, first: &str) -> String {
        match self.answer.filter(|last| *last != first) {
            Some(last) => format!("{} at first, {} at last", brief(first), brief(last)),
            None => brief(first),
        }
    }

    /// How often it happened at each host.
    fn times(&self) -> usize {
        self.count / self.hosts.len()
    }

    /// " (14 times, every 333ms, until 5.012345s)"; empty for what happened once at each host.
    fn often(&self) -> String {
        let times = self.times();
        let Some((shortest, longest)) = self.gaps.filter(|_| times > 1) else { return String::new() };
        let mean = self.last.since(self.first) / (times as u32 - 1);
        let every = if longest == Duration::ZERO || longest > 3 * mean {
            String::new()
        } else if longest - shortest <= mean / 20 {
            format!(" every {},", span(mean))
        } else {
            format!(" about every {},", span(mean))
        };
        format!(" ({times} times,{every} until {})", self.last)
    }

    /// Whether the same happened at another host as often and at about the same times.
    fn goes_with(&self, other: &Line<'_>, near: Duration) -> bool {
        let near = match self.times() {
            1 => near,
            times => near.min(self.last.since(self.first) / (2 * (times as u32 - 1))),
        };
        let close = |one: TrueTime, other: TrueTime| other.since(one).max(one.since(other)) <= near;
        self.alike.is_some()
            && self.alike == other.alike
            && self.times() == other.times()
            && !other.hosts.iter().any(|host| self.hosts.contains(host))
            && close(self.first, other.first)
            && close(self.last, other.last)
    }
}

fn answer(exchange: &Exchange) -> Option<&str> {
    match &exchange.outcome {
        Outcome::Answered(said) => Some(said),
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

struct Fold<'a> {
    writer: Writer<'a>,
    /// The lines that may be joined, by what joins them.
    open: BTreeMap<String, usize>,
    /// As `open`, for what only sets up connections and scripts: nothing begins a new line of these.
    setups: BTreeMap<String, usize>,
    /// How often `open` was closed.
    interruptions: usize,
    lines: Vec<Line<'a>>,
}

impl<'a> Fold<'a> {
    fn event(&mut self, position: usize, event: &Event, cited: bool) {
        let text = self.writer.say(event);
        let host = told_at(event, &self.writer.struck);
        let row = Row { position, host, text, requests: Vec::new(), times: 1 };
        if cited || interrupts(&event.what) {
            self.open.clear();
            self.interruptions += 1;
        }
        let alike = if cited { None } else { repeated(event) };
        let joined_by = alike.as_ref().map(|alike| format!("{alike} at {}", event.host.0));
        self.push(joined_by, row, None, event.host, event.at);
        if let Some((alike, line)) =
            alike.zip(self.lines.last_mut().filter(|line| line.row.position == position))
        {
            line.alike = Some((self.interruptions, alike));
        }
    }

    fn exchange(&mut self, exchange: &'a Exchange, at: TrueTime) {
        let (position, host) = (exchange.sent, exchange.source);
        let row = Row { position, host, text: String::new(), requests: vec![position], times: 1 };
        self.push(Some(exchange.shape()), row, Some(exchange), exchange.target, at);
    }

    fn push(
        &mut self,
        joined_by: Option<String>,
        row: Row,
        exchange: Option<&'a Exchange>,
        host: HostId,
        at: TrueTime,
    ) {
        let is_setup = exchange.is_some_and(|exchange| exchange.setup.is_some());
        let open = if is_setup { &mut self.setups } else { &mut self.open };
        if let Some(line) = joined_by.as_ref().and_then(|by| open.get(by)) {
            self.lines[*line].join(exchange, host, at);
            return;
        }
        if let Some(by) = joined_by {
            open.insert(by, self.lines.len());
        }
        self.lines.push(Line::of(row, exchange, host, at));
    }

    /// Puts the lines of what several hosts do alike in one.
    fn gather(&mut self) {
        // A client asks one host after the other, and each may take as long as the network does.
        let near = 10 * self.writer.story.plan.world.latency.max;
        let mut gathered: Vec<Line<'a>> = Vec::new();
        for line in std::mem::take(&mut self.lines) {
            match gathered.iter_mut().find(|earlier| earlier.goes_with(&line, near)) {
                Some(earlier) => {
                    earlier.count += line.count;
                    earlier.last = earlier.last.max(line.last);
                    earlier.hosts.extend(line.hosts);
                }
                None => gathered.push(line),
            }
        }
        self.lines = gathered;
    }

    fn finish(mut self) -> Vec<Row> {
        self.gather();
        let Fold { writer, lines, .. } = self;
        let finish = |mut line: Line<'_>| {
            match line.exchange {
                Some(exchange) => line.row.text = writer.exchange(exchange, &line),
                None if line.hosts.len() > 1 => {
                    let others: Vec<&str> =
                        line.hosts[1..].iter().map(|host| writer.names.host(*host)).collect();
                    line.row.text.push_str(&format!("; so do {}", others.join(", ")));
                }
                None => {}
            }
            line.row.times = line.times();
            if line.commands.is_empty() {
                line.row.text.push_str(&line.often());
            }
            line.row
        };
        lines.into_iter().map(finish).collect()
    }
}

/// What joins an event with others of its kind: what a holder does again and again.
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

/// Whether repetitions are told apart before and after it.
fn interrupts(what: &What) -> bool {
    matches!(
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
            | What::Injected { .. }
            | What::Bit { .. }
            | What::Healed { .. }
            | What::Paused { .. }
            | What::Resumed
            | What::Crashed { .. }
            | What::Restarted
            | What::ClockStepped { .. }
            | What::DriftSet { .. }
            | What::Promoted
            | What::Demoted
            | What::Disconnected { why: Disconnect::Closed | Disconnect::Reset | Disconnect::TimedOut, .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn line(host: u16, at: &[u64]) -> Line<'static> {
        let row =
            Row { position: 0, host: HostId(host), text: String::new(), requests: Vec::new(), times: 1 };
        let ms = |at: u64| TrueTime(at * 1_000_000);
        let mut line = Line::of(row, None, HostId(host), ms(at[0]));
        at[1..].iter().for_each(|at| line.join(None, HostId(host), ms(*at)));
        line.alike = Some((0, "extended".to_owned()));
        line
    }

    #[test]
    fn a_period_is_stated_as_far_as_there_is_one() {
        assert_eq!(line(0, &[0]).often(), "");
        assert_eq!(line(0, &[0, 100, 200]).often(), " (3 times, every 100ms, until 0.200000s)");
        assert_eq!(line(0, &[0, 80, 200]).often(), " (3 times, about every 100ms, until 0.200000s)");
        assert_eq!(line(0, &[0, 1, 2, 3, 200]).often(), " (5 times, until 0.200000s)");
    }

    #[test]
    fn only_what_hosts_do_as_often_and_at_the_same_times_stands_in_one_line() {
        let near = Duration::from_millis(10);
        let goes = |one: &[u64], other: &[u64]| line(0, one).goes_with(&line(1, other), near);
        assert!(goes(&[0], &[5]));
        assert!(!goes(&[0], &[500]), "later");
        assert!(goes(&[0, 100, 200], &[5, 105, 205]));
        assert!(!goes(&[0, 100, 200], &[5, 205]), "less often");
        assert!(!line(0, &[0]).goes_with(&line(0, &[5]), near), "the same host");
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
