//! The frame of every page: its head with the styles, its body, and the script at its end.

use maud::{DOCTYPE, Markup, PreEscaped, html};

use crate::diagram;
use crate::page::layout::printable;
use crate::page::svg::with_fallbacks;

const COLOURS: &str = include_str!("../page/colours.css");
const PAGE: &str = include_str!("page.css");
const MATRIX: &str = include_str!("matrix.css");
const STORY: &str = include_str!("story.css");
const SCRIPT: &str = include_str!("report.js");

/// Nothing is loaded from anywhere; the browser holds the page to it.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'";

/// A page of results, with all that its parts need.
pub(super) fn page(title: &str, body: &Markup) -> String {
    let head = html! {
        style { (PreEscaped(with_fallbacks(&[diagram::STYLE, PAGE, MATRIX, STORY].concat()))) }
    };
    let body = html! {
        svg width="0" height="0" aria-hidden="true" style="position:absolute" { (diagram::hatches()) }
        (body)
        script { (PreEscaped(SCRIPT)) }
    };
    whole(title, &head, &body)
}

/// A page that looks the same and has no drawings.
pub(super) fn plain(title: &str, head: &Markup, body: &Markup) -> String {
    whole(title, &html! { style { (PreEscaped(with_fallbacks(&[COLOURS, PAGE].concat()))) } (head) }, body)
}

fn whole(title: &str, head: &Markup, body: &Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="generator" content={ "picklock " (env!("CARGO_PKG_VERSION")) };
                title { (printable(title)) }
                (head)
            }
            body { (body) }
        }
    }
    .into_string()
        + "\n"
}

/// A line to copy.
pub(super) fn command(line: &str) -> Markup {
    html! { div.cmd { code { (printable(line)) } button type="button" data-copy { "Copy" } } }
}

/// A sentence of the text reports, in which what stands between backticks is code.
pub(super) fn prose(text: &str) -> Markup {
    let text = printable(text);
    let parts: Vec<&str> = text.split('`').collect();
    html! {
        @if parts.len().is_multiple_of(2) { (text) }
        @else { @for (nth, part) in parts.iter().enumerate() { @if nth.is_multiple_of(2) { (part) } @else { code { (part) } } } }
    }
}

/// A part of the page that is wider than a phone: it scrolls by itself, by keyboard too.
pub(super) fn wide(label: &str, inner: &Markup) -> Markup {
    html! { div.wide tabindex="0" role="region" aria-label=(label) { (inner) } }
}
