//! What an exploration found: how much was tried, and in which ways something breaks.

use std::fmt::Write as _;

use picklock_campaign::campaign::quoted;
use picklock_campaign::explore::{Explored, Kind, PairWay, Pairs, Place, Shape, Way};
use picklock_model::plan::{Access, Edge, Phase};
use picklock_model::trace::Role;
use serde_json::{Value, json};

use crate::matrix::mark::Mark;
use crate::page::layout::{left, paragraph, right};
use crate::page::numbers::{plural, span};
use crate::page::paint::{Ink, Style};

/// So many placements of a way are named, unless all are asked for.
const NAMED: usize = 2;

/// For people. `args` is what a line needs besides design, scenario and placement to make the same run.
#[must_use]
pub fn text(pages: &[Explored], style: &Style, verbose: bool, args: &str) -> String {
    pages.iter().map(|page| one(page, style, verbose, args)).collect::<Vec<_>>().join("\n")
}

fn one(page: &Explored, style: &Style, verbose: bool, args: &str) -> String {
    let columns = style.columns();
    let mut out = String::new();
    let title = format!("{} under {}, strikes of {}", page.design, page.scenario, span(page.lasts));
    let _ = writeln!(out, "{}\n", style.paint(Ink::Head, &title));
    out.push_str(&paragraph(&format!("{}.", claim(page)), 0, columns));
    if !page.calm.is_empty() {
        let already =
            format!("Without a strike it violates {} already; that is left out.", page.calm.join(", "));
        out.push_str(&paragraph(&already, 0, columns));
    }
    if !page.holds.is_empty() {
        let never = format!("Violated at no placement: {}.", page.holds.join(", "));
        out.push_str(&paragraph(&never, 0, columns));
    }
    let _ = writeln!(
        out,
        "\n{}{}{}{}",
        left("fault", 14),
        right("placements", 10),
        right("struck", 8),
        right("violate", 9)
    );
    for kind in &page.kinds {
        let explored = if kind.explored == kind.placements {
            kind.placements.to_string()
        } else {
            format!("{}/{}", kind.explored, kind.placements)
        };
        let violating = right(&kind.violating.to_string(), 9);
        let ink = if kind.violating > 0 { Ink::First } else { Ink::Plain };
        let figures = format!("{}{}", right(&explored, 10), right(&kind.bit.to_string(), 8));
        let _ = writeln!(out, "{}{figures}{}", left(kind.strike, 14), style.paint(ink, &violating));
    }
    if !page.ways.is_empty() {
        let _ = writeln!(out, "\n{}", style.paint(Ink::Head, "what breaks"));
        let mut groups: Vec<Vec<Way>> = Vec::new();
        for way in &page.ways {
            match groups.iter_mut().find(|group| alike(&group[0], way)) {
                Some(group) => group.push(way.clone()),
                None => groups.push(vec![way.clone()]),
            }
        }
        groups.iter().for_each(|group| out.push_str(&tell(group, page, style, verbose, args)));
    }
    if let Some(pairs) = &page.pairs {
        out.push_str(&tell_pairs(pairs, page, style, args));
    }
    out
}

/// What was tried, in one sentence.
fn claim(page: &Explored) -> String {
    let (workloads, ways) = (page.seeds.len() as u64, page.ways.len() as u64);
    let violating = match page.violating() as u64 {
        0 => "none violates anything".to_owned(),
        1 => "1 violates something".to_owned(),
        many => format!("{many} violate, in {ways} distinct {}", plural(ways, "way")),
    };
    format!(
        "{} of {} single placements explored at {workloads} {}, {violating}",
        page.explored(),
        page.placements(),
        plural(workloads, "workload")
    )
}

/// Ways that differ in the step alone stand together: one line for each step, under what strikes whom.
fn tell(ways: &[Way], page: &Explored, style: &Style, verbose: bool, args: &str) -> String {
    let columns = style.columns();
    let Some(first) = ways.first() else { return String::new() };
    let mut out = paragraph(&format!("{}: {}", whom(&first.shape), first.violated.join(", ")), 2, columns);
    for way in ways {
        let count = if verbose { way.places.len() } else { NAMED };
        let named: Vec<String> = way.places.iter().take(count).map(|place| name(place, page)).collect();
        let more = match way.places.len().saturating_sub(count) {
            0 => String::new(),
            more => format!(", and {more} more"),
        };
        out.push_str(&paragraph(&format!("{}: {}{more}", step(&way.shape), named.join(", ")), 4, columns));
    }
    if let Some(place) = first.places.first() {
        let _ =
            writeln!(out, "    {}", style.paint(Ink::First, &line(page, std::slice::from_ref(place), args)));
    }
    out
}

fn alike(one: &Way, other: &Way) -> bool {
    whom(&one.shape) == whom(&other.shape) && one.violated == other.violated
}

