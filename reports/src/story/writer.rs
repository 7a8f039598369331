//! Events in words, as the lines of a timeline and the links of a chain say them.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_campaign::story::Story;
use picklock_model::ids::{EventId, HostId};
use picklock_model::trace::{Event, What};

use super::exchanges::{Exchange, is_late, shortened};
use super::place::Places;
use super::reentries::{self, Count};
use super::words::Names;
use crate::page::layout::cut;

/// A request or an answer is shown in so many columns at most; a script in full helps nobody.
const SAID: usize = 72;

/// A line of the timeline.
pub(crate) struct Row {
    /// The event at which it stands, by position.
    pub(crate) position: usize,
    /// Where it happened, or who sent it.
    pub(crate) host: HostId,
    /// The event.
    pub(crate) text: String,
    /// Of a request, where it was sent: the first to each host that was asked.
    pub(crate) requests: Vec<usize>,
    /// How often it happened, at each of the hosts that it is about.
    pub(crate) times: usize,
    /// Of a request, whether it only sets up a connection or a script.
    pub(crate) sets_up: bool,
}

impl Row {
    /// The line of a request, without its words.
    pub(crate) fn asking(exchange: &Exchange) -> Row {
        let (position, host) = (exchange.sent, exchange.source);
        Row {
            position,
            host,
            text: String::new(),
            requests: vec![position],
            times: 1,
            sets_up: exchange.setup.is_some(),
        }
    }
}

/// The host that each injection hit first. Later effects of a fault are events without a host, and are shown there.
pub(crate) fn hit(story: &Story) -> BTreeMap<u32, HostId> {
    let mut hit = BTreeMap::new();
    for event in &story.trace.events {
        if let What::Injected { injection, .. } = event.what {
            hit.entry(injection).or_insert(event.host);
        }
    }
    hit
}

/// The host at which an event is shown.
pub(crate) fn shown_at(event: &Event, hit: &BTreeMap<u32, HostId>) -> HostId {
    match event.what {
        What::TookEffect { injection } | What::Healed { injection } => {
            hit.get(&injection).copied().unwrap_or(event.host)
        }
        _ => event.host,
    }
}

/// Puts events and exchanges into words.
pub(crate) struct Writer<'a> {
    story: &'a Story,
    names: Names<'a>,
    hit: BTreeMap<u32, HostId>,
    counts: BTreeMap<EventId, Count>,
    places: Places<'a>,
}

impl<'a> Writer<'a> {
    pub(crate) fn of(story: &'a Story) -> Writer<'a> {
        let (names, counts) = (Names::of(&story.trace), reentries::of(story));
        Writer { story, names, hit: hit(story), counts, places: Places::of(story) }
    }

    /// The line of an event in a list of all.
    pub(crate) fn event(&self, position: usize, event: &Event) -> Row {
        let said = self.story.wire.get(&event.id).map(|said| format!(": {said}")).unwrap_or_default();
        let place = self.places.say(event);
        let text = format!("{}{}{place}{said}", self.names.say(event), self.count(event));
        Row {
            position,
            host: shown_at(event, &self.hit),
            text,
            requests: Vec::new(),
            times: 1,
            sets_up: false,
        }
    }

    /// The line of an event.
    pub(crate) fn row(&self, position: usize, event: &Event) -> Row {
        let host = shown_at(event, &self.hit);
        Row { position, host, text: self.say(event), requests: Vec::new(), times: 1, sets_up: false }
    }

    pub(crate) fn host(&self, host: HostId) -> &str {
        self.names.host(host)
    }

    /// The network's longest way.
    pub(crate) fn latency(&self) -> Duration {
        self.story.plan.world.latency.max
    }

    /// The words for an event, without its host; of a message, its words, and when it was sent if it was held up on its way.
    pub(crate) fn say(&self, event: &Event) -> String {
        let happened = || format!("{}{}{}", self.names.say(event), self.count(event), self.places.say(event));
        self.message(event).unwrap_or_else(happened)
    }

    /// The change of the count of a re-entrant lock in the same step.
    pub(crate) fn count(&self, event: &Event) -> &'static str {
        match self.counts.get(&event.id) {
            Some(Count::Up) => ": one more hold",
            Some(Count::Down) => ": one hold less",
            None => "",
        }
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
}

/// A text as far as it helps.
pub(crate) fn brief(text: &str) -> String {
    let short = cut(text, SAID);
    if short.len() < text.len() { format!("{}..", short.trim_end()) } else { short }
}
