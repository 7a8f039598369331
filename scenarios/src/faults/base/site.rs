//! Faults at one injection point: explorations try each of them everywhere, one fault at a time.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::plan::{Access, Action, Edge, Injection, Plan, Point, Target, When};
use picklock_model::trace::{HostInfo, Role};
use picklock_sim::design::Design;

/// A fault at one point.
#[derive(Debug)]
pub struct AtSite {
    /// Its name there: that of the fault, or, of a further one of the same fault, one of its other names.
    pub name: &'static str,
    /// Its effect, in one phrase.
    pub doc: &'static str,
    /// The scenario of the suite that draws the fault: what it may violate, the sites may as well.
    pub scenario: &'static str,
    /// The points at which it makes sense.
    pub at: Where,
    /// The fault actions that are applied there; none if the site makes no sense after all.
    pub actions: fn(&Stage, &Point) -> Vec<(Target, Action)>,
}

/// The points at which a fault makes sense.
#[derive(Debug)]
pub enum Where {
    /// Wherever a process of these is, before and after each access.
    Process(fn(Role) -> bool),
    /// As a process of these comes to an access: a little later is the next.
    Before(fn(Role) -> bool),
    /// As a client sends something.
    Request,
    /// As a message is sent, by whomever.
    Message,
    /// As a process sends or receives something.
    Link,
}

/// The common part of the sites of one design and plan.
pub struct Stage {
    roles: BTreeMap<String, Role>,
    /// A lease.
    pub ttl: Duration,
    /// How long faults last that do.
    pub lasts: Duration,
    /// The fault actions of the stores' own kind.
    own_actions: Vec<&'static str>,
    /// True if there is one server only.
    pub lone_store: bool,
}

impl Stage {
    /// The stage of a plan with these hosts; hits that last do so for this long.
    #[must_use]
    pub fn new(design: &Design, plan: &Plan, lasts: Duration, hosts: &[HostInfo]) -> Stage {
        let actions = design.store.iter().flat_map(|store| store.actions());
        let roles = hosts.iter().map(|host| (host.name.clone(), host.role)).collect();
        Stage {
            roles,
            ttl: plan.world.ttl,
            lasts,
            own_actions: actions.map(|action| action.name).collect(),
            lone_store: hosts.iter().filter(|host| servers(host.role)).count() == 1,
        }
    }

    /// The role of a host.
    #[must_use]
    pub fn role(&self, host: &str) -> Role {
        self.roles.get(host).copied().unwrap_or(Role::Client)
    }

    /// The members of the stores.
    #[must_use]
    pub fn servers(&self) -> Vec<String> {
        self.roles.iter().filter(|(_, role)| servers(**role)).map(|(host, _)| host.clone()).collect()
    }

    /// True if the stores have this action of their own.
    #[must_use]
    pub fn has(&self, action: &str) -> bool {
        self.own_actions.contains(&action)
    }
}

impl AtSite {
    /// All sites of this kind among the points that were reached, in that order.
    #[must_use]
    pub fn sites(&self, stage: &Stage, points: &[Point]) -> Vec<Injection> {
        let mut sites = Vec::new();
        for reached in points {
            for edge in self.at.edges(stage, reached) {
                let point = Point { edge: *edge, ..reached.clone() };
                for (target, action) in (self.actions)(stage, &point) {
                    let when = When::Point { point: point.clone(), after: Duration::ZERO };
                    sites.push(Injection { fault: self.name.to_owned(), when, target, action });
                }
            }
        }
        sites
    }
}

impl Where {
    fn edges(&self, stage: &Stage, point: &Point) -> &'static [Edge] {
        let role = stage.role(&point.host);
        let (fits, edges): (bool, &[Edge]) = match self {
            Where::Process(whose) => (whose(role), &[Edge::Before, Edge::After]),
            Where::Before(whose) => (whose(role), &[Edge::Before]),
            Where::Request => (role == Role::Client && point.access == Access::Write, &[Edge::Before]),
            Where::Message => (point.access == Access::Write, &[Edge::Before]),
            Where::Link => (!point.peer.is_empty(), &[Edge::Before]),
        };
        if fits { edges } else { &[] }
    }
}

/// The host at the point.
pub(crate) fn here(point: &Point) -> Target {
    Target::host(&*point.host)
}

/// Every process.
pub(crate) fn anybody(_: Role) -> bool {
    true
}

/// Clients.
pub(crate) fn clients(role: Role) -> bool {
    role == Role::Client
}

/// Members of stores.
pub(crate) fn servers(role: Role) -> bool {
    matches!(role, Role::Leader | Role::Follower | Role::Monitor | Role::Proxy | Role::Renewer)
}

/// Every process but the resource.
pub(crate) fn no_resource(role: Role) -> bool {
    role != Role::Resource
}
