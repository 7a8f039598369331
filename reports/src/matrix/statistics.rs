//! The statistics that a report states.
//!
//! Runs are independent draws of a seed, so the count of violating runs is binomial. These are used:
//! - after zero violations in `n` runs, the exact one-sided bound `1 - 0.05^(1/n)` (Clopper and Pearson 1934; for
//!   large `n` the "rule of three", `3/n`);
//! - for a rate, Wilson's score interval (1927) at 95%, which is good for small counts and rates near 0 and 1;
//! - for the difference of two rates under the same seeds, the interval of Newcombe that is built of these two: R. G. Newcombe,
//!   "Improved confidence intervals for the difference between binomial proportions based on paired data", Statistics in
//!   Medicine 17 (1998), 2635-2650, method 10.
//!
//! Floating point appears here and nowhere upstream: no verdict depends on it.

use crate::page::numbers::{percent_up, plural};

/// The two-sided 95% quantile of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The rate below which a violation lies at 95% confidence if none was found in `runs`; `None` without runs.
pub(crate) fn clean_bound(runs: u64) -> Option<f64> {
    // `exp_m1` keeps the digits that `1 - exp` would cancel when the bound is small.
    (runs > 0).then(|| -(0.05_f64.ln() / runs as f64).exp_m1())
}

/// "0 in 200 runs, below 1.5% at 95%": what zero violations amount to, and never "safe".
pub(crate) fn clean(runs: u64) -> String {
    match clean_bound(runs) {
        Some(bound) => format!("0 in {runs} {}, below {} at 95%", plural(runs, "run"), percent_up(bound)),
        None => "no run was conclusive".to_owned(),
    }
}

/// Wilson's score interval at 95% for `hits` in so many `runs`; `None` without runs.
pub(crate) fn wilson(hits: u64, runs: u64) -> Option<(f64, f64)> {
    if runs == 0 {
        return None;
    }
    let (n, p) = (runs as f64, hits.min(runs) as f64 / runs as f64);
    let centre = p + Z * Z / (2.0 * n);
    let spread = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let scale = 1.0 + Z * Z / n;
    // At the ends the formula is exactly 0 or 1; rounding must not leave a crumb of it.
    let low = if hits == 0 { 0.0 } else { (centre - spread) / scale };
    let high = if hits >= runs { 1.0 } else { (centre + spread) / scale };
    Some((low.max(0.0), high.min(1.0)))
}

/// How often two things were so under the same seeds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TwoByTwo {
    pub(crate) both: u64,
    pub(crate) first: u64,
    pub(crate) second: u64,
    pub(crate) neither: u64,
}

/// A difference of rates and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference {
    pub(crate) by: f64,
    pub(crate) low: f64,
    pub(crate) high: f64,
}

/// The rate of the first less that of the second, with Newcombe's paired interval at 95%; `None` without runs.
pub(crate) fn paired_difference(counts: TwoByTwo) -> Option<Difference> {
    let TwoByTwo { both, first, second, neither } = counts;
    let runs = both + first + second + neither;
    let ((l1, u1), (l2, u2)) = (wilson(both + first, runs)?, wilson(both + second, runs)?);
    let [a, b, c, d, n] = [both, first, second, neither, runs].map(|count| count as f64);
    let (p1, p2) = ((a + b) / n, (a + c) / n);
    let marginals = (a + b) * (c + d) * (a + c) * (b + d);
    let product = a * d - b * c;
    // A positive correlation makes the interval narrow, so it is corrected for continuity; a negative one is not.
    let corrected = if product > 0.0 { (product - n / 2.0).max(0.0) } else { product };
    let phi = if marginals > 0.0 { corrected / marginals.sqrt() } else { 0.0 };
    let reach = |of_first: f64, of_second: f64| {
        (of_first * of_first - 2.0 * phi * of_first * of_second + of_second * of_second).max(0.0).sqrt()
    };
    let by = p1 - p2;
    let low = (by - reach(p1 - l1, u2 - p2)).max(-1.0);
    let high = (by + reach(u1 - p1, p2 - l2)).min(1.0);
    Some(Difference { by, low, high })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_after_zero_violations_is_the_exact_one_rounded_up() {
        assert_eq!(clean(1), "0 in 1 run, below 95% at 95%");
        assert_eq!(clean(200), "0 in 200 runs, below 1.5% at 95%");
        assert_eq!(clean(2_000), "0 in 2000 runs, below 0.15% at 95%");
        assert_eq!(clean(1_000_000), "0 in 1000000 runs, below 0.00030% at 95%");
        assert_eq!(clean(0), "no run was conclusive");
    }

    #[test]
    fn the_interval_of_wilson_agrees_with_published_values() {
        // Newcombe (1998), table I: 81/263, 15/148 and 0/20 by the score method without continuity correction.
        for (hits, of, low, high) in
            [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605), (0, 20, 0.0, 0.1611)]
        {
            let (found_low, found_high) = wilson(hits, of).unwrap();
            assert!((found_low - low).abs() < 5e-5, "{found_low} is not {low}");
            assert!((found_high - high).abs() < 5e-5, "{found_high} is not {high}");
        }
        assert_eq!(wilson(5, 5).unwrap().1, 1.0);
        assert_eq!(wilson(0, 0), None);
    }

    #[test]
    fn the_paired_interval_of_newcombe_is_that_of_the_textbooks() {
        // Fagerland, Lydersen and Laake, "Statistical analysis of contingency tables" (2017), chapter 8: Bentur et al. (2009),
        // -0.507 to -0.026; the other tables by a second program for the same formulas.
        for (counts, by, low, high) in [
            ([1, 1, 7, 12], -0.2857, -0.5069, -0.0256),
            ([59, 6, 16, 80], -0.0621, -0.1186, -0.0046),
            ([14, 5, 0, 22], 0.1220, 0.0115, 0.2265),
            ([36, 12, 2, 0], 0.2, 0.0569, 0.3404),
        ] {
            let [both, first, second, neither] = counts;
            let found = paired_difference(TwoByTwo { both, first, second, neither }).unwrap();
            for (found, expected) in [(found.by, by), (found.low, low), (found.high, high)] {
                assert!((found - expected).abs() < 1e-4, "{counts:?}: {found} is not {expected}");
            }
            let turned = TwoByTwo { both, first: second, second: first, neither };
            let turned = paired_difference(turned).unwrap();
            assert!((turned.low + found.high).abs() < 1e-12 && (turned.high + found.low).abs() < 1e-12);
        }
        assert_eq!(paired_difference(TwoByTwo::default()), None);
        let same = paired_difference(TwoByTwo { neither: 100, ..TwoByTwo::default() }).unwrap();
        assert!(same.by == 0.0 && same.low < 0.0 && same.high > 0.0, "{same:?}");
    }
}
