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

use crate::exchanges::{Exchange, Outcome, shortened};
use crate::layout::cut;
use crate::numbers::span;
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
    let mut fold = Fold { writer, open: BTreeMap::new(), setups: BTreeMap::new(), lines: Vec::new() };
    for position in lines {
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
    let row = |(position, event)| writer.event(position, event);
    story.trace.events.iter().enumerate().map(row).collect()
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

    /// What an event says, without its host and what its segment said.
    pub(crate) fn say(&self, event: &Event) -> String {
        self.names.say(event)
    }

    fn exchange(&self, exchange: &Exchange, line: &Line<'_>) -> String {
        let once = line.count == 1;
        let targets: Vec<&str> = line.hosts.iter().map(|host| self.names.host(*host)).collect();
        if exchange.setup.is_some() {
            return format!("→ {}: sets up ({})", targets.join(", "), line.commands.join(", "));
        }
        let first = if once { "" } else { "the first " };
        let late = exchange.late.map(|took| format!(", {first}after {}", span(took))).unwrap_or_default();
        let outcome = match &exchange.outcome {
            Outcome::Answered(said) => format!("{}{late}", brief(said)),
            Outcome::AnswerLost(said) => format!("{}, an answer that never arrived", brief(said)),
            Outcome::Unanswered => "no answer".to_owned(),
            Outcome::NeverArrived => "never arrived".to_owned(),
        };
        format!("→ {}: {} → {outcome}", targets.join(", "), brief(&exchange.asked))
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
    count: usize,
    first: TrueTime,
    last: TrueTime,
}

struct Fold<'a> {
    writer: Writer<'a>,
    /// The lines that may be joined, by what joins them.
    open: BTreeMap<String, usize>,
    /// As `open`, for what only sets up connections and scripts: nothing begins a new line of these.
    setups: BTreeMap<String, usize>,
    lines: Vec<Line<'a>>,
}

impl<'a> Fold<'a> {
    fn event(&mut self, position: usize, event: &Event, cited: bool) {
        let mut row = self.writer.event(position, event);
        // Its sending may not be among the lines.
        let arrived = matches!(event.what, What::Delivered { .. }).then_some(event.cause).flatten();
        if let Some(said) = arrived.and_then(|sent| self.writer.story.wire.get(&sent)) {
            row.text.push_str(&format!(": {}", brief(&shortened(said))));
        }
        if cited || interrupts(&event.what) {
            self.open.clear();
        }
        let joined_by = if cited { None } else { repeated(event) };
        self.push(joined_by, row, None, event.host, event.at);
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
        let setup = exchange.and_then(|exchange| exchange.setup.as_deref());
        let open = if setup.is_some() { &mut self.setups } else { &mut self.open };
        let commands = setup.unwrap_or_default();
        if let Some(line) = joined_by.as_ref().and_then(|by| open.get(by)) {
            let line = &mut self.lines[*line];
            line.count += 1;
            line.last = at;
            let fresh: Vec<&str> =
                commands.iter().copied().filter(|command| !line.commands.contains(command)).collect();
            line.commands.extend(fresh);
            if !line.hosts.contains(&host) {
                line.hosts.push(host);
                line.row.requests.extend(exchange.map(|exchange| exchange.sent));
            }
            return;
        }
        if let Some(by) = joined_by {
            open.insert(by, self.lines.len());
        }
        let (hosts, commands) = (vec![host], commands.to_vec());
        self.lines.push(Line { row, exchange, hosts, commands, count: 1, first: at, last: at });
    }

    fn finish(self) -> Vec<Row> {
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
            line.row.times = line.count / line.hosts.len();
            if line.commands.is_empty() {
                line.row.text.push_str(&often(&line));
            }
            line.row
        };
        lines.into_iter().map(finish).collect()
    }
}

/// " (14 times, every 333ms, until 5.012345s)"; empty for what happened once at each host.
fn often(line: &Line<'_>) -> String {
    let times = line.count / line.hosts.len();
    if times < 2 {
        return String::new();
    }
    let every = line.last.since(line.first).as_nanos() as u64 / (times as u64 - 1);
    let every = match every {
        0 => String::new(),
        every => format!(" every {},", span(Duration::from_nanos(every))),
    };
    format!(" ({times} times,{every} until {})", line.last)
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
