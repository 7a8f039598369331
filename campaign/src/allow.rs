//! The allowed violations of a lock, as its author names them: a lease cannot stop a holder that sleeps through it, and a test
//! that is red for that proves nothing about the lock.
//!
//! ```toml
//! no_worse_than = "watchdog"      # what this design that comes with picklock is known to violate, scenario by scenario
//!
//! [pause]                         # a scenario
//! allow = ["mutual-exclusion", "effective-exclusion", "no-lost-update"]
//! ```
//!
//! An allowed violation may be found or not, and no other may be found: it is never an expectation.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::expect::Expectations;
use crate::summary::{Cell, Expected};
use picklock_judge::invariants;
use picklock_scenarios::scenario::{Problem, Scenario, ScenarioError, Spot, read_text};
use picklock_scenarios::toml_view::{entries, table};
use picklock_sim::design::Design;

/// A violation of one run in ten is missed by so many runs less than once in 30,000 times: an allowed violation that they
/// do not show is worth a note.
const ENOUGH: u64 = 100;

/// The allowed violations, by scenario.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AllowedViolations {
    own: BTreeMap<String, BTreeSet<String>>,
    no_worse_than: Option<String>,
    known: Expectations,
}

impl AllowedViolations {
    /// Allows these invariants to be violated under a scenario, which is one of `scenarios`.
    ///
    /// # Errors
    /// When there is no such scenario or invariant.
    pub fn allow<S: AsRef<str>>(
        &mut self,
        scenario: &str,
        invariants: impl IntoIterator<Item = S>,
        scenarios: &[&str],
    ) -> Result<(), Problem> {
        known("scenario", scenario, scenarios)?;
        let names: Vec<&str> = invariants::ALL.iter().map(|invariant| invariant.name).collect();
        let allowed = self.own.entry(scenario.to_owned()).or_default();
        for invariant in invariants {
            known("invariant", invariant.as_ref(), &names)?;
            allowed.insert(invariant.as_ref().to_owned());
        }
        Ok(())
    }

    /// Allows what a design that comes with picklock is known to violate, under each scenario of the built-in suite.
    ///
    /// # Errors
    /// When nothing is known of such a design.
    pub fn no_worse_than(&mut self, design: &str) -> Result<(), Problem> {
        let expectations = Expectations::builtin();
        let mut designs: Vec<&str> = expectations.names().map(|(design, _)| design).collect();
        designs.dedup();
        known("design with expectations", design, &designs)?;
        self.no_worse_than = Some(design.to_owned());
        self.known = expectations;
        Ok(())
    }

    /// Reads allowed violations under these scenarios.
    ///
    /// # Errors
    /// When the text is not TOML or not of the form above; the error names line, column and remedy.
    pub fn parse(file: &str, text: &str, scenarios: &[&str]) -> Result<AllowedViolations, ScenarioError> {
        read(text, scenarios).map_err(|spot| spot.in_file(file, text))
    }

    /// Reads allowed violations under these scenarios from a file.
    ///
    /// # Errors
    /// When the file cannot be read, is larger than 1 MiB, or is not valid.
    pub fn load(path: &Path, scenarios: &[&str]) -> Result<AllowedViolations, ScenarioError> {
        AllowedViolations::parse(&path.display().to_string(), &read_text(path)?, scenarios)
    }

    /// The expectation for a cell of this scenario: the allowed invariants may be violated, and none must be.
    #[must_use]
    pub fn under(&self, scenario: &str) -> Expected {
        let mut may: BTreeSet<String> = self.own.get(scenario).cloned().unwrap_or_default();
        let known = self.no_worse_than.as_ref().and_then(|design| self.known.cell(design, scenario));
        may.extend(known.into_iter().flat_map(|known| known.violated.into_iter().chain(known.may)));
        Expected { violated: Vec::new(), may: may.into_iter().collect(), within: 0 }
    }

    /// The allowed violations as expectations of each of these designs under each of these scenarios.
    #[must_use]
    pub fn expectations(&self, designs: &[Design], scenarios: &[Scenario]) -> Expectations {
        let under = |scenario: &Scenario| (scenario.name().to_owned(), self.under(scenario.name()));
        let each = |design: &Design| {
            let name = design.name.to_string();
            scenarios.iter().map(under).map(move |(scenario, may)| (name.clone(), scenario, may))
        };
        designs.iter().flat_map(each).collect()
    }

    /// Each allowed violation that so many runs of its scenario did not show, in words; without those that are taken from
    /// another design. Each cell comes with the scenario whose allowed violations apply to it.
    #[must_use]
    pub fn not_needed<'a>(&self, cells: impl IntoIterator<Item = (&'a str, &'a Cell)>) -> Vec<String> {
        let mut runs: BTreeMap<&str, u64> = BTreeMap::new();
        let mut found: BTreeSet<(&str, &str)> = BTreeSet::new();
        for (scenario, cell) in cells {
            *runs.entry(scenario).or_default() += cell.runs.saturating_sub(cell.unknown);
            found.extend(cell.violations.keys().map(|invariant| (scenario, invariant.as_str())));
        }
        let mut notes = Vec::new();
        for (scenario, invariants) in &self.own {
            let runs = runs.get(scenario.as_str()).copied().unwrap_or(0);
            let spare = invariants.iter().map(String::as_str);
            let spare: Vec<&str> = spare.filter(|name| !found.contains(&(scenario.as_str(), name))).collect();
            if runs >= ENOUGH && !spare.is_empty() {
                notes.push(format!(
                    "note: {} is allowed under `{scenario}`, and none of {runs} runs needed that: perhaps it can go",
                    spare.join(", ")
                ));
            }
        }
        notes
    }
}

