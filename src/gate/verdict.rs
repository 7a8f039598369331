//! The verdict of a gate, as a page to read and as assertions.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use picklock_campaign::campaign::quoted;
use picklock_campaign::summary::{Cell, SCHEMA, Summary, Violation};
use picklock_judge::invariants;
use picklock_model::text::nearest;
use picklock_reports::Style;
use picklock_reports::formats::text;
use picklock_reports::story::timeline::{self, Detail};

use super::panics;

/// The verdict of a [`Gate`](crate::Gate). Printed, it is a page: what was run and violated, and for each scenario with
/// violations the timeline of one of them, in the smallest run found.
#[derive(Clone, Debug)]
pub struct Verdict {
    summary: Summary,
    /// True if every scenario was asked for by name: then each must apply.
    asked: bool,
    /// Further notes, a line or more each.
    notes: Vec<String>,
    /// The names of the cells that are saved runs: those have only to violate nothing.
    saved: BTreeSet<String>,
    /// Where violating runs can be kept, if this is a gate's verdict.
    regressions: Option<PathBuf>,
}

impl Verdict {
    /// A verdict on nothing yet. `made_by` says how its numbers are made again.
    pub(super) fn new(made_by: String, asked: bool) -> Verdict {
        let summary = Summary { schema: SCHEMA, command: made_by, ..Summary::default() };
        Verdict { summary, asked, notes: Vec::new(), saved: BTreeSet::new(), regressions: None }
    }

    pub(super) fn add(&mut self, cell: Cell) {
        self.summary.cells.push(cell);
    }

    /// Adds the results of a saved run.
    pub(super) fn add_saved(&mut self, cell: Cell) {
        self.saved.insert(cell.scenario.clone());
        self.add(cell);
    }

    /// Violating runs are kept in this directory.
    pub(super) fn keeping(&mut self, directory: PathBuf) {
        self.regressions = Some(directory);
    }

    pub(super) fn note(&mut self, note: String) {
        self.notes.push(note);
    }

    /// True if nothing is violated that is not allowed, every scenario asked for applies, and each has a conclusive run.
    ///
    /// It means that none of so many runs found anything, and no more.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.failures().is_empty()
    }

    /// True if this invariant is violated in some run, be it allowed or not.
    #[must_use]
    pub fn violates(&self, invariant: &str) -> bool {
        self.summary.cells.iter().any(|cell| cell.violations.contains_key(invariant))
    }

    /// How this invariant came to be violated, in the smallest run found; of the first scenario in which it is. What is
    /// [allowed](crate::Gate::allow) is counted and not shown.
    #[must_use]
    pub fn timeline(&self, invariant: &str) -> Option<String> {
        let mut violations = self.summary.cells.iter().filter_map(|cell| cell.violations.get(invariant));
        let story = violations.find_map(|violation| violation.story.as_deref())?;
        Some(timeline::render(story, &Style::default(), Detail::Relevant))
    }

    /// The numbers: what the report formats of [`reports`](crate::reports) take.
    #[must_use]
    pub fn summary(&self) -> &Summary {
        &self.summary
    }

    /// Fails unless it [`holds`](Verdict::holds).
    ///
    /// # Panics
    /// With what is wrong, and this page.
    #[track_caller]
    pub fn assert_holds(self) -> Verdict {
        let failures = self.failures();
        if !failures.is_empty() {
            panics::fail(&format_args!("{}\n\n{self}{}", failures.join("\n"), self.how_to_keep()));
        }
        self
    }

    /// Fails unless this invariant is violated. Others may be, too: two holders soon lose an update.
    ///
    /// # Panics
    /// With this page, or when there is no such invariant.
    #[track_caller]
    pub fn assert_violates(self, invariant: &str) -> Verdict {
        let names: Vec<&str> = invariants::ALL.iter().map(|known| known.name).collect();
        if !names.contains(&invariant) {
            let near = nearest(invariant, names.iter().copied());
            let hint = near.map(|near| format!(" (did you mean `{near}`?)")).unwrap_or_default();
            let known = names.join(", ");
            panics::fail(&format_args!("there is no invariant `{invariant}`{hint}; there are {known}"));
        }
        if !self.violates(invariant) {
            let rare = "the fault may be too rare for so few runs";
            panics::fail(&format_args!("no run violates {invariant}: {rare}\n\n{self}"));
        }
        self
    }

    /// The reasons why it does not hold, a line each.
    fn failures(&self) -> Vec<String> {
        self.summary.cells.iter().filter_map(|cell| self.failure(cell)).collect()
    }

    fn failure(&self, cell: &Cell) -> Option<String> {
        let Cell { design, scenario, runs, unknown, violations, .. } = cell;
        if let Some(why) = &cell.skipped {
            return self.asked.then(|| format!("scenario `{scenario}` does not apply to `{design}`: {why}"));
        }
        let names: Vec<&str> =
            violations.keys().map(String::as_str).filter(|name| !cell.allows(name)).collect();
        let is_saved = self.saved.contains(scenario);
        if !names.is_empty() {
            let besides = if names.len() < violations.len() { ", which is not allowed" } else { "" };
            let what = if is_saved { "still fails in the saved run" } else { "does not hold under scenario" };
            return Some(format!("`{design}` {what} `{scenario}`: {} violated{besides}", names.join(", ")));
        }
        if is_saved || !violations.is_empty() {
            return None;
        }
        if *runs == 0 {
            return Some(format!("the budget was over before scenario `{scenario}` was run: give it more"));
        }
        (unknown == runs).then(|| {
            format!(
                "scenario `{scenario}` proves nothing of `{design}`: none of its {runs} runs is conclusive; \
                 give it more seeds, more clients or a longer `horizon`"
            )
        })
    }

    /// The lines that keep what was found, one for each scenario: that of the first invariant, by number.
    fn how_to_keep(&self) -> String {
        let Some(directory) = &self.regressions else { return String::new() };
        let full =
            |path: &Path| quoted(&std::path::absolute(path).unwrap_or(path.to_owned()).display().to_string());
        let mut lines = String::new();
        for cell in &self.summary.cells {
            let violation = leading(cell).and_then(|name| cell.violations.get(name));
            let Some(Violation { first_seed, repro: Some(repro), .. }) = violation else { continue };
            let name = repro.file_stem().unwrap_or_default().to_string_lossy();
            let kept = directory.join(format!("{name}.{first_seed}.json"));
            lines.push_str(&format!("  cp {} {}\n", full(repro), full(&kept)));
        }
        if lines.is_empty() {
            return lines;
        }
        let head = "To have these runs made first, until the lock is mended and ever after, keep them:";
        format!("\n{head}\n  mkdir -p {}\n{lines}", full(directory))
    }

    /// The summary with one story for each scenario: that of the first invariant violated, by number, that is not allowed. The
    /// others are mostly its consequences.
    fn brief(&self) -> Summary {
        let mut brief = self.summary.clone();
        for cell in &mut brief.cells {
            let leading = leading(cell);
            for (name, violation) in &mut cell.violations {
                if Some(name.as_str()) != leading {
                    violation.story = None;
                }
            }
        }
        brief
    }
}

/// The first invariant that is violated and not allowed, by number.
fn leading(cell: &Cell) -> Option<&'static str> {
    let mut names = invariants::ALL.iter().map(|known| known.name);
    names.find(|name| cell.violations.contains_key(*name) && !cell.allows(name))
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let page = (text::FORMAT.render)(&self.brief(), &Style::default()).map_err(|_| fmt::Error)?;
        f.write_str(&page)?;
        self.notes.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}
