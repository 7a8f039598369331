//! The drawn order of ready tasks: the seed's proposal for the task that is polled next.

use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;

/// Draws by the instant and the number of the poll within it, so that a task more at one instant moves no draw of another.
pub(super) struct ReadyOrder {
    seed: Seed,
    now: TrueTime,
    /// How many draws there have been at this instant.
    nth: u64,
}

/// The first coordinate of the draws.
const READY_ORDER: u64 = 0x7265_6164_796f_7264;

impl ReadyOrder {
    pub(super) fn new(seed: Seed) -> ReadyOrder {
        ReadyOrder { seed, now: TrueTime(0), nth: 0 }
    }

    /// The next uniform draw at an instant.
    pub(super) fn draw(&mut self, now: TrueTime) -> u64 {
        if self.now != now {
            (self.now, self.nth) = (now, 0);
        }
        self.nth += 1;
        self.seed.at([READY_ORDER, now.0, self.nth, 0])
    }
}
