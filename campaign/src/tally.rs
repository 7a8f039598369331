//! The results of one cell as they add up. Sums and minima only, so that they can be merged in any order and the
//! numbers do not depend on how many threads made the runs.

use std::collections::BTreeMap;

use serde::de::{Deserializer, Error as _};
use serde::{Deserialize, Serialize};

use crate::check::Checked;
use picklock_judge::conclusive::Inconclusive;
use picklock_judge::invariants;
use picklock_judge::metrics::Metrics;
use picklock_judge::outcome::Outcome;
use picklock_sim::engine::Engine;

use crate::summary::{Cell, Expected, Judged, Reason, Violation};

/// The sums over a number of runs of one design under one scenario.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tally {
    /// Runs made.
    pub runs: u64,
    /// Of these, inconclusive runs: without a violation, and with nothing put to the test.
    pub unknown: u64,
    /// Of these, runs in which a fault hit the lock.
    pub hit_lock: u64,
    /// For each violated invariant, the runs and the lowest seed.
    #[serde(deserialize_with = "by_invariant")]
    pub violations: BTreeMap<&'static str, Seen>,
    /// For each fault, the runs in which it made a difference.
    pub took_effect: BTreeMap<String, u64>,
    /// For each request that a simulated store refused because it does not have it, the runs in which it did.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub not_modelled: BTreeMap<String, u64>,
    /// For each invariant, the runs by what they said of it.
    #[serde(deserialize_with = "by_invariant")]
    pub judged: BTreeMap<&'static str, Judged>,
    /// Measures over all runs.
    pub metrics: Metrics,
}

/// How often an invariant was violated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Seen {
    /// Runs.
    pub runs: u64,
    /// The lowest seed.
    pub first_seed: u64,
}

impl Tally {
    /// Counts one run.
    pub fn add(&mut self, run: &Checked) {
        let seed = run.plan.seed.0;
        self.runs += 1;
        for (invariant, outcome) in &run.outcomes {
            if matches!(outcome, Outcome::Violated(_)) {
                self.see(invariant.name, Seen { runs: 1, first_seed: seed });
            }
            self.judged.entry(invariant.name).or_default().merge(judged(seed, run.inconclusive, outcome));
        }
        self.unknown += u64::from(!run.is_conclusive());
        self.hit_lock += u64::from(run.hit_lock);
        for fault in &run.took_effect {
            *self.took_effect.entry(fault.clone()).or_default() += 1;
        }
        for name in &run.not_modelled {
            *self.not_modelled.entry(name.clone()).or_default() += 1;
        }
        self.metrics.merge(&run.metrics);
    }

    /// Adds the runs of another tally of the same cell.
    pub fn merge(&mut self, other: Tally) {
        self.runs += other.runs;
        self.unknown += other.unknown;
        self.hit_lock += other.hit_lock;
        for (invariant, seen) in other.violations {
            self.see(invariant, seen);
        }
        for (fault, runs) in other.took_effect {
            *self.took_effect.entry(fault).or_default() += runs;
        }
        for (name, runs) in other.not_modelled {
            *self.not_modelled.entry(name).or_default() += runs;
        }
        for (invariant, judged) in other.judged {
            self.judged.entry(invariant).or_default().merge(judged);
        }
        self.metrics.merge(&other.metrics);
    }

    fn see(&mut self, invariant: &'static str, seen: Seen) {
        let entry = self.violations.entry(invariant).or_insert(Seen { runs: 0, first_seed: u64::MAX });
        entry.runs += seen.runs;
        entry.first_seed = entry.first_seed.min(seen.first_seed);
    }

    /// The results as a cell of a summary, held against what is expected. Its violations are counted: none of them is reduced, and
    /// none says how it is replayed.
    #[must_use]
    pub fn cell(&self, design: &str, scenario: &str, engine: Engine, expected: Option<Expected>) -> Cell {
        let met = expected.as_ref().and_then(|expected| self.met(expected));
        let counted =
            |seen: &Seen| Violation { runs: seen.runs, first_seed: seen.first_seed, ..Violation::default() };
        Cell {
            design: design.to_owned(),
            scenario: scenario.to_owned(),
            engine: engine.to_string(),
            runs: self.runs,
            unknown: self.unknown,
            not_applicable: if self.runs == 0 { Vec::new() } else { self.not_applicable() },
            invariants: self
                .judged
                .iter()
                .filter(|(_, judged)| applies(judged))
                .map(|(name, judged)| ((*name).to_owned(), judged.clone()))
                .collect(),
            violations: self
                .violations
                .iter()
                .map(|(name, seen)| ((*name).to_owned(), counted(seen)))
                .collect(),
            hit_lock: self.hit_lock,
            took_effect: self.took_effect.clone(),
            not_modelled: self.not_modelled.clone(),
            met: met.as_ref().map(Result::is_ok),
            unmet_because: met.and_then(Result::err),
            expected,
            metrics: self.metrics.clone(),
            ..Cell::default()
        }
    }

