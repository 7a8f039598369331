//! The exchanges between clients and stores: a request and its reply together.
//!
//! The trace has segments and the wire has their words; here one is joined to the other by cause: a reply is what a server
//! sends on the same connection because that request arrived, also if another server had a part in it: the leader that a follower
//! forwards a write to, or the database behind a pooler. What could not be read, such as handshakes in binary, makes
//! no exchange, and neither does what was sent in nobody's service.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use picklock_campaign::story::Story;
use picklock_model::ids::{EventId, GrantId, HostId};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, Role, What};

/// Owner values and script digests are longer than this; so much of one is enough to distinguish it from others.
const LONG: usize = 16;
const ENOUGH: usize = 6;

/// A request and what became of it.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    /// The position of its sending.
    pub(crate) sent: usize,
    /// The client.
    pub(crate) source: HostId,
    /// The store.
    pub(crate) target: HostId,
    /// In whose service.
    pub(crate) grant: GrantId,
    /// The request, owner values cut short.
    pub(crate) asked: String,
    /// The outcome.
    pub(crate) outcome: Outcome,
    /// All positions that it consists of, in order.
    pub(crate) positions: Vec<usize>,
    /// When the request arrived, if it was held up on its way.
    pub(crate) arrived: Option<TrueTime>,
    /// How long the answer took, if that is longer than the network can explain.
    pub(crate) late: Option<Duration>,
    /// True if all that its execution did was to extend a lease, which the trace has an event for.
    pub(crate) extended: bool,
    /// True if its execution changed a record of a lock, or its lease.
    pub(crate) changed: bool,
    /// Of what only sets up a connection or a script, and was answered: the commands, by name.
    pub(crate) setup: Option<Vec<&'static str>>,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// The answer arrived, and said this.
    Answered(String),
    /// The answer never arrived.
    AnswerLost(String),
    /// It arrived and was never answered.
    Unanswered,
    /// It arrived, and it is none that a server answers: a farewell.
    NeedsNoAnswer,
    /// It never arrived.
    NeverArrived,
}

/// All exchanges of a story, in the order in which the requests were sent.
pub(crate) fn of(story: &Story) -> Vec<Exchange> {
    if story.wire.is_empty() {
        return Vec::new();
    }
    let links = Links::of(story);
    let events = story.trace.events.iter().enumerate();
    events.filter_map(|(position, event)| links.exchange(position, event)).collect()
}

/// True if a message took longer than the network's slowest.
pub(crate) fn is_late(story: &Story, sent: &Event, arrived: &Event) -> bool {
    arrived.at.since(sent.at) > story.plan.world.latency.max
}

/// Which segment is which, by cause.
struct Links<'a> {
    story: &'a Story,
    /// Where an event stands.
    places: BTreeMap<EventId, usize>,
    /// The arrival of what was sent.
    arrivals: BTreeMap<EventId, usize>,
    /// The replies to what arrived: as many as it had commands.
    replies: BTreeMap<usize, Vec<usize>>,
    /// The arrivals that led to the extension of a lease.
    extending: BTreeSet<usize>,
    /// The arrivals that led to the beginning or the end of a record.
    changing: BTreeSet<usize>,
    /// The changes that the arrivals led to at the server that executed them, in words.
    effects: BTreeMap<usize, Vec<String>>,
}

