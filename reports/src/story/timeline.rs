//! A violating run on one page: a paragraph and an aligned timeline.
//!
//! Beside the true time stand the clients, a column each: `│` while a client believes that it holds the lock, `┊`
//! while it asks for it, and `▓` beside either while it stands still. Two strokes in one line are the double holder.
//! The clashing grants are marked, and so is every event that proves a finding. What is left out of the page is
//! said beside the code that chooses, in `relevance.rs`, and what stands in one line in `rows.rs`; [`Detail::Full`] leaves
//! out nothing.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use picklock_campaign::story::Story;
use picklock_judge::history::History;
use picklock_judge::invariants::{Promise, is_about};
use picklock_model::ids::{EventId, GrantId, HostId};
use picklock_model::trace::{Event, Role, Trace, What};

use super::relevance::is_mishap;
use super::spans::{self, Span, State};
use super::writer::Row;
use super::{exchanges, explanation, paragraph, relevance, rows};
use crate::page::layout::{cut, left, paragraph, printable, right, staircase, width, wrap};
use crate::page::numbers::plural;
use crate::page::paint::{Ink, Style};

/// At most so many lines of the timeline of a short story.
const SHORT: usize = 24;

/// How much of a run is shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Detail {
    /// The events that belong to the story.
    #[default]
    Relevant,
    /// Of that so many lines as a screen holds: all that proves a finding and all that a fault did, then from the beginning on.
    Short,
    /// Every event.
    Full,
}

/// Renders a story, with all that the run violates, and the line that makes it again. A story without findings is shown as a
/// run in which nothing was violated.
#[must_use]
pub fn render(story: &Story, style: &Style, detail: Detail) -> String {
    let spans = spans::of(&story.trace);
    let cited = relevance::cited(story);
    let (rows, shown) = match detail {
        Detail::Relevant | Detail::Short => {
            let (positions, window) = relevance::positions(story, &spans);
            let exchanges = exchanges::of(story);
            let relevant: Vec<_> = exchanges.iter().filter(|one| window.shows(one)).collect();
            let links = explanation::chains(story).into_iter().flat_map(|(_, links)| links);
            let positions: Vec<usize> = positions.into_iter().chain(links).collect();
            rows::relevant(story, &positions, &relevant, &cited)
        }
        Detail::Full => (rows::full(story), story.trace.events.len()),
    };
    let (rows, left_out) = match detail {
        Detail::Short => rows::shortened_to(SHORT, rows, story, &cited),
        Detail::Relevant | Detail::Full => (rows, 0),
    };
    let mut page = head(story, shown, style);
    page.push('\n');
    let course = paragraph::course(story);
    for paragraphs in [paragraph::found(story), if course.is_empty() { Vec::new() } else { vec![course] }] {
        for words in &paragraphs {
            page.push_str(&paragraph(&printable(words), 0, style.columns()));
        }
        if !paragraphs.is_empty() {
            page.push('\n');
        }
    }
    Table::of(story, &spans, &cited, &rows, style).write(&mut page);
    if left_out > 0 {
        let words = format!(
            "{left_out} more {} of it: see the line below that replays it",
            plural(left_out as u64, "line")
        );
        page.push_str(&paragraph(&words, 0, style.columns()));
    }
    page.push_str(&explanation::render(story, style, matches!(detail, Detail::Short)));
    page.push_str(&format!("\nreplay: {}\n", style.paint(Ink::First, &printable(&story.replay))));
    page
}

/// The run in one paragraph without line breaks.
#[must_use]
pub fn explain(story: &Story) -> String {
    let mut parts = paragraph::found(story);
    parts.push(paragraph::course(story));
    printable(parts.join(" ").trim_end()).into_owned()
}

