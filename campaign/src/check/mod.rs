//! The pipe: a plan is run, its trace is judged.
//!
//! Nothing flows back: the plan never sees the verdict. Search, shrinking and confirming are loops around this.

use std::collections::BTreeSet;

use picklock_model::code::Locations;
use picklock_model::plan::{Injection, Plan};
use picklock_model::points::Points;
use picklock_model::seed::Seed;
use picklock_model::trace::Trace;
use picklock_sim::choices::Made;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::lock::Belief;
use picklock_sim::run::{self, Run, Wire};

use picklock_judge::history::History;
use picklock_judge::hits;
use picklock_judge::invariants::{self, Invariant};
use picklock_judge::metrics::{self, Metrics};
use picklock_judge::outcome::{Finding, Outcome};
use picklock_scenarios::scenario::Scenario;

mod answers;
mod probe_runs;
mod program;

pub use self::probe_runs::{Drawn, ProbeRuns};
pub use self::program::CheckError;
use self::program::workload;
pub use picklock_sim::run::Options;

/// Why a run in which nothing is violated proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inconclusive {
    /// It put nothing to the test.
    NotAsked(&'static str),
    /// What it put to the test cannot be judged.
    Undecided(&'static str),
}

impl Inconclusive {
    /// The reason in words.
    #[must_use]
    pub fn why(self) -> &'static str {
        match self {
            Inconclusive::NotAsked(why) | Inconclusive::Undecided(why) => why,
        }
    }
}

/// A run and what the invariants say of it.
pub struct Checked {
    /// The plan of the run.
    pub plan: Plan,
    /// The trace of the run.
    pub trace: Trace,
    /// The outcome of each invariant, in the order of [`invariants::ALL`].
    pub outcomes: Vec<(&'static Invariant, Outcome)>,
    /// The faults that made a difference, by name.
    pub took_effect: BTreeSet<String>,
    /// True if a fault hit what was granted or held; where none is scheduled, whether somebody waited for somebody.
    pub hit_lock: bool,
    /// The requests that a simulated store refused because it does not have them.
    pub not_modelled: BTreeSet<String>,
    /// The reason for which the run is inconclusive, if it is.
    pub inconclusive: Option<Inconclusive>,
    /// Measures of the run.
    pub metrics: Metrics,
    /// The bytes of the segments, if they were kept.
    pub wire: Wire,
    /// Where programs were in their source, if that was kept.
    pub code: Locations,
    /// The injection points that were reached, if they were recorded.
    pub probe: Option<Points>,
    /// All choices of the run, if they were noted.
    pub choices: Vec<Made>,
}

/// Draws the plan of a seed and checks it. The design is as [`Scenario::applies`](picklock_scenarios::scenario::Scenario::applies)
/// returned it. See [`ProbeRuns`] for one seed under several scenarios.
///
/// # Errors
/// When the design's code panics.
pub fn seed(engine: Engine, design: &Design, scenario: &Scenario, seed: Seed) -> Result<Checked, CheckError> {
    ProbeRuns::default().check(engine, design, scenario, seed)
}

/// Draws the plan of a seed: if the scenario's faults hit injection points, from a probe run of the same seed.
///
/// # Errors
/// When the design's code panics in the probe run.
pub fn draw(design: &Design, scenario: &Scenario, seed: Seed) -> Result<Drawn, CheckError> {
    ProbeRuns::default().draw(design, scenario, seed)
}

/// Runs a plan and judges the trace; an [`Engine`] alone will do for the options, which change nothing of the result.
///
/// # Errors
/// When the plan names an unknown workload or the design's code panics.
pub fn check(options: impl Into<Options>, design: &Design, plan: Plan) -> Result<Checked, CheckError> {
    let options = options.into();
    let Run { trace, wire, code, probe, choices } = run::run(options, design, &plan, &workload(&plan)?)?;
    answered(options.engine, design, Checked { wire, code, probe, choices, ..judge(plan, trace) })
}

/// The same run, of a program that can be tested.
fn answered(engine: Engine, design: &Design, run: Checked) -> Result<Checked, CheckError> {
    answers::given(engine, design, &run.plan, &run.trace, || run.violated())?;
    Ok(run)
}

/// Judges a run by all invariants, and takes its metrics.
#[must_use]
pub fn judge(plan: Plan, trace: Trace) -> Checked {
    let history = History::of(&trace);
    let outcomes: Vec<(&'static Invariant, Outcome)> =
        invariants::ALL.iter().map(|invariant| (invariant, (invariant.check)(&history))).collect();
    let took_effect = took_effect(&plan, &trace);
    let hits = hits::that_hit_the_lock(&plan, &history);
    let metrics = metrics::of(&history, &outcomes);
    let contested = metrics.contended > 0 && (trace.belief == Belief::None || history.is_contested());
    let not_modelled: BTreeSet<String> = trace.not_modelled().map(str::to_owned).collect();
    let inconclusive = if !not_modelled.is_empty() {
        Some(Inconclusive::Undecided("a store refused what is not modelled"))
    } else if let Some(why) = puts_nothing_to_the_test(&plan, &took_effect, contested) {
        Some(Inconclusive::NotAsked(why))
    } else if history.ends_in_the_dark() {
        Some(Inconclusive::Undecided("more was broken to the end than the design claims to survive"))
    } else {
        None
    };
    let hit_lock = if plan.injections.is_empty() { contested } else { !hits.is_empty() };
    Checked {
        plan,
        outcomes,
        took_effect,
        hit_lock,
        not_modelled,
        inconclusive,
        metrics,
        trace,
        wire: Wire::new(),
        code: Locations::new(),
        probe: None,
        choices: Vec::new(),
    }
}

/// True if a run of the plan violates an invariant; nothing else is judged.
///
/// # Errors
/// As [`check`].
pub fn shows(
    engine: Engine,
    design: &Design,
    plan: &Plan,
    invariant: &Invariant,
) -> Result<bool, CheckError> {
    let Run { trace, .. } = run::run(engine, design, plan, &workload(plan)?)?;
    Ok(matches!((invariant.check)(&History::of(&trace)), Outcome::Violated(_)))
}

/// The faults that made a difference. One of several parts, such as a lag and the crash that makes it matter, did only if
/// each kind of them did.
fn took_effect(plan: &Plan, trace: &Trace) -> BTreeSet<String> {
    let hits = trace.hits.iter();
    let hit: Vec<&Injection> = hits.filter_map(|hit| plan.injections.get(hit.injection as usize)).collect();
    hits::whole(plan, &hit)
}

/// A run without a violation proves nothing if no scheduled fault made a difference, or, where none is scheduled, if
/// nobody had to wait.
fn puts_nothing_to_the_test(
    plan: &Plan,
    took_effect: &BTreeSet<String>,
    contested: bool,
) -> Option<&'static str> {
    if plan.injections.is_empty() {
        (!contested).then_some("nobody waited for anybody")
    } else {
        took_effect.is_empty().then_some("no fault made a difference")
    }
}

impl Checked {
    /// The findings of each violated invariant.
    pub fn violations(&self) -> impl Iterator<Item = (&'static Invariant, &[Finding])> {
        self.outcomes.iter().filter_map(|(invariant, outcome)| match outcome {
            Outcome::Violated(findings) => Some((*invariant, findings.as_slice())),
            _ => None,
        })
    }

