//! The type of a fault, and a fault as a scenario asks for it.

use picklock_model::plan::Injection;
use picklock_sim::store::Topology;

use super::draw::Draw;
use super::site::AtSite;
use super::words::Served;
use picklock_sim::param::{Args, Param, Spans};

/// A fault.
#[derive(Debug)]
pub struct Fault {
    /// Its name in scenario files and reports.
    pub name: &'static str,
    /// Its other names: those of its injection sites and of its lines in a served world, and former names. Each is read as its name, and
    /// reports print the name alone.
    pub also: &'static [&'static str],
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
    /// The fault action that a kind of store must have for it, if that is one of the store's own.
    pub own_action: Option<&'static str>,
    /// The part of a run that it hits.
    pub hits: Hits,
    /// The parameter that says how long it lasts, or how long it delays a message; none if it is over at once.
    pub lasts: fn(&Args) -> Option<Param<Spans>>,
    /// How a served world is asked for it.
    pub served: &'static [Served],
}

impl Fault {
    /// True if this is one of its names.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.name == name || self.also.contains(&name)
    }
}

/// The part of a run that a fault hits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hits {
    /// Hosts with their processes, clocks, links and data.
    Hosts,
    /// Nothing but the records that stores keep of locks: the clock that ends their leases.
    Records,
    /// One request to a server of the lock at a time.
    Requests,
    /// One message at a time, on the links that the parameter `links` names.
    Messages,
    /// A section apart from the background tasks of its lock, or a call of its lock.
    Calls,
}

/// One `[[fault]]` of a scenario.
#[derive(Clone, Debug)]
pub struct FaultEntry {
    /// The fault.
    pub fault: &'static Fault,
    /// Its parameters here.
    pub args: Args,
}
