//! The matrix as a picture: for a README, a slide, a pull request. Designs down, scenarios across, a square for each cell whose sign
//! and colour say what was found; the bar in it is the share of runs in which the worst of it was.

use maud::{Markup, html};
use picklock_scenarios::summary::{Cell, Summary};

use crate::format::{Format, ReportError};
use crate::layout::printable;
use crate::look::{Look, worst};
use crate::numbers::percent;
use crate::paint::Style;
use crate::text::distinct;
use crate::verdict::exercised;

/// The matrix as a drawing.
pub const FORMAT: Format = Format {
    name: "svg",
    file: "matrix.svg",
    doc: "the matrix as a picture, for a README or a slide",
    render,
};

const STYLE: &str = concat!(include_str!("html/colours.css"), include_str!("picture.css"));

/// A square and the space after it.
const STEP: i32 = 26;
/// The side of a square.
const SIDE: i32 = 22;
/// How wide a letter of a name is, at most.
const LETTER: i32 = 8;
/// What the last of the slanted names needs to its right, as a share of its length.
const SLANT: f64 = 0.71;
/// Room around everything.
const MARGIN: i32 = 12;
/// The height of the line that says what the signs mean.
const LEGEND: i32 = 34;

fn render(summary: &Summary, _style: &Style) -> Result<String, ReportError> {
    Ok(draw(summary).into_string() + "\n")
}

fn draw(summary: &Summary) -> Markup {
    let designs = distinct(summary.cells.iter().map(|cell| cell.design.as_str()));
    let scenarios = distinct(summary.cells.iter().map(|cell| cell.scenario.as_str()));
    let left = MARGIN + longest(&designs) * LETTER;
    let slanted = (f64::from(longest(&scenarios) * LETTER) * SLANT) as i32;
    let top = MARGIN + slanted;
    let legend_width = Look::ALL.into_iter().map(legend_step).sum::<i32>();
    let width = (left + STEP * count(&scenarios) + slanted).max(MARGIN + legend_width) + MARGIN;
    let foot = top + STEP * count(&designs);
    let height = foot + LEGEND + MARGIN;
    html! {
        svg.x xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img" {
            title { (printable(&summary.command)) }
            style { (STYLE) }
            rect.paper width=(width) height=(height) {}
            @for (nth, scenario) in (0..).zip(&scenarios) {
                text.n transform={ "translate(" (left + STEP * nth + SIDE / 2 + 4) " " (top - 6) ") rotate(-45)" } { (printable(scenario)) }
            }
            @for (row, design) in (0..).zip(&designs) {
                text.n.r x=(left - 8) y=(top + STEP * row + SIDE - 6) { (printable(design)) }
                @for (column, scenario) in (0..).zip(&scenarios) {
                    @if let Some(cell) = summary.cells.iter().find(|it| it.design == **design && it.scenario == **scenario) {
                        (square(cell, left + STEP * column, top + STEP * row))
                    }
                }
            }
            (legend(foot + 12))
        }
    }
}

fn square(cell: &Cell, x: i32, y: i32) -> Markup {
    let look = Look::of(cell);
    let share = worst(cell).map(|runs| runs as f64 / exercised(cell).max(1) as f64);
    let rate = share.map(|share| format!(", {}", percent(share))).unwrap_or_default();
    let height = share.map_or(0, |share| (share * f64::from(SIDE)).ceil() as i32);
    html! {
        g class=(look.class()) transform={ "translate(" (x) " " (y) ")" } {
            title { (printable(&cell.design)) " under " (printable(&cell.scenario)) ": " (look.words()) (rate) }
            (tile(look, height))
        }
    }
}

/// A square with its sign; so much of it from below is filled.
fn tile(look: Look, filled: i32) -> Markup {
    html! {
        rect.s width=(SIDE) height=(SIDE) rx="3" {}
        @if filled > 0 { rect.f y=(SIDE - filled) width=(SIDE) height=(filled) rx="3" {} }
        text x=(SIDE / 2) y=(SIDE - 6) { (look.sign()) }
    }
}

fn legend(y: i32) -> Markup {
    let mut x = MARGIN;
    html! {
        @for look in Look::ALL {
            g class=(look.class()) transform={ "translate(" (x) " " (y) ")" } {
                (tile(look, 0))
                text.n x=(SIDE + 6) y=(SIDE - 6) { (look.words()) }
            }
            @let () = x += legend_step(look);
        }
    }
}

fn legend_step(look: Look) -> i32 {
    SIDE + 24 + letters(look.words()) * LETTER
}

fn longest(names: &[&str]) -> i32 {
    names.iter().map(|name| letters(name)).max().unwrap_or(0)
}

fn letters(text: &str) -> i32 {
    i32::try_from(text.chars().count()).unwrap_or(i32::MAX)
}

fn count(names: &[&str]) -> i32 {
    i32::try_from(names.len()).unwrap_or(i32::MAX)
}