fn known(kind: &'static str, name: &str, all: &[&str]) -> Result<(), Problem> {
    if all.contains(&name) { Ok(()) } else { Err(Problem::unknown(kind, name, all)) }
}

fn read(text: &str, scenarios: &[&str]) -> Result<AllowedViolations, Spot> {
    let mut allowed_violations = AllowedViolations::default();
    let root = table(text)?;
    for entry in entries(root.get_ref()) {
        if entry.key == "no_worse_than" {
            let span = entry.value.span();
            allowed_violations.no_worse_than(entry.text()?).map_err(|problem| Spot::new(span, problem))?;
            continue;
        }
        let none: [&str; 0] = [];
        let keys = [&["no_worse_than"], scenarios].concat();
        if !scenarios.contains(&entry.key) {
            let kind = if entry.table().is_ok() { "scenario" } else { "key" };
            return Err(Spot::new(entry.key_span, Problem::unknown(kind, entry.key, &keys)));
        }
        for inner in entries(entry.table()?) {
            if inner.key != "allow" {
                return Err(Spot::new(inner.key_span, Problem::unknown("key", inner.key, &["allow"])));
            }
            let texts = inner.texts()?;
            allowed_violations
                .allow(entry.key, none, scenarios)
                .map_err(|problem| Spot::new(entry.key_span.clone(), problem))?;
            for (span, invariant) in texts {
                allowed_violations
                    .allow(entry.key, [invariant], scenarios)
                    .map_err(|problem| Spot::new(span, problem))?;
            }
        }
    }
    Ok(allowed_violations)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::summary::Violation;

    const SCENARIOS: [&str; 3] = ["calm", "pause", "client-crash"];

    const GOOD: &str = r#"
no_worse_than = "single"

[pause]
allow = ["no-lost-update", "ownership"]
"#;

    fn parse(text: &str) -> Result<AllowedViolations, ScenarioError> {
        AllowedViolations::parse("allow.toml", text, &SCENARIOS)
    }

    fn error(text: &str) -> String {
        parse(text).unwrap_err().to_string()
    }

    #[test]
    fn what_is_allowed_may_be_found_and_nothing_must_be() {
        let pause = parse("[pause]\nallow = ['progress', 'ownership']").unwrap().under("pause");
        assert_eq!(
            pause,
            Expected { may: vec!["ownership".into(), "progress".into()], ..Expected::default() }
        );
        assert_eq!(parse(GOOD).unwrap().under("calm"), Expected::default());
    }

    #[test]
    fn no_worse_than_a_design_is_what_that_may_violate_and_what_is_allowed_besides() {
        let pause = parse(GOOD).unwrap().under("pause");
        let known = Expectations::builtin().cell("single", "pause").unwrap();
        for name in known.violated.iter().chain(&known.may).map(String::as_str).chain(["ownership"]) {
            assert!(pause.may.iter().any(|may| may == name), "{name} is not in {pause:?}");
        }
        assert!(pause.violated.is_empty());
    }

    #[test]
    fn mistakes_are_reported_with_their_place_and_remedy() {
        for (text, says) in [
            ("[paus]\nallow = []", "allow.toml:1:2: there is no scenario `paus` (did you mean `pause`?)"),
            (
                "no_worse_then = 'single'",
                "allow.toml:1:1: there is no key `no_worse_then` (did you mean `no_worse_than`?)",
            ),
            ("[pause]\nallows = []", "allow.toml:2:1: there is no key `allows` (did you mean `allow`?)"),
            (
                "[pause]\nallow = ['ownerships']",
                "allow.toml:2:10: there is no invariant `ownerships` (did you mean",
            ),
            ("[pause]\nallow = 'ownership'", "allow.toml:2:9: `allow` is a text; write a list of texts"),
            (
                "no_worse_than = 'watchdogs'",
                "1:17: there is no design with expectations `watchdogs` (did you mean `watchdog`?)",
            ),
            (
                "no_worse_than = 3",
                "allow.toml:1:17: `no_worse_than` is a whole number; write a text in quotes",
            ),
            ("pause = ['ownership']", "`pause` is a list; write it as a table, `[pause]`"),
            ("[pause", "allow.toml:1:7: not valid TOML"),
        ] {
            assert!(error(text).contains(says), "`{says}` is not in: {}", error(text));
        }
    }

    #[test]
    fn an_allowed_violation_that_a_hundred_runs_did_not_need_is_noted() {
        let allowed_violations = parse("[pause]\nallow = ['ownership', 'progress']").unwrap();
        let mut cell = Cell { scenario: "pause".into(), runs: 100, ..Cell::default() };
        cell.violations.insert("progress".into(), Violation::default());
        let notes = allowed_violations.not_needed([("pause", &cell)]);
        assert_eq!(
            notes,
            ["note: ownership is allowed under `pause`, and none of 100 runs needed that: perhaps it can go"]
        );
        cell.unknown = 1;
        assert!(allowed_violations.not_needed([("pause", &cell)]).is_empty(), "99 runs are too few");
        assert!(allowed_violations.not_needed([]).is_empty(), "a scenario that was not run needs nothing");
    }

    proptest! {
        #[test]
        fn no_damage_makes_the_reader_panic(at in 0..GOOD.len(), cut in 0..40_usize, put in "\\PC{0,12}") {
            let end = (at + cut).min(GOOD.len());
            let _ = parse(&[&GOOD[..at], &put, &GOOD[end..]].concat());
        }
    }
}
