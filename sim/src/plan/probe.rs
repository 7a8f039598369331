//! What a run passed through: the protocol points at which faults can strike, so that they exist.

use super::point::Point;
use crate::base::time::TrueTime;

/// The points that processes passed, in the order of passing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Probe {
    /// The points.
    pub points: Vec<PointSeen>,
    /// The end of the run.
    pub end: TrueTime,
}

/// Whose points are noted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Seeing {
    /// Nobody's.
    #[default]
    Nothing,
    /// Those that clients pass within their sections: what faults are drawn from.
    Sections,
    /// Also those of servers and of the resource, which have no sections: theirs is 0, and their phase idle.
    Everything,
}

/// One point passed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointSeen {
    /// The point, with the edge `Before`.
    pub point: Point,
    /// When it was passed, in true time.
    pub at: TrueTime,
}
