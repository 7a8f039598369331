//! Runs both versions of a bug.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use picklock_campaign::campaign::{Campaign, CampaignError, Judged, Observer};
use picklock_campaign::check::{self, CheckError};
use picklock_campaign::patience::Patience;
use picklock_campaign::shrink::{self, Limit};
use picklock_model::seed::Seed;
use picklock_programs::{Program, ProgramError};
use picklock_scenarios::scenario::{Scenario, ScenarioError, set_each};
use picklock_scenarios::suite;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use super::bug::{Bug, BugError, RUNS_OF_TWIN};
use super::error::FetchError;
use super::exhibit::Exhibit;
use super::fetch::{Version, fetch};

/// How a bug is shown.
#[derive(Clone, Debug)]
pub struct Request {
    /// The directory for packages.
    pub packages: PathBuf,
    /// Threads.
    pub jobs: NonZero<usize>,
    /// Runs of the affected version; those of `bug.toml` if absent.
    pub runs: Option<u64>,
    /// The time for shrinking the first violation.
    pub shrink_budget: Duration,
}

/// A violation, and how long it took to find.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// The lowest seed that shows it.
    pub first_seed: u64,
    /// The wall-clock time from the start of the first run until it was found.
    pub after: Duration,
    /// Events of the run.
    pub events: usize,
    /// Events of the shrunk run.
    pub shrunk: usize,
    /// The line that replays it.
    pub replay: String,
}

/// The runs of one version.
#[derive(Clone, Debug, PartialEq)]
pub struct Observed {
    /// The version.
    pub version: String,
    /// Runs made.
    pub runs: u64,
    /// Of these, runs that violate the invariant.
    pub violating: u64,
    /// Of these, runs that can show nothing.
    pub inconclusive: u64,
    /// The time of all runs.
    pub took: Duration,
    /// The first violation, if any.
    pub first: Option<Found>,
}

/// What became of a bug.
#[derive(Debug)]
pub enum Outcome {
    /// Both versions ran.
    Shown {
        /// The affected version.
        affected: Observed,
        /// The fixed version, or the control.
        twin: Observed,
    },
    /// A package could not be had.
    Missing(FetchError),
    /// A run could not be made.
    Failed(RunError),
}

impl Outcome {
    /// True if the affected version shows the bug and the other does not; `None` if they did not run.
    #[must_use]
    pub fn is_as_described(&self) -> Option<bool> {
        match self {
            Outcome::Shown { affected, twin } => {
                // A twin that was interrupted, or whose runs can show nothing, is not silent.
                let is_silent =
                    twin.violating == 0 && twin.runs >= RUNS_OF_TWIN && twin.inconclusive < twin.runs;
                Some(affected.violating > 0 && is_silent)
            }
            Outcome::Failed(_) => Some(false),
            Outcome::Missing(_) => None,
        }
    }
}

