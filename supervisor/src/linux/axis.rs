//! The monotonic clock of a program beside that of its driver: a copy of a program that was warmed up goes on where that one stood.

use crate::{Clock, Step};

/// The time between the end of what warmed a program up and the first step of a copy: what was held for a moment only, as random
/// bytes in a buffer, is drawn anew.
const GAP_NS: u64 = 1_000_000_000;

/// How the clock of a program is set against its driver's.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Axis {
    /// It is the same.
    Own,
    /// It goes on after this time, from the first step on.
    After(u64),
    /// It is so many nanoseconds later; modulo 2^64, as it may be earlier.
    Later(u64),
}

impl Axis {
    /// The program's clock.
    pub(crate) fn inside(&mut self, mut clock: Clock) -> Clock {
        if let Self::After(time) = *self {
            *self = Self::Later(time.wrapping_add(GAP_NS).wrapping_sub(clock.monotonic_ns));
        }
        if let Self::Later(by) = *self {
            clock.monotonic_ns = clock.monotonic_ns.wrapping_add(by);
        }
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
        for begin in [5, 3_000_000_000_000] {
            let mut axis = Axis::After(7_000_000_000);
            let at = |monotonic_ns| Clock { monotonic_ns, wall_ns: 1 };
            assert_eq!(axis.inside(at(begin)).monotonic_ns, 8_000_000_000);
            assert_eq!(axis.inside(at(begin + 40)).monotonic_ns, 8_000_000_040);
            let step = axis.outside(Step::Waits { until_ns: Some(8_000_000_100) });
            assert!(matches!(step, Step::Waits { until_ns: Some(until) } if until == begin + 100));
        }
    }
}
