//! Placements that come to the same: what hits whom, at what step, and what is violated then.

use std::collections::BTreeMap;

use picklock_model::plan::{Access, Action, Edge, Injection, Phase, When};
use picklock_model::trace::Role;

use super::ground::Place;
use picklock_scenarios::faults::Stage;

/// The shape of one hit, without its ordinals: a pause of a client in its write phase, before it writes to the resource.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Shape {
    /// The kind of fault.
    pub fault: String,
    /// Which way a clock jumped.
    pub backwards: bool,
    /// What the host that is at the point is for.
    pub role: Role,
    /// Where it is in its section; idle for a server.
    pub phase: Phase,
    /// What it does there.
    pub access: Access,
    /// What its peer is for, if it talks to one.
    pub peer: Option<Role>,
    /// Before or after.
    pub edge: Edge,
}

impl Shape {
    /// The shape of a hit that was placed at a point.
    #[must_use]
    pub fn of(stage: &Stage, injection: &Injection) -> Option<Shape> {
        let When::Point { point, .. } = &injection.when else { return None };
        Some(Shape {
            fault: injection.fault.clone(),
            backwards: matches!(injection.action, Action::StepClock { by_ns } if by_ns < 0),
            role: stage.role(&point.host),
            phase: point.phase,
            access: point.access,
            peer: (!point.peer.is_empty()).then(|| stage.role(&point.peer)),
            edge: point.edge,
        })
    }
}

/// Placements with one shape that violate the same invariants.
#[derive(Clone, Debug)]
pub struct Way {
    /// Their shape.
    pub shape: Shape,
    /// The names of the invariants.
    pub violated: Vec<String>,
    /// The placements, in order.
    pub places: Vec<Place>,
}

/// Sorts violating placements into ways, in the order of hits and of steps.
pub(super) fn sort(found: impl Iterator<Item = (Shape, Place, Vec<String>)>) -> Vec<Way> {
    let mut ways: BTreeMap<(Shape, Vec<String>), Vec<Place>> = BTreeMap::new();
    for (shape, place, violated) in found {
        ways.entry((shape, violated)).or_default().push(place);
    }
    ways.into_iter().map(|((shape, violated), places)| Way { shape, violated, places }).collect()
}
