//! A violating run told on one page: what happened, as a paragraph and as an aligned timeline.
//!
//! Beside the true time stand the clients, a column each: `│` while a client believes that it holds the lock, `┊`
//! while it asks for it, and `▓` beside either while it stands still. Two strokes in one line are the double holder.
//! The clashing grants are marked, and so is every event that proves the finding. What is left out of the page is
//! said beside the code that chooses, in `relevance.rs`; [`Detail::Full`] leaves out nothing.

use std::borrow::Cow;
use std::collections::BTreeSet;

use picklock_scenarios::summary::Story;
use picklock_sim::ids::HostId;
use picklock_sim::trace::{Event, Role, Trace, What};

use crate::layout::{cut, left, paragraph, printable, right, staircase, width, wrap};
use crate::paint::{Ink, Style};
use crate::spans::{self, Span, State};
use crate::words::Names;
use crate::{relevance, tale};

/// How much of a run is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// What belongs to the story.
    #[default]
    Relevant,
    /// Every event.
    Full,
}

/// Tells a story; `replay` is the command that shows it again. A story without findings is told as a run in which
/// nothing was violated.
#[must_use]
pub fn tell(story: &Story, replay: &str, style: &Style, detail: Detail) -> String {
    let spans = spans::of(&story.trace);
    let shown = match detail {
        Detail::Relevant => relevance::positions(story, &spans),
        Detail::Full => (0..story.trace.events.len()).collect(),
    };
    let mut page = head(story, &shown, style);
    page.push('\n');
    page.push_str(&paragraph(&explain_with(story, &spans), 0, style.columns()));
    page.push('\n');
    Table::of(story, &spans, &shown, style).write(&mut page);
    page.push_str(&format!("\nreplay: {}\n", style.paint(Ink::First, &printable(replay))));
    page
}

/// What happened, in one paragraph without line breaks.
#[must_use]
pub fn explain(story: &Story) -> String {
    explain_with(story, &spans::of(&story.trace))
}

fn explain_with(story: &Story, spans: &[Span]) -> String {
    printable(&tale::explain(story, spans)).into_owned()
}

fn head(story: &Story, shown: &[usize], style: &Style) -> String {
    let Story { design, scenario, invariant, plan, trace, .. } = story;
    let network = match plan.network_seed {
        seed if seed == plan.seed => String::new(),
        seed => format!(", network seed {}", seed.0),
    };
    let verdict = match (story.findings.is_empty(), invariant.as_str()) {
        (true, "") => "nothing violated".to_owned(),
        (true, invariant) => format!("{invariant} not violated"),
        (false, invariant) => format!("{invariant} violated"),
    };
    let title = format!("{design} under {scenario}, seed {}{network}: {verdict}", plan.seed.0);
    let facts = format!("digest {}, {} of {} events shown", trace.digest, shown.len(), trace.events.len());
    let mut page = String::new();
    for (ink, text) in [(Ink::Head, title), (Ink::Dim, facts)] {
        for line in wrap(&printable(&text), style.columns()) {
            page.push_str(&format!("{}\n", style.paint(ink, &line)));
        }
    }
    page
}

/// The timeline with the widths of its columns.
struct Table<'a> {
    story: &'a Story,
    trace: &'a Trace,
    names: Names<'a>,
    spans: &'a [Span],
    shown: &'a [usize],
    style: &'a Style,
    /// The clients that have a column.
    clients: Vec<HostId>,
    time: usize,
    /// The width of the column of hosts; `None` if there is no room: then the host is named in the words.
    host: Option<usize>,
    /// The columns left for the words.
    words: usize,
}

impl<'a> Table<'a> {
    /// Columns of one client: its belief, its halt, and a gap.
    const LANE: usize = 3;
    /// With fewer columns for words, the column of hosts is given up.
    const WORDS: usize = 30;
    const HEADING: &'static str = "true time";

