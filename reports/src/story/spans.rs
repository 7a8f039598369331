//! The states of each client, as spans of a trace: waiting, believing that it holds, not running.
//!
//! Spans are given by positions in the list of events and not by times, since many events share an instant. The rules
//! of belief are those of the vocabulary: it begins when the client's own code has seen the grant and ends with its
//! release call, with its crash, or, where the design's holders look at deadlines, with the deadline.

use std::collections::BTreeMap;

use picklock_model::ids::{GrantId, HostId};
use picklock_model::time::TrueTime;
use picklock_model::trace::Belief;
use picklock_model::trace::{Event, Halt, Trace, What};

/// One span in the life of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    /// The client.
    pub(crate) client: HostId,
    /// The state of the client.
    pub(crate) state: State,
    /// The grant that it serves; none for a halt.
    pub(crate) grant: Option<GrantId>,
    /// The position of the event that begins it.
    pub(crate) first: usize,
    /// The position of the event that ends it; `None` if the run ends before.
    pub(crate) last: Option<usize>,
}

/// A state of a client.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum State {
    /// It asks for the lock.
    Waiting,
    /// It believes that it holds the lock.
    Believing,
    /// Its process, or its critical section, stands still.
    Halted,
}

impl Span {
    /// True if the event at this position is shown within the span, its ends included.
    pub(crate) fn covers(&self, position: usize, deferred: &BTreeMap<usize, usize>) -> bool {
        let place = |position| place(deferred, position);
        place(self.first) <= place(position) && self.last.is_none_or(|last| place(position) <= place(last))
    }

    /// When it ends.
    pub(crate) fn end(&self, trace: &Trace) -> TrueTime {
        self.last.and_then(|last| trace.events.get(last)).map_or(trace.end, |event| event.at)
    }
}

/// All spans of a trace in the order of their beginnings.
pub(crate) fn of(trace: &Trace) -> Vec<Span> {
    let mut spans = Vec::new();
    for (position, event) in trace.events.iter().enumerate() {
        for state in [State::Waiting, State::Believing, State::Halted] {
            if ends(state, event, trace.belief) {
                close(&mut spans, event, state, position);
            }
        }
        let state = match event.what {
            What::Waiting { .. } => State::Waiting,
            What::Acquired { .. } => State::Believing,
            What::Paused { .. } => State::Halted,
            _ => continue,
        };
        let last = dead_on_arrival(event, trace.belief).then_some(position);
        spans.push(Span { client: event.host, state, grant: event.grant, first: position, last });
    }
    spans
}

/// Events that are shown later than they stand in the trace, by positions, each with that of the event after which it is shown:
/// the acts of a halted process in the very instant in which it runs again, since the step in which it was halted goes on; and
/// the stall of a section that continues its step, and stands still when it next waits.
pub(crate) fn deferred(trace: &Trace, spans: &[Span]) -> BTreeMap<usize, usize> {
    let mut deferred = BTreeMap::new();
    for span in spans.iter().filter(|span| span.state == State::Halted) {
        let Some(last) = span.last else { continue };
        let resumed = &trace.events[last];
        let goes_on = |at: &usize| {
            let event = &trace.events[*at];
            event.host == span.client && event.at == resumed.at && !matches!(event.what, What::Paused { .. })
        };
        if resumed.what == What::Resumed {
            deferred.extend((span.first + 1..last).filter(goes_on).map(|at| (at, last)));
        }
        let stalled = &trace.events[span.first];
        if matches!(stalled.what, What::Paused { kind: Halt::Stall, .. }) {
            let rest = trace.events[span.first..].iter().take_while(|event| event.at == stalled.at);
            let own = rest.enumerate().filter(|(_, event)| event.host == span.client);
            let goes_on = own.map(|(nth, _)| span.first + nth).last().filter(|at| *at > span.first);
            deferred.extend(goes_on.map(|at| (span.first, at)));
        }
    }
    deferred
}

/// The place at which an event is shown: the acts of a process as it runs again come after that.
pub(crate) fn place(deferred: &BTreeMap<usize, usize>, position: usize) -> (usize, usize) {
    deferred.get(&position).map_or((position, 0), |resumed| (*resumed, position + 1))
}

/// The span in which the holder of a grant believed in it, if it ever did.
pub(crate) fn belief(spans: &[Span], grant: GrantId) -> Option<&Span> {
    spans.iter().find(|span| span.state == State::Believing && span.grant == Some(grant))
}

