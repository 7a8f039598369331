//! The points of a run: the injection points that it reached, so that faults can hit there.
//!
//! A run reaches thousands of them, and a fault wants one or two. So they are noted by the numbers of their hosts, and made
//! [points](Point) of, with names that hold in another run as well, when somebody asks for them.

use std::sync::Arc;

use crate::ids::HostId;
use crate::plan::{Access, Edge, Phase, Point};
use crate::time::TrueTime;

/// The points that processes reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Points {
    /// The names of the hosts.
    hosts: Vec<Arc<str>>,
    reached: Vec<Reached>,
    /// The end of the run.
    pub end: TrueTime,
}

/// The points of a run that are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PointsToRecord {
    /// None.
    #[default]
    Nothing,
    /// Those that clients reach within their sections: faults are drawn from them.
    Sections,
    /// Also those of servers and of the resource, which have no sections: theirs is 0, and their phase idle.
    Everything,
}

/// One point that was reached, as its [`Points`] notes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reached {
    /// The process that reached it.
    pub host: HostId,
    /// The ordinal of the client's section; 0 at a server.
    pub section: u32,
    /// Where in the section.
    pub phase: Phase,
    /// The access of the process there.
    pub access: Access,
    /// The host at the other end of what it did there, if there is one.
    pub peer: Option<HostId>,
    /// Which one of several, from 0.
    pub nth: u32,
}

impl Reached {
    /// True if both were reached in the same section of the same client.
    #[must_use]
    pub fn is_beside(&self, other: &Reached) -> bool {
        self.section == other.section && self.host == other.host
    }
}

impl Points {
    /// The points of a run that ended at `end`; their numbers are places in `hosts`.
    #[must_use]
    pub fn new(hosts: Vec<Arc<str>>, reached: Vec<Reached>, end: TrueTime) -> Points {
        Points { hosts, reached, end }
    }

    /// The record of a run that reached these points.
    #[must_use]
    pub fn of(points: impl IntoIterator<Item = Point>, end: TrueTime) -> Points {
        let mut probe = Points { end, ..Points::default() };
        for Point { host, section, phase, access, peer, nth, edge: _ } in points {
            let host = probe.number(host);
            let peer = (!peer.is_empty()).then(|| probe.number(peer));
            probe.reached.push(Reached { host, section, phase, access, peer, nth });
        }
        probe
    }

    fn number(&mut self, name: Arc<str>) -> HostId {
        let at = self.hosts.iter().position(|known| *known == name).unwrap_or_else(|| {
            self.hosts.push(name);
            self.hosts.len() - 1
        });
        HostId(at as u16)
    }

    /// The points that were reached, in that order.
    #[must_use]
    pub fn reached(&self) -> &[Reached] {
        &self.reached
    }

    /// The name of the host that reached it.
    #[must_use]
    pub fn host(&self, reached: &Reached) -> &Arc<str> {
        &self.hosts[usize::from(reached.host.0)]
    }

    /// The name of the host that it talked to there; empty if to none.
    #[must_use]
    pub fn peer(&self, reached: &Reached) -> &str {
        reached.peer.map_or("", |peer| &self.hosts[usize::from(peer.0)])
    }

    /// The place in a process's life that this is, before the access.
    #[must_use]
    pub fn point(&self, reached: &Reached) -> Point {
        let Reached { section, phase, access, nth, .. } = *reached;
        let peer =
            reached.peer.map_or_else(Arc::default, |peer| Arc::clone(&self.hosts[usize::from(peer.0)]));
        Point { host: Arc::clone(self.host(reached)), section, phase, access, peer, nth, edge: Edge::Before }
    }
}