    fn of(story: &'a Story, spans: &'a [Span], shown: &'a [usize], style: &'a Style) -> Table<'a> {
        let trace = &story.trace;
        let events = || shown.iter().map(|position| &trace.events[*position]);
        let time = events().map(|event| event.at.to_string().len()).max().unwrap_or(0);
        let time = time.max(Table::HEADING.len());
        let clients = lanes(story, shown, style.columns() / 3 / Table::LANE);
        let host = events().map(|event| width(&printable(trace.host_name(event.host)))).max();
        let host = host.unwrap_or(0).max("host".len());
        let room = style.columns().saturating_sub(time + 2 + clients.len() * Table::LANE);
        let fits = room >= host + 2 + Table::WORDS;
        let words = if fits { room - host - 2 } else { room };
        let host = fits.then_some(host);
        Table { story, trace, names: Names::of(trace), spans, shown, style, clients, time, host, words }
    }

    fn write(&self, page: &mut String) {
        let names: Vec<Cow<'_, str>> =
            self.clients.iter().map(|client| printable(self.trace.host_name(*client))).collect();
        for line in staircase(&names, self.time + 2, Table::LANE) {
            // The strokes matter and the names can be read beside the events too: cut what does not fit.
            page.push_str(&cut(&line, self.style.columns()));
            page.push('\n');
        }
        let strokes = "│  ".repeat(self.clients.len());
        let host = self.host.map(|host| left("host", host + 2)).unwrap_or_default();
        let heading = format!("{}  {strokes}{host}what happened", right(Table::HEADING, self.time));
        page.push_str(&self.style.paint(Ink::Dim, &heading));
        page.push('\n');
        for position in self.shown {
            self.row(page, *position);
        }
        let legend = "│ believes that it holds, ┊ asks, ▓ stands still, ◀ proves the finding";
        page.push('\n');
        for line in wrap(legend, self.style.columns()) {
            page.push_str(&format!("{}\n", self.style.paint(Ink::Dim, &line)));
        }
    }

    fn row(&self, page: &mut String, position: usize) {
        let event = &self.trace.events[position];
        let host = printable(self.trace.host_name(event.host));
        let wire = self.story.wire.get(&event.id).map(|said| format!(": {said}")).unwrap_or_default();
        let said = format!("{}{wire}", self.names.say(event));
        let mark = self.mark(event).map(|mark| format!(" {mark}")).unwrap_or_default();
        let said = match self.host {
            Some(_) => format!("{said}{mark}"),
            None => format!("{host}: {said}{mark}"),
        };
        let ink = self.ink(event);
        for (at, line) in wrap(&printable(&said), self.words).iter().enumerate() {
            let time = if at == 0 { event.at.to_string() } else { String::new() };
            let host = match self.host {
                Some(columns) => left(if at == 0 { &host } else { "" }, columns + 2),
                None => String::new(),
            };
            let line = format!(
                "{}  {}{host}{}",
                right(&time, self.time),
                self.gutter(position),
                self.style.paint(ink, line)
            );
            page.push_str(line.trim_end());
            page.push('\n');
        }
    }

    /// The state of each client as of this event.
    fn gutter(&self, position: usize) -> String {
        let lane = |client: &HostId| {
            let state = |state| {
                self.spans
                    .iter()
                    .any(|span| span.client == *client && span.state == state && span.covers(position))
            };
            let belief = match (state(State::Believing), state(State::Waiting)) {
                (true, _) => "│",
                (false, true) => "┊",
                (false, false) => " ",
            };
            let halt = if state(State::Halted) { "▓" } else { " " };
            let rank = self.rank_of(*client);
            format!("{}{} ", self.style.paint(rank, belief), self.style.paint(Ink::Warn, halt))
        };
        self.clients.iter().map(lane).collect()
    }

    /// The colour of a client: that of its clashing grant.
    fn rank_of(&self, client: HostId) -> Ink {
        let grants = self.story.findings.first().map_or(&[][..], |finding| &finding.grants);
        match grants.iter().position(|grant| grant.client == client) {
            Some(0) => Ink::First,
            Some(_) => Ink::Second,
            None => Ink::Dim,
        }
    }

    fn mark(&self, event: &Event) -> Option<&'static str> {
        let finding = self.story.findings.first()?;
        if let What::Acquired { .. } = event.what {
            let rank = event.grant.and_then(|grant| finding.grants.iter().position(|it| *it == grant));
            match (rank, finding.grants.len()) {
                (Some(0), 1) => return Some("◀ the grant"),
                (Some(0), _) => return Some("◀ first grant"),
                (Some(1), _) => return Some("◀ second grant"),
                (Some(_), _) => return Some("◀ another grant"),
                (None, _) => {}
            }
        }
        finding.events.contains(&event.id).then_some("◀")
    }

    fn ink(&self, event: &Event) -> Ink {
        let grants = self.story.findings.first().map_or(&[][..], |finding| &finding.grants);
        match &event.what {
            What::Injected { .. }
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
            | What::Noticed { .. } => Ink::Warn,
            What::Expired { .. } | What::Lost { .. } | What::ResourceRefused { .. } => Ink::Loss,
            _ => match event.grant.and_then(|grant| grants.iter().position(|it| *it == grant)) {
                Some(0) => Ink::First,
                Some(_) => Ink::Second,
                None => Ink::Plain,
            },
        }
    }
}

/// The clients that get a column, at most `most`: those of the clashing grants first, then those shown.
fn lanes(story: &Story, shown: &[usize], most: usize) -> Vec<HostId> {
    let clashing = story.findings.first().into_iter().flat_map(|finding| &finding.grants).map(|it| it.client);
    let clients = shown.iter().map(|position| story.trace.events[*position].host);
    let clients = clients.filter(|host| story.trace.role(*host) == Some(Role::Client));
    let mut chosen = BTreeSet::new();
    for client in clashing.chain(clients) {
        if chosen.len() < most {
            chosen.insert(client);
        }
    }
    chosen.into_iter().collect()
}
