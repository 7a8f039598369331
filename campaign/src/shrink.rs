//! Makes a violating plan small: what is left is what the violation needs.
//!
//! Clients, injections, background sections, sections, and those choices that are stored instead of drawn from the seed are removed, one
//! kind after another, as long as the same invariant stays violated; then durations are rounded. Once a candidate violates the invariant
//! under most other networks too, each later candidate must do so: a counterexample that depends on the latency of one message convinces
//! nobody and seldom shows on another engine.
//!
//! Shrinking is greedy, in a fixed order and without randomness: the same plan always shrinks to the same plan. Each pass begins anew and
//! proposes some candidates again; a candidate that was refused is remembered and not run again.

use std::time::Duration;

use picklock_model::plan::{Plan, When};
use picklock_model::seed::Seed;
use picklock_model::time::nanos;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use crate::check;
use crate::patience::Patience;
use picklock_judge::invariants::{self, Invariant};

/// Other networks under which a candidate is tried.
const NETWORKS: u64 = 4;
/// Of these, how many must show the violation for a plan to be called robust.
const ENOUGH: u64 = 3;
/// Candidates tried at most; a plan of the built-in suite needs a third of them.
const TRIES_MAX: u32 = 400;

/// When reducing ends, though there may be more to take away.
#[derive(Debug)]
pub struct Limit<'a> {
    /// After so many candidates.
    pub tries: u32,
    /// When this is over.
    pub patience: &'a Patience,
}

impl<'a> Limit<'a> {
    /// As many candidates as ever are tried, within this time.
    #[must_use]
    pub fn of(patience: &'a Patience) -> Limit<'a> {
        Limit { tries: TRIES_MAX, patience }
    }
}

/// A plan that was reduced.
pub struct Reduced {
    /// It violates the invariant.
    pub plan: Plan,
    /// After how many candidates the time was over, if it was: so many tried again give the same plan.
    pub cut_short: Option<u32>,
}

/// The smallest plan found that violates the invariant; the plan itself if nothing can be taken away.
#[must_use]
pub fn shrink(engine: Engine, design: &Design, plan: &Plan, invariant: &str) -> Plan {
    shrink_within(engine, design, plan, invariant, &Limit::of(&Patience::default())).plan
}

/// The same, found within a limit.
#[must_use]
pub fn shrink_within(
    engine: Engine,
    design: &Design,
    plan: &Plan,
    invariant: &str,
    limit: &Limit<'_>,
) -> Reduced {
    let Some(invariant) = invariants::find(invariant) else {
        return Reduced { plan: plan.clone(), cut_short: None };
    };
    let mut search = Search {
        engine,
        design,
        invariant,
        limit,
        robust: false,
        tries: 0,
        cut_short: false,
        refused: Vec::new(),
    };
    let plan = search.smallest(plan);
    Reduced { plan, cut_short: search.cut_short.then_some(search.tries) }
}

/// A plan on another network: the k-th of the networks that a confirmation tries.
#[must_use]
pub fn on_network(plan: &Plan, k: u64) -> Plan {
    Plan { network_seed: Seed(plan.seed.at([0x6e65_7477, k, 0, 0])), ..plan.clone() }
}

struct Search<'a> {
    engine: Engine,
    design: &'a Design,
    invariant: &'static Invariant,
    limit: &'a Limit<'a>,
    /// True if the best plan so far violates the invariant under most networks: so must the plan that replaces it.
    robust: bool,
    tries: u32,
    /// True if the time was over before there was nothing left to try.
    cut_short: bool,
    /// The candidates that were not taken. None would be later: more is demanded as the search goes on, never less.
    refused: Vec<Plan>,
}

