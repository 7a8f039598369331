//! The matrix: designs down in the order of the ranking, scenarios across, in each cell what was found, the rate, and its interval.
//!
//! The rate is that of the worst that was found: of the more frequent way in which the data was harmed, and of the most frequent
//! violation where it was not.

use maud::{Markup, html};
use picklock_campaign::summary::Summary;

use super::designs::RankedDesign;
use crate::html::frame::wide;
use crate::matrix::mark::Mark;
use crate::matrix::statistics::{clean_bound, wilson};
use crate::matrix::verdict;
use crate::matrix::{Matrix, Square, legend};
use crate::page::layout::{printable, titled};

pub(super) fn matrix(summary: &Summary, designs: &[RankedDesign<'_>]) -> Markup {
    let matrix = Matrix::of(summary);
    let table = html! {
        table.matrix {
            caption.v { "What was found of each design under each scenario" }
            thead { tr {
                th.corner scope="col" { "design" }
                @for scenario in &matrix.scenarios { th scope="col" { span { (printable(scenario)) } } }
            } }
            tbody {
                @for design in designs {
                    tr {
                        th scope="row" {
                            a href={ "#d" (design.place) } { span.dim { (design.place) " " } (titled(design.ranked.design)) }
                        }
                        @for found in matrix.row(design.ranked.design).iter().flat_map(|row| &row.squares) {
                            @match found {
                                Some(square) => (cell(square)),
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
        (key(&matrix))
    }
}

/// The legend of the signs.
fn key(matrix: &Matrix<'_>) -> Markup {
    let more = |mark: Mark| match mark {
        Mark::Harmed => ": a stale change was applied, or a change was lost",
        Mark::Blocked | Mark::Violated => ", and no data harmed",
        Mark::Holds => "; the rate is below what stands there, at 95%",
        Mark::Inconclusive => ": not put to the test",
        Mark::NotApplicable => "",
    };
    html! {
        ul.legend {
            @for key in legend::keys(matrix) {
                li {
                    @match key.mark {
                        Some(mark) => { span class={ "key " (mark.class()) } { (key.sign) } " " (key.words) (more(mark)) },
                        None => { span.key { (key.sign) } " " (key.words) },
                    }
                }
            }
            @for leases in legend::leases(matrix.summary) { li { (leases) } }
        }
    }
}

fn cell(square: &Square<'_>) -> Markup {
    let Square { nth, cell, mark, .. } = *square;
    let (rate, interval) = figures(square);
    html! {
        td class=(mark.class()) {
            @if cell.skipped.is_some() {
                span title=(printable(&verdict::found(cell))) { (square.symbols()) span.v { (mark.words()) } }
            } @else {
                a href={ "#c" (nth) } {
                    b { (square.symbols()) }
                    span.v { (mark.words()) } " " (rate)
                    @if let Some(interval) = interval { small { (interval) } }
                }
            }
        }
    }
}

fn figures(square: &Square<'_>) -> (String, Option<String>) {
    let conclusive = verdict::conclusive(square.cell);
    match (square.worst, square.share()) {
        (Some(runs), Some(share)) => {
            let interval =
                wilson(runs, conclusive).map(|(low, high)| format!("{}–{}", short(low), short(high)));
            (format!("{}%", short(share)), interval)
        }
        _ if square.mark == Mark::Inconclusive => (String::new(), None),
        _ => {
            let bound =
                clean_bound(conclusive).map(|bound| format!("<{}%", short((bound * 1000.0).ceil() / 1000.0)));
            (String::new(), bound)
        }
    }
}

/// A share in percent, as short as a cell is narrow.
fn short(share: f64) -> String {
    let percent = share * 100.0;
    if (0.05..9.95).contains(&percent) { format!("{percent:.1}") } else { format!("{percent:.0}") }
}
