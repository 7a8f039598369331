//! The search for violations by one version of a package.

use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_campaign::campaign::{Observer, quoted};
use picklock_campaign::check::{self, Checked};
use picklock_campaign::patience::Patience;
use picklock_campaign::shrink::{self, Limit};
use picklock_scenarios::scenario::Scenario;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use super::bug::Bug;
use super::exhibit::Exhibit;
use super::outcome::{Found, RunError};
use super::request::Request;

/// One version under the scenario of its bug.
pub(super) struct Search<'a> {
    pub(super) exhibit: &'a Exhibit,
    pub(super) bug: &'a Bug,
    pub(super) request: &'a Request,
    pub(super) stop: &'a AtomicBool,
    pub(super) observer: &'a dyn Observer,
    pub(super) version: &'a str,
    pub(super) design: &'a Design,
    pub(super) scenario: &'a Scenario,
}

impl Search<'_> {
    /// The first violation, with what becomes of its run when it is shrunk.
    pub(super) fn found(&self, run: &Checked, first: Found) -> Result<Found, RunError> {
        let patience = Patience::of(Some(self.request.shrink_budget));
        let limit = Limit::of(&patience);
        let invariant = &self.bug.run.invariant;
        let reduced = shrink::shrink_within(Engine::Event, self.design, &run.plan, invariant, &limit);
        let shrunk = check::check(Engine::Event, self.design, reduced.plan)?;
        Ok(Found { events: run.trace.events.len(), shrunk: shrunk.trace.events.len(), ..first })
    }

    /// The scenario, as a command line names it.
    pub(super) fn scenario_word(&self) -> String {
        let name = &self.bug.run.scenario;
        match self.exhibit.file(name) {
            Some(_) => quoted(&format!("{}/{name}", self.exhibit.folder)),
            None => quoted(name),
        }
    }

    /// The parameters of the scenario, as a command line sets them.
    pub(super) fn settings(&self) -> String {
        self.bug.run.set.iter().map(|set| format!(" --set {}", quoted(set))).collect()
    }
}

impl Found {
    /// A violation that was found after so many runs and so much time; its run is not made again yet.
    pub(super) fn new(first_seed: u64, runs: u64, after: Duration, replay: String) -> Found {
        Found { first_seed, runs, site: None, after, events: 0, shrunk: 0, replay }
    }
}
