//! Sets the runs of one seed side by side while a campaign goes on, and drops them once every design has made its own, so that
//! memory does not grow with seeds.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use picklock_campaign::campaign::{Campaign, Failed, Judged, Observer, RanOut};
use picklock_reports::compare::{Made, Pairs};

/// Passes everything on, and pairs what is judged.
pub(crate) struct Pairing<'a> {
    next: &'a dyn Observer,
    /// How many designs each scenario says something of.
    designs: BTreeMap<String, usize>,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// By scenario and seed, what designs made of it, while others have yet to.
    open: BTreeMap<(String, u64), Vec<Made>>,
    pairs: Pairs,
}

impl<'a> Pairing<'a> {
    pub(crate) fn new(campaign: &Campaign<'_>, next: &'a dyn Observer) -> Pairing<'a> {
        let designs = campaign.scenarios.iter().map(|scenario| {
            let designs = campaign.designs.iter().filter(|design| scenario.adapt(design).is_ok()).count();
            (scenario.name().to_owned(), designs)
        });
        Pairing { next, designs: designs.collect(), state: Mutex::default() }
    }

    pub(crate) fn pairs(self) -> Pairs {
        self.state.into_inner().unwrap_or_else(PoisonError::into_inner).pairs
    }
}

impl Observer for Pairing<'_> {
    fn ran(&self, runs: u64) {
        self.next.ran(runs);
    }

    fn judged(&self, judged: &Judged<'_>) {
        self.next.judged(judged);
        let made = Made {
            design: judged.design.to_owned(),
            conclusive: judged.run.is_conclusive(),
            violated: judged.run.violations().map(|(invariant, _)| invariant.name).collect(),
        };
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let State { open, pairs } = &mut *state;
        let seed = (judged.scenario.to_owned(), judged.seed.0);
        let others = open.entry(seed.clone()).or_default();
        others.iter().for_each(|other| pairs.add(judged.scenario, &made, other));
        others.push(made);
        if Some(&others.len()) == self.designs.get(judged.scenario) {
            open.remove(&seed);
        }
    }

    fn failed(&self, failed: &Failed<'_>) {
        self.next.failed(failed);
    }

    fn reporting(&self, violations: u64) {
        self.next.reporting(violations);
    }

    fn reported(&self) {
        self.next.reported();
    }

    fn ran_out(&self, left: &RanOut) {
        self.next.ran_out(left);
    }
}
