//! One failure: the run in words and as a diagram, what the violation needs, and the line that makes the run again.

use maud::{Markup, html};
use picklock_campaign::about::About;
use picklock_campaign::story::Story;
use picklock_model::span::Span;

use crate::diagram::{Course, Step, draw};
use crate::html::about;
use crate::html::frame::{command, prose};
use crate::page::layout::printable;
use crate::story::{explanation, paragraph};

/// The signs of a diagram, for who sees one for the first time.
const SIGNS: &str = "◆ holds  ◇ lets go  ✕ runs out or is lost  ▲ fault  ■ changes the data; a ring proves the finding. Bars: \
                     filled believes that it holds, dashed asks, hatched stands still, on a store the lease. Dashed arrows are late, ✕ arrows are lost. \
                     Red hatching: two hold. Time is true time, in seconds, and not to scale.";

const KEYS: &str = "Keys in the diagram: ↑ ↓ event, ← → cause, Home End, + − 0 size, Esc";

/// A run on a page of its own.
pub(super) fn alone(story: &Story, about: &About, title: &str) -> Markup {
    html! {
        header.top id="top" {
            p.kicker { "picklock · one run" }
            h1 { (printable(title)) }
            p.lead { (verdict(story)) }
            p { (about::claim(about, &story.design)) }
            p {
                (about::scenario(about, &story.scenario))
                @if !about.scenarios.contains_key(&story.scenario) { "The lease is " (Span::Fixed(story.plan.world.ttl)) "." }
                (about::made(&About { version: about.version.clone(), ..About::default() }))
            }
        }
        main { (article(story, "s", None)) }
    }
}

/// A run as a way in which a cell breaks.
pub(super) fn within(story: &Story, id: &str, title: &str) -> Markup {
    article(story, id, Some(title))
}

fn verdict(story: &Story) -> String {
    let violated: Vec<&str> = story.invariants().collect();
    match violated.as_slice() {
        [] => "Nothing violated.".to_owned(),
        violated => format!("{} violated.", paragraph::list(violated)),
    }
}

fn article(story: &Story, id: &str, title: Option<&str>) -> Markup {
    let course = Course::of(story);
    let how = paragraph::course(story);
    html! {
        article.story id=(id) {
            @if let Some(title) = title { h3 id={ (id) "h" } { (title) } } @else { h2.v { "What happened" } }
            div.tale {
                @for found in paragraph::found(story) { p.found { (prose(&found)) } }
                @if !how.is_empty() { p { (prose(&how)) } }
            }
            div.run {
                (figure(&course, id))
                (events(&course, id, title.is_some()))
            }
            (hangs_on(story, title.is_some()))
            (command(&story.replay))
        }
    }
}

fn figure(course: &Course<'_>, id: &str) -> Markup {
    let drawing = draw(course);
    let story = course.story;
    let label = format!("Diagram of {} under {}, seed {}", story.design, story.scenario, story.plan.seed.0);
    html! {
        figure.diagram {
            div.tools {
                button type="button" data-zoom="-1" aria-label="Smaller" { "−" }
                button type="button" data-zoom="1" aria-label="Larger" { "+" }
                button type="button" data-zoom="0" { "Fit" }
                button type="button" data-link="-1" { "← cause" }
                button type="button" data-link="1" { "effect →" }
            }
            div.box tabindex="0" role="group" aria-label=(printable(&label)) aria-describedby={ (id) "k" } {
                div.names { (drawing.head) }
                (drawing.body)
            }
            p.now aria-live="polite" {}
            p.hint.dim { "Tap a sign to read what it is, or + for the words." }
            figcaption { (SIGNS) span.keys id={ (id) "k" } { (KEYS) } }
        }
    }
}

/// The events as a list: the chain of causes, and all of them when asked for.
fn events(course: &Course<'_>, id: &str, within: bool) -> Markup {
    let heading = |text: &str| {
        if within {
            html! { h4 { (text) } }
        } else {
            html! { h3 { (text) } }
        }
    };
    let linked = course.steps.iter().any(|step| step.link);
    html! {
        div.events {
            @if linked {
                (heading(&chain_of(course.story)))
                label { input.all type="checkbox"; " all " (course.steps.len()) " lines" }
            } @else {
                (heading("Events"))
            }
            ol.every[!linked] tabindex="0" aria-label="Events" id={ (id) "e" } {
                @for (nth, step) in course.steps.iter().enumerate() { (event(course, nth, step)) }
            }
        }
    }
}

/// The heading of the chain that the diagram shows; with several invariants violated it names those that it is the chain of.
fn chain_of(story: &Story) -> String {
    match explanation::chains(story).first() {
        Some((invariants, _)) if story.breaches.len() > 1 => {
            format!("Chain of causes: {}", paragraph::list(invariants))
        }
        _ => "Chain of causes".to_owned(),
    }
}

fn event(course: &Course<'_>, nth: usize, step: &Step) -> Markup {
    let trace = &course.story.trace;
    let at = trace.events[step.position].at.to_string();
    html! {
        li.k[step.link].p[step.proves] data-i=(nth) {
            time { (at) } " " b { (printable(trace.host_name(step.host))) } " " (prose(&step.text))
            @if step.proves { span.proof title="proves the finding" { " ◀" } }
        }
    }
}

/// The chains of the other violated invariants, what the violation needs, and who survives the same plan.
fn hangs_on(story: &Story, within: bool) -> Markup {
    if story.leading().is_none() {
        return html! {};
    }
    let other = |(invariants, links): &(Vec<&str>, Vec<usize>)| {
        let lines = explanation::causes(story, links).into_iter();
        let lines = lines.map(|(before, words)| {
            format!("{} {words}", before.split_whitespace().collect::<Vec<_>>().join(" "))
        });
        (format!("Chain of causes: {}", paragraph::list(invariants)), lines.collect())
    };
    let mut blocks: Vec<(String, Vec<String>)> =
        explanation::chains(story).iter().skip(1).map(other).collect();
    if let Some(ablation) = &story.ablation {
        blocks.push(("Necessary".to_owned(), explanation::necessary(story, &ablation.without)));
        blocks.push(("Not necessary".to_owned(), explanation::unnecessary(story, &ablation.without)));
        blocks.push(("Survives".to_owned(), explanation::survives(story, &ablation.elsewhere)));
        blocks.push(("Not tried".to_owned(), explanation::untried(ablation)));
    }
    html! {
        div.hangs {
            @for (title, lines) in blocks.iter().filter(|(_, lines)| !lines.is_empty()) {
                div {
                    @if within { h4 { (title) } } @else { h3 { (title) } }
                    ul.plain { @for line in lines { li { (prose(line)) } } }
                }
            }
        }
    }
}
