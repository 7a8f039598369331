//! The kinds of strikes that can be placed: where each makes sense, and which lever it pulls there.

use std::collections::BTreeMap;
use std::time::Duration;

use picklock_model::plan::{Access, Edge, Injection, Lever, Plan, Point, Target, When};
use picklock_model::time::nanos;
use picklock_model::trace::{HostInfo, Role};
use picklock_sim::design::Design;
use picklock_sim::resource;

use picklock_scenarios::faults;

/// A kind of strike.
pub struct Strike {
    /// Its name, as `--fault` spells it: that of the fault of scenarios that pulls the same lever, where there is one.
    pub name: &'static str,
    /// What happens, in one phrase.
    pub doc: &'static str,
    at: Where,
    pull: fn(&Stage, &Point) -> Vec<(Target, Lever)>,
}

/// The points at which a strike makes sense.
enum Where {
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

/// All kinds of strikes.
pub const ALL: &[Strike] = &[
    Strike {
        name: "pause",
        doc: "a process stops, of a client, a server or the resource; its clocks go on",
        at: Where::Process(anybody),
        pull: |stage, point| vec![(here(point), Lever::Pause { lasts: stage.lasts })],
    },
    Strike {
        name: "suspend",
        doc: "a process stops and its monotonic clock with it",
        at: Where::Process(anybody),
        pull: |stage, point| vec![(here(point), Lever::Suspend { lasts: stage.lasts })],
    },
    Strike {
        name: "stall",
        doc: "a critical section stops; its client's background tasks go on",
        at: Where::Process(clients),
        pull: |stage, point| vec![(here(point), Lever::Stall { lasts: stage.lasts })],
    },
    Strike {
        name: "crash",
        doc: "a client or a server dies for good; not the only server, without which there is no lock",
        at: Where::Process(no_resource),
        pull: |stage, point| {
            let lone = stage.lone_store && stage.role(&point.host) == Role::Store;
            let dies = || (here(point), Lever::Crash { power_loss: false, restart_after: None });
            (!lone).then(dies).into_iter().collect()
        },
    },
    Strike {
        name: "restart",
        doc: "a server loses its power and is started anew after a twentieth of a lease",
        at: Where::Process(servers),
        pull: |stage, point| {
            let restart_after = Some(stage.ttl / 20);
            vec![(here(point), Lever::Crash { power_loss: true, restart_after })]
        },
    },
    Strike {
        name: "delay",
        doc: "a message is late, and what follows it on its connection",
        at: Where::Message,
        pull: |stage, point| {
            let (to, by) = (Target::host(&*point.peer), stage.lasts);
            vec![(here(point), Lever::Delay { to, by, lasts: stage.ttl, messages: Some(1) })]
        },
    },
    Strike {
        name: "lost-request",
        doc: "a request is lost with its connection, and not executed",
        at: Where::Request,
        pull: |_, point| vec![(here(point), Lever::LoseRequest { to: Target::host(&*point.peer) })],
    },
    Strike {
        name: "lost-reply",
        doc: "a request is executed, and its connection dies before the reply",
        at: Where::Request,
        pull: |_, point| vec![(here(point), Lever::LoseReply { from: Target::host(&*point.peer) })],
    },
    Strike {
        name: "error-reply",
        doc: "a store refuses a request with an error",
        at: Where::Request,
        pull: |stage, point| {
            let store = stage.answers_with_errors && *point.peer != *resource::HOST;
            let lever = || Lever::Own { name: "error-reply".to_owned(), count: 1 };
            store.then(|| (Target::host(&*point.peer), lever())).into_iter().collect()
        },
    },
    Strike {
        name: "cut",
        doc: "one link is cut in both directions",
        at: Where::Link,
        pull: |stage, point| {
            let to = Target::host(&*point.peer);
            vec![(here(point), Lever::Cut { to, both: true, lasts: stage.lasts })]
        },
    },
    Strike {
        name: "cancel",
        doc: "a caller is cancelled within its acquire or its release",
        at: Where::Process(clients),
        pull: |_, point| {
            faults::can_cancel(point.phase, point.access)
                .then(|| (here(point), Lever::Cancel))
                .into_iter()
                .collect()
        },
    },
    Strike {
        name: "clock-step",
        doc: "the wall clock of a client or a server jumps, forwards or backwards",
        at: Where::Before(no_resource),
        pull: |stage, point| {
            let by = i64::try_from(nanos(stage.lasts)).unwrap_or(i64::MAX);
            [by, -by].map(|by_ns| (here(point), Lever::StepClock { by_ns })).to_vec()
        },
    },
];

/// A kind of strike by its name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Strike> {
    ALL.iter().find(|strike| strike.name == name)
}

/// The kind of strike that pulls the lever of a scenario's fault.
#[must_use]
pub fn like(fault: &str) -> Option<&'static Strike> {
    named(match fault {
        "client-crash" => "crash",
        "node-restart" => "restart",
        "partition" => "cut",
        same => same,
    })
}

/// What placements of one design and plan have in common.
pub struct Stage {
    roles: BTreeMap<String, Role>,
    ttl: Duration,
    lasts: Duration,
    answers_with_errors: bool,
    lone_store: bool,
}

impl Stage {
    /// The stage of a plan with these hosts; strikes that last do so for this long.
    #[must_use]
    pub fn new(design: &Design, plan: &Plan, lasts: Duration, hosts: &[HostInfo]) -> Stage {
        let mut levers = design.store.iter().flat_map(|store| store.levers());
        let answers_with_errors = levers.any(|lever| lever.name == "error-reply");
        let roles = hosts.iter().map(|host| (host.name.clone(), host.role)).collect();
        Stage {
            roles,
            ttl: plan.world.ttl,
            lasts,
            answers_with_errors,
            lone_store: hosts.iter().filter(|host| servers(host.role)).count() == 1,
        }
    }

    /// What a host is for.
    #[must_use]
    pub fn role(&self, host: &str) -> Role {
        self.roles.get(host).copied().unwrap_or(Role::Client)
    }
}

impl Strike {
    /// All placements of this kind among points that were passed, in the order of passing.
    #[must_use]
    pub fn placements(&self, stage: &Stage, points: &[Point]) -> Vec<Injection> {
        let mut placements = Vec::new();
        for passed in points {
            for edge in self.at.edges(stage, passed) {
                let point = Point { edge: *edge, ..passed.clone() };
                for (target, lever) in (self.pull)(stage, &point) {
                    let when = When::Point { point: point.clone(), after: Duration::ZERO };
                    placements.push(Injection { fault: self.name.to_owned(), when, target, lever });
                }
            }
        }
        placements
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

fn here(point: &Point) -> Target {
    Target::host(&*point.host)
}

fn anybody(_: Role) -> bool {
    true
}

fn clients(role: Role) -> bool {
    role == Role::Client
}

fn servers(role: Role) -> bool {
    matches!(role, Role::Store | Role::Replica | Role::Watcher)
}

fn no_resource(role: Role) -> bool {
    role != Role::Resource
}
