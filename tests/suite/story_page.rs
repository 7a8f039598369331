//! Checks of the page of a run, without knowing what it should say: orders, roles, spans, chains, and the statements about other
//! runs, which are made again.

use std::collections::BTreeSet;

use picklock_campaign::check::{self, Checked};
use picklock_campaign::story::Story;
use picklock_judge::history::History;
use picklock_model::ids::HostId;
use picklock_model::plan::Plan;
use picklock_model::trace::{Role, What};
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;

use crate::cells::design;

/// The errors of a page about a run; none if it passes.
pub(crate) fn faults(story: &Story, on: &Design, page: &str) -> Vec<String> {
    let mut wrong = Vec::new();
    order(page, &mut wrong);
    overlap(page, &mut wrong);
    expiries(story, page, &mut wrong);
    chains(story, page, &mut wrong);
    blocks(story, &mut wrong);
    for bad in ["makes a difference", "{ key", "Key(", "Some(", "HostId", "TrueTime("] {
        if page.contains(bad) {
            wrong.push(format!("says `{bad}`"));
        }
    }
    necessary(story, on, page, &mut wrong);
    survives(story, on, page, &mut wrong);
    wrong
}

/// The lines of a block, those that are broken joined.
fn block(page: &str, title: &str) -> Vec<String> {
    let lines = page.lines().skip_while(|line| *line != title).skip(1);
    let mut block: Vec<String> = Vec::new();
    for line in lines.take_while(|line| line.starts_with("  ")) {
        match (line.strip_prefix("    "), block.last_mut()) {
            (Some(more), Some(last)) if !more.starts_with(' ') => {
                last.push(' ');
                last.push_str(more);
            }
            _ => block.push(line.trim().to_owned()),
        }
    }
    block
}

/// An instant in microseconds, as it is written: `1.032763s`.
fn micros(word: &str) -> Option<u64> {
    let digits = word.trim_end_matches(['.', ',', ':', ';', ')']).strip_suffix('s')?;
    let (seconds, rest) = digits.split_once('.').filter(|(_, rest)| rest.len() == 6)?;
    Some(seconds.parse::<u64>().ok()? * 1_000_000 + rest.parse::<u64>().ok()?)
}

/// Times rise down the timeline, and the first grant stands above the second one.
fn order(page: &str, wrong: &mut Vec<String>) {
    let lines: Vec<&str> = page.lines().collect();
    let head = lines.iter().position(|line| line.trim_start().starts_with("true time"));
    let Some(head) = head else { return wrong.push("has no timeline".to_owned()) };
    let timeline = lines[head + 1..].iter().take_while(|line| !line.is_empty());
    let times: Vec<u64> = timeline.filter_map(|line| micros(line.split_whitespace().next()?)).collect();
    if !times.is_sorted() {
        wrong.push("times do not rise".to_owned());
    }
    let place = |mark: &str| lines.iter().position(|line| line.ends_with(mark));
    if let (Some(first), Some(second)) = (place("◀ first grant"), place("◀ second grant"))
        && first > second
    {
        wrong.push("the second grant stands above the first one".to_owned());
    }
    let marked = |mark: &str| lines.iter().filter(|line| line.ends_with(mark)).count();
    if marked("◀ first grant") > 1 || marked("◀ second grant") > 1 {
        wrong.push("a grant is marked twice".to_owned());
    }
}

/// The stated overlap is as wide as its dates say, these are the end and the beginning of beliefs that are shown, and the finding
/// says the same.
fn overlap(page: &str, wrong: &mut Vec<String>) {
    let text: String =
        page.split("true time").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    for sentence in text.split(" believed that they held it from ").skip(1) {
        let words: Vec<&str> = sentence.split(' ').collect();
        let (from, until) = (micros(words[0]), micros(words.get(2).copied().unwrap_or_default()));
        let wide = words.get(4).and_then(|word| word.parse::<f64>().ok());
        let (Some(from), Some(until), Some(wide)) = (from, until, wide) else {
            return wrong.push(format!("an overlap that cannot be read: {sentence}"));
        };
        let unit = words.get(5).copied().unwrap_or_default();
        if unit.starts_with("ms") && (wide * 1_000.0).round() as u64 != until - from {
            wrong.push(format!("an overlap of {wide} ms from {from} to {until} µs"));
        }
        let got = format!(" at {}", words[0]);
        let learned = format!(" of it at {}", words[0]);
        if !text.contains(&got) && !text.contains(&learned) {
            wrong.push(format!("an overlap begins at {}, when nobody got it", words[0]));
        }
        let end = words[2].trim_end_matches(':');
        if !text.contains(&format!("until {end}.")) && !text.contains(&format!("at {end}.")) {
            wrong.push(format!("an overlap ends at {end}, when nobody stopped believing"));
        }
        if let Some(found) = text.split("for ").nth(1).filter(|_| text.contains("believed that they held `"))
            && text.starts_with("mutual-exclusion: for ")
            && found.split(' ').next().and_then(|word| word.parse::<f64>().ok()) != Some(wide)
        {
            wrong.push(format!("the finding says {found}, the paragraph {wide} ms"));
        }
    }
}

