//! The monotonic clock of a program beside that of its driver.
//!
//! It goes on where it stood at the end of start-up, whatever the driver's shows: a time-out that a program has set before its first
//! step is not over at once. Nobody but the program sees it.

use crate::{Clock, Step};

/// The time between the end of what warmed a program up and the first step of a copy: what was held for a moment only, as random
/// bytes in a buffer, is drawn anew.
const GAP_NS: u64 = 1_000_000_000;

/// How the clock of a program is set against its driver's.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axis {
    /// It shows this time at the first step.
    From(u64),
    /// It is so many nanoseconds later; modulo 2^64, as it may be earlier.
    Later(u64),
}

impl Axis {
    /// That of a program which stands at this clock.
    pub(crate) fn from(clock: Clock) -> Self {
        Self::From(clock.monotonic_ns)
    }

    /// That of a copy of a program which was warmed up, and stood at this clock.
    pub(crate) fn after(warmed: Clock) -> Self {
        Self::From(warmed.monotonic_ns + GAP_NS)
    }

    /// The program's clock.
    pub(crate) fn inside(&mut self, mut clock: Clock) -> Clock {
        let by = match *self {
            Self::From(time) => time.wrapping_sub(clock.monotonic_ns),
            Self::Later(by) => by,
        };
        *self = Self::Later(by);
        clock.monotonic_ns = clock.monotonic_ns.wrapping_add(by);
        clock
    }

    /// A step, as its driver is to get it.
    pub(crate) fn outside(self, step: Step) -> Step {
        match (self, step) {
            (Self::Later(by), Step::Waits { until_ns: Some(until) }) => {
                Step::Waits { until_ns: Some(until.wrapping_sub(by)) }
            }
            (_, step) => step,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_goes_on_where_it_stood_whether_its_driver_is_earlier_or_later() {
        let at = |monotonic_ns| Clock { monotonic_ns, wall_ns: 1 };
        for begin in [5, 3_000_000_000_000] {
            for (mut axis, first) in [
                (Axis::from(at(7_000_000_000)), 7_000_000_000),
                (Axis::after(at(7_000_000_000)), 8_000_000_000),
            ] {
                assert_eq!(axis.inside(at(begin)).monotonic_ns, first);
                assert_eq!(axis.inside(at(begin + 40)).monotonic_ns, first + 40);
                let step = axis.outside(Step::Waits { until_ns: Some(first + 100) });
                assert!(matches!(step, Step::Waits { until_ns: Some(until) } if until == begin + 100));
            }
        }
    }
}
