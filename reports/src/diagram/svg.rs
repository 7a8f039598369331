//! The drawing itself, as SVG: whole numbers and short classes, since a page may hold hundreds of them.

use maud::{Markup, html};
use picklock_model::ids::GrantId;

use super::bars::{self, Bar, Lasting};
use super::course::{Arrow, Course, Overlap, Step};
use super::scale::Scale;
use super::short::Kind;
use crate::page::layout::printable;
use crate::page::numbers::span;

/// The height of the names above the lines of the hosts.
const HEAD: i32 = 30;

/// A diagram in its two parts, so that the names can stay in view.
pub(crate) struct Drawing {
    pub(crate) head: Markup,
    pub(crate) body: Markup,
}

/// Draws a run.
pub(crate) fn draw(course: &Course<'_>) -> Drawing {
    let scale = Scale::of(course);
    let (width, height) = (scale.width, scale.height);
    let head = html! {
        svg.d viewBox={ "0 0 " (width) " " (HEAD) } width=(width) height=(HEAD) aria-hidden="true" { (names(course, &scale)) }
    };
    let body = html! {
        svg.d viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) aria-hidden="true" { (content(course, &scale)) }
    };
    Drawing { head, body }
}

/// Draws a run as a file of its own.
pub(crate) fn file(course: &Course<'_>, style: &str) -> String {
    let scale = Scale::of(course);
    let (width, height) = (scale.width, HEAD + scale.height);
    let title =
        format!("{} under {}, seed {}", course.story.design, course.story.scenario, course.story.plan.seed.0);
    html! {
        svg.d xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (width) " " (height) } width=(width) height=(height) role="img" {
            title { (printable(&title)) }
            style { (style) }
            (hatches())
            rect.paper width=(width) height=(height) {}
            (names(course, &scale))
            g transform={ "translate(0 " (HEAD) ")" } { (content(course, &scale)) }
        }
    }
    .into_string()
        + "\n"
}

/// The patterns that drawings use, once for a page.
pub(crate) fn hatches() -> Markup {
    let hatch = |id: &str| {
        html! {
            pattern id=(id) width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                line y2="6" stroke-width="4" {}
            }
        }
    };
    html! { defs { (hatch("hot")) (hatch("still")) } }
}

fn names(course: &Course<'_>, scale: &Scale) -> Markup {
    html! {
        @for host in &course.hosts {
            text.n x=(scale.x(*host)) y="20" { (printable(course.story.trace.host_name(*host))) }
        }
    }
}

fn content(course: &Course<'_>, scale: &Scale) -> Markup {
    let bars = bars::of(course);
    html! {
        @for host in &course.hosts {
            path.line d={ "M" (scale.x(*host)) " 0V" (scale.height) } {}
        }
        @for (y, quiet) in &scale.gaps {
            path.gap d={ "M0 " (y) "H" (scale.width) } {}
            text.quiet x="78" y=(y - 3) { "+" (span(*quiet)) }
        }
        @if let Some(overlap) = course.overlap { (both(overlap, scale)) }
        @for bar in &bars { (lasting(course, bar, scale)) }
        @for arrow in &course.arrows { (message(course, arrow, scale)) }
        @for (nth, step) in course.steps.iter().enumerate() { (mark(course, nth, step, scale)) }
    }
}

/// Where two believed: a band from the one to the other.
fn both(overlap: Overlap, scale: &Scale) -> Markup {
    let [one, two] = overlap.clients.map(|client| scale.x(client));
    let (left, right) = (one.min(two) - 14, one.max(two) + 14);
    let (top, bottom) = (scale.y(overlap.first), scale.y(overlap.last));
    html! { rect.both x=(left) y=(top) width=(right - left) height=((bottom - top).max(4)) {} }
}

fn lasting(course: &Course<'_>, bar: &Bar, scale: &Scale) -> Markup {
    let (x, top, bottom) = (scale.x(bar.host), scale.y(bar.first), scale.y(bar.last));
    let (left, width) = match bar.lasting {
        Lasting::Halted => (x - 9, 18),
        Lasting::ClockError => (x - 16, 5),
        Lasting::Waiting => (x - 3, 6),
        Lasting::Believing | Lasting::Lease => (x - 5, 10),
    };
    if bottom <= top {
        return html! {};
    }
    let class = format!("{}{}", bar.lasting.class(), ranked(course, bar.grant));
    html! {
        rect class=(class) x=(left) y=(top) width=(width) height=(bottom - top) rx="2" {}
        @if let Some(label) = &bar.label {
            text.off x=(left - 4) y=(top + 14) { (label) }
        }
    }
}

