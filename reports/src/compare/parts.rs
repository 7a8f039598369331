//! The common parts of the pages of a comparison for people: the whole one, that of one screen, and the Markdown.

use picklock_campaign::summary::Summary;

use super::comparison::Comparison;
use super::differences::PairedComparison;
use super::ranking::Ranked;
use super::shared::Shared;
use crate::page::layout::{enumerated, paragraph, printable, wrap};
use crate::page::paint::{Ink, Style};

/// The meaning of the figures, at the end of the page.
pub(super) const NOTES: [&str; 4] = [
    "rates are per conclusive run, with Wilson's interval at 95%; 0 (<p): none, and so the rate is \
     below p at 95%, no more than that; ?: inconclusive; -: does not apply",
    "differences are in percentage points, over the seeds whose runs are conclusive for both designs, with Newcombe's paired interval at \
     95% (1998, method 10); if it does not contain 0, the difference is probably not random",
    "available: share of the time in which the lock was wanted and somebody held it; \
     p50, p99: latency of successful acquires; messages: client to store, per successful acquire",
    "renewals a second of simulated time, and the most within 10 ms of one run; too many holders: of the time in which the lock \
     was wanted or held, each pair counted; passed by: the most that one waiter saw somebody served who had asked later; \
     a dead holder: how long the others waited for its lease",
];

/// By what the ranking is ordered.
pub(super) fn ranked_by(summary: &Summary) -> String {
    format!(
        "ranked by how often the data was harmed (effective-exclusion, no-lost-update), then by how often two held at once, then by \
         anything else{}",
        Shared::of(summary).limits()
    )
}

/// The command, and whether the seeds are paired.
pub(super) fn head(comparison: &Comparison, style: &Style) -> String {
    let command = style.paint(Ink::Head, &printable(&comparison.summary.command));
    format!("{command}\n{}", paragraph(&comparison.pairing(), 0, style.columns()))
}

/// The ranking: its title, a paragraph for each place, and by what it is ordered.
pub(super) fn places(summary: &Summary, ranking: &[Ranked<'_>], style: &Style) -> Vec<String> {
    let columns = style.columns();
    let title = format!("\n{}\n", style.paint(Ink::Head, "protects the data"));
    let places = ranking
        .iter()
        .zip(1..)
        .map(|(ranked, place)| paragraph(&printable(&said(ranked, place)), 2, columns));
    std::iter::once(title).chain(places).chain([paragraph(&ranked_by(summary), 0, columns)]).collect()
}

/// The heading of a scenario's tables.
pub(super) fn scenario_head(scenario: &str, style: &Style) -> String {
    let lines = wrap(&printable(scenario), style.columns());
    lines.iter().fold("\n".to_owned(), |page, line| page + &style.paint(Ink::Head, line) + "\n")
}

/// The paired differences under a scenario.
pub(super) fn differences(comparisons: &[PairedComparison<'_>], scenario: &str, columns: usize) -> String {
    let mut page = String::new();
    for comparison in comparisons.iter().filter(|comparison| comparison.scenario == scenario) {
        let words: Vec<String> = comparison.words().iter().map(|word| printable(word).into_owned()).collect();
        for (at, line) in enumerated(&words, columns.saturating_sub(4)).iter().enumerate() {
            page.push_str(&format!("{}{line}\n", if at == 0 { "  " } else { "    " }));
        }
    }
    page
}

fn said(ranked: &Ranked<'_>, place: usize) -> String {
    let why = if ranked.why.is_empty() { String::new() } else { format!(": {}", ranked.why) };
    format!("{place}. {}: {}{why}", ranked.design, ranked.protects.words())
}
