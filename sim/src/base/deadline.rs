//! Deadlines as holders know them.

use picklock_model::time::{Monotonic, WallTime};

/// An absolute deadline on one of the holder's own clocks. Final once passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    /// On the monotonic clock, as a careful library computes it.
    Monotonic(Monotonic),
    /// On the wall clock, as some real libraries do.
    Wall(WallTime),
}
