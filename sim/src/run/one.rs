//! One run: a design and a plan in, a trace out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::base::future::BoxFuture;
use crate::base::time::TrueTime;
use crate::contract::design::{Design, Seat};
use crate::contract::lock::{Belief, Client};
use crate::contract::store::{Member, ServerSeat, StoreKind};
use crate::controls::resource::{self, Resource};
use crate::engine::boot::Boot;
use crate::engine::{self, Engine};
use crate::host::Host;
use crate::plan::probe::Probe;
use crate::plan::{ClientPlan, Plan, Settings};
use crate::trace::{HostInfo, Role, Trace};
use crate::world::{Keeper, Wire, World};

/// What a client does with its lock; the same for every design.
pub type Workload = Arc<dyn Fn(ClientSeat) -> BoxFuture<'static, ()> + Send + Sync>;

/// What a workload's client is started with.
pub struct ClientSeat {
    /// Its host.
    pub host: Host,
    /// The design's client.
    pub client: Client,
    /// A client of the guarded resource.
    pub resource: Resource,
    /// What it is to do.
    pub plan: ClientPlan,
    /// How long a section waits for the lock, on the client's clock.
    pub wait: Duration,
    /// Whether it looks at the deadlines that come with its grants.
    pub belief: Belief,
}

/// What a run leaves behind.
pub struct Run {
    /// What happened.
    pub trace: Trace,
    /// The protocol points passed, if they were asked for.
    pub probe: Option<Probe>,
    /// What the segments to stores and from them said, as far as their kind can tell, if that was asked for.
    pub wire: Wire,
}

/// The code under test panicked.
#[derive(Debug, thiserror::Error)]
#[error("design `{design}` panicked under seed {seed}: {message}")]
pub struct Panicked {
    /// The design's spelling.
    pub design: String,
    /// The plan's seed.
    pub seed: u64,
    /// What it said.
    pub message: String,
}

/// Runs a plan against a design.
///
/// # Errors
/// When code of the design panics, which includes waiting on `tokio::time` instead of its [`Host`].
pub fn run(engine: Engine, design: &Design, plan: &Plan, workload: &Workload) -> Result<Run, Panicked> {
    execute(engine, design, plan, workload, Extras::default())
}

/// Runs a plan against a design and keeps what the segments to its stores and from them said: the same run otherwise.
///
/// # Errors
/// As [`run`].
pub fn run_keeping(
    engine: Engine,
    design: &Design,
    plan: &Plan,
    workload: &Workload,
) -> Result<Run, Panicked> {
    execute(engine, design, plan, workload, Extras { wire: true, ..Extras::default() })
}

/// Runs a plan against a design and notes the protocol points that its clients pass.
///
/// # Errors
/// As [`run`].
pub fn probe(design: &Design, plan: &Plan, workload: &Workload) -> Result<Run, Panicked> {
    execute(Engine::Event, design, plan, workload, Extras { points: true, ..Extras::default() })
}

/// What is noted of a run besides what happens.
#[derive(Clone, Copy, Default)]
struct Extras {
    /// The protocol points that clients pass.
    points: bool,
    /// What segments say.
    wire: bool,
}

fn execute(
    engine: Engine,
    design: &Design,
    plan: &Plan,
    workload: &Workload,
    extras: Extras,
) -> Result<Run, Panicked> {
    let (hosts, boots): (Vec<HostInfo>, Vec<Boot>) = cast(design, plan, workload).into_iter().unzip();
    let keeper = design.kind.as_ref().filter(|_| extras.wire).map(keeper_of);
    let world = Arc::new(World::new(plan, hosts.clone(), extras.points, keeper));
    let horizon = TrueTime(0) + plan.world.horizon;
    let finished = catch_unwind(AssertUnwindSafe(|| match engine {
        Engine::Event => engine::event::run(&world, &boots, horizon),
        Engine::Turmoil { idle_skip } => engine::turmoil::run(&world, &boots, horizon, idle_skip),
    }));
    finished.map_err(|panic| Panicked {
        design: design.name.to_string(),
        seed: plan.seed.0,
        message: panic_text(panic.as_ref()),
    })?;
    let mut state = world.state();
    state.heal_all();
    let end = state.now;
    let points = state.take_points();
    let (events, digest) = std::mem::take(&mut state.log).finish();
    let remains = state.dissolve();
    drop(state);
    drop(remains);
    let trace = Trace {
        hosts,
        belief: design.belief,
        quorum: design.topology.quorum(),
        ttl: plan.world.ttl,
        progress_bound: progress_bound(design, plan),
        end,
        faults: plan.injections.iter().map(|injection| injection.fault.clone()).collect(),
        events,
        digest,
    };
    let wire = world.keeper.as_ref().map(Keeper::take).unwrap_or_default();
    Ok(Run { trace, probe: extras.points.then_some(Probe { points, end }), wire })
}

