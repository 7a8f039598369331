//! The test of whether two counts of independent runs differ by more than chance.
//!
//! Fisher's exact test, two-sided, and Holm's correction for many tests at once (Scand. J. Statist. 6, 1979, 65-70), which keeps
//! the chance that any of them is wrong below the level asked for, however they depend on each other.

/// Hits in a number of tries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    pub(super) hits: u64,
    pub(super) tries: u64,
}

impl Count {
    pub(super) fn share(self) -> f64 {
        self.hits as f64 / self.tries.max(1) as f64
    }
}

/// The probability of two counts that differ at least as much as these, if the rate is the same.
pub(super) fn fisher(one: Count, other: Count) -> f64 {
    let hits = one.hits + other.hits;
    let fewest = hits.saturating_sub(other.tries);
    let most = hits.min(one.tries);
    let all = ln_choose(one.tries + other.tries, hits);
    let chance = |k: u64| (ln_choose(one.tries, k) + ln_choose(other.tries, hits - k) - all).exp();
    // Counts that are as likely as those found must not be lost to the last bit of a float.
    let limit = chance(one.hits) * (1.0 + 1e-7);
    (fewest..=most).map(chance).filter(|chance| *chance <= limit).sum::<f64>().min(1.0)
}

/// The natural logarithm of the number of ways to choose `k` of `n`.
fn ln_choose(n: u64, k: u64) -> f64 {
    let ln_factorial = |n: u64| libm::lgamma(n as f64 + 1.0);
    ln_factorial(n) - ln_factorial(k) - ln_factorial(n - k)
}

/// Which of these probabilities are too small for chance, all at once at this level.
pub(super) fn holm(probabilities: &[f64], level: f64) -> Vec<bool> {
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by(|one, other| probabilities[*one].total_cmp(&probabilities[*other]));
    let mut distinct = vec![false; probabilities.len()];
    for (rank, at) in order.into_iter().enumerate() {
        if probabilities[at] > level / (probabilities.len() - rank) as f64 {
            break;
        }
        distinct[at] = true;
    }
    distinct
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn count(hits: u64, tries: u64) -> Count {
        Count { hits, tries }
    }

    #[test]
    fn the_test_is_fishers() {
        // The lady tasting tea: 3 of 4 and 1 of 4, two-sided 34/70. The others by exact fractions.
        for (one, other, expected) in [
            (count(3, 4), count(1, 4), 34.0 / 70.0),
            (count(1, 10), count(11, 14), 0.002_759_456),
            (count(0, 100), count(0, 100), 1.0),
            (count(12, 200), count(40, 200), 4.195_56e-5),
        ] {
            let found = fisher(one, other);
            assert!((found - expected).abs() < 1e-3 * expected, "{one:?} {other:?}: {found}, not {expected}");
        }
    }

    #[test]
    fn holm_stops_at_the_first_that_may_be_chance() {
        assert_eq!(holm(&[0.01, 0.04, 0.03, 0.005], 0.05), [true, false, false, true]);
        assert_eq!(holm(&[0.04], 0.05), [true]);
        assert_eq!(holm(&[], 0.05), Vec::<bool>::new());
    }

    proptest! {
        #[test]
        fn which_count_is_first_makes_no_difference(
            (a, n) in (0..60_u64).prop_flat_map(|n| (0..=n, Just(n))),
            (b, m) in (0..60_u64).prop_flat_map(|n| (0..=n, Just(n))),
        ) {
            let (one, other) = (fisher(count(a, n), count(b, m)), fisher(count(b, m), count(a, n)));
            prop_assert!((one - other).abs() < 1e-9);
            prop_assert!((0.0..=1.0).contains(&one));
        }
    }
}
