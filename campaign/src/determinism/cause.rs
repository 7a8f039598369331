//! The probable cause of a difference between two runs of one plan, guessed from what differs.

use std::fmt;
use std::mem::discriminant;
use std::time::Duration;

use picklock_model::trace::{Content, Event, What};

use crate::check::Checked;

/// So many events after the first that differs are looked through for the same steps in another order.
const NEAR: usize = 200;

/// A cause of a difference between two runs: something that a lock does and that its host does not know of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// It spawned a thread.
    Thread,
    /// It opened a socket of the machine.
    Socket,
    /// It read the machine's clock.
    Clock,
    /// It walked through something that has no order.
    Order,
    /// It drew something past its host.
    Randomness,
    /// The same things happened, at other times.
    Timing,
    /// Something else.
    Unknown,
}

impl Cause {
    /// The remedy.
    #[must_use]
    pub fn remedy(self) -> &'static str {
        match self {
            Cause::Thread => "use Host::spawn, and no runtime and no library that has threads of its own",
            Cause::Socket => "connect by Host::connect, and give the stream to the client library",
            Cause::Clock => "read Host::monotonic or Host::wall",
            Cause::Order => "use a BTreeMap or a BTreeSet, or sort before you walk through it",
            Cause::Randomness => "draw from Host::rng",
            Cause::Timing => {
                "wait by Host::sleep for a time that comes from Host::rng, Host::monotonic or Host::wall"
            }
            Cause::Unknown => "look at what the lock does right before this event",
        }
    }
}

impl fmt::Display for Cause {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Cause::Thread => "a thread: the process had more of them while it ran",
            Cause::Socket => "a socket of the machine: the process had one open while it ran",
            Cause::Clock => "the machine's clock (SystemTime, Instant): a number in it is the time of day",
            Cause::Order => "the order of a hash map or a hash set: the same steps come in another order",
            Cause::Randomness => "randomness of the machine: a text differs that was drawn",
            Cause::Timing => "a time that is not the host's (SystemTime, Instant, randomness of the machine): the same step comes at another time",
            Cause::Unknown => "not known",
        })
    }
}

pub(super) fn guess(runs: [&Checked; 2], position: usize) -> Cause {
    let [one, other] = runs.map(|run| run.trace.events.get(position..).unwrap_or_default());
    let (Some(here), Some(there)) = (one.first(), other.first()) else { return Cause::Unknown };
    let said = |run: &Checked, event: &Event| run.wire.get(&event.id).cloned().unwrap_or_default();
    let words = |run, event: &Event| format!("{:?} {}", without_content(&event.what), said(run, event));
    let [text, other_text] = [words(runs[0], here), words(runs[1], there)];
    if here.host == there.host && here.what == there.what {
        return Cause::Timing;
    }
    if is_time(&text, &other_text) {
        return Cause::Clock;
    }
    if reordered(one, other) || is_anagram(&text, &other_text) {
        return Cause::Order;
    }
    if discriminant(&here.what) == discriminant(&there.what) { Cause::Randomness } else { Cause::Unknown }
}

/// The bytes of a segment stand beside it in words: its hash would hide that they are the same words in another order.
fn without_content(what: &What) -> What {
    match *what {
        What::Sent { peer, segment, bytes, .. } => {
            What::Sent { peer, segment, bytes, content: Content::default() }
        }
        _ => what.clone(),
    }
}

/// True if the steps with which the runs begin to differ are in both, one after the other.
fn reordered(one: &[Event], other: &[Event]) -> bool {
    let comes = |event: &Event, events: &[Event]| {
        events.iter().skip(1).take(NEAR).any(|later| later.host == event.host && later.what == event.what)
    };
    match (one.first(), other.first()) {
        (Some(here), Some(there)) => comes(here, other) && comes(there, one),
        _ => false,
    }
}

/// True if two texts have the same words, in another order.
fn is_anagram(one: &str, other: &str) -> bool {
    let sorted = |text: &str| {
        let split = |c: char| !c.is_alphanumeric();
        let mut words: Vec<String> = text.split(split).map(str::to_owned).collect();
        words.sort_unstable();
        words
    };
    one != other && sorted(one) == sorted(other)
}

/// True if two texts differ in a number that is about the present time, in seconds or a fraction of them.
fn is_time(one: &str, other: &str) -> bool {
    let Some(now) = time_of_day() else { return false };
    let numbers = |text: &str| -> Vec<u128> {
        text.split(|c: char| !c.is_ascii_digit()).filter_map(|digits| digits.parse().ok()).collect()
    };
    let near = |number: u128| {
        let units = [u128::from(now.as_secs()), now.as_millis(), now.as_micros(), now.as_nanos()];
        // Within a minute or so: a deadline is a little ahead.
        units
            .iter()
            .zip([60, 60_000, 60_000_000, 60_000_000_000])
            .any(|(now, minute)| number.abs_diff(*now) < minute)
    };
    let differ = numbers(one) != numbers(other);
    differ && numbers(one).into_iter().chain(numbers(other)).any(near)
}

#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "what a stray lock may have read is looked for"
)]
fn time_of_day() -> Option<Duration> {
    use std::time::SystemTime;
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).ok()
}
