//! Harm against availability against cost: each design as a mark with its place in the ranking.
//!
//! Up is less harm, right is more available, and the larger the mark the more messages an acquire costs. Rates are on a
//! logarithmic scale; designs that were never seen to harm the data stand in a band of their own above it, since none seen is not a
//! rate of nothing. A mark that would cover another one is moved aside, and a line leads to its true place.

use maud::{Markup, html};

use super::designs::RankedDesign;
use crate::compare::ranking::Protects;
use crate::html::frame::wide;
use crate::page::axis::{Axis, place};
use crate::page::layout::titled;
use crate::page::numbers::percent;

const WIDTH: f64 = 540.0;
const LEFT: f64 = 62.0;
const RIGHT: f64 = 530.0;
/// The band of those that were never seen to harm the data, and the scale below it.
const BAND: (f64, f64) = (14.0, 118.0);
const SCALE: (f64, f64) = (134.0, 474.0);
const HEIGHT: f64 = 520.0;
/// The smallest rate on the scale.
const LEAST: f64 = 0.005;

struct Mark<'a> {
    design: &'a RankedDesign<'a>,
    /// Its true place.
    at: (f64, f64),
    /// Where there was room for it.
    x: f64,
    y: f64,
    radius: f64,
    /// Where the interval ends.
    reach: Option<(f64, f64)>,
}

/// The drawing; nothing where nothing was measured.
pub(super) fn plot(designs: &[RankedDesign<'_>]) -> Markup {
    let measured = || designs.iter().filter_map(|design| design.availability);
    let Some(least) = measured().min_by(f64::total_cmp) else { return html! {} };
    let from = ((least * 20.0).floor() / 20.0 - 0.05).clamp(0.0, 0.9);
    let across = Axis::linear((from, 1.0), (LEFT + 18.0, RIGHT - 22.0));
    let up = Axis::logarithmic((LEAST, 1.0), SCALE);
    let marks = marks(designs, &across, &up);
    let step = if 1.0 - from > 0.5 { 0.2 } else { 0.1 };
    let ticks = (0..=20).map(|nth| 1.0 - f64::from(nth) * step).filter(|share| *share >= from - 1e-9);
    let rates = [0.01, 0.03, 0.1, 0.3, 1.0];
    let drawing = html! {
        svg.plot viewBox={ "0 0 " (WIDTH) " " (HEIGHT) } width=(WIDTH) height=(HEIGHT) role="group" aria-label="Designs by harm, availability and cost" {
            rect.band x=(LEFT) y=(BAND.0) width=(RIGHT - LEFT) height=(BAND.1 - BAND.0) {}
            text.end x=(LEFT - 8.0) y="60" { "none" }
            text.end x=(LEFT - 8.0) y="75" { "seen" }
            @for rate in rates {
                @let y = up.at(rate);
                path.grid d={ "M" (LEFT) " " (place(y)) "H" (RIGHT) } {}
                text.end x=(LEFT - 8.0) y=(place(y + 4.0)) { (percent(rate).replace(".0%", "%")) }
            }
            @for share in ticks {
                @let x = across.at(share);
                path.grid d={ "M" (place(x)) " " (BAND.0) "V" (SCALE.1) } {}
                text.mid x=(place(x)) y=(SCALE.1 + 18.0) { (format!("{:.0}%", share * 100.0)) }
            }
            text.axis.end x=(RIGHT) y=(HEIGHT - 8.0) { "available, share of the time it was wanted →" }
            text.axis x="6" y="10" { "↑ less harm" }
            @for mark in &marks {
                @let (x, y) = mark.at;
                @if let Some((high, low)) = mark.reach {
                    path.reach d={ "M" (place(x)) " " (place(high)) "V" (place(low)) } {}
                }
                path.lead d={ "M" (place(x)) " " (place(y)) "L" (place(mark.x)) " " (place(mark.y)) } {}
                circle.true cx=(place(x)) cy=(place(y)) r="2.5" {}
            }
            @for mark in &marks { (shape(mark)) }
        }
    };
    html! {
        figure {
            (wide("Plot of harm, availability and cost", &drawing))
            figcaption {
                "Runs that harmed the data against availability. Numbers are places in the ranking; the larger, the more messages an acquire costs. A line \
                 that stands out above and below a mark is Wilson’s interval. ● none seen, ◆ harmed. Where a mark was moved aside, a line leads to its true place."
            }
        }
    }
}

fn shape(mark: &Mark<'_>) -> Markup {
    let design = mark.design;
    let harmed = design.harmed().map_or_else(|| "not conclusive".to_owned(), |(rate, ..)| percent(rate));
    let facts = format!(
        "{}: data harmed in {harmed}, available {}, {} messages an acquire",
        titled(design.ranked.design),
        design.availability.map_or_else(|| "not measured".to_owned(), percent),
        design.messages.map_or_else(|| "no".to_owned(), |each| format!("{each:.1}")),
    );
    let (x, y, r) = (mark.x, mark.y, mark.radius);
    html! {
        a href={ "#d" (design.place) } class=(design.class()) {
            title { (facts) }
            @if design.ranked.protects == Protects::No {
                @let r = r * 1.2;
                path d={ "M" (place(x)) " " (place(y - r)) "L" (place(x + r)) " " (place(y)) "L" (place(x)) " " (place(y + r)) "L" (place(x - r)) " " (place(y)) "z" } {}
            } @else {
                circle cx=(place(x)) cy=(place(y)) r=(place(r)) {}
            }
            text.mid x=(place(x)) y=(place(y + 4.0)) { (design.place) }
        }
    }
}

/// The marks, each moved until it covers none before it.
fn marks<'a>(designs: &'a [RankedDesign<'a>], across: &Axis, up: &Axis) -> Vec<Mark<'a>> {
    let mut marks: Vec<Mark<'a>> = Vec::new();
    for design in designs {
        let Some(share) = design.availability else { continue };
        let x = across.at(share);
        let radius = (8.0 + design.messages.unwrap_or(0.0).sqrt() * 1.2).min(18.0);
        let harmed = design.harmed().filter(|(rate, ..)| *rate > 0.0);
        let at = (x, harmed.map_or(BAND.0 + radius + 6.0, |(rate, ..)| up.at(rate)));
        let covers = |(x, y): (f64, f64)| {
            marks.iter().any(|other| {
                let apart = other.radius + radius;
                (other.x - x).powi(2) + (other.y - y).powi(2) < apart.powi(2)
            })
        };
        let (x, y) = around(at).find(|place| !covers(*place)).unwrap_or(at);
        let reach = harmed.map(|(_, low, high)| (up.at(low), up.at(high)));
        marks.push(Mark { design, at, x, y, radius, reach });
    }
    marks
}

/// Places ever farther from one, left and right before up and down.
fn around((x, y): (f64, f64)) -> impl Iterator<Item = (f64, f64)> {
    const WAYS: [(f64, f64); 8] = [
        (-1.0, 0.0),
        (1.0, 0.0),
        (-0.7, 0.7),
        (0.7, -0.7),
        (-0.7, -0.7),
        (0.7, 0.7),
        (0.0, 1.0),
        (0.0, -1.0),
    ];
    let rings = (1..40).map(|nth| f64::from(nth) * 4.0);
    let places = rings.flat_map(move |far| WAYS.map(|(right, down)| (x + far * right, y + far * down)));
    let inside =
        |(x, y): &(f64, f64)| (LEFT..=WIDTH - 12.0).contains(x) && (BAND.0..=SCALE.1 + 8.0).contains(y);
    std::iter::once((x, y)).chain(places.filter(inside))
}
