//! Two runs of one plan on different servers, as the clients see them: alike, or where they part. What a server says of itself, such as a place
//! in its source, is left out.

use picklock_campaign::check::Checked;
use picklock_model::trace::{Event, Role, What};

use crate::page::layout::paragraph;
use crate::page::paint::{Ink, Style};
use crate::story::words::Names;

/// The events that clients saw, with their times.
struct Seen {
    at: u64,
    words: String,
}

/// How far two runs are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Alike {
    /// In every word and to the nanosecond.
    Wholly,
    /// In every word, in the same order at each client; some of it at other times, the most by so many nanoseconds.
    InWords {
        /// The widest difference.
        apart_ns: u64,
    },
    /// Up to here.
    Until {
        /// The client that sees the first difference.
        client: String,
        /// The event on the one servers; `None` if that run has no more of the client.
        one: Option<String>,
        /// And on the others.
        other: Option<String>,
    },
}

/// Compares the events of the clients of two runs, and all that they sent and received.
#[must_use]
pub fn compare(one: &Checked, other: &Checked) -> Alike {
    let mut apart_ns = 0;
    let mut parts: Option<(u64, Alike)> = None;
    for (client, name) in clients(one) {
        let (here, there) = (seen_by(one, client), seen_by(other, client));
        let differs = (0..here.len().max(there.len()))
            .find(|&at| here.get(at).map(|seen| &seen.words) != there.get(at).map(|seen| &seen.words));
        match differs {
            None => {
                let spans = here.iter().zip(&there).map(|(here, there)| here.at.abs_diff(there.at));
                apart_ns = spans.max().unwrap_or(0).max(apart_ns);
            }
            Some(at) => {
                let when = [&here, &there].iter().filter_map(|all| all.get(at)).map(|seen| seen.at).min();
                let words = |all: &[Seen]| all.get(at).map(|seen| seen.words.clone());
                let until = Alike::Until { client: name, one: words(&here), other: words(&there) };
                let when = when.unwrap_or(u64::MAX);
                if parts.as_ref().is_none_or(|(earliest, _)| when < *earliest) {
                    parts = Some((when, until));
                }
            }
        }
    }
    match parts {
        Some((_, until)) => until,
        None if apart_ns == 0 => Alike::Wholly,
        None => Alike::InWords { apart_ns },
    }
}

/// Where two runs part, in words; `names` are those of their servers.
#[must_use]
pub fn render(title: &str, alike: &Alike, names: [&str; 2], style: &Style) -> String {
    let Alike::Until { client, one, other } = alike else { return String::new() };
    let mut text = format!("{}\n", style.paint(Ink::Head, title));
    let both = [one, other].into_iter().zip(names);
    for (words, servers) in both {
        let words = words.clone().unwrap_or_else(|| format!("{client} sees nothing more"));
        text.push_str(&paragraph(&format!("{servers}: {words}"), 2, style.columns()));
    }
    text
}

fn clients(run: &Checked) -> Vec<(usize, String)> {
    let hosts = run.trace.hosts.iter().enumerate().filter(|(_, host)| host.role == Role::Client);
    hosts.map(|(at, host)| (at, host.name.clone())).collect()
}

/// The events at a client, and the messages to it.
fn seen_by(run: &Checked, client: usize) -> Vec<Seen> {
    let names = Names::of(&run.trace);
    let here = |event: &&Event| match &event.what {
        What::Sent { peer, .. } => usize::from(event.host.0) == client || usize::from(peer.0) == client,
        What::TookEffect { .. } => false,
        _ => usize::from(event.host.0) == client,
    };
    let words = |event: &Event| {
        // In whose service a server answers is what we know of the simulated one, and nobody sees.
        let mut event = Event { grant: None, ..event.clone() };
        if let What::Sent { bytes, .. } = &mut event.what {
            *bytes = bytes.saturating_sub(run.wire.of_itself(event.id));
        }
        let said = names.say(&event);
        let text = run.wire.get(&event.id).map(|text| format!(": {text}")).unwrap_or_default();
        format!("{} {said}{text}", names.host(event.host))
    };
    run.trace
        .events
        .iter()
        .filter(here)
        .map(|event| Seen { at: event.at.as_nanos(), words: words(event) })
        .collect()
}
