//! The bounds of the invariant progress: how soon a waiter must get the lock, and what a design claims to survive.

use std::time::Duration;

use picklock_model::plan::{Plan, Settings};
use picklock_model::trace::{Belief, Condition, Conditions};

use crate::contract::design::Design;
use crate::world::Terms;

/// The bounds of one run.
#[derive(Clone, Copy)]
pub(super) struct Bound {
    /// By then somebody who waits must have the lock, once nothing is broken.
    pub(super) progress: Duration,
    /// The time that stores that do not answer add to it.
    pub(super) detour: Duration,
    /// The time that a store may take to notice that a client is gone without a word.
    pub(super) silent_client: Duration,
    /// The time that a client may take to notice that a store is gone without a word.
    pub(super) silent_store: Duration,
    /// The conditions that the design claims to survive.
    pub(super) survives: Conditions,
    /// For how long the run may go on past its horizon.
    decide: Duration,
}

impl Bound {
    /// The bounds of a plan for stores that run with these settings.
    pub(super) fn of(design: &Design, plan: &Plan, settings: &Settings) -> Bound {
        Bound {
            progress: progress(design, plan, settings),
            detour: detour(design, plan),
            silent_client: silent_client(design, settings),
            silent_store: plan.world.ttl * design.answer_leases,
            survives: survives(design),
            decide: plan.world.decide,
        }
    }

    /// For how long the fresh client at the end asks for each key: longer than the bound, so that one that is not met shows. A silent
    /// session counts for that if the run may go on for as long.
    pub(super) fn asking(self) -> Duration {
        let bound = self.progress + self.detour;
        let noticed = self.silent_client + bound;
        let bound = if noticed <= self.decide { noticed } else { bound };
        bound + bound / 5
    }

    /// The terms by which the end of a run depends on them.
    pub(super) fn terms(self) -> Terms {
        Terms {
            survives: self.survives,
            bound: self.progress + self.detour,
            silent_client: self.silent_client,
            silent_store: self.silent_store,
            decide: self.decide,
        }
    }
}

/// `TTL + retry + failover + delay` of the invariant progress: the leases that must run out, the time that the stores may take to
/// recover (until they are whole again, if the design needs a replica), and a second for connecting, retrying and the slowest
/// messages. Without a lock a turn is a change that was made, and work comes before it: twice, because what was under way
/// when somebody else made a change is done again.
fn progress(design: &Design, plan: &Plan, settings: &Settings) -> Duration {
    let recovery = design.store.as_ref().map_or(Duration::ZERO, |store| {
        store.spec.recovery_time(design.topology, settings, design.needs_replicas)
    });
    let work = if design.belief == Belief::None { 2 * longest_work(plan) } else { Duration::ZERO };
    plan.world.ttl * design.leases_to_recover + recovery + work + Duration::from_secs(1)
}

/// The conditions that the design claims to survive, and that it gets on after a failover where it needs no replica for that: see
/// [`progress`].
fn survives(design: &Design) -> Conditions {
    match design.topology.replicated && !design.needs_replicas {
        true => design.survives.and(Condition::PrimaryDown),
        false => design.survives,
    }
}

/// The time that a store keeps the connection of a client that is silent, and with it what the client holds.
fn silent_client(design: &Design, settings: &Settings) -> Duration {
    let store = design.store.as_ref().filter(|_| design.held_by_connection);
    store.map_or(Duration::ZERO, |store| store.spec.silent_client(settings))
}

/// The time that stores that do not answer add to it, for a design on several: a request to each of them and its release take a
/// twentieth of the lease, which is what is small against it in Redlock's own words, and four attempts may be needed until no
/// two waiters take votes from each other. A client that waits for longer does not do what it claims.
fn detour(design: &Design, plan: &Plan) -> Duration {
    let few = design.topology.minority();
    let request = (plan.world.ttl / 20).max(Duration::from_millis(10));
    if design.survives.has(Condition::MinorityDown) { few * ATTEMPTS * 2 * request } else { Duration::ZERO }
}

/// See [`detour`].
const ATTEMPTS: u32 = 4;

fn longest_work(plan: &Plan) -> Duration {
    let sections = plan.clients.iter().flat_map(|client| &client.sections);
    sections.map(|section| section.work).max().unwrap_or_default()
}