    /// The same run, which does not put anything to the test, for this reason.
    fn proving_nothing(mut self, why: &'static str) -> Checked {
        for (_, outcome) in &mut self.outcomes {
            if matches!(outcome, Outcome::Holds | Outcome::Violated(_)) {
                *outcome = Outcome::NotAsked(why.to_owned());
            }
        }
        self.inconclusive = Some(Inconclusive::NotAsked(why));
        self
    }

    /// True unless the run is inconclusive: nothing was violated, and no run was conclusive either.
    #[must_use]
    pub fn is_conclusive(&self) -> bool {
        let kept = self.outcomes.iter().any(|(_, outcome)| matches!(outcome, Outcome::Holds));
        self.violations().next().is_some() || (self.inconclusive.is_none() && kept)
    }

    /// True if this invariant is violated.
    #[must_use]
    pub fn violates(&self, invariant: &str) -> bool {
        self.violations().any(|(violated, _)| violated.name == invariant)
    }

    /// True if this invariant is violated or kept: the run put it to the test.
    #[must_use]
    pub fn judges(&self, invariant: &str) -> bool {
        let judged = |outcome: &Outcome| matches!(outcome, Outcome::Holds | Outcome::Violated(_));
        self.outcomes.iter().any(|(one, outcome)| one.name == invariant && judged(outcome))
    }

    /// The names of the violated invariants, in name order.
    #[must_use]
    pub fn violated(&self) -> Vec<String> {
        let mut names: Vec<String> =
            self.violations().map(|(invariant, _)| invariant.name.to_owned()).collect();
        names.sort();
        names
    }
}