impl<'a> Links<'a> {
    fn of(story: &'a Story) -> Links<'a> {
        let events = story.trace.events.as_slice();
        let places = events.iter().enumerate().map(|(at, event)| (event.id, at)).collect();
        let mut links = Links {
            story,
            places,
            arrivals: BTreeMap::new(),
            replies: BTreeMap::new(),
            extending: BTreeSet::new(),
            changing: BTreeSet::new(),
            effects: BTreeMap::new(),
        };
        for (position, event) in events.iter().enumerate() {
            match event.what {
                What::Delivered { .. } => {
                    if let Some(sent) = event.cause {
                        links.arrivals.insert(sent, position);
                    }
                }
                What::Sent { .. } if !links.is_client(event.host) => {
                    let asked = |arrival: &Event| arrival.host == event.host && arrival.conn == event.conn;
                    if let Some(request) = links.arrival_behind(event, asked) {
                        links.replies.entry(request).or_default().push(position);
                    }
                }
                What::Extended { ref key } | What::Created { ref key } | What::Deleted { ref key } => {
                    let is_asked = |arrival: &Event| matches!(arrival.what, What::Delivered { peer, .. } if links.is_client(peer));
                    if let Some(request) = links.arrival_behind(event, is_asked) {
                        let (set, verb) = match event.what {
                            What::Extended { .. } => (&mut links.extending, "extends"),
                            What::Created { .. } => (&mut links.changing, "creates"),
                            _ => (&mut links.changing, "deletes"),
                        };
                        set.insert(request);
                        if events[request].host == event.host {
                            let effects = links.effects.entry(request).or_default();
                            effects.push(format!("{verb} {key}"));
                        }
                    }
                }
                _ => {}
            }
        }
        links
    }

    fn is_client(&self, host: HostId) -> bool {
        self.story.trace.role(host) == Some(Role::Client)
    }

    /// The arrival at a server that led to the event and is such a one. Servers that ask each other on the way are passed over; what
    /// a client or a renewer does by itself is the beginning of something else.
    fn arrival_behind(&self, event: &Event, such: impl Fn(&Event) -> bool) -> Option<usize> {
        let mut cause = event.cause;
        while let Some(at) = cause.and_then(|id| self.places.get(&id)) {
            let earlier = &self.story.trace.events[*at];
            if !self.serves(earlier.host) && earlier.host != event.host {
                return None;
            }
            if matches!(earlier.what, What::Delivered { .. }) && such(earlier) {
                return Some(*at);
            }
            cause = earlier.cause;
        }
        None
    }

    /// True for a host that does something because it is asked.
    fn serves(&self, host: HostId) -> bool {
        matches!(self.story.trace.role(host), Some(Role::Leader | Role::Follower | Role::Proxy))
    }

    fn exchange(&self, position: usize, event: &Event) -> Option<Exchange> {
        let What::Sent { peer, .. } = event.what else { return None };
        let grant = event.grant.filter(|_| self.is_client(event.host))?;
        let asked = shortened(self.story.wire.get(&event.id)?);
        let events = &self.story.trace.events;
        let arrived = self.arrivals.get(&event.id).copied();
        let replies = arrived.and_then(|arrived| self.replies.get(&arrived)).map_or(&[][..], Vec::as_slice);
        let is_control = |reply: &&usize| is_control(&asked, &events[**reply], self.story);
        let replies: Vec<usize> = replies.iter().filter(|reply| !is_control(reply)).copied().collect();
        let reply = replies.last().copied();
        let answered = reply.and_then(|reply| self.arrivals.get(&events[reply].id)).copied();
        let said = |reply: &usize| self.story.wire.get(&events[*reply].id).map(|said| shortened(said));
        let said: Vec<String> = replies.iter().filter_map(said).collect();
        let said = if said.is_empty() { "an answer".to_owned() } else { said.join("; ") };
        let outcome = match (arrived, reply, answered) {
            (None, ..) => Outcome::NeverArrived,
            (_, None, _) if is_farewell(&asked) => Outcome::NeedsNoAnswer,
            (_, None, _) => Outcome::Unanswered,
            (.., None) => Outcome::AnswerLost(said),
            (.., Some(_)) => Outcome::Answered(said),
        };
        let took = answered.map(|answered| events[answered].at.since(event.at));
        let arrivals = replies.iter().filter_map(|reply| self.arrivals.get(&events[*reply].id));
        let mut positions: Vec<usize> = std::iter::once(position)
            .chain(arrived)
            .chain(replies.iter().copied())
            .chain(arrivals.copied())
            .collect();
        positions.sort_unstable();
        let setup = match &outcome {
            Outcome::Answered(said) => setup(&asked, said),
            _ => None,
        };
        let effects = arrived.and_then(|arrived| self.effects.get(&arrived)).map_or(&[][..], Vec::as_slice);
        let asked = match &outcome {
            Outcome::Answered(_) | Outcome::AnswerLost(_) if setup.is_none() => with_effects(&asked, effects),
            _ => asked,
        };
        let led_to = |such: &BTreeSet<usize>| arrived.is_some_and(|arrived| such.contains(&arrived));
        Some(Exchange {
            arrived: arrived
                .filter(|arrived| is_late(self.story, event, &events[*arrived]))
                .map(|at| events[at].at),
            late: took.filter(|took| *took > 2 * self.story.plan.world.latency.max),
            sent: position,
            source: event.host,
            target: peer,
            grant,
            asked,
            outcome,
            positions,
            extended: led_to(&self.extending) && !led_to(&self.changing),
            changed: led_to(&self.extending) || led_to(&self.changing),
            setup,
        })
    }
}

impl Exchange {
    /// The text that all tries of one request share: everything but owner values, dates and the store.
    pub(crate) fn shape(&self) -> String {
        if self.setup.is_some() {
            return format!("{} sets up", self.source.0);
        }
        let words: Vec<&str> =
            self.asked.split(' ').filter(|word| !word.ends_with("..") && !is_date(word)).collect();
        let outcome = match &self.outcome {
            Outcome::Answered(said) => said.as_str(),
            Outcome::AnswerLost(_) => "answer lost",
            Outcome::Unanswered => "unanswered",
            Outcome::NeedsNoAnswer => "needs no answer",
            Outcome::NeverArrived => "never arrived",
        };
        let outcome = if is_number(outcome) && !self.changed { "a number" } else { outcome };
        let late = (self.arrived.is_some(), self.late.is_some());
        format!("{} {}: {} = {outcome} {late:?}", self.grant.client.0, self.grant.section, words.join(" "))
    }
}

/// The commands that libraries send by themselves when they connect.
const GREETINGS: [&str; 13] = [
    "HELLO",
    "AUTH",
    "SELECT",
    "PING",
    "INFO",
    "COMMAND",
    "ROLE",
    "CLIENT SETINFO",
    "CLIENT SETNAME",
    "CLIENT ID",
    "READONLY",
    "CONFIG GET",
    "CLIENT MAINT_NOTIFICATIONS",
];

/// A request by the digest of a script, which says nothing by itself, with what the script changed: the digest, the changes, then the
/// number of keys with the keys and arguments.
fn with_effects(asked: &str, effects: &[String]) -> String {
    let mut words = asked.splitn(3, ' ');
    let is_script = words.next().is_some_and(|word| word.eq_ignore_ascii_case("EVALSHA"));
    let (Some(digest), Some(rest)) = (words.next(), words.next()) else { return asked.to_owned() };
    if !is_script || rest.contains("; ") {
        return asked.to_owned();
    }
    let mut done: Vec<&str> = Vec::new();
    effects.iter().for_each(|effect| {
        if !done.contains(&effect.as_str()) {
            done.push(effect);
        }
    });
    let done = if done.is_empty() { "changes no record".to_owned() } else { done.join(", ") };
    format!("script {digest} {done} ({rest})")
}

/// True for a reply of HTTP/2 control frames alone (acknowledged pings and settings, window updates). The answer of a gRPC call is longer: it has
/// headers, or a message of at least five bytes in a frame of nine.
fn is_control(asked: &str, reply: &Event, story: &Story) -> bool {
    const LONGEST: u64 = 30;
    let is_grpc = ["KV/", "Lease/", "Watch"].iter().any(|call| asked.starts_with(call));
    let is_short = matches!(reply.what, What::Sent { bytes, .. } if u64::from(bytes) <= LONGEST);
    is_grpc && is_short && story.wire.get(&reply.id).is_none()
}

/// True for a request that no server answers: PostgreSQL's Terminate and CancelRequest, and the end of a gRPC call by its client.
fn is_farewell(asked: &str) -> bool {
    matches!(asked, "goodbye" | "CancelRequest") || asked.ends_with(" is cancelled")
}

/// The commands of a request that only sets up a connection or a script, by name; `None` for a request of another kind.
fn setup(asked: &str, said: &str) -> Option<Vec<&'static str>> {
    let mut names = Vec::new();
    for command in asked.split("; ") {
        let name = setup_command(command, said)?;
        if !names.contains(&name) {
            names.push(name);
        }
    }
    Some(names)
}

