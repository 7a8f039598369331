//! The designs in the order of the ranking, with what a choice hangs on: how often the data was harmed, how often two held,
//! for how much of the time the lock was to be had, and what it cost.

use maud::{Markup, html};
use picklock_campaign::summary::{Cell, Summary};
use picklock_judge::metrics::Metrics;

use crate::compare::ranking::{Protects, Ranked, ranking};
use crate::compare::shared::Shared;
use crate::html::frame::wide;
use crate::matrix::mark::Mark;
use crate::matrix::measures::{availability, messages_per_acquire};
use crate::matrix::statistics::{self, clean_bound};
use crate::page::layout::titled;
use crate::page::numbers::{self, percent, percent_up};

/// The width of the drawing of a rate.
const WIDTH: f64 = 96.0;

/// A design with its place in the ranking, its cells and its measures.
pub(super) struct RankedDesign<'a> {
    pub(super) ranked: Ranked<'a>,
    /// Its place in the ranking, from 1.
    pub(super) place: usize,
    /// Its cells, in the order of the summary.
    pub(super) cells: Vec<(usize, &'a Cell)>,
    pub(super) availability: Option<f64>,
    pub(super) messages: Option<f64>,
    p50: Option<std::time::Duration>,
}

impl RankedDesign<'_> {
    /// How often the data was harmed, with what the runs allow it to be.
    pub(super) fn harmed(&self) -> Option<(f64, f64, f64)> {
        let Ranked { harmed, conclusive, .. } = self.ranked;
        let rate = harmed as f64 / conclusive.max(1) as f64;
        let (low, high) = match harmed {
            0 => (0.0, clean_bound(conclusive)?),
            some => statistics::wilson(some, conclusive)?,
        };
        Some((rate, low, high))
    }

    /// The class of whether it protects the data.
    pub(super) fn class(&self) -> &'static str {
        match self.ranked.protects {
            Protects::InTheseRuns => "yes",
            Protects::No => "no",
            Protects::Untested => "open",
        }
    }
}

/// All designs, the best first.
pub(super) fn ranked_designs(summary: &Summary) -> Vec<RankedDesign<'_>> {
    let shared = Shared::of(summary);
    let with_place = |(ranked, place): (_, usize)| ranked_design(summary, &shared, ranked, place);
    ranking(summary).into_iter().zip(1..).map(with_place).collect()
}

fn ranked_design<'a>(
    summary: &'a Summary,
    shared: &Shared<'_>,
    ranked: Ranked<'a>,
    place: usize,
) -> RankedDesign<'a> {
    let cells: Vec<(usize, &Cell)> =
        summary.cells.iter().enumerate().filter(|(_, cell)| cell.design == ranked.design).collect();
    let mut metrics = Metrics::default();
    let alike = cells.iter().filter(|(_, cell)| shared.holds(cell));
    alike.for_each(|(_, cell)| metrics.merge(&cell.metrics));
    RankedDesign {
        ranked,
        place,
        cells,
        availability: availability(&metrics),
        messages: messages_per_acquire(&metrics),
        p50: metrics.latency.percentile(50),
    }
}

/// The ranking as a table.
pub(super) fn table(designs: &[RankedDesign<'_>]) -> Markup {
    let or_none = |value: Option<String>| value.unwrap_or_else(|| Mark::NotApplicable.sign().to_owned());
    let inner = html! {
        table.rank.stack {
            caption.v { "Designs, the design that protects the data best first" }
            thead { tr {
                th scope="col" { span.v { "place" } }
                th scope="col" { "design" }
                th scope="col" { "runs that harmed the data" (scale()) }
                th.num scope="col" { "two held" }
                th.num scope="col" { "available" }
                th.num scope="col" { "wait" }
                th.num scope="col" { "messages" }
            } }
            tbody {
                @for design in designs {
                    tr class=(design.class()) {
                        td.num { (design.place) }
                        th scope="row" {
                            span.sign title=(design.ranked.protects.words()) { (design.ranked.protects.mark().sign()) }
                            a href={ "#d" (design.place) } { (titled(design.ranked.design)) }
                        }
                        td.rate data-l="data harmed" { div { (whisker(design)) span { (rate(design)) } } }
                        td.num data-l="two held" { (percent(design.ranked.held as f64 / design.ranked.conclusive.max(1) as f64)) }
                        td.num data-l="available" { (or_none(design.availability.map(percent))) }
                        td.num data-l="wait" { (or_none(design.p50.map(numbers::span))) }
                        td.num data-l="messages" { (or_none(design.messages.map(|each| format!("{each:.1}")))) }
                    }
                }
            }
        }
    };
    wide("Ranking of the designs", &inner)
}

/// A rate with its interval, in words.
pub(super) fn rate(design: &RankedDesign<'_>) -> Markup {
    match design.harmed() {
        None => html! { "not conclusive" },
        Some((_, _, bound)) if design.ranked.harmed == 0 => {
            html! { "0 " span.dim { "(<" (percent_up(bound)) ")" } }
        }
        Some((rate, low, high)) => {
            let low = percent(low);
            html! { (percent(rate)) " " span.dim { "(" (low.trim_end_matches('%')) "–" (percent(high)) ")" } }
        }
    }
}

/// The scale above the drawings of rates.
fn scale() -> Markup {
    html! {
        svg.whisk width=(WIDTH + 16.0) height="14" aria-hidden="true" {
            text x="8" y="11" { "0" }
            text.mid x=(8.0 + WIDTH / 2.0) y="11" { "50" }
            text.end x=(8.0 + WIDTH) y="11" { "100%" }
        }
    }
}

fn whisker(design: &RankedDesign<'_>) -> Markup {
    let x = |share: f64| format!("{:.1}", 8.0 + WIDTH * share);
    html! {
        svg.whisk width=(WIDTH + 16.0) height="18" aria-hidden="true" {
            path.grid d={ "M" (x(0.0)) " 0V18M" (x(0.5)) " 0V18M" (x(1.0)) " 0V18" } {}
            @if let Some((rate, low, high)) = design.harmed() {
                path.span d={ "M" (x(low)) " 9H" (x(high)) } {}
                @if design.ranked.harmed == 0 {
                    path.bound d={ "M" (x(high)) " 4V14" } {}
                } @else {
                    rect.dot x={ (format!("{:.1}", 8.0 + WIDTH * rate - 1.5)) } y="4" width="3" height="10" {}
                }
            }
        }
    }
}
