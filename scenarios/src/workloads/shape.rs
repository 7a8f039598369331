//! How work times are distributed between the two ends of their range: in integers only, so that a seed means the same
//! work on every machine.
//!
//! *normal*: the sum of twelve uniform draws less its mean (Irwin-Hall), scaled so that the range spans three standard
//! deviations on each side of its middle; up to six of them occur, so work may lie outside the range, but not below zero.
//! *heavy-tailed*: Pareto's distribution with exponent 2, whose shortest value is the lower end; half of the work is
//! below 1.41 times that, one in a hundred is above ten times, and one in ten thousand above a hundred. It is cut off at an
//! hour, not at the upper end.

use std::time::Duration;

use picklock_sim::seed::{Seed, scale};
use picklock_sim::time::nanos;

use picklock_sim::param::{Args, Domain, HOUR, Param};

/// The parameter that names the shape.
pub(super) const PARAM: Param = Param {
    name: "shape",
    domain: Domain::Word(&["uniform", "normal", "heavy-tailed"]),
    default: "uniform",
    doc: "how work times are distributed: over the range, around its middle with a sixth of it as standard deviation, \
          or from its lower end with Pareto's tail",
};

/// A distribution of work times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Every time in the range is as likely as any other.
    Uniform,
    /// Around the middle of the range.
    Normal,
    /// From the lower end on, with a long tail.
    HeavyTailed,
}

impl Shape {
    pub(super) fn of(args: &Args) -> Shape {
        match args.word(PARAM.name) {
            "normal" => Shape::Normal,
            "heavy-tailed" => Shape::HeavyTailed,
            _ => Shape::Uniform,
        }
    }

    /// The work time that a draw stands for.
    pub(super) fn draw(self, draw: u64, range: (Duration, Duration)) -> Duration {
        let (min, max) = (nanos(range.0), nanos(range.1).max(nanos(range.0)));
        let ns = match self {
            Shape::Uniform => return span(draw, range),
            Shape::Normal => {
                let middle = i128::from(min / 2 + max / 2);
                // One sixth of the range is a standard deviation, and a standard deviation of the sum is `UNIT`.
                middle + i128::from(max - min) * i128::from(deviation(draw)) / (6 * i128::from(UNIT))
            }
            // The inverse of Pareto's distribution function: `min / sqrt(u)` for a uniform `u`.
            Shape::HeavyTailed => (i128::from(min) << 32) / i128::from(draw.isqrt().max(1)),
        };
        Duration::from_nanos(u64::try_from(ns.max(0)).unwrap_or(u64::MAX)).min(HOUR)
    }
}

/// Any time in the range, as likely as any other.
pub(super) fn span(draw: u64, (min, max): (Duration, Duration)) -> Duration {
    let width = nanos(max).saturating_sub(nanos(min));
    min + Duration::from_nanos(scale(draw, width.saturating_add(1)))
}

/// The standard deviation of the sum of twelve uniform numbers below it.
const UNIT: i64 = 1 << 16;

/// The sum of twelve uniform numbers below [`UNIT`], less its mean.
fn deviation(draw: u64) -> i64 {
    let sum: u64 = (0..12).map(|part| scale(Seed(draw).at([part, 0, 0, 0]), UNIT.unsigned_abs())).sum();
    sum.cast_signed() - 6 * UNIT
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(35));

    fn drawn(shape: Shape) -> Vec<u64> {
        let mut times: Vec<u64> =
            (0..10_000).map(|at| shape.draw(Seed(1).at([at, 0, 0, 0]), RANGE).as_millis() as u64).collect();
        times.sort_unstable();
        times
    }

    #[test]
    fn normal_work_lies_around_the_middle_with_a_sixth_of_the_range_as_its_deviation() {
        let times = drawn(Shape::Normal);
        assert!((19_800..20_200).contains(&times[5_000]), "median {}", times[5_000]);
        assert!((24_800..25_300).contains(&times[8_413]), "one deviation above {}", times[8_413]);
        let beyond = times.iter().filter(|ms| **ms > 35_000).count();
        assert!((2..40).contains(&beyond), "13.5 in 10000 lie three deviations above, and here {beyond}");
    }

    #[test]
    fn heavy_tailed_work_has_the_quantiles_of_pareto() {
        let times = drawn(Shape::HeavyTailed);
        assert!(times[0] >= 5_000);
        assert!((6_900..7_250).contains(&times[5_000]), "median {}", times[5_000]);
        assert!((45_000..56_000).contains(&times[9_900]), "one in a hundred {}", times[9_900]);
    }

    #[test]
    fn uniform_work_stays_in_the_range() {
        let times = drawn(Shape::Uniform);
        assert!(times[0] >= 5_000 && times[9_999] <= 35_000);
    }
}
