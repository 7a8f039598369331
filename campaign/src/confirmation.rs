//! The confirmation of a violation: the same plan several times, with differences that should not matter to it.
//!
//! The latencies of messages differ in each. Real members of a store that elects its leader have none when they start, and then look for what has
//! run out at moments that are counted from their start: clients come a little later to them, in each run at another moment. Simulated members
//! begin with a leader, and at moments that the seed draws.

use picklock_model::plan::Plan;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use crate::check;
use crate::patience::Patience;
use crate::shrink;
use crate::summary::Confirmed;

/// How many runs there are, unless another number is asked for.
pub const NETWORKS: u32 = 16;

/// How many of them a slow run is tried on before anything is reduced.
pub(crate) const FEW: u32 = 3;

/// A run is slow if there is no time for this number of them: reducing it may take as many.
const SLOW: u32 = 400;

/// The plans of its runs.
#[derive(Debug)]
pub struct Confirmation {
    plans: Vec<Plan>,
}

impl Confirmation {
    /// So many networks.
    #[must_use]
    pub fn on_networks(plan: &Plan, many: u32) -> Confirmation {
        Confirmation { plans: (0..u64::from(many)).map(|k| shrink::on_network(plan, k)).collect() }
    }

    /// So many networks, and as many moments after the start of the members, if it matters to them.
    #[must_use]
    pub fn after_start(design: &Design, plan: &Plan, many: u32) -> Confirmation {
        let mut these = Confirmation::on_networks(plan, many);
        let Some(start) = design.store.as_ref().map(|store| store.spec.start_up()) else { return these };
        let step = start.end.saturating_sub(start.start) / many.max(1);
        for (k, plan) in (0..many).zip(&mut these.plans) {
            plan.come_later(start.start + step * k);
        }
        these
    }

    /// In how many of them each of the violations is seen, as far as there is time; `None` if there is none for the first.
    pub(crate) fn count(
        self,
        engine: Engine,
        design: &Design,
        invariants: &[String],
        patience: &Patience,
    ) -> Option<Vec<Confirmed>> {
        let mut counts = None;
        for plan in self.plans {
            let Some(run) = patience.run(|| check::check(engine, design, plan)) else { break };
            let counts = counts.get_or_insert_with(|| vec![Confirmed::default(); invariants.len()]);
            counts.iter_mut().for_each(|count| count.of += 1);
            // A run that fails on the other engine shows nothing, and is counted as such.
            let Ok(run) = run else { continue };
            for (count, invariant) in counts.iter_mut().zip(invariants) {
                count.seen += u32::from(run.violates(invariant));
            }
        }
        counts
    }

    /// The same on a few networks for a slow run; `None` for a fast one, which is confirmed once it is reduced.
    pub(crate) fn count_of_slow(
        plan: &Plan,
        engine: Engine,
        design: &Design,
        invariants: &[String],
        patience: &Patience,
    ) -> Option<Vec<Confirmed>> {
        let count = |plans| Confirmation { plans }.count(engine, design, invariants, patience);
        let mut plans = Confirmation::on_networks(plan, FEW).plans;
        let rest = plans.split_off(1);
        let first = count(plans)?;
        if patience.affords(SLOW) {
            return None;
        }
        let Some(rest) = count(rest) else { return Some(first) };
        let sum = |(one, other): (&Confirmed, &Confirmed)| Confirmed {
            seen: one.seen + other.seen,
            of: one.of + other.of,
        };
        Some(first.iter().zip(&rest).map(sum).collect())
    }

    /// In how many of them each of the violations is seen.
    #[must_use]
    pub fn seen(self, design: &Design, invariants: &[String]) -> Vec<Confirmed> {
        self.count(Engine::Event, design, invariants, &Patience::default()).unwrap_or_default()
    }
}
