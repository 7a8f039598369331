//! Exhaustive search: one run for every place at which a fault can hit, instead of a hundred that are drawn.
//!
//! A probe run is made first, and every injection point is recorded that a process reaches in it: clients in each phase of each
//! section, servers and the resource. Then each kind of fault is placed at each point where it makes sense, one run for each, and
//! the violations are sorted into failures. A fault without a violation was tried everywhere, for this seed's workload and
//! network, one fault at a time, each for one length of time; the result says this, and no more.

mod code;
pub mod exhausted;
mod failures;
mod ground;
mod pairs;
mod request;

use std::num::NonZero;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use picklock_model::plan::Injection;
use picklock_model::seed::Seed;

pub use self::failures::{Failures, Signature};
pub use self::ground::Site;
use self::ground::{Ground, Verdict};
pub use self::pairs::{PairFailures, Pairs};
pub use self::request::Request;
use crate::campaign::over::Over;
use crate::check::{CheckError, Checked};
use crate::parallel::in_parallel;
use picklock_judge::invariants;
use picklock_scenarios::faults::AtSite;

/// The results for one kind of fault.
#[derive(Clone, Debug)]
pub struct Kind {
    /// Its name.
    pub fault: &'static str,
    /// How many sites there are.
    pub sites: usize,
    /// How many of them were run.
    pub explored: usize,
    /// In how many of those the hit made a difference.
    pub took_effect: usize,
    /// How many violate something that the run without a fault does not.
    pub violating: usize,
}

/// The results of an exploration.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The design's spelling.
    pub design: String,
    /// The scenario's name.
    pub scenario: String,
    /// The workloads.
    pub seeds: Vec<Seed>,
    /// How long hits lasted that do.
    pub lasts: Duration,
    /// The invariants that are violated without a fault.
    pub without_fault: Vec<String>,
    /// The invariants that were judged in some of the runs, and violated or left undecided in none.
    pub holds: Vec<String>,
    /// The invariants that were violated in none of the runs and left undecided in some, with the number of these.
    pub undecided: Vec<(String, usize)>,
    /// By kind of fault.
    pub kinds: Vec<Kind>,
    /// In which failures.
    pub failures: Vec<Failures>,
    /// The results for pairs.
    pub pairs: Option<Pairs>,
    /// True if it was stopped before it was done.
    pub partial: bool,
}

