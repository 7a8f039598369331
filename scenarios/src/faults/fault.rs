//! The type of a fault, and a fault as a scenario asks for it.

use picklock_model::plan::Injection;
use picklock_sim::store::Topology;

use super::draw::Draw;
use super::served::Served;
use super::site::AtSite;
use picklock_sim::param::{Args, Param};

/// A fault.
#[derive(Debug)]
pub struct Fault {
    /// Its name in scenario files and reports.
    pub name: &'static str,
    /// Its number in the catalogue of faults, such as `F1`.
    pub number: &'static str,
    /// Its effect, in one line.
    pub doc: &'static str,
    /// Its parameters.
    pub params: &'static [Param],
    /// True if it hits points that a probe run of the same seed reached.
    pub from_points: bool,
    /// The last section of a client in which it hits, if it hits points alone and at none of a later one: then the
    /// rest of the probe run does not matter.
    pub last_section: fn(&Args) -> Option<u32>,
    /// `Ok` if it can hit a design with these servers at all; if not, why, as a fragment.
    pub applies: fn(&Args, Topology) -> Result<(), String>,
    /// Draws one hit; empty if the run has no place for it.
    pub schedule: fn(&mut Draw<'_>) -> Vec<Injection>,
    /// The ways to put it at one point, the most usual one first; none if it takes more than a point.
    pub at_sites: &'static [AtSite],
    /// How a served world is asked for it.
    pub served: &'static [Served],
}

/// One `[[fault]]` of a scenario.
#[derive(Clone, Debug)]
pub struct FaultEntry {
    /// The fault.
    pub fault: &'static Fault,
    /// Its parameters here.
    pub args: Args,
}