fn setup_command(command: &str, said: &str) -> Option<&'static str> {
    // That of a session of ZooKeeper keeps the session, and its records, alive.
    if command == "ping" {
        return None;
    }
    let upper = command.to_uppercase();
    let is = |name: &str| upper == name || upper.starts_with(&format!("{name} "));
    // In SQL it is a query. That of a number is the check of a connection there, and the choice of a database in Redis.
    if is("SELECT") && upper["SELECT".len()..].trim().parse::<u32>().is_err() {
        return None;
    }
    if let Some(greeting) = GREETINGS.into_iter().find(|name| is(name)) {
        return Some(greeting);
    }
    let unknown = is("EVALSHA") && said.starts_with("NOSCRIPT");
    let loads = is("SCRIPT LOAD") || is("SCRIPT EXISTS");
    (unknown || loads).then_some(if unknown { "EVALSHA of an unknown script" } else { "SCRIPT LOAD" })
}

/// True if an argument is a date: milliseconds since 1970, or finer ones.
fn is_date(word: &str) -> bool {
    word.len() >= 13 && word.bytes().all(|byte| byte.is_ascii_digit())
}

/// True if an answer is a number, such as how long a lease still lasts.
pub(crate) fn is_number(said: &str) -> bool {
    said.parse::<i64>().is_ok()
}

