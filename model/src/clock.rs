//! A host's two clocks as functions of true time.
//!
//! Both run at the same rate (one oscillator), off by a drift in parts per million. The monotonic clock stops while
//! the host is suspended (`CLOCK_MONOTONIC` of a suspended virtual machine); the wall clock goes on and can be stepped.
//! All arithmetic is integral, so that every platform reads the same nanosecond.

use std::time::Duration;

use super::time::{EPOCH_NS, Monotonic, TrueTime, WallTime, nanos};

/// The largest drift, half of the rate either way: a clock must never run backwards or stand still. Real oscillators stay
/// below 200 ppm; more is what a virtual machine with a broken time source shows.
pub const DRIFT_PPM_MAX: i64 = 500_000;

/// The clocks of one host.
#[derive(Clone, Debug)]
pub struct Clock {
    /// The true time at which `monotonic_ns` and `wall_ns` were exact: the last change of rate or offset.
    since: TrueTime,
    monotonic_ns: u64,
    wall_ns: i128,
    /// The monotonic clock stands still until then; the wall clock does not.
    stands_until: TrueTime,
    drift_ppm: i64,
}

impl Clock {
    /// Clocks that are right: the wall clock `offset_ns` off true time, the monotonic one starting at `zero`.
    #[must_use]
    pub fn new(zero: Monotonic, offset_ns: i64, drift_ppm: i64) -> Clock {
        Clock {
            since: TrueTime(0),
            monotonic_ns: zero.0,
            wall_ns: i128::from(EPOCH_NS) + i128::from(offset_ns),
            stands_until: TrueTime(0),
            drift_ppm: drift_ppm.clamp(-DRIFT_PPM_MAX, DRIFT_PPM_MAX),
        }
    }

    /// The time that the monotonic clock shows at `now`.
    #[must_use]
    pub fn monotonic(&self, now: TrueTime) -> Monotonic {
        Monotonic(self.monotonic_ns + self.ticked(self.runs_from(), now))
    }

    /// The time that the wall clock shows at `now`; a clock stepped before 1970 shows 1970.
    #[must_use]
    pub fn wall(&self, now: TrueTime) -> WallTime {
        WallTime(u64::try_from(self.wall_ns + i128::from(self.ticked(self.since, now))).unwrap_or(0))
    }

    /// The first true time at which the monotonic clock shows `reading` or more, as the clock runs now.
    #[must_use]
    pub fn true_time_of(&self, reading: Monotonic) -> TrueTime {
        match reading.0.checked_sub(self.monotonic_ns) {
            Some(ahead) if ahead > 0 => self.runs_from() + self.true_span(ahead),
            _ => self.since,
        }
    }

    /// The first true time at which the wall clock shows `reading` or more, as the clock runs now.
    #[must_use]
    pub fn true_time_of_wall(&self, reading: WallTime) -> TrueTime {
        let ahead = u64::try_from(i128::from(reading.0) - self.wall_ns).unwrap_or(0);
        self.since + self.true_span(ahead)
    }

    /// Lets the wall clock show `reading` at the beginning of true time.
    pub fn set_wall(&mut self, reading: WallTime) {
        self.wall_ns = i128::from(reading.0);
    }

    /// Moves the wall clock by `by_ns` at `now`.
    pub fn step_wall(&mut self, now: TrueTime, by_ns: i64) {
        self.rebase(now);
        self.wall_ns += i128::from(by_ns);
    }

    /// Sets the rate of both clocks from `now` on.
    pub fn set_drift(&mut self, now: TrueTime, drift_ppm: i64) {
        self.rebase(now);
        self.drift_ppm = drift_ppm.clamp(-DRIFT_PPM_MAX, DRIFT_PPM_MAX);
    }

    /// Takes `span` of true time out of the monotonic clock: it stands still from `now` until `now + span`.
    pub fn suspend(&mut self, now: TrueTime, span: Duration) {
        self.rebase(now);
        self.stands_until = self.stands_until.max(now + span);
    }

    /// The monotonic clock stands still no longer.
    pub fn rise(&mut self, now: TrueTime) {
        self.rebase(now);
        self.stands_until = self.stands_until.min(now);
    }

    fn rebase(&mut self, now: TrueTime) {
        self.monotonic_ns += self.ticked(self.runs_from(), now);
        self.wall_ns += i128::from(self.ticked(self.since, now));
        self.since = self.since.max(now);
    }

    /// From when on the monotonic clock has run at its present rate.
    fn runs_from(&self) -> TrueTime {
        self.since.max(self.stands_until)
    }

    fn ticked(&self, from: TrueTime, now: TrueTime) -> u64 {
        self.local_span(nanos(now.since(from)))
    }

    fn local_span(&self, true_ns: u64) -> u64 {
        // Mostly a clock is right, and a division of 128 bits is dear.
        if self.drift_ppm == 0 {
            return true_ns;
        }
        (u128::from(true_ns) * self.rate() / MILLION) as u64
    }

    fn true_span(&self, local_ns: u64) -> Duration {
        if self.drift_ppm == 0 {
            return Duration::from_nanos(local_ns);
        }
        let ns = (u128::from(local_ns) * MILLION).div_ceil(self.rate());
        Duration::from_nanos(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    fn rate(&self) -> u128 {
        (1_000_000 + self.drift_ppm) as u128
    }
}

const MILLION: u128 = 1_000_000;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_timer_fires_when_its_reading_is_reached_and_not_a_nanosecond_earlier(
            zero in 0..1_u64 << 40, drift in -DRIFT_PPM_MAX..=DRIFT_PPM_MAX, reading in 0..1_u64 << 50,
        ) {
            let clock = Clock::new(Monotonic(zero), 0, drift);
            let due = clock.true_time_of(Monotonic(zero + reading));
            prop_assert!(clock.monotonic(due).0 >= zero + reading);
            if due.0 > 0 {
                prop_assert!(clock.monotonic(TrueTime(due.0 - 1)).0 < zero + reading);
            }
        }

        #[test]
        fn the_monotonic_clock_never_runs_backwards_over_steps_and_drift_changes(
            changes in prop::collection::vec((0..1_000_000_u64, -5_000_000_000_i64..5_000_000_000, -10_000_i64..10_000), 1..20),
        ) {
            let mut clock = Clock::new(Monotonic(0), 0, 0);
            let (mut now, mut last) = (TrueTime(0), Monotonic(0));
            for (wait, step, drift) in changes {
                now = now + Duration::from_nanos(wait);
                clock.step_wall(now, step);
                clock.set_drift(now, drift);
                prop_assert!(clock.monotonic(now) >= last);
                last = clock.monotonic(now);
            }
        }
    }

    #[test]
    fn a_suspension_stops_the_monotonic_clock_but_not_the_wall_clock() {
        let mut clock = Clock::new(Monotonic(0), 0, 0);
        clock.suspend(TrueTime(1_000), Duration::from_nanos(500));
        assert_eq!(clock.monotonic(TrueTime(1_200)), Monotonic(1_000));
        assert_eq!(clock.wall(TrueTime(1_200)), WallTime(EPOCH_NS + 1_200));
        assert_eq!(clock.true_time_of_wall(WallTime(EPOCH_NS + 1_200)), TrueTime(1_200));
        assert_eq!(clock.true_time_of(Monotonic(1_001)), TrueTime(1_501));
        assert_eq!(clock.monotonic(TrueTime(1_500)), Monotonic(1_000));
        assert_eq!(clock.wall(TrueTime(1_500)), WallTime(EPOCH_NS + 1_500));
        assert_eq!(clock.monotonic(TrueTime(1_600)), Monotonic(1_100));
    }
}
