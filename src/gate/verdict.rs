//! What a gate found, as a page to read and as assertions.

use std::fmt;

use picklock_reports::timeline::{self, Detail};
use picklock_reports::{Style, text};
use picklock_scenarios::invariants;
use picklock_scenarios::summary::{Cell, SCHEMA, Summary};
use picklock_sim::text::nearest;

/// What a [`Gate`](crate::Gate) found. Printed, it is a page: what was run and violated, and for each scenario with
/// violations the timeline of one of them, in the smallest run found.
#[derive(Clone, Debug)]
pub struct Verdict {
    summary: Summary,
    /// True if every scenario was asked for by name: then each must apply.
    asked: bool,
    /// What else is to be said.
    note: Option<String>,
}

impl Verdict {
    /// A verdict on nothing yet. `made_by` says how its numbers are made again.
    pub(super) fn new(made_by: String, asked: bool) -> Verdict {
        let summary = Summary { schema: SCHEMA, command: made_by, partial: false, cells: Vec::new() };
        Verdict { summary, asked, note: None }
    }

    pub(super) fn add(&mut self, cell: Cell) {
        self.summary.cells.push(cell);
    }

    pub(super) fn noting(mut self, note: String) -> Verdict {
        self.note = Some(note);
        self
    }

    /// True if nothing is violated, every scenario asked for applies, and each was exercised by some run.
    ///
    /// It means that none of so many runs found anything, and no more.
    #[must_use]
    pub fn holds(&self) -> bool {
        self.failures().is_empty()
    }

    /// True if this invariant is violated in some run.
    #[must_use]
    pub fn violates(&self, invariant: &str) -> bool {
        self.summary.cells.iter().any(|cell| cell.violations.contains_key(invariant))
    }

    /// How this invariant came to be violated, in the smallest run found; of the first scenario in which it is.
    #[must_use]
    pub fn timeline(&self, invariant: &str) -> Option<String> {
        let violation = self.summary.cells.iter().find_map(|cell| cell.violations.get(invariant))?;
        let story = violation.story.as_deref()?;
        Some(timeline::tell(story, &Style::default(), Detail::Relevant))
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
        assert!(failures.is_empty(), "{}\n\n{self}", failures.join("\n"));
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
            panic!("there is no invariant `{invariant}`{hint}; there are {}", names.join(", "));
        }
        let found = self.violates(invariant);
        assert!(found, "no run violates {invariant}: the fault may be too rare for so few runs\n\n{self}");
        self
    }

    /// What keeps it from holding, a line each.
    fn failures(&self) -> Vec<String> {
        self.summary.cells.iter().filter_map(|cell| self.failure(cell)).collect()
    }

    fn failure(&self, cell: &Cell) -> Option<String> {
        let Cell { design, scenario, runs, unknown, violations, .. } = cell;
        if let Some(why) = &cell.skipped {
            return self.asked.then(|| format!("scenario `{scenario}` says nothing of `{design}`: {why}"));
        }
        if !violations.is_empty() {
            let names: Vec<&str> = violations.keys().map(String::as_str).collect();
            return Some(format!(
                "`{design}` does not hold under scenario `{scenario}`: {} violated",
                names.join(", ")
            ));
        }
        (unknown == runs).then(|| {
            format!(
                "scenario `{scenario}` proves nothing of `{design}`: none of its {runs} runs exercised anything; \
                 give it more seeds, more clients or a longer `horizon`"
            )
        })
    }

    /// The summary with one story for each scenario: that of the first invariant violated, by number. The others are
    /// mostly its consequences.
    fn brief(&self) -> Summary {
        let mut brief = self.summary.clone();
        for cell in &mut brief.cells {
            let leading = invariants::ALL
                .iter()
                .map(|known| known.name)
                .find(|name| cell.violations.contains_key(*name));
            for (name, violation) in &mut cell.violations {
                if Some(name.as_str()) != leading {
                    violation.story = None;
                }
            }
        }
        brief
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let page = (text::FORMAT.render)(&self.brief(), &Style::default()).map_err(|_| fmt::Error)?;
        f.write_str(&page)?;
        self.note.iter().try_for_each(|note| writeln!(f, "{note}"))
    }
}
