//! The matrix: designs down in the order of the ranking, scenarios across, in each cell what was found, the rate, and its interval.
//!
//! The rate is that of the worst that was found: of the more frequent way in which the data was harmed, and of the most frequent
//! violation where it was not.

use maud::{Markup, html};
use picklock_scenarios::summary::{Cell, Summary};

use super::designs::Standing;
use crate::html::frame::wide;
use crate::layout::printable;
use crate::look::{Look, worst};
use crate::numbers::{clean_bound, wilson};
use crate::text::distinct;
use crate::verdict::{self, Standing as Expectation};

pub(super) fn matrix(summary: &Summary, standings: &[Standing<'_>]) -> Markup {
    let scenarios = distinct(summary.cells.iter().map(|cell| cell.scenario.as_str()));
    let table = html! {
        table.matrix {
            caption.v { "What was found of each design under each scenario" }
            thead { tr {
                th.corner scope="col" { "design" }
                @for scenario in &scenarios { th scope="col" { span { (printable(scenario)) } } }
            } }
            tbody {
                @for one in standings {
                    tr {
                        th scope="row" {
                            a href={ "#d" (one.place) } { span.dim { (one.place) " " } (printable(one.ranked.design)) }
                        }
                        @for scenario in &scenarios {
                            @match one.cells.iter().find(|(_, cell)| cell.scenario == *scenario) {
                                Some((nth, found)) => (cell(*nth, found)),
                                None => td {},
                            }
                        }
                    }
                }
            }
        }
    };
    html! {
        (wide("Matrix of designs and scenarios", &table))
        (legend(summary))
    }
}

/// What the signs mean.
fn legend(summary: &Summary) -> Markup {
    let unmet = summary.cells.iter().any(|cell| Expectation::of(cell) == Expectation::NotMet);
    html! {
        ul.legend {
            li { span.key.h { "✗" } " the data was harmed: a stale change was applied, or one was lost" }
            li { span.key.x { "~" } " something was violated, and no data harmed" }
            li { span.key.ok { "·" } " nothing found; the rate is below what stands there, at 95%" }
            li { span.key.u { "?" } " not put to the test" }
            li { span.key.na { "–" } " says nothing of the design" }
            @if unmet { li { span.key { "!" } " not as expected" } }
        }
    }
}

fn cell(nth: usize, cell: &Cell) -> Markup {
    let look = Look::of(cell);
    let (rate, interval) = figures(cell);
    html! {
        td class=(look.class()) {
            @if cell.skipped.is_some() {
                span title=(printable(&verdict::found(cell))) { (look.sign()) span.v { (look.words()) } }
            } @else {
                a href={ "#c" (nth) } {
                    b { (look.sign()) @if Expectation::of(cell) == Expectation::NotMet { "!" } }
                    span.v { (look.words()) } " " (rate)
                    @if let Some(interval) = interval { small { (interval) } }
                }
            }
        }
    }
}

fn figures(cell: &Cell) -> (String, Option<String>) {
    let exercised = verdict::exercised(cell);
    match worst(cell) {
        Some(runs) => {
            let interval =
                wilson(runs, exercised).map(|(low, high)| format!("{}–{}", short(low), short(high)));
            (format!("{}%", short(runs as f64 / exercised.max(1) as f64)), interval)
        }
        None if Look::of(cell) == Look::Unknown => (String::new(), None),
        None => {
            let bound =
                clean_bound(exercised).map(|bound| format!("<{}%", short((bound * 1000.0).ceil() / 1000.0)));
            (String::new(), bound)
        }
    }
}

/// A share in percent, as short as a cell is narrow.
fn short(share: f64) -> String {
    let percent = share * 100.0;
    if (0.05..9.95).contains(&percent) { format!("{percent:.1}") } else { format!("{percent:.0}") }
}
