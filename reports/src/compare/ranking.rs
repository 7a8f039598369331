//! Which design protects the data best, as far as these runs show, and why.
//!
//! The order is that of what a user loses: first how often the data was harmed (`effective-exclusion`, `no-lost-update`),
//! then how often two held at once, then how often anything else was violated. Two holders are not the worst that can happen:
//! where the resource refuses what comes late, nothing is lost by them. Rates are over the scenarios that all designs ran; what was
//! found under others is named.

use picklock_scenarios::invariants::{mutual_exclusion, token_order};
use picklock_scenarios::summary::{Cell, Summary};

use super::shared::{Shared, was_run};
use crate::numbers::{clean_bound, percent, percent_up, plural};
use crate::text::distinct;
use crate::verdict::{self, Mark, OF_DATA};

/// A design and what these runs say of the data that it guards.
pub(crate) struct Ranked<'a> {
    pub(crate) design: &'a str,
    pub(crate) protects: Protects,
    /// Why, as a fragment.
    pub(crate) why: String,
    /// The runs under shared scenarios that exercised something, those of them in which the data was harmed (by the more frequent of
    /// the two ways), and those in which two held.
    pub(crate) exercised: u64,
    pub(crate) harmed: u64,
    pub(crate) held: u64,
}

/// Whether a design protects the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Protects {
    /// No run harmed it.
    InTheseRuns,
    /// Some run did.
    No,
    /// Nothing was exercised.
    Untested,
}

impl Protects {
    pub(crate) fn words(self) -> &'static str {
        match self {
            Protects::InTheseRuns => "yes, in these runs",
            Protects::No => "no",
            Protects::Untested => "not in these runs: nothing put it to the test",
        }
    }
}

/// The designs, the best first. Those of which the runs say the same stay in their order.
pub(crate) fn ranking(summary: &Summary) -> Vec<Ranked<'_>> {
    let designs = distinct(summary.cells.iter().map(|cell| cell.design.as_str()));
    let shared = Shared::of(summary);
    let mut scored: Vec<(Score, Ranked<'_>)> =
        designs.into_iter().map(|design| judge(summary, &shared, design)).collect();
    scored.sort_by(|(one, _), (other, _)| {
        let by_rates = one.rates.iter().zip(&other.rates).map(|(one, other)| one.total_cmp(other));
        one.protects
            .cmp(&other.protects)
            .then(by_rates.fold(std::cmp::Ordering::Equal, |all, it| all.then(it)))
    });
    scored.into_iter().map(|(_, ranked)| ranked).collect()
}

struct Score {
    protects: Protects,
    /// How often the data was harmed, two held, and anything else was violated: of each the most frequent invariant.
    rates: [f64; 3],
}

fn judge<'a>(summary: &Summary, shared: &Shared<'_>, design: &'a str) -> (Score, Ranked<'a>) {
    let own = summary.cells.iter().filter(|cell| cell.design == design && was_run(cell));
    let (cells, others): (Vec<&Cell>, Vec<&Cell>) = own.partition(|cell| shared.holds(cell));
    let exercised: u64 = cells.iter().map(|cell| verdict::exercised(cell)).sum();
    let runs = |invariant: &str| -> u64 {
        cells.iter().filter_map(|cell| cell.violations.get(invariant)).map(|violation| violation.runs).sum()
    };
    let rate = |invariant: &str| runs(invariant) as f64 / exercised.max(1) as f64;
    let most = |invariants: &[&str]| invariants.iter().map(|name| rate(name)).fold(0.0, f64::max);
    let held = mutual_exclusion::INVARIANT.name;
    let rest = distinct(cells.iter().flat_map(|cell| cell.violations.keys()).map(String::as_str));
    let rest: Vec<&str> =
        rest.into_iter().filter(|name| *name != held && !verdict::is_of_data(name)).collect();
    let rates = [most(&OF_DATA), rate(held), most(&rest)];

    let elsewhere: Vec<&str> =
        others.iter().filter(|cell| harms(cell)).map(|cell| cell.scenario.as_str()).collect();
    let protects = if rates[0] > 0.0 || !elsewhere.is_empty() {
        Protects::No
    } else if cells.iter().chain(&others).all(|cell| Mark::of(cell) == Mark::Unknown) {
        Protects::Untested
    } else {
        Protects::InTheseRuns
    };
    let unchanged = || {
        let below = clean_bound(exercised).map(percent_up).unwrap_or_default();
        format!("no stale or lost change in {exercised} {} (<{below})", plural(exercised, "run"))
    };
    let in_runs = |invariant: &str| format!("{invariant} broken in {}", percent(rate(invariant)));
    let why = match protects {
        Protects::No => {
            let broken: Vec<String> =
                OF_DATA.into_iter().filter(|name| runs(name) > 0).map(in_runs).collect();
            let here = format!("{} of {exercised} {}", broken.join(", "), plural(exercised, "run"));
            match (broken.is_empty(), elsewhere.join(", ")) {
                (_, none) if none.is_empty() => here,
                (true, under) => format!("{}, but harmed under {under}, which not all ran", unchanged()),
                (false, under) => format!("{here}; harmed under {under} too, which not all ran"),
            }
        }
        Protects::Untested => String::new(),
        Protects::InTheseRuns => {
            let none = unchanged();
            let fenced = cells.iter().any(|cell| applies(cell, token_order::INVARIANT.name));
            match (runs(held) > 0, fenced) {
                (false, _) => none,
                (true, true) => format!(
                    "{none}; two held at once in {}, and the resource refused what came late by its token",
                    percent(rate(held))
                ),
                (true, false) => format!("{none}, although two held at once in {}", percent(rate(held))),
            }
        }
    };
    let harmed = OF_DATA.into_iter().map(runs).max().unwrap_or(0);
    let ranked = Ranked { design, protects, why, exercised, harmed, held: runs(held) };
    (Score { protects, rates }, ranked)
}