/// An error that leaves a bug without an outcome.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// Its description is wrong.
    #[error(transparent)]
    Bug(#[from] BugError),
    /// Its scenario is wrong.
    #[error("museum/{0}/bug.toml: {1}")]
    Scenario(&'static str, ScenarioError),
    /// It has no such scenario.
    #[error("museum/{0}/bug.toml: there is no scenario `{1}`, in the folder or among those of picklock")]
    NoScenario(&'static str, String),
    /// Its command or the parameters of its program are wrong.
    #[error("museum/{0}/bug.toml: {1}")]
    Program(&'static str, ProgramError),
    /// The scenario does not apply.
    #[error("museum/{0}/bug.toml: scenario `{1}` does not apply: {2}")]
    NotApplicable(&'static str, String, String),
    /// A run cannot be made.
    #[error(transparent)]
    Campaign(#[from] CampaignError),
    /// The run of the first violation cannot be made again.
    #[error(transparent)]
    Check(#[from] CheckError),
}

/// Fetches both versions and runs them.
#[must_use]
pub fn show(exhibit: &Exhibit, request: &Request, stop: &AtomicBool, observer: &dyn Observer) -> Outcome {
    try_to_show(exhibit, request, stop, observer).unwrap_or_else(Outcome::Failed)
}

fn try_to_show(
    exhibit: &Exhibit,
    request: &Request,
    stop: &AtomicBool,
    observer: &dyn Observer,
) -> Result<Outcome, RunError> {
    let bug = exhibit.bug()?;
    let scenario = scenario(exhibit, &bug, &[])?;
    let mut places = Vec::new();
    for version in [Version::Affected, Version::Fixed] {
        match fetch(exhibit, &bug, version, &request.packages) {
            Ok(place) => places.push(place),
            Err(error) => return Ok(Outcome::Missing(error)),
        }
    }
    let runs = request.runs.unwrap_or(bug.run.runs);
    let design = |place: &PathBuf, command: &str| design(exhibit, &bug, place, command);
    let side = Side { exhibit, bug: &bug, request, stop, observer };
    let affected =
        side.observe(&bug.affected.version, design(&places[0], &bug.run.command)?, &scenario, runs)?;
    let first = affected.first.as_ref().map_or(runs, |first| first.first_seed);
    let control = bug.control.as_ref();
    let command = control.and_then(|control| control.command.as_ref()).unwrap_or(&bug.run.command);
    let set = control.map_or(&[][..], |control| &control.set);
    let scenario = self::scenario(exhibit, &bug, set)?;
    let version = &Version::Fixed.of(&bug).version;
    let twin =
        side.observe(version, design(&places[1], command)?, &scenario, bug.runs_of_twin(first).max(runs))?;
    Ok(Outcome::Shown { affected, twin })
}

/// The scenario of a bug, with its parameters and further ones.
pub(super) fn scenario(exhibit: &Exhibit, bug: &Bug, further: &[String]) -> Result<Scenario, RunError> {
    let (name, stores) = (bug.run.scenario.as_str(), picklock_stores::params());
    let wrong = |error| RunError::Scenario(exhibit.name, error);
    let found = match exhibit.file(name) {
        Some(text) => Some(Scenario::parse(name, text, &stores).map_err(wrong)?),
        None => suite::named(name, &stores),
    };
    let mut scenarios = [found.ok_or_else(|| RunError::NoScenario(exhibit.name, name.to_owned()))?];
    set_each(&mut scenarios, &bug.run.set).map_err(wrong)?;
    set_each(&mut scenarios, further).map_err(wrong)?;
    let [scenario] = scenarios;
    Ok(scenario)
}

/// The program of a version.
fn design(exhibit: &Exhibit, bug: &Bug, place: &std::path::Path, command: &str) -> Result<Design, RunError> {
    let mut program = Program::new(command.replace("{dir}", &place.display().to_string()));
    let wrong = |error| RunError::Program(exhibit.name, error);
    for (name, value) in &bug.run.program {
        program.set(name, value).map_err(wrong)?;
    }
    program.design().map_err(wrong)
}

/// What the runs of both versions share.
struct Side<'a> {
    exhibit: &'a Exhibit,
    bug: &'a Bug,
    request: &'a Request,
    stop: &'a AtomicBool,
    observer: &'a dyn Observer,
}

impl Side<'_> {
    /// Makes the runs of a version.
    fn observe(
        &self,
        version: &str,
        design: Design,
        scenario: &Scenario,
        runs: u64,
    ) -> Result<Observed, RunError> {
        let design = scenario
            .applies(&design)
            .map_err(|why| RunError::NotApplicable(self.exhibit.name, scenario.name().to_owned(), why))?;
        let watch = Watch::new(&self.bug.run.invariant, self.observer);
        let campaign = Campaign {
            jobs: self.request.jobs,
            ..Campaign::new(vec![design.clone()], vec![scenario.clone()], 0..runs)
        };
        let summary = campaign.run(self.stop, &watch)?;
        let took = watch.elapsed();
        let cell = &summary.cells[0];
        let violation = cell.violations.get(&self.bug.run.invariant);
        let first =
            violation.map(|violation| self.found(&design, scenario, violation.first_seed, watch.first()));
        Ok(Observed {
            version: version.to_owned(),
            runs: cell.runs,
            violating: violation.map_or(0, |violation| violation.runs),
            inconclusive: cell.unknown,
            took,
            first: first.transpose()?,
        })
    }

    fn found(
        &self,
        design: &Design,
        scenario: &Scenario,
        seed: u64,
        after: Duration,
    ) -> Result<Found, RunError> {
        let run = check::seed(Engine::Event, design, scenario, Seed(seed))?;
        let patience = Patience::of(Some(self.request.shrink_budget));
        let limit = Limit::of(&patience);
        let invariant = &self.bug.run.invariant;
        let reduced = shrink::shrink_within(Engine::Event, design, &run.plan, invariant, &limit);
        let shrunk = check::check(Engine::Event, design, reduced.plan)?;
        Ok(Found {
            first_seed: seed,
            after,
            events: run.trace.events.len(),
            shrunk: shrunk.trace.events.len(),
            replay: self.replay(design, seed),
        })
    }

    /// The line that replays a seed of a version.
    fn replay(&self, design: &Design, seed: u64) -> String {
        use picklock_campaign::campaign::quoted;
        let scenario = match self.exhibit.file(&self.bug.run.scenario) {
            Some(_) => format!("museum/{}/{}", self.exhibit.name, self.bug.run.scenario),
            None => self.bug.run.scenario.clone(),
        };
        let set: String = self.bug.run.set.iter().map(|set| format!(" --set {}", quoted(set))).collect();
        format!("picklock replay {} {} {seed}{set} --shrink", quoted(&design.name), quoted(&scenario))
    }
}

/// Notes when the first violation is found, and passes everything on.
struct Watch<'a> {
    invariant: &'a str,
    next: &'a dyn Observer,
    #[expect(
        clippy::disallowed_types,
        reason = "how long a search takes is time of the machine; no run reads it"
    )]
    began: std::time::Instant,
    first: Mutex<Option<Duration>>,
}

impl<'a> Watch<'a> {
    #[expect(
        clippy::disallowed_methods,
        clippy::disallowed_types,
        reason = "how long a search takes is time of the machine; no run reads it"
    )]
    fn new(invariant: &'a str, next: &'a dyn Observer) -> Watch<'a> {
        Watch { invariant, next, began: std::time::Instant::now(), first: Mutex::new(None) }
    }

    fn elapsed(&self) -> Duration {
        self.began.elapsed()
    }

    fn first(&self) -> Duration {
        self.first.lock().unwrap_or_else(PoisonError::into_inner).unwrap_or_else(|| self.elapsed())
    }
}

impl Observer for Watch<'_> {
    fn ran(&self, runs: u64) {
        self.next.ran(runs);
    }

    fn judged(&self, judged: &Judged<'_>) {
        if judged.run.violates(self.invariant) {
            let mut first = self.first.lock().unwrap_or_else(PoisonError::into_inner);
            first.get_or_insert_with(|| self.began.elapsed());
        }
        self.next.judged(judged);
    }

    fn reporting(&self, violations: u64) {
        self.next.reporting(violations);
    }

    fn reported(&self) {
        self.next.reported();
    }
}
