//! The parts that the overview leads to: a design with all its cells, and a cell with all its failures.

use std::sync::Arc;

use maud::{Markup, html};
use picklock_campaign::about::About;
use picklock_campaign::story::Story;
use picklock_campaign::summary::Cell;
use picklock_judge::invariants;

use super::about::{self, sentence};
use super::designs::{self, RankedDesign};
use super::parts::Part;
use super::story;
use crate::compare::differences::PairedComparison;
use crate::compare::measures::further;
use crate::compare::rates;
use crate::html::frame::{command, wide};
use crate::matrix::measures::{MEASURES, measures};
use crate::matrix::{Square, verdict};
use crate::page::layout::{printable, titled};
use crate::page::numbers::plural;

/// A design: the reason for its rank, and the findings under each scenario.
pub(super) fn design(
    design: &RankedDesign<'_>,
    about: &About,
    designs: usize,
    comparisons: &[PairedComparison<'_>],
) -> Part {
    let id = format!("d{}", design.place);
    let name = titled(design.ranked.design);
    let differing = comparisons
        .iter()
        .filter(|beside| beside.design == design.ranked.design && !beside.differences.is_empty());
    let differing: Vec<&PairedComparison<'_>> = differing.collect();
    let inner = html! {
            (back(None))
            h2 id={ (id) "h" } tabindex="-1" { (name) }
            p { (about::claim(about, design.ranked.design)) }
            p.lead { "Place " (design.place) " of " (designs) ". Protects the data: " (design.ranked.protects.words())
                @if !design.ranked.why.is_empty() { ": " (printable(&design.ranked.why)) }
                "."
            }
            p { "Runs that harmed the data: " (designs::rate(design)) "." }
            (wide(&format!("Scenarios of {name}"), &html! {
                table.list.stack {
                    caption.v { "What was found of " (name) " under each scenario" }
                    thead { tr {
                        th scope="col" { "scenario" }
                        th scope="col" { "found" }
                        @for measure in MEASURES { th.num scope="col" { (measure) } }
                    } }
                    tbody {
                        @for (nth, cell) in &design.cells {
                            @let square = Square::of(*nth, cell);
                            @let mark = square.mark;
                            tr {
                                th scope="row" {
                                    span class={ "key " (mark.class()) } title=(mark.words()) { (square.symbols()) } " "
                                    @if cell.skipped.is_some() { (printable(&cell.scenario)) }
                                    @else { a href={ "#c" (nth) } { (printable(&cell.scenario)) } }
                                }
                                td { (printable(&verdict::found(cell))) }
                                @for (name, measure) in MEASURES.iter().zip(measures(&cell.metrics)) { td.num data-l=(name) { (measure) } }
                            }
                        }
                    }
                }
            }))
            @if !differing.is_empty() {
                h3 { "Compared with the best design, under the same seeds" }
                p.dim { "In percentage points, with Newcombe’s paired interval at 95%. If the interval does not contain 0, the difference is probably not random." }
                ul.plain { @for beside in differing { li { b { (printable(beside.scenario)) } ": " (printable(&beside.words().join(", "))) } } }
            }
    };
    Part { id, inner }
}

/// A cell: its figures, and its failures.
pub(super) fn cell(nth: usize, cell: &Cell, about: &About, place: usize, next: Option<usize>) -> Part {
    let stories = stories(cell);
    let facts = [
        verdict::found(cell),
        verdict::effects(cell),
        verdict::overlap(cell),
        verdict::exhausted(cell),
        cell.unmet_because.as_ref().map(|why| format!("not as expected: {why}")).unwrap_or_default(),
    ];
    let id = format!("c{nth}");
    let inner = html! {
            (back(Some((place, &cell.design, next))))
            h2 id={ (id) "h" } tabindex="-1" { (titled(&cell.design)) " " span.dim { "under" } " " (printable(&cell.scenario)) }
            p.dim { (about::claim(about, &cell.design)) }
            p.dim { (about::scenario(about, &cell.scenario)) }
            p.lead { (cell.runs) " " (plural(cell.runs, "run")) ". " @for fact in facts.iter().filter(|fact| !fact.is_empty()) { (sentence(fact)) " " } }
            @if !cell.violations.is_empty() { (violations(cell)) }
            (measured(cell))
            @for (at, (story, invariants)) in stories.iter().enumerate() {
                (story::within(story, &format!("{id}-{}", at + 1), &title(at + 1, stories.len(), invariants)))
            }
            @for (invariant, violation) in cell.violations.iter().filter(|(_, violation)| violation.story.is_none()) {
                h3 { (invariant) ", first seen under seed " (violation.first_seed) }
                (command(&violation.replay))
            }
    };
    Part { id, inner }
}

/// The title of a failure, with its number among the failures of the cell.
fn title(number: usize, failures: usize, invariants: &[&str]) -> String {
    match failures {
        1 => format!("How it breaks: {}", invariants.join(", ")),
        _ => format!("Way {number} of {failures}: {}", invariants.join(", ")),
    }
}

/// The distinct runs that show the violations of the cell, each with the invariants that it shows.
fn stories(cell: &Cell) -> Vec<(&Arc<Story>, Vec<&str>)> {
    let mut stories: Vec<(&Arc<Story>, Vec<&str>)> = Vec::new();
    for invariant in invariants::ALL {
        let Some(story) = cell.violations.get(invariant.name).and_then(|violation| violation.story.as_ref())
        else {
            continue;
        };
        match stories.iter_mut().find(|(known, _)| Arc::ptr_eq(known, story)) {
            Some((_, names)) => names.push(invariant.name),
            None => stories.push((story, vec![invariant.name])),
        }
    }
    stories
}

/// The way back, and on to the next cell that breaks.
fn back(cell: Option<(usize, &str, Option<usize>)>) -> Markup {
    html! {
        nav.back aria-label="Way back" {
            a href="#top" { "← all designs" }
            @if let Some((place, design, next)) = cell {
                a href={ "#d" (place) } { (printable(design)) }
                @if let Some(next) = next { a.next href={ "#c" (next) } { "next that breaks →" } }
            }
        }
    }
}

fn violations(cell: &Cell) -> Markup {
    let found = invariants::ALL
        .iter()
        .filter_map(|invariant| Some((invariant, cell.violations.get(invariant.name)?)));
    wide(
        "What was violated",
        &html! {
            table.list.stack {
                caption.v { "What was violated" }
                thead { tr {
                    th scope="col" { "violated" }
                    th scope="col" { "which demands" }
                    th.num scope="col" { "rate" }
                    th.num scope="col" { "interval" }
                    th scope="col" { "seen elsewhere" }
                } }
                tbody {
                    @for (invariant, violation) in found {
                        @let (rate, interval) = rates::rate(cell, invariant);
                        tr {
                            th scope="row" { span.dim { (invariant.number) " " } (invariant.name) }
                            td { (invariant.property) }
                            td.num data-l="rate" { (rate) }
                            td.num data-l="interval" { (interval.unwrap_or_default()) }
                            td data-l="seen elsewhere" { (verdict::seen(violation).unwrap_or_else(|| "not tried".to_owned())) }
                        }
                    }
                }
            }
        },
    )
}

fn measured(cell: &Cell) -> Markup {
    let further = further(&cell.metrics);
    html! {
        dl.facts {
            @for (measure, value) in MEASURES.iter().zip(measures(&cell.metrics)) {
                div { dt { (measure) } dd { (value) } }
            }
        }
        @if !further.is_empty() { p.dim { (sentence(&further.join("; "))) } }
    }
}
