//! Exhaustive placement: one run for every place at which a fault can strike, instead of a hundred that are drawn.
//!
//! A run without faults is made first, and every protocol point is noted that a process passes in it: clients in each phase of
//! each section, servers and the resource. Then each kind of strike is placed at each point where it makes sense, one run for
//! each, and what is violated is sorted into ways. What violates nothing here was tried everywhere, for this seed's workload
//! and network, one strike at a time, each for one length of time: that is the claim, and no more.

mod pairs;
pub mod strikes;
mod ways;

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::plan::{Injection, Lever, Plan, Point, Target, When};
use picklock_sim::probe::{PointSeen, Seeing};
use picklock_sim::seed::Seed;
use picklock_sim::time::TrueTime;
use picklock_sim::trace::Role;

pub use self::pairs::{PairWay, Pairs};
use self::strikes::{Stage, Strike};
pub use self::ways::{Shape, Way};
use crate::campaign::parallel::in_parallel;
use crate::check::{self, CheckError, Checked};
use crate::scenario::Scenario;

/// What is to be explored.
pub struct Request<'a> {
    /// As [`Scenario::applies`] returned it.
    pub design: &'a Design,
    /// The world and the workload; its faults are left out.
    pub scenario: &'a Scenario,
    /// The workloads.
    pub seeds: Vec<Seed>,
    /// The kinds of strikes.
    pub strikes: Vec<&'static Strike>,
    /// How long strikes last that do.
    pub lasts: Duration,
    /// On how many stores client-1 may hold, if not on all: it is cut off from the others for a lease.
    pub held: Option<u32>,
    /// Threads.
    pub jobs: NonZero<usize>,
    /// Whether pairs follow, and for how long.
    pub pairs: Option<Duration>,
}

/// One placement: its kind, and its number among those of its kind, by which it is asked for again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// The workload.
    pub seed: Seed,
    /// The kind of strike.
    pub strike: &'static str,
    /// Its number among the placements of this kind and seed.
    pub number: usize,
    /// Where.
    pub point: Point,
}

/// What was found for one kind of strike.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Its name.
    pub strike: &'static str,
    /// How many placements there are.
    pub placements: usize,
    /// How many of them were run.
    pub explored: usize,
    /// In how many of those the strike made a difference.
    pub bit: usize,
    /// How many violate something that the run without a strike does not.
    pub violating: usize,
}

/// What was found.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The design's spelling.
    pub design: String,
    /// The scenario's name.
    pub scenario: String,
    /// The workloads.
    pub seeds: Vec<Seed>,
    /// How long strikes lasted that do.
    pub lasts: Duration,
    /// What is violated when nothing strikes.
    pub calm: Vec<String>,
    /// By kind of strike.
    pub kinds: Vec<Kind>,
    /// In which ways.
    pub ways: Vec<Way>,
    /// What came of pairs.
    pub pairs: Option<Pairs>,
    /// True if it was stopped before it was done.
    pub partial: bool,
}

impl Explored {
    /// How many placements there are.
    #[must_use]
    pub fn placements(&self) -> usize {
        self.kinds.iter().map(|kind| kind.placements).sum()
    }

    /// How many were run.
    #[must_use]
    pub fn explored(&self) -> usize {
        self.kinds.iter().map(|kind| kind.explored).sum()
    }

    /// How many violate something.
    #[must_use]
    pub fn violating(&self) -> usize {
        self.kinds.iter().map(|kind| kind.violating).sum()
    }
}

/// One workload, made ready: the plan without a strike, and every placement on it.
struct Ground<'a> {
    request: &'a Request<'a>,
    base: Plan,
    calm: Vec<String>,
    stage: Stage,
    placements: Vec<(Place, Injection)>,
}

/// What one run with strikes says.
struct Verdict {
    violated: Vec<String>,
    bit: bool,
}

