//! The runs that a campaign makes twice, from the seed on: if the second is another run, nothing of the design can be replayed.

use crate::check::Checked;

/// Of so many seeds the runs of one are made twice.
const SAMPLE: u64 = 64;

/// So many seeds at the start of a campaign have their runs made twice, where that is asked for.
const FIRST: u64 = 4;

/// Which runs are made twice, to see that they are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Repeated {
    /// Those of one seed in 64: enough for designs that are known to be deterministic.
    #[default]
    Sample,
    /// These, those of the first four seeds, and each run that violates something: for a lock that nobody has tested yet.
    Violations,
}

impl Repeated {
    /// True if this run is made twice, in a campaign whose seeds begin here.
    pub(crate) fn has(self, run: &Checked, first_seed: u64) -> bool {
        let seed = run.plan.seed.0;
        seed.is_multiple_of(SAMPLE)
            || self == Repeated::Violations
                && (seed - first_seed < FIRST || run.violations().next().is_some())
    }
}
