//! The trials of a violation: the same plan several times, with differences that should not matter to it.
//!
//! The latencies of messages differ in each. Real members of a store that elects its leader have none when they start, and then look for what has
//! run out at moments that are counted from their start: clients come a little later to them, in each trial at another moment. Simulated members
//! begin with a leader, and at moments that the seed draws.

use picklock_model::plan::Plan;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use crate::check;
use crate::patience::Patience;
use crate::shrink;
use crate::summary::Confirmed;

/// How many trials there are, unless another number is asked for.
pub const NETWORKS: u32 = 16;

/// The plans of the trials.
#[derive(Debug)]
pub struct Trials {
    plans: Vec<Plan>,
}

impl Trials {
    /// So many networks.
    #[must_use]
    pub fn of_networks(plan: &Plan, many: u32) -> Trials {
        Trials { plans: (0..u64::from(many)).map(|k| shrink::on_network(plan, k)).collect() }
    }

    /// So many networks, and as many moments after the start of the members, if it matters to them.
    #[must_use]
    pub fn of_start(design: &Design, plan: &Plan, many: u32) -> Trials {
        let mut trials = Trials::of_networks(plan, many);
        let Some(start) = design.store.as_ref().map(|store| store.spec.start_up()) else { return trials };
        let step = start.end.saturating_sub(start.start) / many.max(1);
        for (k, plan) in (0..many).zip(&mut trials.plans) {
            plan.come_later(start.start + step * k);
        }
        trials
    }

    /// In how many of them each of the violations is seen, as far as there is time; `None` if there is none for the first.
    pub(crate) fn count(
        self,
        engine: Engine,
        design: &Design,
        invariants: &[String],
        patience: &Patience,
    ) -> Option<Vec<Confirmed>> {
        let mut counts = vec![Confirmed::default(); invariants.len()];
        for (k, plan) in self.plans.into_iter().enumerate() {
            if patience.is_over() {
                return (k > 0).then_some(counts);
            }
            counts.iter_mut().for_each(|count| count.of += 1);
            // A run that fails on the other engine shows nothing, and is counted as such.
            let Ok(run) = check::check(engine, design, plan) else { continue };
            for (count, invariant) in counts.iter_mut().zip(invariants) {
                count.seen += u32::from(run.violates(invariant));
            }
        }
        Some(counts)
    }

    /// In how many of them each of the violations is seen.
    #[must_use]
    pub fn seen(self, design: &Design, invariants: &[String]) -> Vec<Confirmed> {
        self.count(Engine::Event, design, invariants, &Patience::default()).unwrap_or_default()
    }
}
