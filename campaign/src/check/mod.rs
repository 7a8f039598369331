//! The pipe: a plan is run, its trace is judged.
//!
//! Nothing flows back: the plan never sees the verdict. Search, shrinking and confirming are loops around this.

use std::collections::BTreeSet;

use picklock_model::code::Locations;
use picklock_model::plan::Plan;
use picklock_model::points::Points;
use picklock_model::seed::Seed;
use picklock_model::trace::Trace;
use picklock_sim::choices::Made;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::run::{self, Run, Wire};

use picklock_judge::conclusive::{self, Inconclusive};
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

/// Draws the plan of a seed and checks it. The design is as [`Scenario::adapt`](picklock_scenarios::scenario::Scenario::adapt)
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
    let run = run::run(options, design, &plan, &workload(&plan)?)?;
    answered(options.engine, design, judged(plan, run))
}

/// The same run, of a program that can be tested.
fn answered(engine: Engine, design: &Design, run: Checked) -> Result<Checked, CheckError> {
    answers::given(engine, design, &run.plan, &run.trace, || run.violated())?;
    Ok(run)
}

/// Judges a run of which nothing but the trace was kept.
#[must_use]
pub fn judge(plan: Plan, trace: Trace) -> Checked {
    judged(plan, Run { trace, wire: Wire::new(), code: Locations::new(), probe: None, choices: Vec::new() })
}

/// Judges a run by all invariants, and takes its metrics.
fn judged(plan: Plan, run: Run) -> Checked {
    let Run { trace, wire, code, probe, choices } = run;
    let history = History::of(&trace);
    let outcomes: Vec<(&'static Invariant, Outcome)> =
        invariants::ALL.iter().map(|invariant| (invariant, (invariant.check)(&history))).collect();
    let took_effect = hits::took_effect(&plan, &trace);
    let hits = hits::that_hit_the_lock(&plan, &history);
    let metrics = metrics::of(&history, &outcomes);
    let contested = conclusive::is_contested(&history, &metrics);
    Checked {
        hit_lock: if plan.injections.is_empty() { contested } else { !hits.is_empty() },
        inconclusive: Inconclusive::of(&plan, &history, &took_effect, contested),
        not_modelled: trace.not_modelled().map(str::to_owned).collect(),
        plan,
        outcomes,
        took_effect,
        metrics,
        trace,
        wire,
        code,
        probe,
        choices,
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
        conclusive::is_conclusive(&self.outcomes, self.inconclusive)
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
