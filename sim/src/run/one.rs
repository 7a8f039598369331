//! One run: a design and a plan in, a trace out.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use picklock_model::code::Locations;
use picklock_model::plan::Plan;
use picklock_model::points::{Points, PointsToRecord};
use picklock_model::trace::{Belief, FinalClient, Role, Trace};

use super::context::Workload;
use super::hosts::Hosts;
use super::options::Options;
use super::under_way::marked;
use crate::contract::design::Design;
use crate::contract::store::{Store, StoreSpec};
use crate::engine::{self, Engine};
use crate::host::driver::{Untestable, panic_text};
use crate::world::choices::{Choices, Chooser, Made};
use crate::world::{CodeLog, Keeper, Reading, Wire, World};

/// The result of a run.
pub struct Run {
    /// Its trace.
    pub trace: Trace,
    /// The injection points that were reached, if they were asked for.
    pub probe: Option<Points>,
    /// The content of the segments to stores and from them, as far as their kind can read it, if that was asked for.
    pub wire: Wire,
    /// Where programs were in their source, if that was asked for.
    pub code: Locations,
    /// All choices of it in the order in which they were made, if that was asked for.
    pub choices: Vec<Made>,
}

/// The code under test panicked, or gave up.
#[derive(Debug, thiserror::Error)]
#[error("design `{design}` {}, seed {seed}: {message}", if *.unfit { "cannot be tested" } else { "panicked" })]
pub struct Panicked {
    /// The design's spelling.
    pub design: String,
    /// The plan's seed.
    pub seed: u64,
    /// The message of the panic.
    pub message: String,
    /// True if it [aborted](crate::host::driver::HostDriver::abort_run): what was to be tested does not do its part.
    pub unfit: bool,
}

/// Runs a plan against a design; an [`Engine`] alone will do for the options.
///
/// # Errors
/// When code of the design panics, which includes waiting on `tokio::time` instead of its [`Host`](crate::host::Host).
pub fn run(
    options: impl Into<Options>,
    design: &Design,
    plan: &Plan,
    workload: &Workload,
) -> Result<Run, Panicked> {
    made(options.into(), design, plan, workload, None)
}

/// Runs a plan, and lets a strategy decide what the plan's own choices leave open.
///
/// # Errors
/// As [`run`].
pub fn run_choosing(
    options: impl Into<Options>,
    design: &Design,
    plan: &Plan,
    workload: &Workload,
    strategy: Box<dyn Choices>,
) -> Result<Run, Panicked> {
    made(options.into(), design, plan, workload, Some(strategy))
}

fn made(
    options: Options,
    design: &Design,
    plan: &Plan,
    workload: &Workload,
    strategy: Option<Box<dyn Choices>>,
) -> Result<Run, Panicked> {
    let monitors_rest = options.shortened.is_some() && design.lets_monitors_rest();
    let Hosts { infos, programs, bound, final_client } = Hosts::of(design, plan, workload, monitors_rest);
    let keeper = design.store.as_ref().filter(|_| options.wire).map(keeper_of);
    let chooser = Chooser::new(plan, strategy, options.choices);
    let world = Arc::new(World::new(plan, infos.clone(), options.points, keeper, chooser));
    if options.wire {
        world.state().code = Some(CodeLog::default());
    }
    if let Some((host, span)) = final_client {
        world.state().expect_final_client(host, span);
    }
    world.state().judge_progress_by(bound.terms());
    if let Some(shortened) = options.shortened {
        let mut state = world.state();
        state.end_without_final_client(shortened.last_section);
        state.record_nothing();
    }
    let engine = || match options.engine {
        Engine::Event => engine::event::run(&world, &programs),
        Engine::Turmoil { idle_skip } => engine::turmoil::run(&world, &programs, idle_skip),
    };
    let finished = marked(|| catch_unwind(AssertUnwindSafe(engine)));
    finished.map_err(|panic| Panicked {
        design: design.name.to_string(),
        seed: plan.seed.0,
        unfit: panic.is::<Untestable>(),
        message: panic_text(panic.as_ref()),
    })?;
    let mut state = world.state();
    state.heal_all();
    let end = state.now;
    let (came, hits, outages) = (state.ending.came, state.take_hits(), state.take_outages());
    let attempts = std::mem::take(&mut state.attempts);
    let (names, passed) = state.take_points();
    let choices = state.chooser.take_noted();
    let code = state.code.take().map(CodeLog::take).unwrap_or_default();
    let (events, digest) = std::mem::take(&mut state.log).finish();
    let remains = state.dissolve();
    drop(state);
    drop(remains);
    let trace = Trace {
        hosts: infos,
        belief: if plan.world.policy.ignores_loss { ignores_loss(design.belief) } else { design.belief },
        exclusion: design.exclusion,
        reentrant: design.reentrant,
        takes_up: design.takes_up,
        sessions: design.in_sessions,
        quorum: design.topology.quorum(),
        ttl: plan.world.ttl,
        progress_bound: bound.progress,
        survives: bound.survives,
        detour: bound.detour,
        silent_client: bound.silent_client,
        silent_store: bound.silent_store,
        end,
        faults: plan.injections.iter().map(|injection| injection.fault.clone()).collect(),
        events,
        digest,
        final_client: final_client.map(|(host, _)| FinalClient { host, came }),
        hits,
        outages,
        attempts,
    };
    let wire = world.keeper.as_ref().map(Keeper::take).unwrap_or_default();
    let probed = options.points != PointsToRecord::Nothing;
    let probe = probed.then(|| Points::new(names, passed, came.unwrap_or(end)));
    Ok(Run { trace, probe, wire, code, choices })
}

/// A client that ignores a loss believes until it releases.
fn ignores_loss(belief: Belief) -> Belief {
    if belief == Belief::None { belief } else { Belief::Naive }
}

/// Keeps what goes to members of this kind and comes from them. What the resource is asked is in the trace anyway.
fn keeper_of(store: &Store) -> Keeper {
    let (spec, counts) = (Arc::clone(&store.spec), Arc::clone(&store.spec));
    let open = move |role| match role {
        Role::Leader | Role::Follower | Role::Monitor | Role::Proxy | Role::Renewer => reading(&spec, role),
        Role::Client | Role::Resource => Box::new(|_: bool, _: &[u8]| None) as Reading,
    };
    Keeper::new(Arc::new(open), Arc::new(move |role, bytes| counts.of_itself(role, bytes)))
}

/// Reads one connection to a member of this role.
fn reading(spec: &Arc<dyn StoreSpec>, role: Role) -> Reading {
    match spec.reader(role) {
        Some(mut reader) => Box::new(move |request, bytes| reader.read(request, bytes)),
        None => {
            let spec = Arc::clone(spec);
            Box::new(move |request, bytes| spec.decode(role, request, bytes))
        }
    }
}
