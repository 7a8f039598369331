//! The source from which a fault draws a hit: its parameters, a random stream of its own, and the setting of the run.

use std::time::Duration;

use picklock_model::plan::{
    Access, Action, ClientPlan, Edge, Injection, Phase, Plan, Point, Target, When, WorldSpec,
};
use picklock_model::points::{Points, Reached};
use picklock_model::seed::Stream;
use picklock_model::time::TrueTime;
use picklock_model::trace::Role;
use picklock_sim::design::Design;
use picklock_sim::resource;
use picklock_sim::store::{Member, Topology};

use super::drawn::Drawn;
use super::params::{LINKS, Place, permits};
use picklock_sim::param::{Args, Param};

/// How often, in a hundred, a hit is placed at a poll where it could be placed elsewhere: polls are many, and a
/// hit between two of them finds little that one at an access does not.
const POLL_PERCENT: u64 = 5;

/// The setting that all faults of one plan share.
#[derive(Debug)]
pub struct Setting<'a> {
    world: &'a WorldSpec,
    clients: &'a [ClientPlan],
    topology: Topology,
    /// True if clients have no link to the resource, or do not use it.
    own_data: bool,
    servers: Vec<Member>,
    /// The points of the probe run, if one was made.
    probe: Option<&'a Points>,
    /// The points that clients reached in it, one group for each section, by client and ordinal; those between sections are
    /// left out.
    reached: Vec<Vec<Reached>>,
}

impl<'a> Setting<'a> {
    /// The setting of a fault-free plan and of the points of its probe run.
    #[must_use]
    pub fn new(calm: &'a Plan, design: &Design, probe: Option<&'a Points>) -> Setting<'a> {
        Setting {
            world: &calm.world,
            clients: &calm.clients,
            topology: design.topology,
            own_data: design.own_data || design.autonomous,
            servers: design.members(&design.settings(&calm.world)),
            probe,
            reached: probe.map(by_section).unwrap_or_default(),
        }
    }
}

fn by_section(probe: &Points) -> Vec<Vec<Reached>> {
    let mut sections: Vec<Vec<Reached>> = Vec::new();
    for point in probe.reached().iter().filter(|point| point.phase != Phase::Idle) {
        // Few sections are under way at a time, and those are the newest.
        match sections.iter_mut().rev().find(|section| section[0].is_beside(point)) {
            Some(section) => section.push(*point),
            None => sections.push(vec![*point]),
        }
    }
    sections.sort_by_key(|section| (probe.host(&section[0]), section[0].section));
    sections
}

/// One hit being drawn.
#[derive(Debug)]
pub struct Draw<'a> {
    fault: &'static str,
    args: &'a Args,
    rng: Stream,
    setting: &'a Setting<'a>,
}