fn tell_pairs(pairs: &Pairs, page: &Explored, style: &Style, args: &str) -> String {
    let columns = style.columns();
    let mut out = format!("\n{}\n", style.paint(Ink::Head, "pairs"));
    let left_out = match pairs.pairs - pairs.explored {
        0 => "none is left out".to_owned(),
        rest if pairs.out_of_time => format!("{rest} are left out, because the time was up"),
        rest => format!("{rest} are left out"),
    };
    let sum = format!(
        "{} of {} pairs of placements that are harmless alone explored, {} {}; {left_out}.",
        pairs.explored,
        pairs.pairs,
        pairs.violating,
        if pairs.violating == 1 { "violates" } else { "violate" },
    );
    out.push_str(&paragraph(&sum, 0, columns));
    for way in &pairs.ways {
        out.push_str(&paragraph(&pair_words(way), 2, columns));
        let _ = writeln!(out, "    {}", style.paint(Ink::First, &line(page, &way.first, args)));
    }
    out
}

fn pair_words(way: &PairWay) -> String {
    let [(one, here), (other, there)] = &way.both;
    format!(
        "{one} of {here} and {other} of {there}: {} of {} pairs violate {}",
        way.violating,
        way.explored,
        way.violated.join(", ")
    )
}

/// A placement by its number, its host and its section.
fn name(place: &Place, page: &Explored) -> String {
    let seed = if page.seeds.len() > 1 { format!(", seed {}", place.seed.0) } else { String::new() };
    let section = match place.point.section {
        0 => String::new(),
        section => format!(" section {section}"),
    };
    format!("{}:{} ({}{section}{seed})", place.strike, place.number, place.point.host)
}

/// The line that tells the run with these strikes.
fn line(page: &Explored, places: &[Place], args: &str) -> String {
    let mut line = format!(
        "picklock explore --design {} --scenario {}{args}",
        quoted(&page.design),
        quoted(&page.scenario)
    );
    if let Some(seed) = places.first().map(|place| place.seed.0).filter(|seed| *seed > 0) {
        let _ = write!(line, " --seeds {seed}..{}", seed + 1);
    }
    for place in places {
        let _ = write!(line, " --place {}:{}", place.strike, place.number);
    }
    line
}

/// A shape in words: "pause of a client while it writes the resource, before it sends to the resource".
fn words(shape: &Shape) -> String {
    format!("{}, {}", whom(shape), step(shape))
}

/// What strikes whom, and in which phase.
fn whom(shape: &Shape) -> String {
    let whom = match shape.role {
        Role::Client => "a client",
        Role::Resource => "the resource",
        Role::Store => "a store",
        Role::Replica => "a replica",
        Role::Watcher => "a watcher",
    };
    let way = match (shape.strike.as_str(), shape.backwards) {
        ("clock-step", true) => " backwards",
        ("clock-step", false) => " forwards",
        _ => "",
    };
    let phase = match shape.phase {
        Phase::Idle => "",
        Phase::Acquire => " while it acquires",
        Phase::Read => " while it reads the resource",
        Phase::Work => " while it works",
        Phase::Write => " while it writes the resource",
        Phase::Release => " while it releases",
    };
    format!("{}{way} of {whom}{phase}", shape.strike)
}

/// At which step.
fn step(shape: &Shape) -> String {
    let peer = match shape.peer {
        None => "",
        Some(Role::Client) => "a client",
        Some(Role::Resource) => "the resource",
        Some(Role::Store) => "a store",
        Some(Role::Replica) => "a replica",
        Some(Role::Watcher) => "a watcher",
    };
    let before = shape.edge == Edge::Before;
    match (shape.access, before) {
        (Access::Enter, true) => "as it begins".to_owned(),
        (Access::Enter, false) => "when it has begun".to_owned(),
        (Access::Write, true) => format!("before it sends to {peer}"),
        (Access::Write, false) => format!("after it has sent to {peer}"),
        (Access::Read, true) => format!("before it is handed what {peer} sent"),
        (Access::Read, false) => format!("after it was handed what {peer} sent"),
        (Access::Clock, true) => "before it reads a clock".to_owned(),
        (Access::Clock, false) => "after it has read a clock".to_owned(),
        (Access::Poll, true) => "before one of its tasks runs".to_owned(),
        (Access::Connects, before) => program(before, "connects"),
        (Access::Accepts, before) => program(before, "takes a connection"),
        (Access::Receives, before) => program(before, "reads"),
        (Access::Sends, before) => program(before, "sends"),
        (Access::Prints, before) => program(before, "prints a line"),
        (Access::Waits, before) => program(before, "waits for something to happen"),
        (Access::Sleeps, before) => program(before, "sleeps"),
        (Access::Poll, false) => "as one of its tasks runs".to_owned(),
    }
}