/// A text with its long words cut short: nobody reads forty digits, and six distinguish owners.
pub(crate) fn shortened(text: &str) -> String {
    let short = |word: &str| {
        let whole = word.strip_suffix("..").unwrap_or(word);
        let opaque = whole.len() >= LONG && whole.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
        if opaque { format!("{}..", &word[..ENOUGH]) } else { word.to_owned() }
    };
    text.split(' ').map(short).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_set_up_of_a_connection_is_distinguished_from_a_request_for_a_lock() {
        let greeting = "HELLO 3; CLIENT SETINFO LIB-NAME redis-rs; CLIENT SETINFO LIB-VER 1.8.1";
        assert_eq!(setup(greeting, "OK; OK"), Some(vec!["HELLO", "CLIENT SETINFO"]));
        assert_eq!(setup("HELLO 3; SET lock:1 a NX", "OK; OK"), None);
        assert_eq!(setup("EVALSHA 3e46.. 1 lock:1 a", "1"), None);
        let unknown = setup("EVALSHA 3e46.. 1 lock:1 a", "NOSCRIPT No matching script.");
        assert_eq!(unknown, Some(vec!["EVALSHA of an unknown script"]));
        assert_eq!(setup("PINGS", "PONG"), None);
    }

    #[test]
    fn a_script_is_shown_by_what_it_changed() {
        let deletes = ["deletes lock:1".to_owned()];
        assert_eq!(
            with_effects("EVALSHA e0e1f9.. 1 lock:1 12c24d..", &deletes),
            "script e0e1f9.. deletes lock:1 (1 lock:1 12c24d..)"
        );
        assert_eq!(
            with_effects("EVALSHA e0e1f9.. 1 lock:1 a", &[]),
            "script e0e1f9.. changes no record (1 lock:1 a)"
        );
        assert_eq!(with_effects("DEL lock:1", &deletes), "DEL lock:1");
        assert_eq!(with_effects("EVALSHA e0.. 0; DEL lock:1", &deletes), "EVALSHA e0.. 0; DEL lock:1");
    }

    #[test]
    fn a_query_is_no_set_up_of_a_connection() {
        assert_eq!(setup("SELECT 3", "OK"), Some(vec!["SELECT"]));
        assert_eq!(setup("SELECT pg_try_advisory_lock(7)", "SELECT 1: t"), None);
    }

    #[test]
    fn owner_values_are_cut_short_and_keys_are_not() {
        let said = "SET lock:1 12c24da315be37960a2f8ee28aee90e7f1eb4eee NX PX 1000";
        assert_eq!(shortened(said), "SET lock:1 12c24d.. NX PX 1000");
        assert_eq!(shortened("12c24da315be37960a2f8ee2.."), "12c24d..", "though it was cut before");
        assert_eq!(shortened("GET a-key-that-is-longer-than-that"), "GET a-key-that-is-longer-than-that");
    }
}
