//! Injection points: where a fault action can hit with meaning, counted per section, phase, access and peer.

use picklock_model::ids::HostId;
use picklock_model::plan::{Access, Edge, Phase};

/// The number of times that each access was reached in the present phase. A phase has few kinds, so a list beats a map.
#[derive(Default)]
pub(super) struct AccessCounts(Vec<(Access, Option<HostId>, u32)>);

impl AccessCounts {
    pub(super) fn count(&mut self, access: Access, peer: Option<HostId>) -> &mut u32 {
        let at = match self.0.iter().position(|(a, p, _)| *a == access && *p == peer) {
            Some(at) => at,
            None => {
                self.0.push((access, peer, 0));
                self.0.len() - 1
            }
        };
        &mut self.0[at].2
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

/// An injection that waits for a point of a host.
pub(super) struct Armed {
    pub(super) section: u32,
    pub(super) phase: Phase,
    pub(super) access: Access,
    pub(super) peer: Option<HostId>,
    pub(super) nth: u32,
    pub(super) edge: Edge,
    pub(super) injection: u32,
}