/// A lease of which a sentence says when it ran out did so then on each of the stores that it names.
fn expiries(story: &Story, page: &str, wrong: &mut Vec<String>) {
    let history = History::of(&story.trace);
    let text: String =
        page.split("true time").next().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    for sentence in text.split(". ") {
        let words = || sentence.split(' ').map(|word| word.trim_end_matches([',', '.']));
        let Some((_, after)) = sentence.split_once(" had run out ") else { continue };
        let after = after.trim_start_matches("there ").trim_start_matches("at ").trim_start_matches("by ");
        let date = after.split([' ', ',']).next();
        let Some(date) = date.and_then(micros) else {
            wrong.push(format!("the end of a lease that cannot be read: {sentence}"));
            continue;
        };
        let keeps = |role| matches!(role, Some(Role::Leader | Role::Follower));
        let hosts = (0..story.trace.hosts.len()).map(|host| HostId(host as u16));
        for host in hosts.filter(|host| keeps(story.trace.role(*host))) {
            let named = words().any(|word| word == story.trace.host_name(host));
            let ran_out = story.trace.events.iter().any(|event| {
                event.host == host
                    && matches!(event.what, What::Expired { .. })
                    && history.ran_out(event).as_nanos() / 1_000 == date
            });
            if named && !ran_out {
                wrong.push(format!(
                    "no lease ran out on {} as it is said: {sentence}",
                    story.trace.host_name(host)
                ));
            }
        }
    }
}

/// Each violated invariant has one chain of causes, in order of time, which ends in what proves its finding.
fn chains(story: &Story, page: &str, wrong: &mut Vec<String>) {
    for breach in &story.breaches {
        let title = page.lines().find(|line| {
            let of = line.strip_prefix("cause of ").map(|names| names.replace(" and ", ", "));
            *line == "cause" || of.is_some_and(|of| of.split(", ").any(|name| name == breach.invariant))
        });
        let Some(title) = title else {
            wrong.push(format!("{} has no chain of causes", breach.invariant));
            continue;
        };
        let lines = block(page, title);
        let times: Vec<u64> =
            lines.iter().filter_map(|line| micros(line.split_whitespace().next()?)).collect();
        if !times.is_sorted() {
            wrong.push(format!("the times of the chain of {} do not rise", breach.invariant));
        }
        if matches!(breach.invariant.as_str(), "effective-exclusion" | "no-lost-update") {
            let last = |words: &str| lines.iter().rposition(|line| line.contains(words));
            if last("deletes the record of").max(last("runs out")) > last(" holds `") {
                wrong.push(format!(
                    "the chain of {} has the end of a record after which nobody was granted",
                    breach.invariant
                ));
            }
        }
        let proofs = &breach.findings[0].events;
        let line = lines.last().map(String::as_str).unwrap_or_default();
        let ends = story.trace.events.iter().filter(|event| proofs.contains(&event.id)).any(|event| {
            // A lease that ran out stands where it did, with when its store noticed.
            let when = line.starts_with(&event.at.to_string())
                || line.ends_with(&format!(", noticed at {}", event.at));
            when && line.contains(story.trace.host_name(event.host))
        });
        // A block goes on after the last thing that anybody did.
        if !ends && breach.invariant != "progress" {
            wrong.push(format!(
                "the chain of {} does not end in its finding: {:?}",
                breach.invariant,
                lines.last()
            ));
        }
    }
}

