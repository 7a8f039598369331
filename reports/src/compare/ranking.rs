//! Which design protects the data best, as far as these runs show, and why.
//!
//! The order is that of what a user loses: first how often the data was harmed (`effective-exclusion`, `no-lost-update`),
//! then how often two held at once, then how often anything else was violated. Two holders are not the worst that can happen:
//! where the resource refuses what comes late, nothing is lost by them. Rates are over the scenarios that all designs ran; what was
//! found under others is named.

use picklock_campaign::summary::{Cell, Summary};
use picklock_judge::invariants::{Promise, about, is_about};

use super::shared::{Shared, was_run};
use crate::matrix::statistics::clean_bound;
use crate::matrix::verdict::{self, Mark};
use crate::page::layout::distinct;
use crate::page::numbers::{percent, percent_up, plural};

/// A design and what these runs say of the data that it guards.
pub(crate) struct Ranked<'a> {
    pub(crate) design: &'a str,
    pub(crate) protects: Protects,
    /// The reason, as a fragment.
    pub(crate) why: String,
    /// The runs under shared scenarios that are conclusive, those of them in which the data was harmed (by the more frequent of
    /// the two ways), and those in which two held.
    pub(crate) conclusive: u64,
    pub(crate) harmed: u64,
    pub(crate) held: u64,
}

/// The answer to whether a design protects the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Protects {
    /// No run harmed it.
    InTheseRuns,
    /// Some run did.
    No,
    /// No run was conclusive.
    Untested,
}

impl Protects {
    /// The sign of a cell of which the runs say the same of the data.
    pub(crate) fn mark(self) -> Mark {
        match self {
            Protects::InTheseRuns => Mark::Holds,
            Protects::No => Mark::Harmed,
            Protects::Untested => Mark::Inconclusive,
        }
    }

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

/// Which of the designs keep the data whole, in a sentence.
pub(crate) fn title<'a>(ranking: impl Iterator<Item = &'a Ranked<'a>>) -> String {
    let ranking: Vec<&Ranked<'_>> = ranking.collect();
    let whole = ranking.iter().filter(|ranked| ranked.protects == Protects::InTheseRuns).count();
    match ranking.as_slice() {
        [] => "Nothing was run".to_owned(),
        [one] => match one.protects {
            Protects::InTheseRuns => format!("{} kept the data whole in these runs", one.design),
            Protects::No => format!("{} harms the data", one.design),
            Protects::Untested => format!("{} was not put to the test", one.design),
        },
        all => format!("{whole} of {} designs kept the data whole in these runs", all.len()),
    }
}

struct Score {
    protects: Protects,
    /// How often the data was harmed, two held, and anything else was violated: of each the most frequent invariant.
    rates: [f64; 3],
}

fn judge<'a>(summary: &'a Summary, shared: &Shared<'_>, design: &'a str) -> (Score, Ranked<'a>) {
    let found = Found::of(summary, shared, design);
    let (protects, rates) = (found.protects(), found.rates());
    let ranked = Ranked {
        design,
        protects,
        why: found.why(protects),
        conclusive: found.conclusive,
        harmed: about(Promise::Data).map(|name| found.runs(name)).max().unwrap_or(0),
        held: found.held(),
    };
    (Score { protects, rates }, ranked)
}

/// The findings about a design.
struct Found<'a> {
    /// Its cells under shared scenarios.
    cells: Vec<&'a Cell>,
    /// The other scenarios under which its data was harmed.
    elsewhere: Vec<&'a str>,
    conclusive: u64,
}

