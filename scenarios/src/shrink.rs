//! Makes a violating plan small: what is left is what the violation needs.
//!
//! Levers, clients and sections are taken away, one kind after another, as long as the same invariant stays violated;
//! then durations are rounded. A plan that is violated under most other networks too is kept so: a counterexample that
//! hangs on one message's latency convinces nobody and seldom shows on another engine.
//!
//! Shrinking is greedy, in a fixed order and without randomness: the same plan always shrinks to the same plan.

use std::time::Duration;

use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::plan::{Lever, Plan, When};
use picklock_sim::seed::Seed;
use picklock_sim::time::nanos;

use crate::check;

/// Other networks under which a candidate is tried.
const NETWORKS: u64 = 4;
/// Of these, how many must show the violation for a plan to be called robust.
const ENOUGH: usize = 3;
/// Candidates tried at most; a plan of the built-in suite needs a third of them.
const TRIES_MAX: u32 = 400;

/// The smallest plan found that violates the invariant; the plan itself if nothing can be taken away.
#[must_use]
pub fn shrink(engine: Engine, design: &Design, plan: &Plan, invariant: &str) -> Plan {
    let mut search = Search { engine, design, invariant, robust: false, tries: 0 };
    search.robust = search.is_robust(plan);
    let mut best = plan.clone();
    loop {
        let before = best.clone();
        search.drop_injections(&mut best);
        search.drop_clients(&mut best);
        search.drop_sections(&mut best);
        if best == before || search.tries >= TRIES_MAX {
            break;
        }
    }
    search.round_durations(&mut best);
    best
}

/// A plan on another network: the k-th of the networks that a confirmation tries.
#[must_use]
pub fn on_network(plan: &Plan, k: u64) -> Plan {
    Plan { network_seed: Seed(plan.seed.at([0x6e65_7477, k, 0, 0])), ..plan.clone() }
}

struct Search<'a> {
    engine: Engine,
    design: &'a Design,
    invariant: &'a str,
    /// True if the plan to shrink was violated under most networks: so must be the shrunk one.
    robust: bool,
    tries: u32,
}

impl Search<'_> {
    fn drop_injections(&mut self, best: &mut Plan) {
        for at in (0..best.injections.len()).rev() {
            let mut smaller = best.clone();
            smaller.injections.remove(at);
            self.keep_if_violated(best, smaller);
        }
    }

    fn drop_clients(&mut self, best: &mut Plan) {
        for at in (0..best.clients.len()).rev() {
            let mut smaller = best.clone();
            smaller.clients.remove(at);
            self.keep_if_violated(best, smaller);
        }
    }

    fn drop_sections(&mut self, best: &mut Plan) {
        for client in 0..best.clients.len() {
            for at in (0..best.clients[client].sections.len()).rev() {
                let mut smaller = best.clone();
                smaller.clients[client].sections.remove(at);
                self.keep_if_violated(best, smaller);
            }
        }
    }

    /// Rounds one duration at a time, so that one that must stay exact does not keep the others from being rounded.
    fn round_durations(&mut self, best: &mut Plan) {
        for nth in 0..durations(&mut best.clone()).len() {
            let mut rounder = best.clone();
            if let Some(span) = durations(&mut rounder).into_iter().nth(nth) {
                *span = rounded(*span);
            }
            self.keep_if_violated(best, rounder);
        }
    }

    fn keep_if_violated(&mut self, best: &mut Plan, candidate: Plan) {
        if candidate != *best && self.tries < TRIES_MAX && self.violated(&candidate) {
            *best = candidate;
        }
    }

    fn violated(&mut self, plan: &Plan) -> bool {
        self.tries += 1;
        self.shows(plan) && (!self.robust || self.is_robust(plan))
    }

    fn is_robust(&self, plan: &Plan) -> bool {
        (0..NETWORKS).filter(|k| self.shows(&on_network(plan, *k))).count() >= ENOUGH
    }

    fn shows(&self, plan: &Plan) -> bool {
        check::check(self.engine, self.design, plan.clone()).is_ok_and(|run| run.violates(self.invariant))
    }
}

/// The durations that a reader of the plan sees: of levers, of sections.
fn durations(plan: &mut Plan) -> Vec<&mut Duration> {
    let mut found = Vec::new();
    for injection in &mut plan.injections {
        if let When::Point { after, .. } = &mut injection.when {
            found.push(after);
        }
        match &mut injection.lever {
            Lever::Pause { lasts } | Lever::Suspend { lasts } | Lever::Stall { lasts } => found.push(lasts),
            Lever::Cut { lasts, .. } => found.push(lasts),
            Lever::Delay { by, .. } => found.push(by),
            Lever::Crash { restart_after, .. } => found.extend(restart_after.as_mut()),
            Lever::StepClock { .. }
            | Lever::SetDrift { .. }
            | Lever::DropConnections { .. }
            | Lever::LoseReply { .. } => {}
        }
    }
    for section in plan.clients.iter_mut().flat_map(|client| &mut client.sections) {
        found.push(&mut section.think);
        found.push(&mut section.work);
    }
    found
}

/// To two significant decimal digits, upwards: rounding down could lose what a duration just reaches.
fn rounded(span: Duration) -> Duration {
    let ns = nanos(span);
    let unit = 10_u64.pow(ns.max(1).ilog10().saturating_sub(1));
    Duration::from_nanos(ns.div_ceil(unit).saturating_mul(unit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_rounded_up_to_two_digits() {
        let round = |ns| nanos(rounded(Duration::from_nanos(ns)));
        assert_eq!([0, 7, 99, 101, 1_234_567, 1_200_000].map(round), [0, 7, 99, 110, 1_300_000, 1_200_000]);
    }
}