impl<'a> Draw<'a> {
    /// A hit of the fault of this name with these parameters, drawn from this stream.
    #[must_use]
    pub fn new(fault: &'static str, args: &'a Args, rng: Stream, setting: &'a Setting<'a>) -> Draw<'a> {
        Draw { fault, args, rng, setting }
    }

    /// An injection of this fault.
    #[must_use]
    pub fn inject(&self, when: When, target: Target, action: Action) -> Injection {
        Injection { fault: self.fault.to_owned(), when, target, action }
    }

    /// The stream of this hit.
    pub fn rng(&mut self) -> &mut Stream {
        &mut self.rng
    }

    /// The world of the run.
    #[must_use]
    pub fn world(&self) -> &'a WorldSpec {
        self.setting.world
    }

    /// The design's servers.
    #[must_use]
    pub fn topology(&self) -> Topology {
        self.setting.topology
    }

    /// When the fault-free run ended.
    #[must_use]
    pub fn fault_free_end(&self) -> TrueTime {
        self.setting.probe.map_or(TrueTime(0), |probe| probe.end)
    }

    /// The names of the clients.
    #[must_use]
    pub fn clients(&self) -> Vec<String> {
        self.setting.clients.iter().map(|client| client.name.clone()).collect()
    }

    /// The sections of all clients, by client and ordinal.
    #[must_use]
    pub fn sections(&self) -> Vec<(&'a str, u32)> {
        let of = |client: &'a ClientPlan| {
            client.sections.iter().map(|section| (client.name.as_str(), section.ordinal))
        };
        self.setting.clients.iter().flat_map(of).collect()
    }

    /// Hosts of servers whose role is accepted, in order.
    pub fn servers(&self, accept: impl Fn(Role) -> bool) -> Vec<String> {
        let of_role = self.setting.servers.iter().filter(|member| accept(member.role));
        of_role.map(|member| member.name.clone()).collect()
    }

    /// All servers that cannot lead in the place of the first leader, or be it: where a store has several leaders, those of its other
    /// groups are among them.
    #[must_use]
    pub fn servers_beside_leader(&self) -> Vec<String> {
        let servers = &self.setting.servers;
        let leader = servers.iter().find(|member| member.role == Role::Leader);
        let is_of_another_group = |member: &Member| {
            leader.is_some_and(|leader| member.store == leader.store && member.group != leader.group)
        };
        let others =
            servers.iter().filter(|member| member.role != Role::Leader || is_of_another_group(member));
        others.map(|member| member.name.clone()).collect()
    }

    /// The replicas of the stores whose first primaries these are.
    #[must_use]
    pub fn replicas_of(&self, primaries: &[String]) -> Vec<String> {
        let servers = &self.setting.servers;
        let stores: Vec<u32> = servers
            .iter()
            .filter(|member| primaries.contains(&member.name))
            .map(|member| member.store)
            .collect();
        let replicas = servers.iter().filter(|member| member.role == Role::Follower);
        replicas.filter(|member| stores.contains(&member.store)).map(|member| member.name.clone()).collect()
    }

    /// The stores that take writes from the start.
    #[must_use]
    pub fn stores(&self) -> Vec<String> {
        self.servers(|role| role == Role::Leader)
    }

    /// The hosts that a client talks to, as far as the parameter `links` permits.
    #[must_use]
    pub fn permitted_peers(&self) -> Vec<String> {
        let links = self.args.get(LINKS);
        let mut peers = self.servers(|_| true);
        if !self.setting.own_data {
            peers.push(resource::HOST.to_owned());
        }
        peers.retain(|peer| permits(links, peer));
        peers
    }

    /// The parameters of the fault as they stand, without a draw.
    #[must_use]
    pub fn args(&self) -> &'a Args {
        self.args
    }

    /// The value of a parameter, drawn where it leaves something open.
    pub fn get<K: Drawn>(&mut self, param: Param<K>) -> K::Drawn {
        K::draw(self.args.get(param), &mut self.rng, self.setting.world.ttl, self.setting.topology)
    }

    /// `count` of the hosts, drawn uniformly, in their order; all of them if there are fewer.
    pub fn some(&mut self, mut hosts: Vec<String>, count: usize) -> Vec<String> {
        self.rng.shuffle(&mut hosts);
        hosts.truncate(count);
        hosts.sort_unstable();
        hosts
    }

    /// A non-empty part of the hosts, each such part as likely as any other; empty only if there are no hosts.
    pub fn any_part(&mut self, hosts: Vec<String>) -> Vec<String> {
        loop {
            let bits: Vec<bool> = hosts.iter().map(|_| self.rng.percent(50)).collect();
            if hosts.is_empty() || bits.contains(&true) {
                return hosts
                    .into_iter()
                    .zip(bits)
                    .filter_map(|(host, taken)| taken.then_some(host))
                    .collect();
            }
        }
    }

    /// An instant of the fault-free run, uniformly.
    pub fn instant(&mut self) -> TrueTime {
        TrueTime(self.rng.below(self.fault_free_end().0.saturating_add(1).max(1)))
    }

    /// One of the points that clients reached in the probe run, among those that fit.
    ///
    /// Drawn in steps, each uniform among what fits: a section, a phase, a kind of access, a point. So a rare kind of
    /// place is hit as often as one that is reached a hundred times. The edge is the one before.
    pub fn point(&mut self, fits: impl Fn(&Reached) -> bool) -> Option<Point> {
        let setting = self.setting;
        let probe = setting.probe?;
        let place = Place::of(self.args, probe, &setting.servers);
        let fits = |point: &Reached| fits(point) && place.has(point);
        let sections: Vec<&Vec<Reached>> =
            setting.reached.iter().filter(|points| points.iter().any(fits)).collect();
        let section: Vec<Reached> =
            self.rng.pick(&sections)?.iter().copied().filter(|point| fits(point)).collect();
        let phase = *self.rng.pick(&distinct(section.iter().map(|point| point.phase)))?;
        let in_phase: Vec<Reached> = section.into_iter().filter(|point| point.phase == phase).collect();
        let access = self.access(&in_phase)?;
        let places: Vec<Reached> = in_phase.into_iter().filter(|point| point.access == access).collect();
        self.rng.pick(&places).map(|point| probe.point(point))
    }

    fn access(&mut self, points: &[Reached]) -> Option<Access> {
        let mut kinds = distinct(points.iter().map(|point| point.access));
        let at_poll = self.rng.percent(POLL_PERCENT);
        if kinds.len() > 1 && kinds.contains(&Access::Poll) {
            if at_poll {
                return Some(Access::Poll);
            }
            kinds.retain(|kind| *kind != Access::Poll);
        }
        self.rng.pick(&kinds).copied()
    }

    /// A point of a client's process: any that fits, before or after the access.
    pub fn process_point(&mut self, fits: impl Fn(&Reached) -> bool) -> Option<Point> {
        let mut point = self.point(fits)?;
        if self.rng.percent(50) {
            point.edge = Edge::After;
        }
        Some(point)
    }

    /// The beginning of one of these phases in one of the sections.
    pub fn entry(&mut self, phases: &[Phase]) -> Option<Point> {
        self.point(|point| point.access == Access::Enter && phases.contains(&point.phase))
    }

    /// The moment at which a client sends a message over a link that `links` permits.
    pub fn send(&mut self) -> Option<Point> {
        self.send_over(self.args.get(LINKS))
    }

    /// The moment at which a client sends a message to a server of its lock.
    pub fn send_to_store(&mut self) -> Option<Point> {
        self.send_over("lock")
    }

    fn send_over(&mut self, links: &str) -> Option<Point> {
        let probe = self.setting.probe?;
        self.point(|point| point.access == Access::Write && permits(links, probe.peer(point)))
    }
}

/// Right at a point.
pub(crate) fn at(point: Point) -> When {
    When::Point { point, after: Duration::ZERO }
}

fn distinct<T: Ord>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut items: Vec<T> = items.collect();
    items.sort_unstable();
    items.dedup();
    items
}