/// Keeps what goes to members of this kind and comes from them. What the resource is told is in the trace anyway.
fn keeper_of(kind: &Arc<dyn StoreKind>) -> Keeper {
    let kind = Arc::clone(kind);
    Keeper::new(Arc::new(move |role, request, bytes| match role {
        Role::Store | Role::Replica | Role::Watcher => kind.decode(role, request, bytes),
        Role::Client | Role::Resource => None,
    }))
}

/// `TTL + retry + failover + delay` of invariant I5: the leases that must run out, the time that the stores may take to
/// recover (until they are whole again, if the design needs a replica), and a second for connecting, retrying and the slowest
/// messages. Without a lock a turn is a change that was made, and work comes before it: twice, because what was under way
/// when somebody else made a change is done again.
fn progress_bound(design: &Design, plan: &Plan) -> Duration {
    let recovery = design.kind.as_ref().map_or(Duration::ZERO, |kind| {
        kind.recovery_time(design.topology, &design.settings(&plan.world), design.needs_replicas)
    });
    let work = if design.belief == Belief::None { 2 * longest_work(plan) } else { Duration::ZERO };
    plan.world.ttl * design.leases_to_recover + recovery + work + Duration::from_secs(1)
}

fn longest_work(plan: &Plan) -> Duration {
    let sections = plan.clients.iter().flat_map(|client| &client.sections);
    sections.map(|section| section.work).max().unwrap_or_default()
}

/// All hosts of a run with their programs: the resource, the servers, the clients.
fn cast(design: &Design, plan: &Plan, workload: &Workload) -> Vec<(HostInfo, Boot)> {
    let mut cast: Vec<(HostInfo, Boot)> = Vec::new();
    let stock = plan.world.stock;
    let program: Boot = Arc::new(move |host| Box::pin(resource::serve(host, stock)));
    cast.push((HostInfo::new(resource::HOST, Role::Resource), program));
    if let Some(kind) = &design.kind {
        let settings = design.settings(&plan.world);
        let members = design.members(&plan.world);
        for member in &members {
            let of_its_store = members.iter().filter(|other| other.store == member.store).cloned().collect();
            cast.push((
                HostInfo { name: member.name.clone(), role: member.role, store: member.store },
                server_program(kind, member, of_its_store, &settings),
            ));
        }
    }
    for client in &plan.clients {
        let info = HostInfo::new(&client.name, Role::Client);
        cast.push((info, client_program(design, plan, client, workload)));
    }
    cast
}

fn server_program(
    kind: &Arc<dyn StoreKind>,
    member: &Member,
    members: Vec<Member>,
    settings: &Settings,
) -> Boot {
    let (kind, member, settings) = (Arc::clone(kind), member.clone(), settings.clone());
    Arc::new(move |host| {
        let (member, members, settings) = (member.clone(), members.clone(), settings.clone());
        kind.serve(ServerSeat { host, member, members, settings })
    })
}

fn client_program(design: &Design, plan: &Plan, client: &ClientPlan, workload: &Workload) -> Boot {
    let (connect, workload, client) = (Arc::clone(&design.client), Arc::clone(workload), client.clone());
    let (ttl, wait, stores) = (plan.world.ttl, plan.world.wait, design.addresses(&plan.world));
    let belief = design.belief;
    Arc::new(move |host| {
        let (connect, workload, plan) = (Arc::clone(&connect), Arc::clone(&workload), client.clone());
        let seat = Seat { host: host.clone(), ttl, stores: stores.clone() };
        Box::pin(async move {
            let client = loop {
                match connect(seat.clone()).await {
                    Ok(client) => break client,
                    Err(_) => host.sleep(ttl / 10).await,
                }
            };
            let resource = Resource::new(host.clone(), 2 * ttl);
            workload(ClientSeat { host, client, resource, plan, wait, belief }).await;
        })
    })
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
