//! The decision about free locks at the horizon: the run goes on, without further faults and sections, until each free lock with a
//! waiter is granted, or has been free for longer than the bound of progress.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::ids::{HostId, Key};
use picklock_model::time::TrueTime;
use picklock_model::trace::{Event, Extent, HostInfo, Role, What};

use crate::world::state::State;

/// The waiters and the holders of a key.
#[derive(Default)]
struct Contest {
    waiting: Vec<HostId>,
    holding: Vec<HostId>,
    /// The time since when a client has waited while no client held the key.
    free: Option<TrueTime>,
}

impl Contest {
    fn settle(&mut self, now: TrueTime) {
        let is_free = !self.waiting.is_empty() && self.holding.is_empty();
        self.free = is_free.then(|| self.free.unwrap_or(now));
    }
}

/// The free keys that a client waits for, each with the time since when.
fn free_keys<'e>(events: impl Iterator<Item = &'e Event>) -> BTreeMap<&'e Key, TrueTime> {
    let mut contests: BTreeMap<&Key, Contest> = BTreeMap::new();
    for Event { at, host, what, .. } in events {
        let (key, waits, holds) = match what {
            What::Waiting { key, .. } => (key, true, false),
            What::Acquired { key, .. } => (key, false, true),
            What::NotAcquired { key, .. }
            | What::WriteAcknowledged { key }
            | What::WriteRefused { key }
            | What::WriteUnknown { key } => {
                let contest = contests.entry(key).or_default();
                if leave(&mut contest.waiting, *host) {
                    // Without a lock, a change that was made is a turn.
                    contest.free = contest.free.filter(|_| matches!(what, What::NotAcquired { .. }));
                    contest.settle(*at);
                }
                continue;
            }
            What::Aborted { key } | What::Releasing { key } | What::Released { key, .. } => {
                (key, false, false)
            }
            What::Crashed { .. } => {
                for contest in contests.values_mut() {
                    while leave(&mut contest.waiting, *host) || leave(&mut contest.holding, *host) {}
                    contest.settle(*at);
                }
                continue;
            }
            _ => continue,
        };
        let contest = contests.entry(key).or_default();
        if waits {
            contest.waiting.push(*host);
        } else if holds {
            leave(&mut contest.waiting, *host);
            contest.holding.push(*host);
        } else {
            leave(&mut contest.holding, *host);
        }
        contest.settle(*at);
    }
    contests.into_iter().filter_map(|(key, contest)| Some((key, contest.free?))).collect()
}

/// Removes one section of this host; false if there is none.
fn leave(hosts: &mut Vec<HostId>, host: HostId) -> bool {
    let at = hosts.iter().position(|other| *other == host);
    at.map(|at| hosts.swap_remove(at)).is_some()
}

impl State {
    /// Goes on past the horizon, if that may decide something. The time that is left of the span is used up once.
    pub(in crate::world) fn goes_on(&mut self, hosts: &[HostInfo]) -> bool {
        let terms = self.ending.terms;
        let is_judged = Extent::of(hosts, &self.broken()).may_be_survived(terms.survives);
        let last = *self.ending.last.get_or_insert(self.now + terms.decide);
        if !is_judged || self.ending.without_it || self.now >= last {
            return false;
        }
        let now = self.now;
        let past = self.log.events().iter().filter(|event| event.at <= now);
        let free = free_keys(past.clone());
        let disturbed = self.last_disturbance();
        // Waits of different sections are one if they are close to each other: by a tenth of the bound.
        let bound = terms.bound + terms.bound / 10;
        let decided = |since: TrueTime| since.max(disturbed) + bound + MILLISECOND;
        let Some(decided) = free.values().map(|since| decided(*since)).max() else { return false };
        // A session that is silent may be in the way until its server notices.
        let span = |event: &Event| match hosts[usize::from(event.host.0)].role {
            Role::Client => terms.silent_client,
            _ => terms.silent_store,
        };
        let silent = past.filter(|event| is_silence(&event.what) && !span(event).is_zero());
        let noticed = silent.map(|event| event.at + span(event) + bound).max();
        if noticed.is_some_and(|at| at > last) {
            return false;
        }
        let until = noticed.map_or(decided, |at| at.max(decided)).min(last);
        if until <= now {
            return false;
        }
        self.ending.free = Some(free.into_keys().cloned().collect());
        self.ending.horizon = until;
        true
    }

    /// The last time at which a fault hit, or ended.
    fn last_disturbance(&self) -> TrueTime {
        let edges = self.outages.iter().flat_map(|outage| [Some(outage.from), outage.until]).flatten();
        let times = edges.chain(self.hits.values().copied());
        times.filter(|at| *at <= self.now).max().unwrap_or(TrueTime(0))
    }

    /// A key was granted, or its change was made: it is not free any more.
    pub(in crate::world) fn note_turn(&mut self, what: &What) {
        let Some(free) = &mut self.ending.free else { return };
        if let What::Acquired { key, .. } | What::WriteAcknowledged { key } | What::WriteRefused { key } =
            what
        {
            free.remove(key);
        }
    }
}

const MILLISECOND: Duration = Duration::from_millis(1);

/// True for what those on the other end of a connection notice late.
fn is_silence(what: &What) -> bool {
    matches!(what, What::Crashed { power_loss: true } | What::ConnectionsForgotten { .. })
}