impl Explored {
    /// How many sites there are.
    #[must_use]
    pub fn sites(&self) -> usize {
        self.kinds.iter().map(|kind| kind.sites).sum()
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

/// Explores every single site, and pairs if asked. When `stop` becomes true, the rest is left out; `progress` is
/// called for each run with the number of all and what it violates.
///
/// # Errors
/// When the design's code panics.
pub fn explore(
    request: &Request<'_>,
    stop: &AtomicBool,
    progress: &(dyn Fn(usize, &[String]) + Sync),
) -> Result<Explored, CheckError> {
    let grounds: Vec<Ground<'_>> =
        request.seeds.iter().map(|seed| Ground::new(request, *seed)).collect::<Result<_, _>>()?;
    let all: Vec<(&Ground<'_>, &Site, &Injection)> = grounds
        .iter()
        .flat_map(|ground| ground.sites.iter().map(move |(place, injection)| (ground, place, injection)))
        .collect();
    let verdicts = run_all(request.jobs, all.len(), stop, |at| {
        let (ground, _, injection) = all[at];
        let verdict = ground.judge([injection.clone()])?;
        progress(all.len(), &verdict.violated);
        Ok(verdict)
    })?;
    let mut without_fault: Vec<String> =
        grounds.iter().flat_map(|ground| ground.without_fault.clone()).collect();
    without_fault.sort_unstable();
    without_fault.dedup();
    let (undecided, holds): (Vec<_>, Vec<_>) =
        kept(&verdicts, &without_fault).partition(|(_, undecided)| *undecided > 0);
    let kinds = request.kinds.iter().map(|kind| kind_of(kind, &all, &verdicts)).collect();
    let violating = all.iter().zip(&verdicts).filter_map(|((ground, place, injection), verdict)| {
        let violated = verdict.as_ref()?.violated.clone();
        let signature = Signature::of(&ground.stage, injection)?;
        (!violated.is_empty()).then(|| (signature, (*place).clone(), violated))
    });
    let mut failures = failures::sort(violating);
    if request.lines {
        code::note(&grounds, &mut failures, stop)?;
    }
    let pairs = match request.pairs {
        Some(budget) if !stop.load(Ordering::Relaxed) => {
            let harmless: Vec<(&Ground<'_>, &Site, &Injection)> = all
                .iter()
                .zip(&verdicts)
                .filter(|(_, verdict)| verdict.as_ref().is_some_and(|verdict| verdict.violated.is_empty()))
                .map(|(site, _)| *site)
                .collect();
            Some(pairs::explore(request, &harmless, &Over::new(Some(budget), stop))?)
        }
        _ => None,
    };
    let partial = verdicts.iter().any(Option::is_none);
    Ok(Explored {
        design: request.design.name.to_string(),
        scenario: request.scenario.name().to_owned(),
        seeds: request.seeds.clone(),
        lasts: request.lasts,
        without_fault,
        holds: holds.into_iter().map(|(name, _)| name).collect(),
        undecided,
        kinds,
        failures,
        pairs,
        partial,
    })
}

/// The run with these sites, each by its kind and number; what its segments said is kept.
///
/// # Errors
/// `None` names a site that there is not, with how many there are of its kind.
pub fn again(
    request: &Request<'_>,
    seed: Seed,
    places: &[(&'static AtSite, usize)],
) -> Result<Result<Checked, (&'static str, usize)>, CheckError> {
    let ground = Ground::new(request, seed)?;
    let mut injections = Vec::new();
    for (kind, number) in places {
        let mut of_kind = ground.sites.iter().filter(|(place, _)| place.fault == kind.name);
        let count = of_kind.clone().count();
        match of_kind.nth(*number) {
            Some((_, injection)) => injections.push(injection.clone()),
            None => return Ok(Err((kind.name, count))),
        }
    }
    ground.shown(injections).map(Ok)
}

/// The invariants that some of the runs put to the test and none violated, in their order, each with the number of runs that left it
/// undecided.
fn kept(verdicts: &[Option<Verdict>], without_fault: &[String]) -> impl Iterator<Item = (String, usize)> {
    let made = || verdicts.iter().flatten();
    let names = invariants::ALL.iter().map(|invariant| invariant.name);
    names.filter_map(move |name| {
        let undecided = made().filter(|verdict| verdict.undecided.contains(&name)).count();
        let is_kept = !without_fault.iter().any(|violated| violated == name)
            && (undecided > 0 || made().any(|verdict| verdict.holds.contains(&name)))
            && !made().any(|verdict| verdict.violated.iter().any(|violated| violated == name));
        is_kept.then(|| (name.to_owned(), undecided))
    })
}

fn kind_of(kind: &AtSite, all: &[(&Ground<'_>, &Site, &Injection)], verdicts: &[Option<Verdict>]) -> Kind {
    let of_kind = all.iter().zip(verdicts).filter(|((_, place, _), _)| place.fault == kind.name);
    let made: Vec<&Verdict> = of_kind.clone().filter_map(|(_, verdict)| verdict.as_ref()).collect();
    Kind {
        fault: kind.name,
        sites: of_kind.count(),
        explored: made.len(),
        took_effect: made.iter().filter(|verdict| verdict.took_effect).count(),
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
    let (next, over) = (AtomicUsize::new(0), Over::new(None, stop));
    let made = Mutex::new(((0..count).map(|_| None).collect::<Vec<Option<T>>>(), None));
    in_parallel(jobs, || {
        while !over.now() {
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
                    over.set();
                }
            }
        }
    });
    let (made, error) = made.into_inner().unwrap_or_else(PoisonError::into_inner);
    error.map_or(Ok(made), Err)
}
