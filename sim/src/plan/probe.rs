//! What a calm run of the same seed passed through: the protocol points from which faults are drawn, so that they exist.

use super::point::Point;
use crate::base::time::TrueTime;

/// The points that clients passed, in the order of passing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    /// The points.
    pub points: Vec<PointSeen>,
    /// The end of the calm run.
    pub end: TrueTime,
}

/// One point passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointSeen {
    /// The point, with the edge `Before`.
    pub point: Point,
    /// When it was passed, in true time.
    pub at: TrueTime,
}
