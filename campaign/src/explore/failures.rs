//! Failures: the injection sites with one signature, which is the fault, the step that it met and the invariants violated.

use std::collections::BTreeMap;

use picklock_model::code::Location;
use picklock_model::plan::{Access, Action, Edge, Injection, Phase, When};
use picklock_model::trace::Role;

use super::ground::Site;
use picklock_scenarios::faults::Stage;

/// The signature of one hit, without its ordinals: a pause of a client in its write phase, before it writes to the resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Signature {
    /// The kind of fault.
    pub fault: String,
    /// True if a clock jumped backwards, false if forwards; none if no clock jumped.
    pub backwards: Option<bool>,
    /// The role of the host that is at the point.
    pub role: Role,
    /// Where it is in its section; idle for a server.
    pub phase: Phase,
    /// Its step there.
    pub access: Access,
    /// The role of its peer, if it talks to one.
    pub peer: Option<Role>,
    /// Before or after.
    pub edge: Edge,
}

impl Signature {
    /// The signature of a hit that was placed at a point.
    #[must_use]
    pub fn of(stage: &Stage, injection: &Injection) -> Option<Signature> {
        let When::Point { point, .. } = &injection.when else { return None };
        Some(Signature {
            fault: injection.fault.clone(),
            backwards: match injection.action {
                Action::StepClock { by_ns } => Some(by_ns < 0),
                _ => None,
            },
            role: stage.role(&point.host),
            phase: point.phase,
            access: point.access,
            peer: (!point.peer.is_empty()).then(|| stage.role(&point.peer)),
            edge: point.edge,
        })
    }
}

/// The injection sites with one signature that violate the same invariants.
#[derive(Clone, Debug)]
pub struct Failures {
    /// Their signature.
    pub signature: Signature,
    /// The names of the invariants.
    pub violated: Vec<String>,
    /// The sites, in order.
    pub places: Vec<Site>,
    /// Where the program of the client is at the first of them, if it can be read.
    pub location: Option<Location>,
}

/// Sorts violating sites into failures, in the order of hits and of steps.
pub(super) fn sort(found: impl Iterator<Item = (Signature, Site, Vec<String>)>) -> Vec<Failures> {
    let mut failures: BTreeMap<(Signature, Vec<String>), Vec<Site>> = BTreeMap::new();
    for (signature, place, violated) in found {
        failures.entry((signature, violated)).or_default().push(place);
    }
    failures
        .into_iter()
        .map(|((signature, violated), places)| Failures { signature, violated, places, location: None })
        .collect()
}
