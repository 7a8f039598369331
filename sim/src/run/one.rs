//! One run: a design and a plan in, a trace out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use crate::base::future::BoxFuture;
use crate::contract::design::{Design, Seat};
use crate::contract::lock::{Belief, Client};
use crate::contract::store::{Member, ServerSeat, StoreKind};
use crate::controls::resource::{self, Resource};
use crate::engine::boot::Boot;
use crate::engine::{self, Engine};
use crate::host::Host;
use crate::host::outside::Unfit;
use crate::world::{Keeper, Wire, World};
use picklock_model::ids::{HostId, Key};
use picklock_model::plan::{ClientPlan, Habits, Plan, SectionPlan, Settings};
use picklock_model::probe::{Probe, Seeing};
use picklock_model::trace::{Condition, Conditions, HostInfo, Latecomer, Role, Trace};

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
    /// Whether its reads carry the fencing token too.
    pub fences_reads: bool,
    /// What it does with what its lock tells it.
    pub habits: Habits,
    /// True if the guarded data lie in the design's own store: its lock changes them, and the resource is not used.
    pub own_data: bool,
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

/// The code under test panicked, or gave up.
#[derive(Debug, thiserror::Error)]
#[error("design `{design}` {} under seed {seed}: {message}", if *.unfit { "cannot be tested" } else { "panicked" })]
pub struct Panicked {
    /// The design's spelling.
    pub design: String,
    /// The plan's seed.
    pub seed: u64,
    /// What it said.
    pub message: String,
    /// True if it [gave up](Host::give_up): what was to be tested does not do its part.
    pub unfit: bool,
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

/// Runs a plan against a design and notes the protocol points that are passed.
///
/// # Errors
/// As [`run`].
pub fn probe(design: &Design, plan: &Plan, workload: &Workload, seeing: Seeing) -> Result<Run, Panicked> {
    execute(Engine::Event, design, plan, workload, Extras { seeing, ..Extras::default() })
}

/// Runs a plan as far as faults could strike, for the points that it passes: the fresh client at the end does not come,
/// nothing is recorded, and watchers rest where the design lets them. If no fault strikes after `last_section` of a client, the
/// run is over when all clients are past it.
///
/// # Errors
/// As [`run`].
pub fn scout(
    design: &Design,
    plan: &Plan,
    workload: &Workload,
    last_section: Option<u32>,
) -> Result<Probe, Panicked> {
    let extras = Extras { seeing: Seeing::Sections, shortened: true, last_section, ..Extras::default() };
    let run = execute(Engine::Event, design, plan, workload, extras)?;
    Ok(run.probe.unwrap_or_default())
}

/// What is noted of a run besides what happens.
#[derive(Clone, Copy, Default)]
struct Extras {
    /// The protocol points that are passed.
    seeing: Seeing,
    /// What segments say.
    wire: bool,
    /// Without the fresh client at the end, a record, or watchers that nobody needs: for the points alone.
    shortened: bool,
    /// And so not beyond this section of each client.
    last_section: Option<u32>,
}

fn execute(
    engine: Engine,
    design: &Design,
    plan: &Plan,
    workload: &Workload,
    extras: Extras,
) -> Result<Run, Panicked> {
    let watchers_rest = extras.shortened && design.lets_watchers_rest();
    let (hosts, boots): (Vec<HostInfo>, Vec<Boot>) =
        cast(design, plan, workload, watchers_rest).into_iter().unzip();
    let keeper = design.kind.as_ref().filter(|_| extras.wire).map(keeper_of);
    let world = Arc::new(World::new(plan, hosts.clone(), extras.seeing, keeper));
    let (bound, detour) = (progress_bound(design, plan), detour(design, plan));
    let survives = survives(design);
    let latecomer = plan.world.latecomer.then(|| HostId(hosts.len() as u16 - 1));
    if let Some(host) = latecomer {
        let keys = keys(plan).len().min(KEYS_AT_THE_END) as u32;
        let span = keys * (asking(bound + detour) + 4 * plan.world.ttl);
        world.state().expect_latecomer(host, span, survives);
    }
    if extras.shortened {
        let mut state = world.state();
        state.end_without_latecomer(extras.last_section);
        state.record_nothing();
    }
    let finished = catch_unwind(AssertUnwindSafe(|| match engine {
        Engine::Event => engine::event::run(&world, &boots),
        Engine::Turmoil { idle_skip } => engine::turmoil::run(&world, &boots, idle_skip),
    }));
    finished.map_err(|panic| Panicked {
        design: design.name.to_string(),
        seed: plan.seed.0,
        unfit: panic.is::<Unfit>(),
        message: panic_text(panic.as_ref()),
    })?;
    let mut state = world.state();
    state.heal_all();
    let end = state.now;
    let (came, strikes, outages) = (state.ending.came, state.take_strikes(), state.take_outages());
    let attempts = std::mem::take(&mut state.attempts);
    let (names, passed) = state.take_points();
    let (events, digest) = std::mem::take(&mut state.log).finish();
    let remains = state.dissolve();
    drop(state);
    drop(remains);
    let trace = Trace {
        hosts,
        belief: if plan.world.habits.heedless { heedless(design.belief) } else { design.belief },
        exclusion: design.exclusion,
        reentrant: design.reentrant,
        quorum: design.topology.quorum(),
        ttl: plan.world.ttl,
        progress_bound: bound,
        survives,
        detour,
        end,
        faults: plan.injections.iter().map(|injection| injection.fault.clone()).collect(),
        events,
        digest,
        latecomer: latecomer.map(|host| Latecomer { host, came }),
        strikes,
        outages,
        attempts,
    };
    let wire = world.keeper.as_ref().map(Keeper::take).unwrap_or_default();
    let probed = extras.seeing != Seeing::Nothing;
    let probe = probed.then(|| Probe::new(names, passed, came.unwrap_or(end)));
    Ok(Run { trace, probe, wire })
}

/// Whoever does not heed what it is told believes until it releases.
fn heedless(belief: Belief) -> Belief {
    if belief == Belief::None { belief } else { Belief::Naive }
}

/// Keeps what goes to members of this kind and comes from them. What the resource is told is in the trace anyway.
fn keeper_of(kind: &Arc<dyn StoreKind>) -> Keeper {
    let kind = Arc::clone(kind);
    Keeper::new(Arc::new(move |role, request, bytes| match role {
        Role::Store | Role::Replica | Role::Watcher => kind.decode(role, request, bytes),
        Role::Client | Role::Resource => None,
    }))
}

/// `TTL + retry + failover + delay` of the invariant progress: the leases that must run out, the time that the stores may take to
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

/// What the design claims to survive, and that it gets on after a failover where it needs no replica for that: see
/// [`progress_bound`].
fn survives(design: &Design) -> Conditions {
    match design.topology.replicated && !design.needs_replicas {
        true => design.survives.and(Condition::PrimaryDown),
        false => design.survives,
    }
}

/// What stores that do not answer add to it, for a design on several: a request to each of them and its release take a
/// twentieth of the lease, which is what is small against it in Redlock's own words, and four attempts may be needed until no
/// two waiters take votes from each other. A client that waits for longer does not do what it claims.
fn detour(design: &Design, plan: &Plan) -> Duration {
    let few = design.topology.minority();
    let request = (plan.world.ttl / 20).max(Duration::from_millis(10));
    if design.survives.has(Condition::MinorityDown) { few * ATTEMPTS * 2 * request } else { Duration::ZERO }
}

/// See [`detour`].
const ATTEMPTS: u32 = 4;

fn longest_work(plan: &Plan) -> Duration {
    let sections = plan.clients.iter().flat_map(|client| &client.sections);
    sections.map(|section| section.work).max().unwrap_or_default()
}

/// All hosts of a run with their programs: the resource, the servers, the clients.
fn cast(design: &Design, plan: &Plan, workload: &Workload, watchers_rest: bool) -> Vec<(HostInfo, Boot)> {
    let mut cast: Vec<(HostInfo, Boot)> = Vec::new();
    let stock = plan.world.stock;
    let program: Boot = Arc::new(move |host| Box::pin(resource::serve(host, stock)));
    cast.push((HostInfo::new(resource::HOST, Role::Resource), program));
    if let Some(kind) = &design.kind {
        let settings = design.settings(&plan.world);
        let members = design.members(&plan.world);
        for member in &members {
            let of_its_store = members.iter().filter(|other| other.store == member.store).cloned().collect();
            let (name, role) = (member.name.clone(), member.role);
            let silent = role != Role::Watcher && !kind.tells_records();
            let info = HostInfo { name, role, store: member.store, silent };
            let may_rest = watchers_rest && role == Role::Watcher;
            cast.push((info, server_program(kind, member, of_its_store, &settings, may_rest)));
        }
    }
    let enter = entrance(design, plan, workload, plan.world.wait);
    for client in &plan.clients {
        let (enter, client) = (Arc::clone(&enter), client.clone());
        let info = HostInfo::new(&client.name, Role::Client);
        let program: Boot = Arc::new(move |host| enter(host, client.clone()));
        cast.push((info, program));
    }
    if plan.world.latecomer {
        let info = HostInfo::new(LATECOMER, Role::Client);
        cast.push((info, latecomer_program(design, plan, workload)));
    }
    cast
}

fn server_program(
    kind: &Arc<dyn StoreKind>,
    member: &Member,
    members: Vec<Member>,
    settings: &Settings,
    may_rest: bool,
) -> Boot {
    let (kind, member, settings) = (Arc::clone(kind), member.clone(), settings.clone());
    Arc::new(move |host| {
        let (member, members, settings) = (member.clone(), members.clone(), settings.clone());
        kind.serve(ServerSeat { host, member, members, settings, may_rest })
    })
}

/// The name of the fresh client that asks for every key at the end.
const LATECOMER: &str = "latecomer";

/// It asks for so many keys at most, those first of which it is not known that they are free.
const KEYS_AT_THE_END: usize = 16;

/// For how long it asks for each: longer than the bound, so that one that is not met shows.
fn asking(bound: Duration) -> Duration {
    bound + bound / 5
}

/// The keys that the plan's sections ask for.
fn keys(plan: &Plan) -> Vec<Key> {
    let sections = plan.clients.iter().flat_map(|client| &client.sections);
    let mut keys: Vec<Key> = sections.map(|section| section.key.clone()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

fn latecomer_program(design: &Design, plan: &Plan, workload: &Workload) -> Boot {
    let bound = progress_bound(design, plan) + detour(design, plan);
    let enter = entrance(design, plan, workload, asking(bound));
    let all = keys(plan);
    // Where all only read, nobody need be able to write.
    let shared = plan.clients.iter().flat_map(|client| &client.sections).all(|section| section.shared);
    Arc::new(move |host| {
        let (enter, all) = (Arc::clone(&enter), all.clone());
        Box::pin(async move {
            let mut keys = host.let_in().await;
            keys.extend(all.into_iter().filter(|key| !keys.contains(key)).collect::<Vec<_>>());
            keys.truncate(KEYS_AT_THE_END);
            let section = |(at, key)| {
                let section = SectionPlan::new(at as u32 + 1, key, Duration::ZERO, Duration::ZERO);
                SectionPlan { shared, ..section }
            };
            let sections = keys.into_iter().enumerate().map(section).collect();
            enter(host, ClientPlan::new(LATECOMER, sections)).await;
        })
    })
}

/// Connects a client and has it carry its sections out.
type Entrance = Arc<dyn Fn(Host, ClientPlan) -> BoxFuture<'static, ()> + Send + Sync>;

fn entrance(design: &Design, plan: &Plan, workload: &Workload, wait: Duration) -> Entrance {
    let (connect, workload) = (Arc::clone(&design.client), Arc::clone(workload));
    let (ttl, stores, belief) = (plan.world.ttl, design.addresses(&plan.world), design.belief);
    let (fences_reads, habits, own_data) = (design.fences_reads, plan.world.habits, design.own_data);
    Arc::new(move |host, plan| {
        let (connect, workload) = (Arc::clone(&connect), Arc::clone(&workload));
        let seat = Seat { host: host.clone(), ttl, stores: stores.clone() };
        Box::pin(async move {
            let client = loop {
                match connect(seat.clone()).await {
                    Ok(client) => break client,
                    Err(_) => host.sleep(ttl / 10).await,
                }
            };
            let resource = Resource::new(host.clone(), 2 * ttl);
            workload(ClientSeat {
                host,
                client,
                resource,
                plan,
                wait,
                belief,
                fences_reads,
                habits,
                own_data,
            })
            .await;
        })
    })
}

fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<Unfit>().map(|unfit| unfit.0.clone()));
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