impl Search<'_> {
    fn smallest(&mut self, plan: &Plan) -> Plan {
        match self.is_robust(plan) {
            Some(robust) => self.robust = robust,
            None => return plan.clone(),
        }
        let mut best = plan.clone();
        loop {
            let before = best.clone();
            self.drop_clients(&mut best);
            self.drop_injections(&mut best);
            self.drop_background(&mut best);
            self.drop_sections(&mut best);
            self.drop_choices(&mut best);
            if best == before || self.is_over() {
                break;
            }
        }
        self.round_durations(&mut best);
        best
    }

    fn is_over(&mut self) -> bool {
        if self.tries >= self.limit.tries.min(TRIES_MAX) {
            return true;
        }
        self.cut_short = self.cut_short || self.limit.patience.is_over();
        self.cut_short
    }

    fn drop_injections(&mut self, best: &mut Plan) {
        for at in (0..best.injections.len()).rev() {
            // With it go those that are tied to it: there may be none at this place any more.
            if at < best.injections.len() {
                let smaller = best.without_injection(at);
                self.keep_if_violated(best, smaller);
            }
        }
    }

    fn drop_clients(&mut self, best: &mut Plan) {
        for at in (0..best.clients.len()).rev() {
            let mut smaller = best.clone();
            smaller.clients.remove(at);
            self.keep_if_violated(best, smaller);
        }
    }

    /// All background sections at once, then those of each client, then one by one: most violations need none.
    fn drop_background(&mut self, best: &mut Plan) {
        let mut without = best.clone();
        without.clients.iter_mut().for_each(|client| client.background.clear());
        self.keep_if_violated(best, without);
        for client in 0..best.clients.len() {
            let mut without = best.clone();
            without.clients[client].background.clear();
            self.keep_if_violated(best, without);
            for at in (0..best.clients[client].background.len()).rev() {
                let mut smaller = best.clone();
                smaller.clients[client].background.remove(at);
                self.keep_if_violated(best, smaller);
            }
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

    /// All choices at once, then halves of them, quarters and so on down to one by one: of many, most violations need few.
    fn drop_choices(&mut self, best: &mut Plan) {
        let mut width = best.choices.len();
        while width > 0 {
            let mut end = best.choices.len();
            while end > 0 {
                let start = end.saturating_sub(width);
                let mut smaller = best.clone();
                smaller.choices.drain(start..end);
                self.keep_if_violated(best, smaller);
                end = start;
            }
            width /= 2;
        }
    }

    /// Rounds one duration at a time, so that one that must stay exact does not keep the others from being rounded. The
    /// roundest value that keeps the violation wins.
    fn round_durations(&mut self, best: &mut Plan) {
        for nth in 0..durations(&mut best.clone()).len() {
            for candidate in 0..ROUNDINGS {
                let before = best.clone();
                let mut rounder = best.clone();
                if let Some(span) = durations(&mut rounder).into_iter().nth(nth) {
                    span.round(candidate);
                }
                self.keep_if_violated(best, rounder);
                if *best != before {
                    break;
                }
            }
        }
    }

    fn keep_if_violated(&mut self, best: &mut Plan, candidate: Plan) {
        if candidate == *best || self.is_over() {
            return;
        }
        if self.refused.contains(&candidate) {
            self.tries += 1;
            return;
        }
        // A candidate that the time did not suffice for is not counted: the counted ones tried again give the same plan.
        let Some(robust) = self.shown_and_robust(&candidate) else { return };
        self.tries += 1;
        match robust {
            Some(robust) if robust || !self.robust => {
                *best = candidate;
                self.robust = robust;
            }
            _ => self.refused.push(candidate),
        }
    }

    /// Whether a candidate that shows the violation does so under most networks; `Some(None)` if it does not show it, `None` if
    /// the time was over.
    #[expect(clippy::option_option, reason = "the two absences are different answers")]
    fn shown_and_robust(&mut self, candidate: &Plan) -> Option<Option<bool>> {
        match self.shows(candidate)? {
            true => self.is_robust(candidate).map(Some),
            false => Some(None),
        }
    }

    /// Whether the violation is seen under most networks; `None` if the time was over.
    fn is_robust(&mut self, plan: &Plan) -> Option<bool> {
        let (mut shown, mut missed) = (0, 0);
        for k in 0..NETWORKS {
            if missed > NETWORKS - ENOUGH {
                return Some(false);
            }
            match self.shows(&on_network(plan, k))? {
                true => shown += 1,
                false => missed += 1,
            }
            if shown >= ENOUGH {
                return Some(true);
            }
        }
        Some(false)
    }

    /// Whether a run of the plan shows the violation; `None` if the time was over.
    fn shows(&mut self, plan: &Plan) -> Option<bool> {
        let run = || check::shows(self.engine, self.design, plan, self.invariant).unwrap_or(false);
        let shown = self.limit.patience.run(run);
        self.cut_short = self.cut_short || shown.is_none();
        shown
    }
}

/// A duration that a reader of the plan sees.
enum Span<'a> {
    /// A wait before a section: the shorter the plainer, and far from its neighbours', so that no latency can change
    /// who asks first.
    Think(&'a mut Duration),
    /// Anything else: rounded up, because rounding down could lose what it just reaches.
    Other(&'a mut Duration),
}

/// How many roundings of a duration are tried at most, from the roundest on.
const ROUNDINGS: usize = 4;

impl Span<'_> {
    fn round(self, candidate: usize) {
        match self {
            Span::Think(span) => {
                let ns = nanos(*span);
                let ways = [0, down(ns, 1), up(ns, 1), up(ns, 2)];
                *span = Duration::from_nanos(ways[candidate.min(ways.len() - 1)]);
            }
            Span::Other(span) => *span = Duration::from_nanos(up(nanos(*span), 1 + candidate.min(1) as u32)),
        }
    }
}

/// The durations of actions and of sections.
fn durations<'a>(plan: &'a mut Plan) -> Vec<Span<'a>> {
    let mut found = Vec::new();
    for injection in &mut plan.injections {
        if let When::Point { after, .. } | When::With { after, .. } = &mut injection.when {
            found.push(Span::Other(after));
        }
        found.extend(injection.action.span_mut().map(Span::Other));
    }
    for client in &mut plan.clients {
        for section in &mut client.sections {
            found.push(Span::Think(&mut section.think));
            found.push(Span::Other(&mut section.work));
        }
        for section in &mut client.background {
            found.push(Span::Other(&mut section.think));
            found.push(Span::Other(&mut section.work));
        }
    }
    found
}

/// To so many significant decimal digits, upwards.
fn up(ns: u64, digits: u32) -> u64 {
    let unit = unit(ns, digits);
    ns.div_ceil(unit).saturating_mul(unit)
}

/// To so many significant decimal digits, downwards.
fn down(ns: u64, digits: u32) -> u64 {
    let unit = unit(ns, digits);
    ns / unit * unit
}

fn unit(ns: u64, digits: u32) -> u64 {
    10_u64.pow((ns.max(1).ilog10() + 1).saturating_sub(digits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_rounded_to_significant_digits() {
        assert_eq!(
            [0, 7, 99, 101, 1_234_567, 1_200_000].map(|ns| up(ns, 2)),
            [0, 7, 99, 110, 1_300_000, 1_200_000]
        );
        assert_eq!(
            [0, 7, 99, 1_234_567].map(|ns| (down(ns, 1), up(ns, 1))),
            [(0, 0), (7, 7), (90, 100), (1_000_000, 2_000_000)]
        );
    }
}