fn head(story: &Story, shown: usize, style: &Style) -> String {
    let Story { design, scenario, plan, trace, .. } = story;
    let network = match plan.network_seed {
        seed if seed == plan.seed => String::new(),
        seed => format!(", network seed {}", seed.0),
    };
    let violated: Vec<&str> = story.invariants().collect();
    let verdict = match violated.as_slice() {
        [] => "nothing violated".to_owned(),
        violated => format!("{} violated", paragraph::list(violated)),
    };
    let title = format!("{design} under {scenario}, seed {}{network}: {verdict}", plan.seed.0);
    let facts = format!("digest {}, {shown} of {} events shown", trace.digest, trace.events.len());
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
    spans: &'a [Span],
    cited: &'a BTreeSet<EventId>,
    rows: &'a [Row],
    style: &'a Style,
    /// The acts of processes as they run again.
    deferred: BTreeMap<usize, usize>,
    /// Where the grants of the finding begin.
    marks: BTreeMap<EventId, &'static str>,
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

    fn of(
        story: &'a Story,
        spans: &'a [Span],
        cited: &'a BTreeSet<EventId>,
        rows: &'a [Row],
        style: &'a Style,
    ) -> Table<'a> {
        let trace = &story.trace;
        let time = rows.iter().map(|row| trace.events[row.position].at.to_string().len()).max().unwrap_or(0);
        let time = time.max(Table::HEADING.len());
        let clients = lanes(story, rows, style.columns() / 3 / Table::LANE);
        let host = rows.iter().map(|row| width(&printable(trace.host_name(row.host)))).max();
        let host = host.unwrap_or(0).max("host".len());
        let room = style.columns().saturating_sub(time + 2 + clients.len() * Table::LANE);
        let fits = room >= host + 2 + Table::WORDS;
        let words = if fits { room - host - 2 } else { room };
        let host = fits.then_some(host);
        let marks = marks(story);
        let deferred = spans::deferred(trace, spans);
        Table { story, trace, spans, cited, rows, style, deferred, marks, clients, time, host, words }
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
        for row in self.rows {
            self.row(page, row);
        }
        let legend = "│ believes that it holds, ┊ asks, ▓ stands still, ◀ proves the finding";
        page.push('\n');
        for line in wrap(legend, self.style.columns()) {
            page.push_str(&format!("{}\n", self.style.paint(Ink::Dim, &line)));
        }
    }

    fn row(&self, page: &mut String, row: &Row) {
        let event = &self.trace.events[row.position];
        let host = printable(self.trace.host_name(row.host));
        let said = &row.text;
        let mark = self.mark(event).map(|mark| format!(" {mark}")).unwrap_or_default();
        let said = match self.host {
            Some(_) => format!("{said}{mark}"),
            // An arrow goes from the host's name on.
            None if said.starts_with('→') => format!("{host} {said}{mark}"),
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
                self.gutter(row.position),
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
                self.spans.iter().any(|span| {
                    span.client == *client && span.state == state && span.covers(position, &self.deferred)
                })
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
        match clashing(self.story).iter().position(|grant| grant.client == client) {
            Some(0) => Ink::First,
            Some(_) => Ink::Second,
            None => Ink::Dim,
        }
    }

    fn mark(&self, event: &Event) -> Option<&'static str> {
        let cited = self.cited.contains(&event.id).then_some("◀");
        self.marks.get(&event.id).copied().or(cited)
    }

    fn ink(&self, event: &Event) -> Ink {
        let grants = clashing(self.story);
        match &event.what {
            what if is_mishap(what) || matches!(what, What::Noticed { .. }) => Ink::Warn,
            What::Expired { .. }
            | What::Lost { .. }
            | What::LeaseLost { .. }
            | What::ResourceRestored { .. }
            | What::ResourceRefused { .. } => Ink::Loss,
            _ => match event.grant.and_then(|grant| grants.iter().position(|it| *it == grant)) {
                Some(0) => Ink::First,
                Some(_) => Ink::Second,
                None => Ink::Plain,
            },
        }
    }
}

/// The marks of the grants of the finding. A grant stands where its client saw it; but one whose client learned of it only after
/// a later one was seen stands where the store granted it.
fn marks(story: &Story) -> BTreeMap<EventId, &'static str> {
    const MARKS: [[&str; 2]; 3] = [
        ["◀ first grant", "◀ learns of the first grant"],
        ["◀ second grant", "◀ learns of the second grant"],
        ["◀ another grant", "◀ learns of another grant"],
    ];
    let history = History::of(&story.trace);
    let sections = clashing(story).iter().filter_map(|grant| history.place_of(*grant));
    let sections = sections.map(|at| &history.sections[at]);
    let held: Vec<_> = sections.filter_map(|section| Some((section, section.grant.as_ref()?))).collect();
    // A block is about nobody's grant: what ended it, if anything did, is marked as a proof.
    if story.breaches.first().is_some_and(|breach| is_about(&breach.invariant, Promise::Availability)) {
        return BTreeMap::new();
    }
    if let [(_, grant)] = held.as_slice() {
        return BTreeMap::from([(grant.acquired.id, "◀ the grant")]);
    }
    let mut marks = BTreeMap::new();
    for (nth, (section, grant)) in held.iter().enumerate() {
        let [here, later] = MARKS[nth.min(MARKS.len() - 1)];
        let seen = (grant.acquired.at, grant.acquired.id);
        let late = held[nth + 1..].iter().any(|(_, next)| (next.acquired.at, next.acquired.id) < seen);
        let created = history.records_of(section).map(|record| record.created);
        let granted = created.into_iter().find(|created| created.at == grant.granted_at).filter(|_| late);
        marks.insert(grant.acquired.id, if late { later } else { here });
        if let Some(created) = granted {
            marks.insert(created.id, here);
        }
    }
    marks
}

/// The grants of the finding that the story is about, the earlier one first.
fn clashing(story: &Story) -> &[GrantId] {
    story.leading().map_or(&[][..], |finding| &finding.grants)
}

/// The clients that get a column, at most `most`: those of the clashing grants first, then those shown.
fn lanes(story: &Story, rows: &[Row], most: usize) -> Vec<HostId> {
    let clashing = clashing(story).iter().map(|grant| grant.client);
    let clients = rows.iter().map(|row| row.host);
    let clients = clients.filter(|host| story.trace.role(*host) == Some(Role::Client));
    let mut chosen = BTreeSet::new();
    for client in clashing.chain(clients) {
        if chosen.len() < most {
            chosen.insert(client);
        }
    }
    chosen.into_iter().collect()
}