fn close(spans: &mut [Span], event: &Event, state: State, position: usize) {
    let open = spans
        .iter_mut()
        .rev()
        .find(|span| span.client == event.host && span.state == state && span.last.is_none());
    if let Some(span) = open {
        span.last = Some(position);
    }
}

fn ends(state: State, event: &Event, belief: Belief) -> bool {
    match (&event.what, state) {
        (What::Crashed { .. }, _)
        | (What::Acquired { .. } | What::NotAcquired { .. }, State::Waiting)
        | (What::Releasing { .. } | What::Aborted { .. }, State::Believing)
        | (What::Resumed, State::Halted) => true,
        (What::DeadlinePassed { .. }, State::Believing) => looks_at_deadlines(belief),
        _ => false,
    }
}

/// True for a grant whose deadline had passed when the client saw it: its belief is empty.
fn dead_on_arrival(event: &Event, belief: Belief) -> bool {
    match event.what {
        What::Acquired { deadline: Some(deadline), .. } => looks_at_deadlines(belief) && deadline <= event.at,
        _ => false,
    }
}

fn looks_at_deadlines(belief: Belief) -> bool {
    matches!(belief, Belief::Trusting | Belief::Honest)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use picklock_model::ids::{EventId, Key};
    use picklock_model::trace::{Digest, HostInfo, Role};

    use super::*;

    fn trace(belief: Belief, whats: Vec<What>) -> Trace {
        let grant = Some(GrantId::new(HostId(0), 1));
        let event = |(id, what): (usize, What)| Event {
            at: TrueTime(id as u64 * 10),
            id: EventId(id as u32),
            host: HostId(0),
            cause: None,
            conn: None,
            grant,
            what,
        };
        Trace {
            hosts: vec![HostInfo::new("client-1", Role::Client)],
            belief,
            exclusion: picklock_model::trace::Exclusion::Mutual,
            reentrant: false,
            takes_up: false,
            sessions: false,
            quorum: 1,
            ttl: Duration::from_secs(1),
            progress_bound: Duration::from_secs(1),
            survives: picklock_model::trace::Conditions::NONE,
            detour: Duration::ZERO,
            silent_client: Duration::ZERO,
            silent_store: Duration::ZERO,
            end: TrueTime(1_000),
            faults: Vec::new(),
            events: whats.into_iter().enumerate().map(event).collect(),
            digest: Digest::default(),
            final_client: None,
            hits: Vec::new(),
            outages: Vec::new(),
            attempts: std::collections::BTreeMap::new(),
        }
    }

    fn life(deadline: Option<TrueTime>) -> Vec<What> {
        let key = || Key::new("stock");
        vec![
            What::Waiting { key: key(), shared: false },
            What::Acquired { key: key(), owner: "a".into(), token: None, deadline },
            What::DeadlinePassed { key: key() },
            What::Releasing { key: key() },
        ]
    }

    #[test]
    fn a_naive_holder_believes_past_its_deadline_and_an_honest_one_does_not() {
        let grant = GrantId::new(HostId(0), 1);
        let naive = trace(Belief::Naive, life(None));
        assert_eq!(belief(&of(&naive), grant).unwrap().end(&naive), TrueTime(30));
        let honest = trace(Belief::Honest, life(None));
        assert_eq!(belief(&of(&honest), grant).unwrap().end(&honest), TrueTime(20));
    }

    #[test]
    fn a_grant_that_is_seen_after_its_deadline_makes_an_empty_belief() {
        let honest = trace(Belief::Honest, life(Some(TrueTime(5))));
        let spans = of(&honest);
        assert_eq!(spans[1], Span { last: Some(1), first: 1, state: State::Believing, ..spans[1] });
    }

    #[test]
    fn a_belief_that_nothing_ends_lasts_to_the_end_of_the_run_and_a_crash_ends_it() {
        let grant = GrantId::new(HostId(0), 1);
        let open = trace(Belief::Naive, life(None).into_iter().take(2).collect());
        assert_eq!(belief(&of(&open), grant).unwrap().end(&open), TrueTime(1_000));
        let mut whats: Vec<What> = life(None).into_iter().take(2).collect();
        whats.push(What::Crashed { power_loss: false });
        let crashed = trace(Belief::Naive, whats);
        assert_eq!(belief(&of(&crashed), grant).unwrap().end(&crashed), TrueTime(20));
    }
}
