//! The same comparison some time ago: what is better now, what is worse, and what cannot be distinguished.

use std::collections::BTreeMap;

use picklock_campaign::summary::Summary;
use picklock_judge::invariants;
use serde::{Deserialize, Serialize};

use super::exact::{Count, fisher, holm};
use crate::matrix::verdict;
use crate::page::layout::{paragraph, printable};
use crate::page::numbers::{percent, plural};
use crate::page::paint::{Ink, Style};

/// The chance that anything at all is called better or worse and is not.
const LEVEL: f64 = 0.05;

/// The cells of a comparison that `--format json` has written.
#[derive(Debug, Deserialize)]
pub struct Baseline {
    schema: u32,
    cells: Vec<Before>,
}

#[derive(Debug, Deserialize)]
struct Before {
    design: String,
    scenario: String,
    #[serde(alias = "exercised")]
    conclusive: u64,
    not_applicable: Vec<String>,
    rates: Vec<Rate>,
}

#[derive(Debug, Deserialize)]
struct Rate {
    invariant: String,
    runs: u64,
}

impl Baseline {
    /// Reads `comparison.json`.
    ///
    /// # Errors
    /// When it is not that, in words.
    pub fn parse(text: &str) -> Result<Baseline, String> {
        let help = "it takes what `picklock compare --format json` has written";
        let baseline: Baseline =
            serde_json::from_str(text).map_err(|error| format!("not a comparison: {error}; {help}"))?;
        // The fields that it takes have had the same names since the first version.
        if !(1..=picklock_campaign::summary::SCHEMA).contains(&baseline.schema) {
            return Err(format!("schema {} is not known; {help}", baseline.schema));
        }
        for cell in &baseline.cells {
            if let Some(rate) = cell.rates.iter().find(|rate| rate.runs > cell.conclusive) {
                let Rate { invariant, runs } = rate;
                let (design, scenario, conclusive) = (&cell.design, &cell.scenario, cell.conclusive);
                let what =
                    format!("{design} under {scenario} violates {invariant} in {runs} of {conclusive} runs");
                return Err(format!("{what}; {help}"));
            }
        }
        Ok(baseline)
    }
}

/// The changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Change {
    Better,
    Worse,
    NotDistinguishable,
}

/// One invariant of one cell, then and now.
#[derive(Clone, Debug, Serialize)]
struct Changed {
    design: String,
    scenario: String,
    invariant: &'static str,
    /// Violating runs, and conclusive ones.
    then: (u64, u64),
    now: (u64, u64),
    /// The probability of such a difference by chance, for this one alone.
    p: f64,
    change: Change,
}

/// A comparison beside an older one.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Since {
    /// All that was violated then or now.
    changes: Vec<Changed>,
    /// Cells that only one of them has.
    only_then: Vec<String>,
    only_now: Vec<String>,
}

impl Since {
    /// The changes in the cells of a baseline.
    #[must_use]
    pub fn of(baseline: &Baseline, now: &Summary) -> Since {
        let mut before: BTreeMap<(&str, &str), &Before> =
            baseline.cells.iter().map(|cell| ((&*cell.design, &*cell.scenario), cell)).collect();
        let name = |design: &str, scenario: &str| format!("{design} under {scenario}");
        let mut since = Since::default();
        for cell in now.cells.iter().filter(|cell| cell.skipped.is_none()) {
            let conclusive = verdict::conclusive(cell);
            let Some(then) = before.remove(&(&*cell.design, &*cell.scenario)) else {
                since.only_now.push(name(&cell.design, &cell.scenario));
                continue;
            };
            for invariant in invariants::ALL {
                let silent = |all: &[String]| all.iter().any(|name| name == invariant.name);
                let hits = then
                    .rates
                    .iter()
                    .find(|rate| rate.invariant == invariant.name)
                    .map_or(0, |rate| rate.runs);
                let was = Count { hits, tries: then.conclusive };
                let hits = cell.violations.get(invariant.name).map_or(0, |violation| violation.runs);
                let is = Count { hits: hits.min(conclusive), tries: conclusive };
                if was.hits + is.hits == 0 || silent(&then.not_applicable) || silent(&cell.not_applicable) {
                    continue;
                }
                since.changes.push(Changed {
                    design: cell.design.clone(),
                    scenario: cell.scenario.clone(),
                    invariant: invariant.name,
                    then: (was.hits, was.tries),
                    now: (is.hits, is.tries),
                    p: fisher(was, is),
                    change: if is.share() < was.share() { Change::Better } else { Change::Worse },
                });
            }
        }
        since.only_then = before
            .into_values()
            .filter(|cell| cell.conclusive > 0)
            .map(|cell| name(&cell.design, &cell.scenario))
            .collect();
        let probabilities: Vec<f64> = since.changes.iter().map(|changed| changed.p).collect();
        for (changed, distinct) in since.changes.iter_mut().zip(holm(&probabilities, LEVEL)) {
            if !distinct {
                changed.change = Change::NotDistinguishable;
            }
        }
        since
    }

    /// True if anything is worse than it was.
    #[must_use]
    pub fn is_worse(&self) -> bool {
        self.count(Change::Worse) > 0
    }

    fn count(&self, change: Change) -> usize {
        self.changes.iter().filter(|changed| changed.change == change).count()
    }

    /// The changes, for people.
    #[must_use]
    pub fn page(&self, style: &Style) -> String {
        let mut page = format!("\n{}\n", style.paint(Ink::Head, "since the baseline"));
        for line in self.lines() {
            page.push_str(&paragraph(&printable(&line), 2, style.columns()));
        }
        page
    }

    /// The same line by line.
    pub(super) fn lines(&self) -> Vec<String> {
        let count = |change| self.count(change);
        let mut lines = vec![format!(
            "{} worse, {} better, {} not distinguishable (Fisher's exact test, Holm's correction: anything at all is called \
             better or worse by chance at most once in {:.0} times)",
            count(Change::Worse),
            count(Change::Better),
            count(Change::NotDistinguishable),
            1.0 / LEVEL
        )];
        for (change, word) in [(Change::Worse, "worse"), (Change::Better, "better")] {
            for changed in self.changes.iter().filter(|changed| changed.change == change) {
                let Changed { design, scenario, invariant, then, now, p, .. } = changed;
                let rate = |(hits, of): (u64, u64)| {
                    format!("{} ({hits} of {of})", percent(Count { hits, tries: of }.share()))
                };
                let (then, now) = (rate(*then), rate(*now));
                lines.push(format!(
                    "{word}: {design} under {scenario}, {invariant}: {now}, it was {then}, p = {p:.2e}"
                ));
            }
        }
        for (cells, where_) in
            [(&self.only_then, "only in the baseline"), (&self.only_now, "not in the baseline")]
        {
            if !cells.is_empty() {
                let noun = plural(cells.len() as u64, "cell");
                lines.push(format!("{where_}: {} {noun}: {}", cells.len(), cells.join(", ")));
            }
        }
        lines
    }
}