fn message(course: &Course<'_>, arrow: &Arrow, scale: &Scale) -> Markup {
    let (from, to) = (scale.x(arrow.source), scale.x(arrow.target));
    let top = scale.y(arrow.sent);
    let ahead = (to - from).signum();
    let grant = course.story.trace.events[arrow.sent].grant;
    let fate = match (arrow.arrived, arrow.late) {
        (None, _) => " lost",
        (_, true) => " late",
        _ => "",
    };
    let class = format!("m{}{fate}", ranked(course, grant));
    let (x, y) = match arrow.arrived {
        Some(at) => (to - 6 * ahead, scale.y(at)),
        // The arrow of a lost message ends half-way.
        None => (from + (to - from) / 2, top + 14),
    };
    let start = from + 6 * ahead;
    let head = match arrow.arrived {
        Some(_) => tip((start, top), (x, y)),
        None => format!("M{} {}l10 10m0 -10l-10 10", x - 5, y - 5),
    };
    html! {
        path class=(class) data-s=(arrow.step) d={ "M" (start) " " (top) "L" (x) " " (y) } {}
        path class={ (class) " tip" } data-s=(arrow.step) d=(head) {}
        @if let Some(answer) = &arrow.answer {
            text class={ "t" (side(ahead)) } x=(from + 14 * ahead) y=(top - 4) { (answer) }
        }
    }
}

/// The head of an arrow, along its line.
fn tip((x0, y0): (i32, i32), (x, y): (i32, i32)) -> String {
    let (dx, dy) = (f64::from(x - x0), f64::from(y - y0));
    let length = (dx * dx + dy * dy).sqrt().max(1.0);
    let (dx, dy) = (dx / length, dy / length);
    let wing = |side: f64| {
        let at = |along: f64, across: f64| (-8.0 * along + side * 4.0 * across).round() as i32;
        (x + at(dx, -dy), y + at(dy, dx))
    };
    let ((x1, y1), (x2, y2)) = (wing(1.0), wing(-1.0));
    format!("M{x1} {y1}L{x} {y}L{x2} {y2}")
}

/// A step with its sign and its words.
fn mark(course: &Course<'_>, nth: usize, step: &Step, scale: &Scale) -> Markup {
    let (x, y) = (scale.x(step.host), scale.y(step.position));
    let event = &course.story.trace.events[step.position];
    let earlier = nth.checked_sub(1).map(|nth| course.story.trace.events[course.steps[nth].position].at);
    let first = course.arrows.iter().find(|arrow| arrow.step == nth && arrow.sent == step.position);
    let ahead = first
        .filter(|_| step.kind == Kind::Request)
        .map_or(1, |arrow| (scale.x(arrow.target) - scale.x(arrow.source)).signum());
    let class = format!(
        "s {}{}{}{}",
        step.kind.class(),
        ranked(course, event.grant),
        if step.proves { " p" } else { "" },
        if step.link { " k" } else { "" },
    );
    let raised = if step.kind == Kind::Request { -4 } else { 4 };
    html! {
        g class=(class) data-i=(nth) data-c=[step.cause] {
            @if earlier != Some(event.at) {
                text.at x="78" y=(y + 4) { (event.at.to_string().trim_end_matches('s')) }
            }
            @if step.proves { circle.ring cx=(x) cy=(y) r="10" {} }
            (sign(step.kind, x, y))
            text class={ "t" (side(ahead)) } x=(x + 14 * ahead) y=(y + raised) { (step.label) }
        }
    }
}

/// On which side the words stand.
fn side(ahead: i32) -> &'static str {
    if ahead < 0 { " r" } else { "" }
}

fn sign(kind: Kind, x: i32, y: i32) -> Markup {
    let d = match kind {
        Kind::Grant => format!("M{x} {}l7 7l-7 7l-7 -7z", y - 7),
        Kind::End => format!("M{x} {}l6 6l-6 6l-6 -6z", y - 6),
        Kind::Loss => format!("M{} {}l10 10m0 -10l-10 10", x - 5, y - 5),
        Kind::Fault => format!("M{x} {}l7 12h-14z", y - 7),
        Kind::Change => format!("M{} {}h10v10h-10z", x - 5, y - 5),
        Kind::Request => format!("M{} {}h6v6h-6z", x - 3, y - 3),
        Kind::Other => format!("M{} {}a4 4 0 1 0 8 0a4 4 0 1 0 -8 0", x - 4, y),
    };
    html! { path.z d=(d) {} }
}

/// The class of a grant: the first and the second of those that clash have a colour.
fn ranked(course: &Course<'_>, grant: Option<GrantId>) -> &'static str {
    match course.rank(grant) {
        Some(0) => " one",
        Some(_) => " two",
        None => "",
    }
}
