//! The first part of the page: the ranking, the plot, the matrix, and below them all parts that they lead to.

use maud::{Markup, html};
use picklock_campaign::summary::{Cell, Summary};

use super::designs::{self, RankedDesign, ranked_designs};
use super::{about, cell, frame, matrix, parts, plot};
use crate::compare::differences::PairedComparison;
use crate::compare::ranking::title;
use crate::compare::shared::Shared;
use crate::page::layout::{distinct, printable};
use crate::page::numbers::plural;

pub(super) fn page(summary: &Summary, pairing: &str, comparisons: &[PairedComparison<'_>]) -> String {
    let designs = ranked_designs(summary);
    let title = title(designs.iter().map(|design| &design.ranked));
    let body = html! {
        header.top id="top" {
            p.kicker { "picklock" @if summary.partial { " · partial: interrupted" } }
            h1 { (printable(&title)) }
            p.lead { (extent(summary)) (about::made(&summary.about)) " " (pairing) }
            (frame::command(&summary.command))
        }
        main {
            div.overview {
                div.first {
                    section aria-labelledby="ranking" {
                        h2 id="ranking" { "Which designs protect the data" }
                        (designs::table(&designs))
                    }
                    section aria-labelledby="plot" {
                        h2 id="plot" { "Harm, availability, cost" }
                        (plot::plot(&designs))
                    }
                }
                section aria-labelledby="matrix" {
                    h2 id="matrix" { "Where they break" }
                    p.dim { "In each cell, in percent: the share of the runs that put the design to the test in which the worst of it was found, and its interval at 95%. \
                               Each cell leads to its failures." }
                    (matrix::matrix(summary, &designs))
                }
            }
            section.overview aria-labelledby="names" {
                (about::all(&summary.about, summary.cells.iter().map(|cell| cell.design.as_str())))
            }
            (details(summary, &designs, comparisons))
        }
        footer { (notes(summary)) }
    };
    frame::page(&format!("picklock: {title}"), &body)
}

fn extent(summary: &Summary) -> String {
    let runs: u64 = summary.cells.iter().map(|cell| cell.runs).sum();
    let designs = distinct(summary.cells.iter().map(|cell| cell.design.as_str())).len();
    let scenarios = distinct(summary.cells.iter().map(|cell| cell.scenario.as_str())).len();
    format!(
        "{designs} {}, {scenarios} {}, {runs} {} in simulated time.",
        plural(designs as u64, "design"),
        plural(scenarios as u64, "scenario"),
        plural(runs, "run"),
    )
}

/// A part for each design and for each cell that was run.
fn details(summary: &Summary, designs: &[RankedDesign<'_>], comparisons: &[PairedComparison<'_>]) -> Markup {
    let breaks = |cell: &Cell| !cell.violations.is_empty();
    let of_design = |design: &RankedDesign<'_>| {
        let run = design.cells.iter().filter(|(_, cell)| cell.skipped.is_none());
        let cells = run.map(|(nth, cell)| {
            let next = (nth + 1..summary.cells.len()).find(|at| breaks(&summary.cells[*at]));
            cell::cell(*nth, cell, &summary.about, design.place, next)
        });
        std::iter::once(cell::design(design, &summary.about, designs.len(), comparisons))
            .chain(cells)
            .collect::<Vec<_>>()
    };
    parts::all(&designs.iter().map(of_design).collect::<Vec<_>>())
}

fn notes(summary: &Summary) -> Markup {
    let limits = Shared::of(summary).limits();
    html! {
        h2 { "How to read it" }
        p {
            "Designs are ranked by how often the data was harmed, then by how often two held at once, then by anything else" (limits) ". "
            "Rates are per conclusive run, with Wilson’s interval at 95%. A run has the faults of its scenario, aimed at a lock that \
             is asked for or held: for a rate per year, multiply by how often such a fault hits one of your holders. Nothing found is no promise: 0 (<p) says that the rate \
             is below p at 95%, no more. Data is harmed when a stale change is applied or an acknowledged one is lost; two holders alone harm \
             nothing where the resource refuses what comes late."
        }
        p {
            "Available: share of the time in which the lock was wanted and somebody held it. Wait: the median of the acquires that succeeded. \
             Messages: from client to store, for each of these. All of them over the scenarios of the ranking. \
             Every number comes from a simulated world and is made again by the command above."
        }
        p {
            "Of a cell: a fault took effect if it changed anything, and hit the lock if it hit while a lock was granted or held; passed by, \
             how often one waiter saw somebody served who had asked later; seen elsewhere, in how many networks the reported run did the same on \
             a second engine or a real server. A final_client is a client that asks once the others are done, to see whether the lock still can be had."
        }
    }
}
