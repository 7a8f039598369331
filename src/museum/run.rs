//! Runs both versions of a bug.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use picklock_campaign::campaign::Observer;
use picklock_programs::Program;
use picklock_scenarios::scenario::{Scenario, set_each};
use picklock_scenarios::suite;
use picklock_sim::design::Design;

use super::bug::{Bug, Control};
use super::exhibit::Exhibit;
use super::fetch::{Version, fetch};
use super::outcome::{Observed, Outcome, RunError};
use super::request::Request;
use super::search::Search;
use super::strategy::Strategy;
use super::{command, explore, seeds};

/// Fetches both versions and runs them.
#[must_use]
pub fn reproduce(
    exhibit: &Exhibit,
    request: &Request,
    stop: &AtomicBool,
    observer: &dyn Observer,
) -> Outcome {
    let run = || -> Result<Outcome, RunError> {
        let bug = exhibit.bug()?;
        // A mistake in the scenario is found before anything is fetched.
        let scenario = scenario(exhibit, &bug, &[])?;
        if request.strategy == Strategy::Explore
            && let Err(why) = explore::fault_of(&bug)
        {
            return Ok(Outcome::Unexplored(why));
        }
        let fetched = |version| fetch(exhibit, &bug, version, &request.packages, stop);
        match (fetched(Version::Affected), fetched(Version::Fixed)) {
            (Ok(affected), Ok(twin)) => {
                Comparison { exhibit, bug: &bug, request, stop, observer }.run(&scenario, &affected, &twin)
            }
            (Err(error), _) | (_, Err(error)) => Ok(Outcome::Missing(error)),
        }
    };
    run().unwrap_or_else(Outcome::Failed)
}

/// The scenario of a bug, with its parameters and further ones.
pub(super) fn scenario(exhibit: &Exhibit, bug: &Bug, further: &[String]) -> Result<Scenario, RunError> {
    let (name, stores) = (bug.run.scenario.as_str(), picklock_stores::params());
    let wrong = |error| RunError::Scenario(exhibit.folder.to_string(), error);
    let found = match exhibit.file(name) {
        Some(text) => Some(Scenario::parse(name, text, &stores).map_err(wrong)?),
        None => suite::named(name, &stores),
    };
    let missing = || RunError::NoScenario(exhibit.folder.to_string(), name.to_owned());
    let mut scenarios = [found.ok_or_else(missing)?];
    set_each(&mut scenarios, &bug.run.set).map_err(wrong)?;
    set_each(&mut scenarios, further).map_err(wrong)?;
    let [scenario] = scenarios;
    Ok(scenario)
}

/// The runs of both versions of one bug.
struct Comparison<'a> {
    exhibit: &'a Exhibit,
    bug: &'a Bug,
    request: &'a Request,
    stop: &'a AtomicBool,
    observer: &'a dyn Observer,
}

impl Comparison<'_> {
    /// Runs the affected version, and then its twin for as long as the bug took to find.
    fn run(&self, scenario: &Scenario, affected: &Path, twin: &Path) -> Result<Outcome, RunError> {
        let runs = self.request.runs.unwrap_or(self.bug.run.runs);
        let command = &self.bug.run.command;
        let affected =
            self.observe(&self.bug.affected.version, self.design(affected, command)?, scenario, runs)?;
        let first = affected.first.as_ref().map_or(runs, |first| first.runs);
        let control = self.bug.control.as_ref();
        let command = control.and_then(|control| control.command.as_ref()).unwrap_or(command);
        let further = control.map_or(&[][..], |control: &Control| &control.set);
        let scenario = self::scenario(self.exhibit, self.bug, further)?;
        let version = &Version::Fixed.of(self.bug).version;
        let runs = self.bug.runs_of_twin(first).max(runs);
        let twin = self.observe(version, self.design(twin, command)?, &scenario, runs)?;
        Ok(Outcome::Shown { affected, twin })
    }

    /// The program of a version.
    fn design(&self, place: &Path, command: &str) -> Result<Design, RunError> {
        let mut program = Program::new(command::filled(command, &place.display().to_string()));
        let wrong = |error| RunError::Program(self.exhibit.folder.to_string(), error);
        for (name, value) in &self.bug.run.program {
            program.set(name, value).map_err(wrong)?;
        }
        program.design().map_err(wrong)
    }

    /// Makes the runs of a version.
    fn observe(
        &self,
        version: &str,
        design: Design,
        scenario: &Scenario,
        runs: u64,
    ) -> Result<Observed, RunError> {
        let design = scenario.adapt(&design).map_err(|why| {
            RunError::NotApplicable(self.exhibit.folder.to_string(), scenario.name().to_owned(), why)
        })?;
        let Comparison { exhibit, bug, request, stop, observer } = *self;
        let search = Search { exhibit, bug, request, stop, observer, version, design: &design, scenario };
        match request.strategy {
            Strategy::Seeds => seeds::observe(&search, runs),
            Strategy::Explore => explore::observe(&search, runs),
        }
    }
}
