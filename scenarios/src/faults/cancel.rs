//! F17, a caller is cancelled within its acquire or its release: the future of the call is dropped where it stands, as a timeout
//! around it, a select or a task that is aborted does. The process lives on.
//!
//! The request of the call may be executed all the same, and nobody waits for the answer. A connection that is used again
//! may then hand the answer to whoever asks next (redis-py 4.5.3); a release that is cancelled may leave the lock.

use picklock_model::plan::{Access, Action, Injection, Phase, Target};
use picklock_sim::params;

use super::draw::{Draw, at};
use super::fault::{Fault, Hits};
use super::needs::always;
use super::params::{CLIENT, DURING, FOLLOWING, NTH, PEER, PHASE, SECTION, TIMES, any_section, no_time};
use super::site::{AtSite, Where, clients, here};

pub(super) const FAULT: Fault = Fault {
    name: "cancel",
    also: &[],
    number: "F17",
    doc: "a caller is cancelled within its acquire or its release",
    params: params![TIMES, PHASE, CLIENT, SECTION, NTH, PEER, DURING, FOLLOWING],
    from_points: true,
    last_section: any_section,
    applies: always,
    schedule,
    at_sites: &[AtSite {
        name: "cancel",
        doc: "a caller is cancelled within its acquire or its release",
        scenario: "cancel",
        at: Where::Process(clients),
        actions: |_, point| {
            let can = can_cancel(point.phase, point.access);
            can.then(|| (here(point), Action::Cancel)).into_iter().collect()
        },
    }],
    own_action: None,
    hits: Hits::Calls,
    lasts: no_time,
    served: &[],
};

/// True if a call can be cancelled at such a point of a section: from the moment when it is made, before anything is sent, to the
/// last of its steps. Reading a clock is no step of its own.
fn can_cancel(phase: Phase, access: Access) -> bool {
    matches!(phase, Phase::Acquire | Phase::Release) && access != Access::Clock
}

fn schedule(draw: &mut Draw<'_>) -> Vec<Injection> {
    let Some(point) = draw.process_point(|point| can_cancel(point.phase, point.access)) else {
        return Vec::new();
    };
    let client = Target::host(&*point.host);
    vec![draw.inject(at(point), client, Action::Cancel)]
}
