//! The loads that speed is measured with: plans made by hand, always the same, with trace and invariants on.

mod calls;
mod floor;

use std::time::Duration;

use picklock_campaign::check::{Checked, check};
use picklock_model::ids::Key;
use picklock_model::plan::{ClientPlan, Latency, Plan, SectionPlan, Settings, WorldSpec};
use picklock_model::seed::Seed;
use picklock_model::trace::{Role, What};
use picklock_sim::design::{Design, spell};
use picklock_sim::engine::Engine;

pub(crate) use self::calls::Calls;
use self::floor::Floor;

/// The allocator of the program; it favours no side of a ratio.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// A load: one run that is repeated.
pub(crate) struct Load {
    design: Design,
    plan: Plan,
    /// The same commands with nothing around them, where there are but clients and stores.
    floor: Option<Floor>,
    /// How many requests a run's clients send to its stores. What a client sends in one piece, such as the handshake of
    /// a connection, counts as one.
    pub(crate) commands: usize,
}

/// How a load's clients spend their time.
struct Shape {
    design: &'static str,
    clients: u32,
    sections: u32,
    think: Duration,
    horizon: Duration,
    /// True if the design sends its release also to a store that has refused.
    releases_refusals: bool,
}

impl Load {
    /// Redlock on five nodes, three clients, 30 simulated seconds.
    pub(crate) fn standard() -> Load {
        Load::new(&Shape {
            design: "redlock",
            clients: 3,
            sections: 46,
            think: Duration::from_millis(550),
            horizon: Duration::from_secs(30),
            releases_refusals: true,
        })
    }

    /// One store, two clients, three simulated seconds: about what a run of a campaign is.
    pub(crate) fn small() -> Load {
        Load::small_of("single")
    }

    /// The small load of another design that has one store.
    pub(crate) fn small_of(design: &'static str) -> Load {
        Load::new(&Shape {
            design,
            clients: 2,
            sections: 35,
            think: Duration::from_millis(30),
            horizon: Duration::from_secs(3),
            releases_refusals: false,
        })
    }

    fn new(shape: &Shape) -> Load {
        let design = spell(picklock_impls::families(), shape.design).expect("the design comes with picklock");
        let plan = plan(shape);
        let trace = run(Engine::Event, &design, &plan).trace;
        let is = |host: picklock_model::ids::HostId, role| trace.hosts[usize::from(host.0)].role == role;
        let to_stores = |peer| is(peer, Role::Leader);
        let commands = trace
            .events
            .iter()
            .filter(|event| is(event.host, Role::Client))
            .filter(|event| matches!(event.what, What::Sent { peer, .. } if to_stores(peer)))
            .count();
        let granted = trace.events.iter().filter(|event| matches!(event.what, What::Created { .. })).count();
        // Beside single nodes of Redis alone.
        let is_redis = design.store.as_ref().is_some_and(|store| store.spec.name() == "redis");
        let floor = (is_redis && !design.topology.replicated)
            .then(|| Load::floor(shape, design.topology.stores as usize, commands, granted));
        Load { design, plan, floor, commands }
    }

    /// The floor under a run of so many commands, in which locks were granted so many times.
    fn floor(shape: &Shape, nodes: usize, commands: usize, granted: usize) -> Floor {
        let clients = shape.clients as usize;
        // Each connection begins with a handshake; each node is asked for a script in vain once, then given it.
        let tries = commands - clients * nodes - 2 * nodes;
        let refused = (tries - 2 * granted) / if shape.releases_refusals { 2 } else { 1 };
        Floor { clients, nodes, granted, refused, releases_refusals: shape.releases_refusals }
    }

    /// Makes the run on an engine and judges it. It stays a function of its own so that a profiler can count what is
    /// done inside it.
    #[inline(never)]
    pub(crate) fn run(&self, engine: Engine) -> Checked {
        run(engine, &self.design, &self.plan)
    }

    /// Sends as many commands of the same kinds to nodes that answer at once. Returns how many there were, counted as
    /// [`commands`](Load::commands) are; none if the load has other servers too.
    #[inline(never)]
    pub(crate) fn run_floor(&self) -> usize {
        self.floor.as_ref().map_or(0, Floor::run)
    }
}

fn run(engine: Engine, design: &Design, plan: &Plan) -> Checked {
    check(engine, design, plan.clone()).expect("the designs that come with picklock do not panic")
}

fn plan(shape: &Shape) -> Plan {
    let section = |client: u32, ordinal: u32| {
        // Not in step: the clients' rhythms differ by a few parts in a hundred.
        let think = shape.think + shape.think * client / 50;
        SectionPlan::new(ordinal, Key::new("stock"), think, Duration::from_millis(10))
    };
    let client = |client: u32| {
        ClientPlan::new(
            format!("client-{client}"),
            (1..=shape.sections).map(|ordinal| section(client, ordinal)).collect(),
        )
    };
    Plan {
        seed: Seed(1),
        network_seed: Seed(1),
        world: WorldSpec {
            ttl: Duration::from_secs(1),
            wait: Duration::from_secs(10),
            horizon: shape.horizon,
            decide: Duration::ZERO,
            latency: Latency { min: Duration::from_micros(200), max: Duration::from_millis(1) },
            tcp_timeout: Duration::from_secs(15),
            stock: 0,
            final_client: false,
            ready_order: picklock_model::plan::ReadyOrder::Woken,
            policy: picklock_model::plan::ClientPolicy::default(),
            store: Settings::default(),
        },
        workload: "contend".to_owned(),
        clients: (1..=shape.clients).map(client).collect(),
        choices: Vec::new(),
        injections: Vec::new(),
    }
}
