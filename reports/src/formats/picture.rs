//! The matrix as a picture: for a README, a slide, a pull request. Designs down, grouped by store, and scenarios across. The sign and the
//! colour of a square are those of its cell; its filled part is the share of runs with the most serious result, in steps.
//!
//! A large matrix has thousands of squares and few kinds of them: each kind is drawn once, and each square refers to its kind.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};
use picklock_campaign::summary::Summary;

use crate::format::{Format, ReportError};
use crate::matrix::legend::{self, Key};
use crate::matrix::{Matrix, Row, Square, groups};
use crate::page::layout::{printable, titled};
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
/// The filled part of a square grows in steps of this height.
const FILL: i32 = 2;
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
    let scenarios = &matrix.scenarios;
    let keys = legend::keys(&matrix);
    let lines = lines(&matrix);
    let names: Vec<String> = lines.iter().map(Line::name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let left = MARGIN + longest(&names) * LETTER;
    let slanted = (f64::from(longest(scenarios) * LETTER) * SLANT) as i32;
    let top = MARGIN + slanted;
    let widest = keys.iter().map(legend_step).max().unwrap_or(0);
    let width = (left + STEP * count(scenarios) + slanted).max(MARGIN + widest) + MARGIN;
    let foot = top + STEP * count(&names) + 12;
    let (places, below) = legend_places(&keys, width - MARGIN);
    let height = foot + below + MARGIN;
    html! {
        svg.x xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img" {
            title { (printable(&summary.command)) }
            style { (with_fallbacks(STYLE)) }
            defs { @for (id, kind) in kinds(&lines) { (kind.draw(&id)) } }
            rect.paper width=(width) height=(height) {}
            @for (nth, scenario) in (0..).zip(scenarios) {
                text.n transform={ "translate(" (left + STEP * nth + SIDE / 2 + 4) " " (top - 6) ") rotate(-45)" } { (printable(scenario)) }
            }
            @for (at, line) in (0..).zip(&lines) {
                g transform={ "translate(0 " (top + STEP * at) ")" } {
                    text.n.r.t[line.is_title()] x=(left - 8) y=(SIDE - 6) { (line.name()) }
                    @for (column, square) in (0..).zip(line.squares()) {
                        @if let Some(square) = square { (reference(square, left + STEP * column)) }
                    }
                }
            }
            (key(&places, foot))
        }
    }
}

/// A line of the picture: the name of a store kind, or a design.
enum Line<'m, 'a> {
    Store(String),
    Design(&'m Row<'a>),
}

impl<'a> Line<'_, 'a> {
    fn name(&self) -> String {
        match self {
            Line::Store(title) => title.clone(),
            Line::Design(row) => titled(row.design).into_owned(),
        }
    }

    fn is_title(&self) -> bool {
        matches!(self, Line::Store(_))
    }

    fn squares(&self) -> &[Option<Square<'a>>] {
        match self {
            Line::Store(_) => &[],
            Line::Design(row) => &row.squares,
        }
    }
}

/// The lines in their order. One kind of store alone needs no name.
fn lines<'m, 'a>(matrix: &'m Matrix<'a>) -> Vec<Line<'m, 'a>> {
    let groups = groups::by_store(matrix);
    let is_named = groups.len() > 1;
    let lines = groups.into_iter().flat_map(|group| {
        let title = is_named.then(|| Line::Store(group.title()));
        title.into_iter().chain(group.rows.into_iter().map(Line::Design))
    });
    lines.collect()
}

/// Squares that look the same.
struct Kind {
    class: &'static str,
    symbols: String,
    filled: i32,
}

impl Kind {
    fn of(square: &Square<'_>) -> Kind {
        let steps = square.share().map_or(0.0, |share| (share * f64::from(SIDE / FILL)).ceil());
        Kind { class: square.mark.class(), symbols: square.symbols(), filled: steps as i32 * FILL }
    }

    fn id(&self) -> String {
        let unmet = if self.symbols.ends_with(legend::NOT_AS_EXPECTED.sign) { "n" } else { "" };
        format!("{}{}{unmet}", self.class, self.filled)
    }

    fn draw(&self, id: &str) -> Markup {
        html! { g class=(self.class) id=(id) { (tile(&self.symbols, self.filled)) } }
    }
}

fn kinds(lines: &[Line<'_, '_>]) -> BTreeMap<String, Kind> {
    let kinds = lines.iter().flat_map(Line::squares).flatten().map(Kind::of);
    kinds.map(|kind| (kind.id(), kind)).collect()
}

/// Written by hand, because maud has no elements that close themselves.
fn reference(square: &Square<'_>, x: i32) -> Markup {
    PreEscaped(format!("<use href=\"#{}\" x=\"{x}\"/>", Kind::of(square).id()))
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
