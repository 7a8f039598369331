//! The clocks by which hosts count leases, as far as a trace shows them: leases run by a store's own clock, and invariants judge in
//! true time. A monotonic clock is a wall clock that nobody steps.
//!
//! A trace says by how much a clock was stepped and how fast it goes from then on, not what it shows. That is enough:
//! only differences of readings are asked for.

use std::time::Duration;

use picklock_model::clock::Clock;
use picklock_model::time::{Monotonic, TrueTime, WallTime, nanos};

/// The clock of one host, up to a constant.
#[derive(Clone, Debug)]
pub(crate) struct Wall {
    /// From when on it went like this; a clock serves up to the next one.
    since: Vec<(TrueTime, Clock)>,
}

impl Default for Wall {
    fn default() -> Wall {
        Wall { since: vec![(TrueTime::default(), Clock::new(Monotonic(0), 0, 0))] }
    }
}

impl Wall {
    /// The clock is moved by so much.
    pub(super) fn step(&mut self, at: TrueTime, by_ns: i64) {
        self.change(at, |clock| clock.step_wall(at, by_ns));
    }

    /// From now on the clock is so many parts per million fast.
    pub(super) fn drift(&mut self, at: TrueTime, ppm: i64) {
        self.change(at, |clock| clock.set_drift(at, ppm));
    }

    fn change(&mut self, at: TrueTime, change: impl FnOnce(&mut Clock)) {
        let mut clock = self.at(at).clone();
        change(&mut clock);
        self.since.push((at, clock));
    }

    fn at(&self, at: TrueTime) -> &Clock {
        let next = self.since.partition_point(|(since, _)| *since <= at);
        &self.since[next.saturating_sub(1)].1
    }

    /// When the clock last began to show what it shows at `at`, less so much.
    pub(super) fn before(&self, at: TrueTime, span: Duration) -> TrueTime {
        let reading = WallTime(self.at(at).wall(at).0.saturating_sub(nanos(span)));
        let shows = |(since, clock): &(TrueTime, Clock)| *since <= at && clock.wall(*since) <= reading;
        let this = self.since.iter().rposition(shows).unwrap_or(0);
        let next = self.since.get(this + 1).map_or(at, |(since, _)| *since);
        self.since[this].1.true_time_of_wall(reading).min(next).min(at)
    }

    /// When the clock first shows what it shows at `at`, and so much more.
    pub(crate) fn after(&self, at: TrueTime, span: Duration) -> TrueTime {
        let reading = WallTime(self.at(at).wall(at).0.saturating_add(nanos(span)));
        let from = self.since.partition_point(|(since, _)| *since <= at).saturating_sub(1);
        for (nth, (since, clock)) in self.since.iter().enumerate().skip(from) {
            let then = clock.true_time_of_wall(reading).max(*since).max(at);
            if self.since.get(nth + 1).is_none_or(|(next, _)| then < *next) {
                return then;
            }
        }
        at
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn ms(ms: u64) -> Duration {
        Duration::from_millis(ms)
    }

    fn at(ms: u64) -> TrueTime {
        TrueTime(ms * 1_000_000)
    }

    #[test]
    fn a_clock_that_nobody_touched_shows_true_spans() {
        let wall = Wall::default();
        assert_eq!(wall.before(at(100), ms(30)), at(70));
        assert_eq!(wall.after(at(100), ms(30)), at(130));
    }

    #[test]
    fn a_fast_clock_has_shown_it_for_less_and_shows_it_sooner() {
        let mut wall = Wall::default();
        wall.drift(at(0), 250_000);
        assert_eq!(wall.before(at(100), ms(50)), at(60));
        assert_eq!(wall.after(at(100), ms(50)), at(140));
    }

    #[test]
    fn a_change_of_rate_on_the_way_counts_from_when_it_came() {
        let mut wall = Wall::default();
        wall.drift(at(80), 250_000);
        assert_eq!(wall.before(at(120), ms(75)), at(55));
        assert_eq!(wall.after(at(60), ms(45)), at(100));
    }

    #[test]
    fn a_step_takes_away_or_adds() {
        let mut forwards = Wall::default();
        forwards.step(at(50), 20_000_000);
        assert_eq!(forwards.after(at(40), ms(25)), at(50), "it jumps over the reading");
        assert_eq!(forwards.after(at(40), ms(50)), at(70));
        assert_eq!(forwards.before(at(60), ms(20)), at(50));
        let mut backwards = Wall::default();
        backwards.step(at(50), -20_000_000);
        assert_eq!(backwards.after(at(40), ms(25)), at(85));
        assert_eq!(backwards.before(at(60), ms(5)), at(55));
    }
}
