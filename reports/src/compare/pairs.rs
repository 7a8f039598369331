//! Pairs of runs of two designs under the same seeds: how often both, one or neither violated an invariant.
//!
//! Only seeds whose runs are conclusive for both count: an inconclusive run has nothing to compare.

use std::collections::BTreeMap;

use crate::matrix::statistics::TwoByTwo;

/// The result of one design under one seed of a scenario.
#[derive(Clone, Debug)]
pub struct Made {
    /// The design's spelling.
    pub design: String,
    /// True if the run is conclusive.
    pub conclusive: bool,
    /// The invariants that it violated.
    pub violated: Vec<&'static str>,
}

/// The counts of all pairs of designs, by scenario.
#[derive(Clone, Debug, Default)]
pub struct Pairs(BTreeMap<Key, Counts>);

/// A scenario and two designs, in the order of their names.
type Key = (String, String, String);

#[derive(Clone, Debug, Default)]
struct Counts {
    seeds: u64,
    /// By invariant, the seeds under which both, only the first and only the second violated it.
    violated: BTreeMap<&'static str, [u64; 3]>,
}

impl Pairs {
    /// Counts what two designs did under one seed.
    pub fn add(&mut self, scenario: &str, one: &Made, other: &Made) {
        if !(one.conclusive && other.conclusive) {
            return;
        }
        let (first, second) = if one.design <= other.design { (one, other) } else { (other, one) };
        let key = (scenario.to_owned(), first.design.clone(), second.design.clone());
        let counts = self.0.entry(key).or_default();
        counts.seeds += 1;
        for invariant in &first.violated {
            let at = if second.violated.contains(invariant) { 0 } else { 1 };
            counts.violated.entry(invariant).or_default()[at] += 1;
        }
        for invariant in second.violated.iter().filter(|name| !first.violated.contains(name)) {
            counts.violated.entry(invariant).or_default()[2] += 1;
        }
    }

    /// The counts for `first` and `second`, in that order; `None` if they share no seed.
    pub(crate) fn of(&self, scenario: &str, invariant: &str, first: &str, second: &str) -> Option<TwoByTwo> {
        let turned = first > second;
        let (one, other) = if turned { (second, first) } else { (first, second) };
        let counts = self.0.get(&(scenario.to_owned(), one.to_owned(), other.to_owned()))?;
        let [both, one, other] = counts.violated.get(invariant).copied().unwrap_or_default();
        let (first, second) = if turned { (other, one) } else { (one, other) };
        Some(TwoByTwo { both, first, second, neither: counts.seeds - both - first - second })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs_are_counted_whichever_comes_first_and_inconclusive_runs_are_left_out() {
        let made = |design: &str, conclusive, violated: &[&'static str]| Made {
            design: design.to_owned(),
            conclusive,
            violated: violated.to_vec(),
        };
        let mut pairs = Pairs::default();
        pairs.add("pause", &made("b", true, &["x", "y"]), &made("a", true, &["x"]));
        pairs.add("pause", &made("a", true, &[]), &made("b", true, &["y"]));
        pairs.add("pause", &made("a", false, &[]), &made("b", true, &["y"]));
        let of = |invariant, first, second| pairs.of("pause", invariant, first, second).unwrap();
        assert_eq!(of("x", "a", "b"), TwoByTwo { both: 1, first: 0, second: 0, neither: 1 });
        assert_eq!(of("y", "a", "b"), TwoByTwo { both: 0, first: 0, second: 2, neither: 0 });
        assert_eq!(of("y", "b", "a"), TwoByTwo { both: 0, first: 2, second: 0, neither: 0 });
        assert_eq!(pairs.of("calm", "x", "a", "b"), None);
    }
}
