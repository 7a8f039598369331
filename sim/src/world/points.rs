//! Protocol points: where a lever can strike with meaning, counted per section, phase, access and peer.

use super::{Due, State};
use crate::base::ids::HostId;
use crate::plan::probe::PointSeen;
use crate::plan::{Access, Edge, Phase, Point, When};
use crate::trace::Role;

/// How often each access was passed in the present phase. A phase has few kinds, so a list beats a map.
#[derive(Default)]
pub(super) struct Passed(Vec<(Access, Option<HostId>, u32)>);

impl Passed {
    fn count(&mut self, access: Access, peer: Option<HostId>) -> &mut u32 {
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
    access: Access,
    peer: Option<HostId>,
    nth: u32,
    edge: Edge,
    injection: u32,
}

impl State {
    /// Puts the injections where they wait: on the agenda, or at the points of their hosts. One whose host or peer does
    /// not exist is dropped, which is what a shrunk plan without that client means.
    pub(super) fn arm_injections(&mut self) {
        for injection in 0..self.injections.len() as u32 {
            match self.injections[injection as usize].when.clone() {
                When::At { at_ns } => self.agenda.push(at_ns, Due::Lever { injection }),
                When::Point { point, .. } => self.arm(injection, &point),
            }
        }
    }

    fn arm(&mut self, injection: u32, point: &Point) {
        let index = |name: &str| self.names.iter().position(|known| known == name);
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

    /// The process is about to pass a point. What waits there strikes now.
    #[inline]
    pub(crate) fn before(&mut self, host: HostId, access: Access, peer: Option<HostId>) {
        if !self.process(host).armed.is_empty() {
            self.strike(host, access, peer, Edge::Before);
        }
    }

    /// The process has passed a point.
    #[inline]
    pub(crate) fn after(&mut self, host: HostId, access: Access, peer: Option<HostId>) {
        if self.points_seen.is_some() || !self.process(host).armed.is_empty() {
            self.count(host, access, peer);
        }
    }

    fn count(&mut self, host: HostId, access: Access, peer: Option<HostId>) {
        if self.points_seen.is_some() {
            self.see(host, access, peer);
        }
        self.strike(host, access, peer, Edge::After);
        *self.process(host).passed.count(access, peer) += 1;
    }

    fn strike(&mut self, host: HostId, access: Access, peer: Option<HostId>, edge: Edge) {
        let process = &mut self.processes[usize::from(host.0)];
        let (section, phase) = (process.section, process.phase);
        if !process.armed.iter().any(|armed| armed.section == section && armed.phase == phase) {
            return;
        }
        let nth = *process.passed.count(access, peer);
        let mut struck = Vec::new();
        process.armed.retain(|armed| {
            let here = armed.section == section
                && armed.phase == phase
                && armed.access == access
                && armed.peer == peer
                && armed.nth == nth
                && armed.edge == edge;
            if here {
                struck.push(armed.injection);
            }
            !here
        });
        for injection in struck {
            match self.injections[injection as usize].when {
                When::Point { after, .. } if !after.is_zero() => {
                    let at = self.local_now(host) + after;
                    self.agenda.push(at, Due::Lever { injection });
                }
                _ => self.pull(injection),
            }
        }
    }

    fn see(&mut self, host: HostId, access: Access, peer: Option<HostId>) {
        if self.role(host) != Role::Client {
            return;
        }
        let name = |host: HostId| self.names[usize::from(host.0)].clone();
        let at = self.local_now(host);
        let (host_name, peer_name) = (name(host), peer.map(name).unwrap_or_default());
        let process = &mut self.processes[usize::from(host.0)];
        if process.section == 0 {
            return;
        }
        let point = Point {
            host: host_name,
            section: process.section,
            phase: process.phase,
            access,
            peer: peer_name,
            nth: *process.passed.count(access, peer),
            edge: Edge::Before,
        };
        if let Some(seen) = &mut self.points_seen {
            seen.push(PointSeen { point, at });
        }
    }
}