fn program(before: bool, does: &str) -> String {
    format!("{} its program {does}", if before { "before" } else { "as" })
}

/// As a page: by design, how many of how many placements violate something, and what.
#[must_use]
pub fn markdown(pages: &[Explored], args: &str) -> String {
    let Some(first) = pages.first() else { return String::new() };
    let mut out = format!(
        "# Explored placements\n\nEvery step of every process in a run under `{}` without faults, and each kind of fault placed at each \
         of them, one run for each, at {} {}; what lasts does so for {}. A figure is how many of how many placements violate something: \
         `0/53` says that all 53 were tried, and none does. It says nothing of two faults at once, of other workloads, or of other \
         lengths. A row is told by\n\n```sh\npicklock explore --design DESIGN --scenario {}{args}\n```\n\n",
        first.scenario,
        first.seeds.len(),
        plural(first.seeds.len() as u64, "workload"),
        span(first.lasts),
        quoted(&first.scenario),
    );
    let kinds: Vec<&str> = first.kinds.iter().map(|kind| kind.strike).collect();
    let _ = writeln!(out, "| design | {} | all | ways | violates |", kinds.join(" | "));
    let _ = writeln!(out, "|---|{}---:|---:|---|", "---:|".repeat(kinds.len()));
    for page in pages {
        let cells: Vec<String> = page
            .kinds
            .iter()
            .map(|kind| match kind.placements {
                0 => Mark::NotApplicable.sign().to_owned(),
                _ => format!("{}/{}", kind.violating, kind.explored),
            })
            .collect();
        let mut violated: Vec<&str> =
            page.ways.iter().flat_map(|way| way.violated.iter().map(String::as_str)).collect();
        violated.sort_unstable();
        violated.dedup();
        let violated = if violated.is_empty() { "nothing".to_owned() } else { violated.join(", ") };
        let _ = writeln!(
            out,
            "| `{}` | {} | {}/{} | {} | {violated} |",
            page.design,
            cells.join(" | "),
            page.violating(),
            page.explored(),
            page.ways.len()
        );
    }
    out
}

/// How many of how many, as data: what stands beside a matrix.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn figures(pages: &[Explored]) -> Result<String, crate::ReportError> {
    let page = |page: &Explored| json!({ "design": page.design, "faults": kinds_json(page) });
    let pages: Vec<Value> = pages.iter().map(page).collect();
    Ok(serde_json::to_string_pretty(&json!({ "schema": 1, "explored": pages }))? + "\n")
}

/// As data.
///
/// # Errors
/// When it cannot be written as JSON.
pub fn json(pages: &[Explored]) -> Result<String, crate::ReportError> {
    let pages: Vec<Value> = pages.iter().map(page_json).collect();
    Ok(serde_json::to_string_pretty(&json!({ "schema": 1, "explored": pages }))? + "\n")
}

fn kinds_json(page: &Explored) -> Vec<Value> {
    let kind = |kind: &Kind| {
        json!({
            "fault": kind.strike,
            "placements": kind.placements,
            "explored": kind.explored,
            "struck": kind.bit,
            "violating": kind.violating,
        })
    };
    page.kinds.iter().map(kind).collect()
}

fn page_json(page: &Explored) -> Value {
    let ways = page.ways.iter().map(|way| {
        json!({
            "way": words(&way.shape),
            "violated": way.violated,
            "places": way.places.iter().map(place_json).collect::<Vec<_>>(),
        })
    });
    let pairs = page.pairs.as_ref().map(|pairs| {
        json!({
            "pairs": pairs.pairs,
            "explored": pairs.explored,
            "violating": pairs.violating,
            "out_of_time": pairs.out_of_time,
            "ways": pairs.ways.iter().map(|way| json!({
                "both": way.both.iter().map(|(fault, host)| json!({ "fault": fault, "host": host })).collect::<Vec<_>>(),
                "violated": way.violated,
                "violating": way.violating,
                "explored": way.explored,
                "first": way.first.iter().map(place_json).collect::<Vec<_>>(),
            })).collect::<Vec<_>>(),
        })
    });
    json!({
        "design": page.design,
        "scenario": page.scenario,
        "seeds": page.seeds.iter().map(|seed| seed.0).collect::<Vec<_>>(),
        "lasts_ns": page.lasts.as_nanos() as u64,
        "partial": page.partial,
        "calm": page.calm,
        "holds": page.holds,
        "placements": page.placements(),
        "explored": page.explored(),
        "violating": page.violating(),
        "faults": kinds_json(page),
        "ways": ways.collect::<Vec<_>>(),
        "pairs": pairs,
    })
}

fn place_json(place: &Place) -> Value {
    json!({
        "seed": place.seed.0,
        "fault": place.strike,
        "number": place.number,
        "point": place.point,
    })
}