/// Of a blocked lock it is said what is in the way, or that nothing is.
fn blocks(story: &Story, wrong: &mut Vec<String>) {
    let progress = story.breaches.iter().filter(|breach| breach.invariant == "progress");
    for text in progress.filter_map(|breach| Some(breach.findings.first()?.text.as_str())) {
        if !text.contains(" in the way") && !text.contains("livelock") {
            wrong.push(format!("does not say what is in the way: {text}"));
        }
    }
}

fn again(on: &Design, plan: Plan) -> Option<Checked> {
    check::check(Engine::Event, on, plan).ok()
}

fn violated(run: &Checked) -> BTreeSet<String> {
    run.violated().into_iter().collect()
}

/// Each line about a part that was left out holds when the run is made without it.
fn necessary(story: &Story, on: &Design, page: &str, wrong: &mut Vec<String>) {
    let here: BTreeSet<String> = story.breaches.iter().map(|breach| breach.invariant.clone()).collect();
    for line in block(page, "necessary").into_iter().chain(block(page, "not necessary")) {
        let parts: Vec<(&str, BTreeSet<String>)> = if let Some(rest) =
            line.strip_prefix("violated all the same without ")
        {
            rest.split(", without ").map(|part| (part, here.clone())).collect()
        } else if let Some((part, outcome)) =
            line.strip_prefix("without ").and_then(|rest| rest.rsplit_once(": "))
        {
            if outcome != "nothing violated" && !outcome.starts_with("only ") {
                wrong.push(format!("an outcome that cannot be read: {outcome}"));
            }
            let left = outcome.strip_prefix("only ").and_then(|left| left.strip_suffix(" violated"));
            let left = left.map(|names| names.split(", ").map(str::to_owned).collect()).unwrap_or_default();
            vec![(part, left)]
        } else {
            wrong.push(format!("a line about what is necessary that cannot be read: {line}"));
            continue;
        };
        for (part, left) in parts {
            let plans = without(story, part);
            let holds = |plan: Plan| {
                again(on, plan).is_some_and(|run| {
                    let still: BTreeSet<String> = violated(&run).intersection(&here).cloned().collect();
                    still == left
                })
            };
            // Two injections may be described alike; then one of them is meant.
            if !plans.into_iter().any(holds) {
                wrong.push(format!("without {part} it is not only {left:?} that is violated"));
            }
        }
    }
}

/// The plans without a part, by its words.
fn without(story: &Story, part: &str) -> Vec<Plan> {
    if let Some((ordinal, client)) = part.strip_prefix("section ").and_then(|rest| rest.split_once(" of ")) {
        let mut plan = story.plan.clone();
        for of in plan.clients.iter_mut().filter(|of| of.name == client) {
            of.sections.retain(|section| section.ordinal.to_string() != ordinal);
            of.background.retain(|section| section.ordinal.to_string() != ordinal);
        }
        return vec![plan];
    }
    let said = |index: usize| {
        let words = story.trace.events.iter().find_map(|event| match &event.what {
            What::Injected { injection, applied } if *injection as usize == index => {
                Some(story.trace.words(applied))
            }
            _ => None,
        });
        match words {
            Some(words) => part.contains(&words),
            None => part.ends_with("that never hit"),
        }
    };
    let all = 0..story.plan.injections.len();
    let plans = all.filter(|index| said(*index)).map(|index| {
        let mut plan = story.plan.clone();
        plan.injections.remove(index);
        plan
    });
    plans.collect()
}

/// Each line about other designs holds when these are run.
fn survives(story: &Story, on: &Design, page: &str, wrong: &mut Vec<String>) {
    for line in block(page, "survives") {
        if line.starts_with("none of ") || line.starts_with("not ") {
            continue;
        }
        let (names, expected): (&str, BTreeSet<String>) =
            if let Some(names) = line.strip_prefix("the same plan violates nothing on ") {
                (names, BTreeSet::new())
            } else if let Some((left, names)) =
                line.strip_prefix("it violates ").and_then(|rest| rest.split_once(" alone on "))
            {
                (names, left.replace(" and ", ", ").split(", ").map(str::to_owned).collect())
            } else {
                wrong.push(format!("a line about what survives that cannot be read: {line}"));
                continue;
            };
        for name in names.replace(" and ", ", ").split(", ") {
            let mut other = design(name);
            other.topology.replicated = on.topology.replicated;
            let run = again(&other, story.plan.clone());
            if run.is_none_or(|run| violated(&run) != expected) {
                wrong.push(format!("{name} does not violate {expected:?} alone"));
            }
        }
    }
}
