//! Injections that wait for injection points, and hit there.

use crate::world::points::*;
use crate::world::queue::Pending;
use crate::world::state::State;
use picklock_model::ids::HostId;
use picklock_model::plan::{Access, Edge, Point, When};
use picklock_model::points::{PointsToRecord, Reached};
use picklock_model::trace::Role;

impl State {
    /// Puts the injections where they wait: on the queue, or at the points of their hosts. One whose host or peer does
    /// not exist is dropped, which is what a shrunk plan without that client means.
    pub(in crate::world) fn arm_injections(&mut self) {
        for injection in 0..self.injections.len() as u32 {
            match self.injections[injection as usize].when.clone() {
                When::At { at_ns } => self.queue.push(at_ns, Pending::Action { injection }),
                When::Point { point, .. } => self.arm(injection, &point),
                When::With { .. } => {}
            }
        }
    }

    fn arm(&mut self, injection: u32, point: &Point) {
        let index = |name: &str| self.names.iter().position(|known| **known == *name);
        let Some(host) = index(&point.host) else { return };
        let peer = index(&point.peer).map(|index| HostId(index as u16));
        if peer.is_none() && !point.peer.is_empty() {
            return;
        }
        self.processes[host].armed.push(Armed {
            section: point.section,
            phase: point.phase,
            access: point.access,
            peer,
            nth: point.nth,
            edge: point.edge,
            injection,
        });
    }

    /// The process has reached a point. What waits there hits now.
    #[inline]
    pub(crate) fn before(&mut self, host: HostId, access: Access, peer: Option<HostId>) {
        if !self.process(host).armed.is_empty() {
            self.hit(host, access, peer, Edge::Before);
        }
    }

    /// The process has gone past a point.
    #[inline]
    pub(crate) fn after(&mut self, host: HostId, access: Access, peer: Option<HostId>) {
        if self.points_to_record != PointsToRecord::Nothing || !self.process(host).armed.is_empty() {
            self.count(host, access, peer);
        }
    }

    fn count(&mut self, host: HostId, access: Access, peer: Option<HostId>) {
        if self.points_to_record != PointsToRecord::Nothing {
            self.see(host, access, peer);
        }
        self.hit(host, access, peer, Edge::After);
        *self.process(host).accesses.count(access, peer) += 1;
    }

    fn hit(&mut self, host: HostId, access: Access, peer: Option<HostId>, edge: Edge) {
        let process = &mut self.processes[usize::from(host.0)];
        let (section, phase) = (process.section, process.phase);
        if !process.armed.iter().any(|armed| armed.section == section && armed.phase == phase) {
            return;
        }
        let nth = *process.accesses.count(access, peer);
        let mut hit = Vec::new();
        process.armed.retain(|armed| {
            let here = armed.section == section
                && armed.phase == phase
                && armed.access == access
                && armed.peer == peer
                && armed.nth == nth
                && armed.edge == edge;
            if here {
                hit.push(armed.injection);
            }
            !here
        });
        for injection in hit {
            match self.injections[injection as usize].when {
                When::Point { after, .. } if !after.is_zero() => {
                    let at = self.local_now(host) + after;
                    self.queue.push(at, Pending::Action { injection });
                }
                _ => self.apply(injection),
            }
        }
    }

    fn see(&mut self, host: HostId, access: Access, peer: Option<HostId>) {
        let client = self.role(host) == Role::Client;
        // No fault hits past the horizon, and a run for its points alone ends there.
        let is_past_the_horizon = self.ending.free.is_some();
        if is_past_the_horizon
            || self.is_final_client(usize::from(host.0))
            || !(client || self.points_to_record == PointsToRecord::Everything)
        {
            return;
        }
        let process = &mut self.processes[usize::from(host.0)];
        let (section, phase) = (process.section, process.phase);
        if client && section == 0 {
            return;
        }
        let nth = *process.accesses.count(access, peer);
        self.reached_points.push(Reached { host, section, phase, access, peer, nth });
    }
}
