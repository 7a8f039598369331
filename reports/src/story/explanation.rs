//! The explanation after a story: the chain of causes, what the violations need, and which designs the same plan leaves whole.

use std::collections::BTreeMap;

use picklock_campaign::story::{Ablation, Elsewhere, Part, Story, Without};
use picklock_judge::invariants::{Promise, is_about};
use picklock_model::ids::EventId;
use picklock_model::trace::{Event, What};

use super::cause;
use super::exchanges::{self, Outcome, is_number};
use super::paragraph::{differs, list};
use super::words::Names;
use super::writer::{Writer, hit, shown_at};
use crate::page::layout::{left, printable, right, spaces, width, wrap};
use crate::page::paint::{Ink, Style};

/// Of a longer chain, so many links at its beginning and at its end are shown.
const LINKS: usize = 10;

/// The blocks after a story, each under its word: a chain of causes for each violated invariant, or, if `short`, for the one
/// that the story is about; then the ablation. Empty without a finding.
pub(crate) fn render(story: &Story, style: &Style, short: bool) -> String {
    let mut page = String::new();
    if story.leading().is_none() {
        return page;
    }
    let chains = chains(story);
    let most = if short { 1 } else { chains.len() };
    for (invariants, links) in chains.iter().take(most) {
        let title = match story.breaches.len() {
            1 => "cause".to_owned(),
            _ => format!("cause of {}", list(invariants)),
        };
        block(&mut page, &title, &causes(story, links), style);
    }
    let plain = |lines: Vec<String>| lines.into_iter().map(|line| (String::new(), line)).collect::<Vec<_>>();
    if let Some(ablation) = &story.ablation {
        block(&mut page, "necessary", &plain(necessary(story, &ablation.without)), style);
        block(&mut page, "not necessary", &plain(unnecessary(story, &ablation.without)), style);
        block(&mut page, "survives", &plain(survives(story, &ablation.elsewhere)), style);
        block(&mut page, "not tried", &plain(untried(ablation)), style);
    }
    page
}

/// The chains of causes, each with the invariants that it is the chain of, in the order of the story.
pub(crate) fn chains(story: &Story) -> Vec<(Vec<&str>, Vec<usize>)> {
    let mut chains: Vec<(Vec<&str>, Vec<usize>)> = Vec::new();
    for breach in &story.breaches {
        let links = cause::chain(story, breach);
        match chains.iter_mut().find(|(_, other)| *other == links) {
            Some((invariants, _)) => invariants.push(&breach.invariant),
            None => chains.push((vec![&breach.invariant], links)),
        }
    }
    chains
}

/// A block of lines, each with what stands before its words in columns of its own.
fn block(page: &mut String, title: &str, lines: &[(String, String)], style: &Style) {
    if lines.is_empty() {
        return;
    }
    page.push_str(&format!("\n{}\n", style.paint(Ink::Head, title)));
    for (before, words) in lines {
        // Text that does not fit continues below the words, or, where there are no columns, a little further in.
        let before = format!("  {before}");
        let (indent, further) = if width(&before) > 2 { (width(&before), 0) } else { (2, 2) };
        let room = style.columns().saturating_sub(indent + further);
        for (at, line) in wrap(&printable(words), room).iter().enumerate() {
            let before = if at == 0 { before.clone() } else { spaces(indent + further) };
            page.push_str(&format!("{before}{line}\n"));
        }
    }
}

/// A line for each link of a chain: when and where, and what.
pub(crate) fn causes(story: &Story, links: &[usize]) -> Vec<(String, String)> {
    let writer = Writer::of(story);
    let (names, hit) = (Names::of(&story.trace), hit(story));
    // A lease that ran out is a cause from then on, whenever its store looked.
    let when = |event: &Event| match event.what {
        What::Expired { .. } if !names.comes_back(event) => names.ran_out(event),
        _ => event.at,
    };
    let mut links: Vec<&Event> = links.iter().map(|position| &story.trace.events[*position]).collect();
    links.sort_by_key(|event| when(event));
    let tokens = tokens(story);
    let hosts: Vec<&str> = links.iter().map(|event| names.host(shown_at(event, &hit))).collect();
    let columns = hosts.iter().map(|host| width(host)).max().unwrap_or(0);
    let time = links.iter().map(|event| when(event).to_string().len()).max().unwrap_or(0);
    let say = |(event, host): (&Event, &&str)| {
        let before =
            format!("{}  {}  ", right(&when(event).to_string(), time), left(&printable(host), columns));
        let words = match &event.what {
            What::Expired { key, .. } if differs(when(event), event.at) && !names.comes_back(event) => {
                format!("the lease of {} runs out, noticed at {}", names.lease_of(event, key), event.at)
            }
            _ => writer.say(event),
        };
        let token = tokens.get(&event.id).map(|said| format!(", with token {said}")).unwrap_or_default();
        (before, format!("{words}{token}"))
    };
    let mut lines: Vec<_> = links.into_iter().zip(&hosts).map(say).collect();
    if let Some(more) = lines.len().checked_sub(2 * LINKS).filter(|more| *more > 0) {
        let between = format!("({more} more in between)");
        lines.splice(LINKS..LINKS + more, [(spaces(time + columns + 4), between)]);
    }
    lines
}