    /// The invariants that said nothing of any run.
    #[must_use]
    pub fn not_applicable(&self) -> Vec<String> {
        let never = self.judged.iter().filter(|(_, judged)| !applies(judged));
        never.map(|(invariant, _)| (*invariant).to_owned()).collect()
    }

    /// True if the runs are as expected; `None` if too few were made for a verdict. An unexpected violation needs no
    /// further runs.
    #[must_use]
    pub fn met(&self, expected: &Expected) -> Option<Result<(), String>> {
        let named = |names: &[String], name: &str| names.iter().any(|other| other == name);
        let unexpected: Vec<&str> = (self.violations.keys().copied())
            .filter(|name| !named(&expected.violated, name) && !named(&expected.may, name))
            .collect();
        if !unexpected.is_empty() {
            return Some(Err(format!("unexpected violation of {}", unexpected.join(", "))));
        }
        let missing: Vec<&str> = (expected.violated.iter().map(String::as_str))
            .filter(|name| !self.violations.contains_key(name))
            .collect();
        if missing.is_empty() {
            return Some(Ok(()));
        }
        let names = missing.join(", ");
        (self.runs >= expected.within)
            .then(|| Err(format!("{names} should be found violated within {} runs", expected.within)))
    }
}

/// What one run said of an invariant.
fn judged(seed: u64, inconclusive: Option<Inconclusive>, outcome: &Outcome) -> Judged {
    let one = Judged::default();
    let undecided = |why: &str| {
        let because = Reason { seed, why: why.to_owned() };
        Judged { undecided: 1, undecided_because: Some(because), ..Judged::default() }
    };
    match (outcome, inconclusive) {
        (Outcome::NotApplicable, _) => one,
        (Outcome::Violated(_), _) => Judged { decided: 1, violated: 1, ..one },
        (Outcome::Holds, None) => Judged { decided: 1, ..one },
        (Outcome::Undecided(why), _) => undecided(why),
        (Outcome::NotAsked(_), _) | (_, Some(Inconclusive::NotAsked(_))) => Judged { not_asked: 1, ..one },
        (Outcome::Holds, Some(Inconclusive::Undecided(why))) => undecided(why),
    }
}

/// True if a run put the invariant to the test, or could have.
fn applies(judged: &Judged) -> bool {
    judged.decided + judged.undecided + judged.not_asked > 0
}

/// Reads what is said of each of some invariants.
fn by_invariant<'de, D, Said>(from: D) -> Result<BTreeMap<&'static str, Said>, D::Error>
where
    D: Deserializer<'de>,
    Said: Deserialize<'de>,
{
    let known = |(name, said): (String, Said)| match invariants::find(&name) {
        Some(invariant) => Ok((invariant.name, said)),
        None => Err(D::Error::custom(format!("there is no invariant `{name}`"))),
    };
    BTreeMap::<String, Said>::deserialize(from)?.into_iter().map(known).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(runs: u64, violated: &[&'static str]) -> Tally {
        let violations = violated.iter().map(|name| (*name, Seen { runs: 1, first_seed: 3 })).collect();
        Tally { runs, violations, ..Tally::default() }
    }

    fn expected(violated: &[&str], may: &[&str]) -> Expected {
        let owned = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Expected { violated: owned(violated), may: owned(may), within: 100 }
    }

    #[test]
    fn an_expected_violation_must_be_found_only_when_enough_runs_were_made() {
        let expects = expected(&["mutual-exclusion"], &["no-lost-update"]);
        assert_eq!(tally(99, &[]).met(&expects), None);
        assert!(tally(100, &[]).met(&expects).unwrap().is_err());
        assert_eq!(tally(100, &["mutual-exclusion"]).met(&expects), Some(Ok(())));
        assert_eq!(tally(100, &["mutual-exclusion", "no-lost-update"]).met(&expects), Some(Ok(())));
    }

    #[test]
    fn an_unexpected_violation_counts_at_once() {
        assert!(tally(1, &["ownership"]).met(&expected(&["mutual-exclusion"], &[])).unwrap().is_err());
        assert!(tally(1, &["ownership"]).met(&expected(&[], &[])).unwrap().is_err());
    }

    #[test]
    fn what_an_invariant_left_open_counts_as_open_in_a_run_that_put_nothing_to_the_test() {
        let why = "client-1 holds `job` and waits for node-1".to_owned();
        let nothing = Some(Inconclusive::NotAsked("no client waited"));
        let open = judged(1, nothing, &Outcome::Undecided(why.clone()));
        assert_eq!((open.undecided, open.undecided_because.map(|because| because.why)), (1, Some(why)));
        assert_eq!(judged(1, nothing, &Outcome::Holds).not_asked, 1);
    }
}
