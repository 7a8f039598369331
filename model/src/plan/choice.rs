//! The choices of a run: what the world leaves open, and the seed or a plan decides.
//!
//! A choice is named by its kind and by its ordinal among those of that kind. Its options are numbered from 0. A plan that
//! becomes smaller may renumber the choices behind what it lost; a reduced plan is run anyway before it is kept.

use serde::{Deserialize, Serialize};

/// The kind of a choice: the place in the world where it is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChoiceKind {
    /// The latency of a segment, in nanoseconds above the smallest latency of the world.
    Latency,
    /// The order in which the tasks of a process wake after a halt. One order is a choice for each task but the first: with
    /// which of those before it, or itself, the task changes its place, from the last task to the second.
    Wake,
    /// The ready task that is polled next, by its place among those that are ready, in the order in which they were woken. It is
    /// a choice only where more than one task is ready.
    Poll,
    /// The clocks of a host when the run begins: its monotonic clock in nanoseconds, then its wall clock in nanoseconds above 2 ms
    /// behind true time.
    Clock,
}

impl ChoiceKind {
    /// How many kinds there are.
    pub const COUNT: usize = 4;
}

/// One choice of a plan, which a run takes instead of the choice of its seed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Where it is made.
    pub kind: ChoiceKind,
    /// Its number among the choices of that kind in the run, from 0.
    pub ordinal: u64,
    /// The option that is taken, from 0. A run that has fewer options there takes its last one.
    pub chosen: u64,
}