impl<'a> Found<'a> {
    fn of(summary: &'a Summary, shared: &Shared<'_>, design: &str) -> Found<'a> {
        let own = summary.cells.iter().filter(|cell| cell.design == design && was_run(cell));
        let (cells, others): (Vec<&Cell>, Vec<&Cell>) = own.partition(|cell| shared.holds(cell));
        let harmed = others.into_iter().filter(|cell| verdict::harms_data(cell));
        let elsewhere = harmed.map(|cell| cell.scenario.as_str()).collect();
        let conclusive = cells.iter().map(|cell| verdict::conclusive(cell)).sum();
        Found { cells, elsewhere, conclusive }
    }

    fn runs(&self, invariant: &str) -> u64 {
        let violations = self.cells.iter().filter_map(|cell| cell.violations.get(invariant));
        violations.map(|violation| violation.runs).sum()
    }

    fn rate(&self, invariant: &str) -> f64 {
        self.share(self.runs(invariant))
    }

    fn share(&self, runs: u64) -> f64 {
        runs as f64 / self.conclusive.max(1) as f64
    }

    /// The runs with two holders.
    fn held(&self) -> u64 {
        about(Promise::Holders).map(|name| self.runs(name)).max().unwrap_or(0)
    }

    /// The highest rates of harmed data, of two holders, and of other violations.
    fn rates(&self) -> [f64; 3] {
        let found = distinct(self.cells.iter().flat_map(|cell| cell.violations.keys()).map(String::as_str));
        let most = |meant: fn(&str) -> bool| {
            let meant = found.iter().filter(|name| meant(name));
            meant.map(|name| self.rate(name)).fold(0.0, f64::max)
        };
        let two_hold = |name: &str| is_about(name, Promise::Holders);
        [
            most(verdict::is_of_data),
            most(two_hold),
            most(|name| !verdict::is_of_data(name) && !is_about(name, Promise::Holders)),
        ]
    }

    fn protects(&self) -> Protects {
        if about(Promise::Data).any(|name| self.runs(name) > 0) || !self.elsewhere.is_empty() {
            Protects::No
        } else if self.cells.iter().all(|cell| Mark::of(cell) == Mark::Inconclusive) {
            Protects::Untested
        } else {
            Protects::InTheseRuns
        }
    }

    fn why(&self, protects: Protects) -> String {
        match protects {
            Protects::No => self.how_it_harms(),
            Protects::Untested => String::new(),
            Protects::InTheseRuns => self.how_it_is_kept(),
        }
    }

    fn how_it_harms(&self) -> String {
        let broken = about(Promise::Data).filter(|name| self.runs(name) > 0);
        let broken: Vec<String> =
            broken.map(|name| format!("{name} broken in {}", percent(self.rate(name)))).collect();
        let here = format!("{} of {} {}", broken.join(", "), self.conclusive, plural(self.conclusive, "run"));
        match (broken.is_empty(), self.elsewhere.join(", ")) {
            (_, none) if none.is_empty() => here,
            (true, under) => format!("{}, but harmed under {under}, which not all ran", self.unchanged()),
            (false, under) => format!("{here}; harmed under {under} too, which not all ran"),
        }
    }

    fn how_it_is_kept(&self) -> String {
        let (none, held) = (self.unchanged(), percent(self.share(self.held())));
        let fenced = self.cells.iter().any(|cell| about(Promise::Tokens).any(|name| applies(cell, name)));
        match (self.held() > 0, fenced) {
            (false, _) => none,
            (true, true) => {
                format!(
                    "{none}; two held at once in {held}, and the resource refused what came late by its token"
                )
            }
            (true, false) => format!("{none}, although two held at once in {held}"),
        }
    }

    fn unchanged(&self) -> String {
        let runs =
            format!("no stale or lost change in {} {}", self.conclusive, plural(self.conclusive, "run"));
        match clean_bound(self.conclusive) {
            Some(below) => format!("{runs} (<{})", percent_up(below)),
            None => runs,
        }
    }
}

/// True if an invariant says anything of the design of a cell.
pub(crate) fn applies(cell: &Cell, invariant: &str) -> bool {
    cell.runs > 0 && !cell.not_applicable.iter().any(|name| name == invariant)
}

#[cfg(test)]
mod tests {
    use picklock_campaign::summary::{SCHEMA, Violation};

    use super::*;

    const LOST: &str = "no-lost-update";

    fn cell(design: &str, scenario: &str, lost: u64) -> Cell {
        let violated =
            (lost > 0).then(|| (LOST.to_owned(), Violation { runs: lost, ..Violation::default() }));
        Cell {
            design: design.into(),
            scenario: scenario.into(),
            runs: 100,
            hit_lock: 100,
            violations: violated.into_iter().collect(),
            ..Cell::default()
        }
    }

    fn spared(design: &str, scenario: &str) -> Cell {
        Cell { runs: 0, skipped: Some("nothing to fail over".into()), ..cell(design, scenario, 0) }
    }

    fn ranked(cells: Vec<Cell>) -> Vec<(String, Protects, String)> {
        let summary = Summary { schema: SCHEMA, cells, ..Summary::default() };
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