/// Explores every single placement, and pairs if asked. When `stop` becomes true, the rest is left out; `progress` is told of
/// each run how many there are, and whether it violates something.
///
/// # Errors
/// When the design's code panics.
pub fn explore(
    request: &Request<'_>,
    stop: &AtomicBool,
    progress: &(dyn Fn(usize, bool) + Sync),
) -> Result<Explored, CheckError> {
    let grounds: Vec<Ground<'_>> =
        request.seeds.iter().map(|seed| Ground::new(request, *seed)).collect::<Result<_, _>>()?;
    let all: Vec<(&Ground<'_>, &Place, &Injection)> = grounds
        .iter()
        .flat_map(|ground| ground.placements.iter().map(move |(place, strike)| (ground, place, strike)))
        .collect();
    let verdicts = run_all(request.jobs, all.len(), stop, |at| {
        let (ground, _, injection) = all[at];
        let verdict = ground.judge([injection.clone()])?;
        progress(all.len(), !verdict.violated.is_empty());
        Ok(verdict)
    })?;
    let mut calm: Vec<String> = grounds.iter().flat_map(|ground| ground.calm.clone()).collect();
    calm.sort_unstable();
    calm.dedup();
    let kinds = request.strikes.iter().map(|strike| kind_of(strike, &all, &verdicts)).collect();
    let violating = all.iter().zip(&verdicts).filter_map(|((ground, place, injection), verdict)| {
        let violated = verdict.as_ref()?.violated.clone();
        let shape = Shape::of(&ground.stage, injection)?;
        (!violated.is_empty()).then(|| (shape, (*place).clone(), violated))
    });
    let ways = ways::sort(violating);
    let pairs = match request.pairs {
        Some(budget) if !stop.load(Ordering::Relaxed) => {
            let harmless: Vec<(&Ground<'_>, &Place, &Injection)> = all
                .iter()
                .zip(&verdicts)
                .filter(|(_, verdict)| verdict.as_ref().is_some_and(|verdict| verdict.violated.is_empty()))
                .map(|(placement, _)| *placement)
                .collect();
            Some(pairs::explore(request, &harmless, Instant::now() + budget, stop)?)
        }
        _ => None,
    };
    let partial = verdicts.iter().any(Option::is_none);
    Ok(Explored {
        design: request.design.name.to_string(),
        scenario: request.scenario.name().to_owned(),
        seeds: request.seeds.clone(),
        lasts: request.lasts,
        calm,
        kinds,
        ways,
        pairs,
        partial,
    })
}

/// The run with these placements, each by its kind and number; what its segments said is kept.
///
/// # Errors
/// `None` names a placement that there is not, with how many there are of its kind.
pub fn again(
    request: &Request<'_>,
    seed: Seed,
    places: &[(&'static Strike, usize)],
) -> Result<Result<Checked, (&'static str, usize)>, CheckError> {
    let ground = Ground::new(request, seed)?;
    let mut injections = Vec::new();
    for (strike, number) in places {
        let mut of_kind = ground.placements.iter().filter(|(place, _)| place.strike == strike.name);
        let count = of_kind.clone().count();
        match of_kind.nth(*number) {
            Some((_, injection)) => injections.push(injection.clone()),
            None => return Ok(Err((strike.name, count))),
        }
    }
    check::check_keeping(Engine::Event, request.design, ground.with(injections)).map(Ok)
}

impl<'a> Ground<'a> {
    fn new(request: &'a Request<'a>, seed: Seed) -> Result<Ground<'a>, CheckError> {
        let mut base = request.scenario.calm_plan(request.design, seed);
        base.injections.extend(request.held.and_then(|held| hold(request.design, &base, held)));
        let (run, points) = check::points(request.design, &base, Seeing::Everything)?;
        let stage = Stage::new(request.design, &base, request.lasts, &run.trace.hosts);
        let placements = placements(request, seed, &stage, &points);
        Ok(Ground { request, base, calm: run.violated(), stage, placements })
    }

    /// The plan with strikes, and with rivals who want what they strike at.
    fn with(&self, injections: impl IntoIterator<Item = Injection>) -> Plan {
        let mut plan = self.base.clone();
        plan.injections.splice(0..0, injections);
        self.request.scenario.add_rivals(&mut plan);
        plan
    }

    fn judge(&self, injections: impl IntoIterator<Item = Injection>) -> Result<Verdict, CheckError> {
        let run = check::check(Engine::Event, self.request.design, self.with(injections))?;
        let mut violated = run.violated();
        violated.retain(|name| !self.calm.contains(name));
        Ok(Verdict { violated, bit: !run.bit.is_empty() })
    }
}

/// Every placement of every kind on one workload.
fn placements(
    request: &Request<'_>,
    seed: Seed,
    stage: &Stage,
    points: &[PointSeen],
) -> Vec<(Place, Injection)> {
    let mut placements = Vec::new();
    for strike in &request.strikes {
        for (number, injection) in strike.placements(stage, points).into_iter().enumerate() {
            if let When::Point { point, .. } = &injection.when {
                let place = Place { seed, strike: strike.name, number, point: point.clone() };
                placements.push((place, injection));
            }
        }
    }
    placements
}

/// Lets client-1 hold on so many stores only: it is cut off from the others for a lease, from the start.
fn hold(design: &Design, base: &Plan, held: u32) -> Option<Injection> {
    let members = design.members(&base.world);
    let stores = members.iter().filter(|member| member.role == Role::Store);
    let others: Vec<String> = stores.skip(held as usize).map(|member| member.name.clone()).collect();
    let lever = Lever::Cut { to: Target::Hosts(others.clone()), both: true, lasts: base.world.ttl };
    let when = When::At { at_ns: TrueTime(0) };
    (!others.is_empty()).then(|| Injection {
        fault: "held".to_owned(),
        when,
        target: Target::host("client-1"),
        lever,
    })
}

fn kind_of(strike: &Strike, all: &[(&Ground<'_>, &Place, &Injection)], verdicts: &[Option<Verdict>]) -> Kind {
    let of_kind = all.iter().zip(verdicts).filter(|((_, place, _), _)| place.strike == strike.name);
    let made: Vec<&Verdict> = of_kind.clone().filter_map(|(_, verdict)| verdict.as_ref()).collect();
    Kind {
        strike: strike.name,
        placements: of_kind.count(),
        explored: made.len(),
        bit: made.iter().filter(|verdict| verdict.bit).count(),
        violating: made.iter().filter(|verdict| !verdict.violated.is_empty()).count(),
    }
}

/// Makes so many runs on several threads; what was not made when `stop` became true is `None`.
fn run_all<T: Send>(
    jobs: NonZero<usize>,
    count: usize,
    stop: &AtomicBool,
    run: impl Fn(usize) -> Result<T, CheckError> + Sync,
) -> Result<Vec<Option<T>>, CheckError> {
    let next = AtomicUsize::new(0);
    let made = Mutex::new(((0..count).map(|_| None).collect::<Vec<Option<T>>>(), None));
    in_parallel(jobs, || {
        while !stop.load(Ordering::Relaxed) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            if at >= count {
                return;
            }
            let outcome = run(at);
            let mut made = made.lock().unwrap_or_else(PoisonError::into_inner);
            match outcome {
                Ok(outcome) => made.0[at] = Some(outcome),
                Err(error) => {
                    made.1.get_or_insert(error);
                    return;
                }
            }
        }
    });
    let (made, error) = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    error.map_or(Ok(made), Err)
}
