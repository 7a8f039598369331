//! Explorations as Markdown: by design, how many of how many sites violate something, and what.

use std::fmt::Write as _;

use picklock_campaign::campaign::quoted;

use super::explorations::Explorations;
use crate::format::{Format, ReportError};
use crate::matrix::mark::Mark;
use crate::page::layout::titled;
use crate::page::numbers::{plural, span};
use crate::page::paint::Style;

/// Explorations as a table.
pub(super) const FORMAT: Format<Explorations> = Format {
    name: "markdown",
    file: "explored.md",
    doc: "a table of designs and faults: how many of how many sites violate something",
    render,
};

fn render(explorations: &Explorations, _style: &Style) -> Result<String, ReportError> {
    let Explorations { pages, args, .. } = explorations;
    let Some(first) = pages.first() else { return Ok(String::new()) };
    let mut out = format!(
        "# Explored sites\n\nEvery step of every process in a run under `{}` without faults, and each kind of fault placed at each \
         of them, one run for each, at {} {}; what lasts does so for {}. A figure is how many of how many sites violate something: \
         `0/53` says that all 53 were tried, and none does. It does not cover two faults at once, other workloads, or other \
         lengths. This command shows a row:\n\n```sh\npicklock explore --design DESIGN --scenario {}{args}\n```\n\n",
        first.scenario,
        first.seeds.len(),
        plural(first.seeds.len() as u64, "workload"),
        span(first.lasts),
        quoted(&first.scenario),
    );
    let kinds: Vec<&str> = first.kinds.iter().map(|kind| kind.fault).collect();
    let _ = writeln!(out, "| design | {} | all | failures | violates |", kinds.join(" | "));
    let _ = writeln!(out, "|---|{}---:|---:|---|", "---:|".repeat(kinds.len()));
    for page in pages {
        let cells: Vec<String> = page
            .kinds
            .iter()
            .map(|kind| match kind.sites {
                0 => Mark::NotApplicable.sign().to_owned(),
                _ => format!("{}/{}", kind.violating, kind.explored),
            })
            .collect();
        let mut violated: Vec<&str> =
            page.failures.iter().flat_map(|way| way.violated.iter().map(String::as_str)).collect();
        violated.sort_unstable();
        violated.dedup();
        let violated = if violated.is_empty() { "nothing".to_owned() } else { violated.join(", ") };
        let _ = writeln!(
            out,
            "| `{}` | {} | {}/{} | {} | {violated} |",
            titled(&page.design),
            cells.join(" | "),
            page.violating(),
            page.explored(),
            page.failures.len()
        );
    }
    Ok(out)
}
