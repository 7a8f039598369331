//! Which design protects the data best, as far as these runs show, and why.
//!
//! The order is that of what a user loses: first how often the data was harmed (`effective-exclusion`, `no-lost-update`),
//! then how often two held at once, then how often anything else was violated. Two holders are not the worst that can happen:
//! where the resource refuses what comes late, nothing is lost by them.

use picklock_scenarios::invariants::{mutual_exclusion, token_order};
use picklock_scenarios::summary::{Cell, Summary};

use crate::numbers::{clean_bound, percent, percent_up, plural};
use crate::text::distinct;
use crate::verdict::{self, Mark, OF_DATA};

/// A design and what these runs say of the data that it guards.
pub(crate) struct Ranked<'a> {
    pub(crate) design: &'a str,
    pub(crate) protects: Protects,
    /// Why, as a fragment.
    pub(crate) why: String,
    /// The runs that exercised something, those of them in which the data was harmed (by the more frequent of the two ways), and
    /// those in which two held.
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
    let mut scored: Vec<(Score, Ranked<'_>)> =
        designs.into_iter().map(|design| judge(summary, design)).collect();
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

fn judge<'a>(summary: &Summary, design: &'a str) -> (Score, Ranked<'a>) {
    let cells: Vec<&Cell> =
        summary.cells.iter().filter(|cell| cell.design == design && cell.skipped.is_none()).collect();
    let exercised: u64 = cells.iter().map(|cell| verdict::exercised(cell)).sum();
    let runs = |invariant: &str| -> u64 {
        cells.iter().filter_map(|cell| cell.violations.get(invariant)).map(|violation| violation.runs).sum()
    };
    let rate = |invariant: &str| runs(invariant) as f64 / exercised.max(1) as f64;
    let most = |invariants: &[&str]| invariants.iter().map(|name| rate(name)).fold(0.0, f64::max);
    let held = mutual_exclusion::INVARIANT.name;
    let others = distinct(cells.iter().flat_map(|cell| cell.violations.keys()).map(String::as_str));
    let others: Vec<&str> =
        others.into_iter().filter(|name| *name != held && !verdict::is_of_data(name)).collect();
    let rates = [most(&OF_DATA), rate(held), most(&others)];

    let protects = if rates[0] > 0.0 {
        Protects::No
    } else if cells.iter().all(|cell| Mark::of(cell) == Mark::Unknown) {
        Protects::Untested
    } else {
        Protects::InTheseRuns
    };
    // Who was spared a scenario may have been spared the worst.
    let scenarios = distinct(summary.cells.iter().map(|cell| cell.scenario.as_str())).len();
    let under = match cells.len() {
        all if all == scenarios => String::new(),
        some => format!(" under {some} of {scenarios} scenarios"),
    };
    let in_runs = |invariant: &str| format!("{invariant} broken in {}", percent(rate(invariant)));
    let why = match protects {
        Protects::No => {
            let broken: Vec<String> =
                OF_DATA.into_iter().filter(|name| runs(name) > 0).map(in_runs).collect();
            format!("{} of {exercised} {}{under}", broken.join(", "), plural(exercised, "run"))
        }
        Protects::Untested => String::new(),
        Protects::InTheseRuns => {
            let below = clean_bound(exercised).map(percent_up).unwrap_or_default();
            let none =
                format!("no stale or lost change in {exercised} {} (<{below})", plural(exercised, "run"));
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

/// Whether an invariant says anything of the design of a cell.
pub(crate) fn applies(cell: &Cell, invariant: &str) -> bool {
    cell.runs > 0 && !cell.not_applicable.iter().any(|name| name == invariant)
}