/// The tokens with which stores answered requests that made a record; none where the story is not about tokens.
fn tokens(story: &Story) -> BTreeMap<EventId, String> {
    if !story.invariants().any(|name| is_about(name, Promise::Tokens)) {
        return BTreeMap::new();
    }
    let events = &story.trace.events;
    let mut said_to = BTreeMap::new();
    for exchange in exchanges::of(story).into_iter().filter(|exchange| exchange.changed) {
        let (Outcome::Answered(said) | Outcome::AnswerLost(said)) = exchange.outcome else { continue };
        if is_number(&said) {
            said_to.extend(exchange.positions.iter().map(|at| (events[*at].id, said.clone())));
        }
    }
    let made = events.iter().filter(|event| matches!(event.what, What::Created { .. }));
    made.filter_map(|event| Some((event.id, said_to.get(&event.cause?)?.clone()))).collect()
}

/// A line if the time was over before all parts and designs were tried.
pub(crate) fn untried(ablation: &Ablation) -> Vec<String> {
    let line = || "other parts and designs: the time was over (--shrink-budget TIME gives more)".to_owned();
    ablation.cut_short.then(line).into_iter().collect()
}

/// A line for each part without which nothing is violated, or less.
pub(crate) fn necessary(story: &Story, tried: &[Without]) -> Vec<String> {
    let needed = tried.iter().filter(|without| changes(story, without));
    let say = |without: &Without| {
        let left = match without.violated.as_slice() {
            [] => "nothing violated".to_owned(),
            left => format!("only {} violated", left.join(", ")),
        };
        format!("without {}: {left}", part(story, &without.part))
    };
    needed.map(say).collect()
}

/// A line for the parts without which all of it is violated nevertheless; none if there is no such part.
pub(crate) fn unnecessary(story: &Story, tried: &[Without]) -> Vec<String> {
    // A section that was planned and never begun is no part of the run.
    let took_place = |without: &&Without| match &without.part {
        Part::Section { client, ordinal } => story
            .trace
            .events
            .iter()
            .filter_map(|event| event.grant)
            .any(|grant| story.trace.host_name(grant.client) == client && grant.section == *ordinal),
        Part::Injection(_) => true,
    };
    let others = tried.iter().filter(|without| !changes(story, without)).filter(took_place);
    let others: Vec<String> = others.map(|without| part(story, &without.part)).collect();
    let line = || format!("violated all the same without {}", others.join(", without "));
    (!others.is_empty()).then(line).into_iter().collect()
}

fn changes(story: &Story, without: &Without) -> bool {
    without.violated.len() < story.breaches.len()
}

fn part(story: &Story, part: &Part) -> String {
    match part {
        Part::Section { client, ordinal } => format!("section {ordinal} of {client}"),
        Part::Injection(index) => {
            let words = story.trace.events.iter().find_map(|event| match &event.what {
                What::Injected { injection, applied } if injection == index => {
                    Some(story.trace.words(applied))
                }
                _ => None,
            });
            let fault = story.trace.faults.get(*index as usize).map_or("fault", String::as_str);
            words.map_or_else(
                || format!("the {fault} that never hit"),
                |words| format!("the {fault} ({words})"),
            )
        }
    }
}

/// A line for each thing worth knowing: on which designs the same plan violates nothing, although its faults make a difference
/// there, on which it violates less, or that there is none of these.
pub(crate) fn survives(story: &Story, tried: &[Elsewhere]) -> Vec<String> {
    let here: Vec<&str> = story.invariants().collect();
    let conclusive: Vec<&Elsewhere> =
        tried.iter().filter(|one| !(one.violated.is_empty() && one.inconclusive)).collect();
    let names = |such: &dyn Fn(&Elsewhere) -> bool| -> Vec<&str> {
        conclusive.iter().filter(|one| such(one)).map(|one| one.design.as_str()).collect()
    };
    let mut lines = Vec::new();
    let whole = names(&|one| one.violated.is_empty());
    if !whole.is_empty() {
        lines.push(format!("the same plan violates nothing on {}", list(&whole)));
    }
    let fewer = |one: &Elsewhere| {
        !one.violated.is_empty()
            && one.violated.len() < here.len()
            && one.violated.iter().all(|name| here.contains(&name.as_str()))
    };
    let mut outcomes: Vec<&[String]> = Vec::new();
    for one in conclusive.iter().filter(|one| fewer(one)) {
        if !outcomes.contains(&one.violated.as_slice()) {
            outcomes.push(&one.violated);
        }
    }
    for outcome in outcomes {
        let violated: Vec<&str> = outcome.iter().map(String::as_str).collect();
        let on = names(&|one| one.violated == outcome);
        lines.push(format!("it violates {} alone on {}", list(&violated), list(&on)));
    }
    if lines.is_empty() && !conclusive.is_empty() {
        lines.push(match conclusive.as_slice() {
            [one] => format!("not {}, the only other design tried that its faults reach", one.design),
            all => format!("none of {} other designs on the same servers that its faults reach", all.len()),
        });
    }
    lines
}
