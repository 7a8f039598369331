//! The matrix as a picture: for a README, a slide, a pull request. Designs down, scenarios across, a square for each cell whose sign
//! and colour say what was found; the bar in it is the share of runs in which the worst of it was.

use maud::{Markup, html};
use picklock_campaign::summary::Summary;

use crate::format::{Format, ReportError};
use crate::matrix::legend::{self, Key};
use crate::matrix::{Matrix, Square};
use crate::page::layout::{printable, titled};
use crate::page::numbers::percent;
use crate::page::paint::Style;
use crate::page::svg::{with_attributes, with_fallbacks};

/// The matrix as a drawing.
pub const FORMAT: Format = Format {
    name: "svg",
    file: "matrix.svg",
    doc: "the matrix as a picture, for a README or a slide",
    render,
};

const STYLE: &str = concat!(include_str!("../page/colours.css"), include_str!("picture.css"));

/// A square and the space after it.
const STEP: i32 = 26;
/// The side of a square.
const SIDE: i32 = 22;
/// How wide a letter of a name is, at most.
const LETTER: i32 = 8;
/// The room that the last of the slanted names needs to its right, as a share of its length.
const SLANT: f64 = 0.71;
/// Room around everything.
const MARGIN: i32 = 12;
/// A line of those that say what the signs mean.
const LINE: i32 = 28;

fn render(summary: &Summary, _style: &Style) -> Result<String, ReportError> {
    Ok(with_attributes(&draw(summary).into_string(), STYLE) + "\n")
}

fn draw(summary: &Summary) -> Markup {
    let matrix = Matrix::of(summary);
    let Matrix { scenarios, rows, .. } = &matrix;
    let keys = legend::keys(&matrix);
    let designs: Vec<&str> = rows.iter().map(|row| row.design).collect();
    let left = MARGIN + longest(&designs) * LETTER;
    let slanted = (f64::from(longest(scenarios) * LETTER) * SLANT) as i32;
    let top = MARGIN + slanted;
    let widest = keys.iter().map(legend_step).max().unwrap_or(0);
    let width = (left + STEP * count(scenarios) + slanted).max(MARGIN + widest) + MARGIN;
    let foot = top + STEP * count(&designs) + 12;
    let (places, below) = legend_places(&keys, width - MARGIN);
    let height = foot + below + MARGIN;
    html! {
        svg.x xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img" {
            title { (printable(&summary.command)) }
            style { (with_fallbacks(STYLE)) }
            rect.paper width=(width) height=(height) {}
            @for (nth, scenario) in (0..).zip(scenarios) {
                text.n transform={ "translate(" (left + STEP * nth + SIDE / 2 + 4) " " (top - 6) ") rotate(-45)" } { (printable(scenario)) }
            }
            @for (at, row) in (0..).zip(rows) {
                text.n.r x=(left - 8) y=(top + STEP * at + SIDE - 6) { (titled(row.design)) }
                @for (column, found) in (0..).zip(&row.squares) {
                    @if let Some(found) = found { (square(found, left + STEP * column, top + STEP * at)) }
                }
            }
            (key(&places, foot))
        }
    }
}

fn square(square: &Square<'_>, x: i32, y: i32) -> Markup {
    let Square { cell, mark, .. } = *square;
    let rate = square.share().map(|share| format!(", {}", percent(share))).unwrap_or_default();
    let unmet = if square.unmet { format!(", {}", legend::NOT_AS_EXPECTED.words) } else { String::new() };
    let height = square.share().map_or(0, |share| (share * f64::from(SIDE)).ceil() as i32);
    html! {
        g class=(mark.class()) transform={ "translate(" (x) " " (y) ")" } {
            title { (titled(&cell.design)) " under " (printable(&cell.scenario)) ": " (mark.words()) (rate) (unmet) }
            (tile(&square.symbols(), height))
        }
    }
}

/// A square with its sign; so much of it from below is filled.
fn tile(sign: &str, filled: i32) -> Markup {
    html! {
        rect.s width=(SIDE) height=(SIDE) rx="3" {}
        @if filled > 0 { rect.f y=(SIDE - filled) width=(SIDE) height=(filled) rx="3" {} }
        text x=(SIDE / 2) y=(SIDE - 6) { (sign) }
    }
}

fn key(places: &[(Key, i32, i32)], top: i32) -> Markup {
    html! {
        @for (key, x, y) in places {
            g class=[key.mark.map(|mark| mark.class())] transform={ "translate(" (x) " " (top + y) ")" } {
                (tile(key.sign, 0))
                text.n x=(SIDE + 6) y=(SIDE - 6) { (key.words) }
            }
        }
    }
}

/// Where each sign of the legend stands, in as many lines as this width asks for, and the height of them all.
fn legend_places(keys: &[Key], width: i32) -> (Vec<(Key, i32, i32)>, i32) {
    let (mut x, mut y) = (MARGIN, 0);
    let mut places = Vec::new();
    for key in keys {
        if x > MARGIN && x + legend_step(key) > width {
            (x, y) = (MARGIN, y + LINE);
        }
        places.push((*key, x, y));
        x += legend_step(key);
    }
    (places, y + LINE)
}

fn legend_step(key: &Key) -> i32 {
    SIDE + 24 + letters(key.words) * LETTER
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