fn harms(cell: &Cell) -> bool {
    OF_DATA.into_iter().any(|invariant| cell.violations.contains_key(invariant))
}

/// Whether an invariant says anything of the design of a cell.
pub(crate) fn applies(cell: &Cell, invariant: &str) -> bool {
    cell.runs > 0 && !cell.not_applicable.iter().any(|name| name == invariant)
}

#[cfg(test)]
mod tests {
    use picklock_scenarios::summary::{SCHEMA, Violation};

    use super::*;

    const LOST: &str = "no-lost-update";

    fn cell(design: &str, scenario: &str, lost: u64) -> Cell {
        let violated =
            (lost > 0).then(|| (LOST.to_owned(), Violation { runs: lost, ..Violation::default() }));
        Cell {
            design: design.into(),
            scenario: scenario.into(),
            runs: 100,
            decided: 100,
            violations: violated.into_iter().collect(),
            ..Cell::default()
        }
    }

    fn spared(design: &str, scenario: &str) -> Cell {
        Cell { runs: 0, skipped: Some("nothing to fail over".into()), ..cell(design, scenario, 0) }
    }

    fn ranked(cells: Vec<Cell>) -> Vec<(String, Protects, String)> {
        let summary = Summary { schema: SCHEMA, command: String::new(), partial: false, cells };
        ranking(&summary).into_iter().map(|one| (one.design.to_owned(), one.protects, one.why)).collect()
    }

    #[test]
    fn rates_are_of_what_all_designs_ran_and_harm_elsewhere_is_named() {
        let found = ranked(vec![
            cell("mended", "pause", 0),
            cell("mended", "failover", 90),
            cell("worse", "pause", 20),
            spared("worse", "failover"),
            cell("better", "pause", 10),
            cell("better", "failover", 90),
        ]);
        let why = |of: &str| {
            let one = found.iter().find(|(design, ..)| design == of).unwrap();
            (one.1, one.2.clone())
        };
        let order: Vec<&str> = found.iter().map(|(design, ..)| design.as_str()).collect();
        assert_eq!(order, ["mended", "better", "worse"]);
        let (protects, said) = why("better");
        assert_eq!(protects, Protects::No);
        assert_eq!(
            said,
            "no-lost-update broken in 10.0% of 100 runs; harmed under failover too, which not all ran"
        );
        let (protects, said) = why("mended");
        assert_eq!(protects, Protects::No, "harm is harm, wherever it was done");
        assert!(said.ends_with("but harmed under failover, which not all ran"), "{said}");
        assert_eq!(why("worse").1, "no-lost-update broken in 20.0% of 100 runs");
    }

    #[test]
    fn designs_that_ran_nothing_leave_the_others_their_scenarios() {
        let found = ranked(vec![cell("one", "pause", 5), cell("one", "calm", 0), spared("none", "pause")]);
        assert_eq!(found[0].2, "no-lost-update broken in 2.5% of 200 runs");
        assert_eq!(found[1].1, Protects::Untested);
    }

    #[test]
    fn designs_that_share_no_scenario_keep_their_own() {
        let found = ranked(vec![cell("one", "pause", 5), cell("other", "calm", 0)]);
        assert_eq!(found[0].0, "other");
        assert_eq!(found[1].2, "no-lost-update broken in 5.0% of 100 runs");
    }
}
