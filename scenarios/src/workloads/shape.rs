//! The distribution of work times around or between the two ends of their range; a seed means the same work on every
//! machine.
//!
//! *normal*: its mean is the middle of the range, which spans three standard deviations on each side. So one time in 741
//! (0.135%) is above the range, and as many are below; none is below zero. *lognormal*: the logarithm is normal, and mean
//! and standard deviation are those of the normal shape, so that the two can be compared: `sigma^2 = ln(1 + (sd / mean)^2)`
//! and `mu = ln(mean) - sigma^2 / 2`. How much lies above the range depends on how wide that is: for 5 s to 35 s, which is
//! 20 s with a deviation of 5 s, it is 0.829%. *heavy-tailed*: Pareto's distribution with exponent 2, whose shortest value
//! is the lower end; half of the work is below 1.41 times that, one in a hundred is above ten times, and one in ten
//! thousand above a hundred. All are cut off at an hour.
//!
//! The functions that integers do not have are those of `libm`, whose results do not depend on the machine
//! (`docs/decisions/0014`).

use std::time::Duration;

use picklock_model::seed::{Seed, scale};
use picklock_model::time::nanos;

use picklock_sim::param::{Args, HOUR, Param, Word};

/// How work times are distributed.
pub(crate) const SHAPE: Param<Word> = Param {
    name: "shape",
    domain: Word(&["uniform", "normal", "lognormal", "heavy-tailed"]),
    default: "uniform",
    doc: "how work times are distributed: over the range, around its middle with a sixth of it as standard deviation \
          (normal or lognormal), or from its lower end with Pareto's tail",
};

/// A distribution of work times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// Every time in the range is as likely as any other.
    Uniform,
    /// Around the middle of the range.
    Normal,
    /// The same mean and deviation, with a longer tail above and none below zero.
    Lognormal,
    /// From the lower end on, with a long tail.
    HeavyTailed,
}

impl Shape {
    pub(super) fn of(args: &Args) -> Shape {
        match args.get(SHAPE) {
            "normal" => Shape::Normal,
            "lognormal" => Shape::Lognormal,
            "heavy-tailed" => Shape::HeavyTailed,
            _ => Shape::Uniform,
        }
    }

    /// The work time that a draw stands for.
    pub(super) fn draw(self, draw: u64, range: (Duration, Duration)) -> Duration {
        let (min, max) = (nanos(range.0), nanos(range.1).max(nanos(range.0)));
        let (mean, sd) = ((min / 2 + max / 2) as f64, (max - min) as f64 / 6.0);
        let ns = match self {
            Shape::Uniform => return span(draw, range),
            Shape::Normal => rounded(mean + sd * standard_normal(draw)),
            Shape::Lognormal => {
                // A work time that is always zero has no logarithm.
                let spread = if mean > 0.0 { libm::log1p((sd / mean) * (sd / mean)) } else { 0.0 };
                rounded(mean * libm::exp(libm::sqrt(spread) * standard_normal(draw) - spread / 2.0))
            }
            // The inverse of Pareto's distribution function: `min / sqrt(u)` for a uniform `u`.
            Shape::HeavyTailed => {
                let ns = (u128::from(min) << 32) / u128::from(draw.isqrt().max(1));
                u64::try_from(ns).unwrap_or(u64::MAX)
            }
        };
        Duration::from_nanos(ns).min(HOUR)
    }
}

/// The nearest whole number of nanoseconds, none below zero.
fn rounded(ns: f64) -> u64 {
    libm::round(ns.max(0.0)) as u64
}

/// Any time in the range, as likely as any other.
pub(super) fn span(draw: u64, (min, max): (Duration, Duration)) -> Duration {
    let width = nanos(max).saturating_sub(nanos(min));
    min + Duration::from_nanos(scale(draw, width.saturating_add(1)))
}

/// A number from the normal distribution with mean 0 and standard deviation 1, by the transform of Box and
/// Muller (1958).
fn standard_normal(draw: u64) -> f64 {
    let part = |part| Seed(draw).at([part, 0, 0, 0]);
    let radius = libm::sqrt(-2.0 * libm::log(fraction(part(0))));
    radius * libm::cos(std::f64::consts::TAU * fraction(part(1)))
}

/// A number above 0 and not above 1, from the highest 53 bits of a draw: as many as a double holds exactly.
fn fraction(draw: u64) -> f64 {
    ((draw >> 11) + 1) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    const RANGE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(35));

    fn drawn_so_often(shape: Shape, times: u64) -> Vec<u64> {
        let mut times: Vec<u64> =
            (0..times).map(|at| shape.draw(Seed(1).at([at, 0, 0, 0]), RANGE).as_millis() as u64).collect();
        times.sort_unstable();
        times
    }

    fn drawn(shape: Shape) -> Vec<u64> {
        drawn_so_often(shape, 10_000)
    }

    /// How many of a million times are longer than the range.
    fn beyond(shape: Shape) -> usize {
        drawn_so_often(shape, 1_000_000).iter().filter(|ms| **ms > 35_000).count()
    }

    #[test]
    fn normal_work_lies_around_the_middle_with_a_sixth_of_the_range_as_its_deviation() {
        let times = drawn(Shape::Normal);
        assert!((19_800..20_200).contains(&times[5_000]), "median {}", times[5_000]);
        assert!((24_800..25_300).contains(&times[8_413]), "one deviation above {}", times[8_413]);
        // 1350 of a million lie three deviations above; five deviations of that number are 184.
        let beyond = beyond(Shape::Normal);
        assert!((1_166..1_534).contains(&beyond), "{beyond} of a million");
    }

    #[test]
    fn lognormal_work_has_the_mean_and_the_deviation_of_the_normal_shape() {
        let times = drawn_so_often(Shape::Lognormal, 1_000_000);
        let mean = times.iter().map(|ms| *ms as f64).sum::<f64>() / 1e6;
        let variance = times.iter().map(|ms| (*ms as f64 - mean) * (*ms as f64 - mean)).sum::<f64>() / 1e6;
        assert!((mean - 20_000.0).abs() < 30.0, "mean {mean}");
        assert!((variance.sqrt() - 5_000.0).abs() < 50.0, "deviation {}", variance.sqrt());
        // The median is 20 s / sqrt(1 + 1/16), and 8290 of a million are above the mean and three deviations.
        assert!((19_360..19_450).contains(&times[500_000]), "median {}", times[500_000]);
        let beyond = times.iter().filter(|ms| **ms > 35_000).count();
        assert!((7_830..8_750).contains(&beyond), "{beyond} of a million");
    }

    #[test]
    fn a_draw_means_the_same_work_everywhere() {
        let drawn =
            |shape: Shape| [0, 1, 2].map(|at| shape.draw(Seed(7).at([at, 0, 0, 0]), RANGE).as_nanos());
        assert_eq!(drawn(Shape::Normal), [23_040_961_008, 16_421_947_465, 23_790_271_477]);
        assert_eq!(drawn(Shape::Lognormal), [22_537_249_154, 16_268_355_802, 23_384_387_633]);
    }

    #[test]
    fn a_range_without_width_is_always_the_same_work() {
        for shape in [Shape::Uniform, Shape::Normal, Shape::Lognormal] {
            for span in [Duration::ZERO, Duration::from_millis(7)] {
                assert_eq!(shape.draw(u64::MAX / 3, (span, span)), span, "{shape:?}");
            }
        }
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
