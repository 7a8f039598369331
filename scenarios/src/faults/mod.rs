//! The faults, one file each. A fault only schedules actions; it never looks at what comes of it.
//!
//! Each fault declares its parameters as data and a function that draws one hit: the injections that belong
//! together. How often it hits is its parameter `times`. Every hit has a random stream of its own, so that one
//! fault or hit more or less leaves the draws of all others alone.
//!
//! Faults that hit a client draw from the injection points of a probe run of the same seed, because a point that has
//! meaning ("the write to the resource in that section") is reached again on every engine and under every network,
//! while an instant is not.

mod base;
mod cancel;
mod client_crash;
mod clock_drift;
mod clock_step;
mod delay;
mod ended_session;
mod error_reply;
mod eviction;
mod failover;
mod lost_connection;
mod lost_notification;
mod lost_reply;
mod lost_request;
#[cfg(test)]
mod made_up;
mod member_change;
mod moved_slot;
mod node_restart;
mod partition;
mod pause;
mod replication_lag;
mod served;
mod service;
mod stall;
mod suspend;
#[cfg(test)]
pub(crate) mod tests;

pub(crate) use base::{draw, fault, needs, params, site};

pub use base::draw::{Draw, Setting};
pub use base::drawn::Drawn;
pub use base::fault::{Fault, FaultEntry, Hits};
pub use base::params::TIMES;
pub use base::site::{AtSite, Stage, Where};
pub use served::{FaultError, Served, Words, form_named, forms, parse, parse_now, words};

use crate::error::Problem;
use picklock_model::plan::{Access, Phase, Plan};
use picklock_model::points::Points;
use picklock_sim::param::Args;
use picklock_sim::resource;

/// All faults, in the order of the catalogue.
pub const ALL: &[&Fault] = &[
    &pause::FAULT,
    &stall::FAULT,
    &suspend::FAULT,
    &client_crash::FAULT,
    &delay::FAULT,
    &lost_reply::FAULT,
    &partition::FAULT,
    &failover::FAULT,
    &replication_lag::FAULT,
    &node_restart::FAULT,
    &clock_step::FAULT,
    &clock_drift::FAULT,
    &lost_notification::FAULT,
    &error_reply::FAULT,
    &eviction::FAULT,
    &lost_request::FAULT,
    &cancel::FAULT,
    &lost_connection::FAULT,
    &ended_session::FAULT,
    &service::FAULT,
    &moved_slot::FAULT,
    &member_change::FAULT,
    #[cfg(test)]
    &made_up::FAULT,
];

/// The fault of this name, or with this as another of its names.
///
/// # Errors
/// When there is none; the problem names the nearest.
pub fn find(name: &str) -> Result<&'static Fault, Problem> {
    let names: Vec<&str> = ALL.iter().map(|fault| fault.name).collect();
    called(name).ok_or_else(|| Problem::unknown("fault", name, &names))
}

fn called(name: &str) -> Option<&'static Fault> {
    ALL.iter().find(|fault| fault.is_called(name)).copied()
}

/// The one name of a fault for any of its names; any other text as it is.
#[must_use]
pub fn present_name(name: &str) -> &str {
    at_site_named(name)
        .map(|placed| placed.name)
        .or_else(|| called(name).map(|fault| fault.name))
        .unwrap_or(name)
}

/// Gives each injection of a plan the one name of its fault: files of earlier versions have others.
pub fn rename(plan: &mut Plan) {
    for injection in &mut plan.injections {
        injection.fault = present_name(&injection.fault).to_owned();
    }
}

/// The name of a fault in scenario files for any of its names; any other text as it is.
pub(crate) fn in_files(name: &str) -> &str {
    called(name).map_or(name, |fault| fault.name)
}

/// A value as its parameter spells it: one that names a fault takes each of its names.
pub(crate) fn present_value<'t>(param: &str, value: &'t str) -> &'t str {
    let names_a_fault = [params::DURING.name, params::FOLLOWING.name].contains(&param);
    if names_a_fault { in_files(value.trim()) } else { value }
}

/// Every fault that can be put at one point.
pub fn at_sites() -> impl Iterator<Item = &'static AtSite> {
    ALL.iter().flat_map(|fault| fault.at_sites)
}

/// The placed fault of this name: one that is called so at sites, or the most usual one of a fault with this among its names.
#[must_use]
pub fn at_site_named(name: &str) -> Option<&'static AtSite> {
    at_sites().find(|placed| placed.name == name).or_else(|| called(name)?.at_sites.first())
}

/// The fault that one is tied to, and whether it comes after that has ended.
pub(crate) fn tie(args: &Args) -> Option<(&'static str, bool)> {
    let named = |param| args.find(param).filter(|name| *name != "nothing");
    named(params::DURING)
        .map(|fault| (fault, false))
        .or_else(|| named(params::FOLLOWING).map(|fault| (fault, true)))
}

/// True if a fault hits only within the release of a lock.
pub(crate) fn hits_release(args: &Args) -> bool {
    args.find(params::PHASE) == Some("release")
}

/// True if a fault hits only a client that asks for a lock again and again.
pub(crate) fn hits_waiting(args: &Args) -> bool {
    args.find(params::PHASE) == Some("acquire") && args.find(params::NTH).is_some_and(|(first, _)| first > 1)
}

/// True if a fault hits only requests to the servers of the lock while a section works: its renewals.
pub(crate) fn hits_renewal(fault: &Fault, args: &Args) -> bool {
    // What hits a host or a link only begins there, and reaches what comes after.
    let of_the_lock = match fault.hits {
        Hits::Requests => true,
        Hits::Messages => args.find(params::LINKS) == Some("lock"),
        Hits::Hosts | Hits::Records | Hits::Calls => false,
    };
    of_the_lock && args.find(params::PHASE) == Some("work")
}

/// True if the probe run has a renewal: a request to a server of the lock while a section works.
pub(crate) fn has_renewals(probe: &Points) -> bool {
    probe.reached().iter().any(|point| {
        let peer = probe.peer(point);
        point.phase == Phase::Work
            && point.access == Access::Write
            && !peer.is_empty()
            && peer != resource::HOST
    })
}

/// True if nothing narrows the points at which a fault hits.
pub(crate) fn hits_anywhere(fault: &Fault, args: &Args) -> bool {
    let narrowing =
        [params::PHASE.name, params::CLIENT.name, params::SECTION.name, params::NTH.name, params::PEER.name];
    let defaults = Args::defaults(fault.params);
    args.iter()
        .zip(defaults.iter())
        .all(|((param, value), (_, default))| value == default || !narrowing.contains(&param.name))
}

/// True if a fault hits only at the links to the resource.
pub(crate) fn hits_resource(args: &Args) -> bool {
    args.find(params::LINKS) == Some("resource")
}
