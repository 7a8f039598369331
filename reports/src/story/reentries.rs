//! The events by which a store counts the holds of a re-entrant lock. The trace shows only that it extends a lease.
//!
//! The request shows more: one script makes records and takes the lock once more, another one gives it back and deletes records.

use std::collections::{BTreeMap, BTreeSet};

use picklock_campaign::story::Story;
use picklock_model::ids::EventId;
use picklock_model::trace::{Event, What};

/// The change of the count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Count {
    /// The lock was taken once more.
    Up,
    /// One hold of several was given back.
    Down,
}

/// The events that count, of a story about a re-entrant lock.
pub(crate) fn of(story: &Story) -> BTreeMap<EventId, Count> {
    if !story.trace.reentrant {
        return BTreeMap::new();
    }
    let requests = Requests::of(story);
    let verbs = |such: fn(&What) -> bool| -> BTreeSet<&str> {
        let events = story.trace.events.iter().filter(|event| such(&event.what));
        events.filter_map(|event| requests.verb(event)).collect()
    };
    let taking = verbs(|what| matches!(what, What::Created { .. }));
    let giving_back = verbs(|what| matches!(what, What::Deleted { .. }));
    let made: BTreeSet<EventId> = story
        .trace
        .events
        .iter()
        .filter(|event| matches!(event.what, What::Created { .. }))
        .filter_map(|event| event.cause)
        .collect();
    let extended = story.trace.events.iter().filter(|event| matches!(event.what, What::Extended { .. }));
    // A lease that is set as its record is made counts nothing.
    let extended = extended.filter(|event| event.cause.is_some_and(|cause| !made.contains(&cause)));
    let count = |event: &Event| match requests.verb(event)? {
        verb if taking.contains(verb) => Some((event.id, Count::Up)),
        verb if giving_back.contains(verb) => Some((event.id, Count::Down)),
        _ => None,
    };
    extended.filter_map(count).collect()
}

/// Requests by the events in which they arrived.
struct Requests<'a> {
    story: &'a Story,
    sent: BTreeMap<EventId, EventId>,
}

impl<'a> Requests<'a> {
    fn of(story: &'a Story) -> Requests<'a> {
        let arrived = story.trace.events.iter().filter(|event| matches!(event.what, What::Delivered { .. }));
        Requests { story, sent: arrived.filter_map(|event| Some((event.id, event.cause?))).collect() }
    }

    /// The command that led to an event, with its first word: `EVALSHA` and the script.
    fn verb(&self, event: &Event) -> Option<&'a str> {
        let request = self.story.wire.get(self.sent.get(&event.cause?)?)?;
        let end = request.match_indices(' ').nth(1).map_or(request.len(), |(at, _)| at);
        Some(&request[..end])
    }
}
