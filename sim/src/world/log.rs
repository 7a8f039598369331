//! The record under way: events in the order of their emission, and the digest over them.

use std::cell::Cell;

use picklock_model::ids::{ConnId, EventId, GrantId, HostId};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Digest, DigestTaker, Event, What};

thread_local! {
    /// How many events the longest of the latest runs on this thread had: the next one has seldom more, and room that
    /// stays empty costs nothing.
    static LONGEST: Cell<usize> = const { Cell::new(0) };
}

/// Room for more events than this is not made in advance.
const IN_ADVANCE: usize = 1 << 16;

#[derive(Default)]
pub(crate) struct Log {
    events: Vec<Event>,
    /// True if an event was recorded that is earlier than one before it.
    unsorted: bool,
    digest: DigestTaker,
    /// A served world has no end: its events are passed on, not kept.
    sink: Option<(u32, EventSink)>,
}

/// The receiver of each event of a served world.
pub(crate) type EventSink = Box<dyn FnMut(&Event) + Send>;

impl Log {
    pub(super) fn new() -> Log {
        let room = LONGEST.get().min(IN_ADVANCE);
        Log { events: Vec::with_capacity(room), ..Log::default() }
    }

    pub(super) fn to_sink(sink: EventSink) -> Log {
        Log { sink: Some((0, sink)), ..Log::default() }
    }

    pub(super) fn push(
        &mut self,
        at: TrueTime,
        host: HostId,
        cause: Option<EventId>,
        conn: Option<ConnId>,
        grant: Option<GrantId>,
        what: What,
    ) -> EventId {
        if let Some((made, sink)) = &mut self.sink {
            // Nothing refers to an event of long ago, so the numbers may begin anew.
            *made = made.wrapping_add(1);
            let id = EventId(*made);
            sink(&Event { at, id, host, cause, conn, grant, what });
            return id;
        }
        let id = EventId(self.events.len() as u32);
        let event = Event { at, id, host, cause, conn, grant, what };
        self.digest.take(&event);
        self.unsorted |= self.events.last().is_some_and(|last| last.at > at);
        self.events.push(event);
        id
    }

    /// The events so far, in the order of their emission.
    pub(super) fn events(&self) -> &[Event] {
        &self.events
    }

    /// The events in true-time order, and their digest. A process with a deferred pause has already recorded what it does
    /// when it resumes, hence the sort.
    pub(crate) fn finish(mut self) -> (Vec<Event>, Digest) {
        if self.unsorted {
            self.events.sort_by_key(|event| (event.at, event.id));
        }
        if self.sink.is_none() {
            LONGEST.set(self.events.len().max(LONGEST.get() / 256 * 255));
        }
        (self.events, self.digest.digest())
    }
}
