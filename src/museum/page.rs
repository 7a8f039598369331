//! The list of bugs, and the table of what their runs showed: for a terminal, as Markdown, as JSON.

use std::time::Duration;

use picklock_reports::page::layout::{left, paragraph};
use picklock_reports::page::markdown::{Table, code, escape};
use serde_json::{Value, json};

use super::bug::Bug;
use super::exhibit::Exhibit;
use super::outcome::{Found, Observed, Outcome};
use super::strategy::Strategy;

/// The form of the JSON.
const SCHEMA: u32 = 1;

/// A bug with its description and what became of it.
pub type Row<'a> = (&'a Exhibit, &'a Bug, &'a Outcome);

/// All bugs, a line each.
#[must_use]
pub fn list(bugs: &[(Exhibit, Bug)]) -> String {
    let column = bugs.iter().map(|(exhibit, _)| exhibit.name.len()).max().unwrap_or(0);
    let line = |(exhibit, bug): &(Exhibit, Bug)| {
        format!(
            "{}  {} {}: {}\n",
            left(&exhibit.name, column),
            bug.library,
            bug.affected.version,
            bug.summary
        )
    };
    bugs.iter().map(line).collect()
}

/// All bugs as a Markdown table, with the figures of the last time that each was shown.
#[must_use]
pub fn listed(bugs: &[(Exhibit, Bug)]) -> String {
    let mut table = Table::new([
        "bug",
        "language",
        "store",
        "affected",
        "invariant",
        "found",
        "fixed or control",
        "found",
    ]);
    for (exhibit, bug) in bugs {
        table.row([
            format!("[{}]({})", code(&exhibit.name), bug.link()),
            bug.language.clone(),
            bug.store.clone(),
            escape(&format!("{} {}", bug.library, bug.affected.version)),
            code(&bug.run.invariant),
            format!("{} of {}", bug.shown.found, bug.shown.of),
            twin(bug),
            format!("0 of {}", bug.shown.silent),
        ]);
    }
    format!("{}\n{}", table.text, by_strategy(bugs))
}

/// The bugs that were searched for by both strategies: the runs until the first violation, and the runs that violate, of so many.
fn by_strategy(bugs: &[(Exhibit, Bug)]) -> String {
    let mut table = Table::new([
        "bug",
        "fault",
        "seeds: first after",
        "found",
        "explore: first after",
        "found",
        "fixed or control",
    ]);
    for (exhibit, bug) in bugs {
        let (shown, Some(explored)) = (&bug.shown, &bug.shown.explore) else { continue };
        table.row([
            code(&exhibit.name),
            code(&bug.run.fault),
            shown.first.map(|first| first.to_string()).unwrap_or_default(),
            format!("{} of {}", shown.found, shown.of),
            explored.first.to_string(),
            format!("{} of {}", explored.found, explored.of),
            format!("0 of {}", explored.silent),
        ]);
    }
    table.text
}

/// All bugs as JSON.
#[must_use]
pub fn listed_json(bugs: &[(Exhibit, Bug)]) -> Value {
    let rows = bugs.iter().map(|(exhibit, bug)| {
        let Bug { shown, .. } = bug;
        let mut row = description(exhibit, bug);
        row["shown"] = json!({ "date": shown.date.to_string(), "picklock": shown.picklock, "found": shown.found,
                               "of": shown.of, "silent": shown.silent, "first": shown.first });
        if let Some(explored) = &shown.explore {
            row["shown"]["explore"] = json!({ "date": explored.date.to_string(), "picklock": explored.picklock,
                "found": explored.found, "of": explored.of, "silent": explored.silent, "first": explored.first });
        }
        row
    });
    json!({ "schema": SCHEMA, "picklock": env!("CARGO_PKG_VERSION"), "bugs": rows.collect::<Vec<_>>() })
}

/// The fixed version, or what the control does.
fn twin(bug: &Bug) -> String {
    match (&bug.fixed, &bug.control) {
        (Some(fixed), _) => fixed.version.clone(),
        (None, Some(control)) => escape(&control.statement),
        (None, None) => String::new(),
    }
}

/// A bug, as JSON has it.
fn description(exhibit: &Exhibit, bug: &Bug) -> Value {
    json!({
        "name": exhibit.name, "library": bug.library, "language": bug.language, "store": bug.store,
        "summary": bug.summary, "thread": bug.thread, "source": bug.source,
        "registry": bug.registry.name(), "package": bug.package,
        "affected_version": bug.affected.version, "fixed_version": bug.fixed.as_ref().map(|fixed| &fixed.version),
        "scenario": bug.run.scenario, "fault": bug.run.fault, "invariant": bug.run.invariant,
    })
}

/// What became of one bug, for a terminal of this width, with the line that replays the first violation.
#[must_use]
pub fn text((exhibit, bug, outcome): Row<'_>, width: usize) -> String {
    let mut page = format!("{} ({}, {})\n", exhibit.name, bug.library, bug.language);
    page.push_str(&paragraph(&format!("{} [{}]", bug.summary, bug.link()), 2, width));
    match outcome {
        Outcome::Missing(why) => page.push_str(&paragraph(&format!("missing: {why}"), 2, width)),
        Outcome::Failed(why) => page.push_str(&paragraph(&format!("failed: {why}"), 2, width)),
        Outcome::Unexplored(why) => page.push_str(&paragraph(&format!("not explored: {why}"), 2, width)),
        Outcome::Shown { affected, twin } => {
            page.push_str(&paragraph(&version("affected", bug, affected), 2, width));
            page.push_str(&paragraph(&version(twin_word(bug), bug, twin), 2, width));
            if let Some(first) = &affected.first {
                page.push_str(&format!("  {}\n", first.replay));
            }
        }
    }
    page
}

fn twin_word(bug: &Bug) -> &'static str {
    if bug.fixed.is_some() { "fixed" } else { "control" }
}

/// The runs of a version in one sentence.
fn version(word: &str, bug: &Bug, observed: &Observed) -> String {
    let Observed { version, runs, violating, took, .. } = observed;
    let invariant = &bug.run.invariant;
    let control = match &bug.control {
        Some(control) if word == "control" => format!(" ({})", control.statement),
        _ => String::new(),
    };
    let head = format!("{word} {version}{control}: {invariant} violated in {violating} of {runs} runs");
    match &observed.first {
        Some(first) => format!(
            "{head}, first by {} after {} runs and {}; {} events, shrunk to {}",
            where_found(first),
            first.runs,
            seconds(first.after),
            first.events,
            first.shrunk
        ),
        None => format!("{head}, {}", seconds(*took)),
    }
}

/// The seed of a violation, or the site in the workload of a seed.
fn where_found(first: &Found) -> String {
    match &first.site {
        Some(site) => format!("{site} of seed {}", first.first_seed),
        None => format!("seed {}", first.first_seed),
    }
}

fn seconds(time: Duration) -> String {
    format!("{:.1} s", time.as_secs_f64())
}

/// How many bugs show as they are described, in one sentence.
#[must_use]
pub fn summary(rows: &[Row<'_>]) -> String {
    let count = |is: Option<bool>| rows.iter().filter(|row| row.2.is_as_described() == is).count();
    format!(
        "{} shown (the affected version violates, the other does not), {} not, {} missing, interrupted or not explored",
        count(Some(true)),
        count(Some(false)),
        count(None)
    )
}

/// The table as Markdown.
#[must_use]
pub fn markdown(rows: &[Row<'_>], strategy: Strategy) -> String {
    let mut table = Table::new([
        "bug",
        "library",
        "affected",
        "strategy",
        "found",
        "first violation: runs",
        "seconds",
        "events, shrunk",
        "fixed or control",
        "found",
    ]);
    for (exhibit, bug, outcome) in rows {
        let mut cells = vec![
            format!("[{}]({})", code(&exhibit.name), bug.link()),
            escape(&bug.library),
            bug.affected.version.clone(),
            strategy.name().to_owned(),
        ];
        match outcome {
            Outcome::Missing(why) => cells.push(escape(&format!("missing: {why}"))),
            Outcome::Failed(why) => cells.push(escape(&format!("failed: {why}"))),
            Outcome::Unexplored(why) => cells.push(escape(&format!("not explored: {why}"))),
            Outcome::Shown { affected, twin } => {
                let first = affected.first.as_ref();
                let of = |value: Option<String>| value.unwrap_or_default();
                cells.extend([
                    format!("{} of {}", affected.violating, affected.runs),
                    of(first.map(|first| first.runs.to_string())),
                    of(first.map(|first| format!("{:.1}", first.after.as_secs_f64()))),
                    of(first.map(|first| format!("{}, {}", first.events, first.shrunk))),
                    self::twin(bug),
                    format!("{} of {}", twin.violating, twin.runs),
                ]);
            }
        }
        table.row(cells);
    }
    format!("{}\n{}\n", table.text, summary(rows))
}

/// The table as JSON.
#[must_use]
pub fn json(rows: &[Row<'_>], strategy: Strategy) -> Value {
    let observed = |observed: &Observed| {
        let first = observed.first.as_ref().map(|first| {
            let mut first_violation = json!({
                "seed": first.first_seed, "runs": first.runs, "seconds": first.after.as_secs_f64(),
                "events": first.events, "shrunk_events": first.shrunk, "replay": first.replay,
            });
            if let Some(site) = &first.site {
                first_violation["site"] = json!(site);
            }
            first_violation
        });
        json!({ "version": observed.version, "runs": observed.runs, "violating": observed.violating,
                "inconclusive": observed.inconclusive, "seconds": observed.took.as_secs_f64(), "first": first })
    };
    let rows = rows.iter().map(|(exhibit, bug, outcome)| {
        let mut row = description(exhibit, bug);
        row["strategy"] = json!(strategy.name());
        row["as_described"] = json!(outcome.is_as_described());
        match outcome {
            Outcome::Missing(why) => row["missing"] = json!(why.to_string()),
            Outcome::Failed(why) => row["failed"] = json!(why.to_string()),
            Outcome::Unexplored(why) => row["not_explored"] = json!(why),
            Outcome::Shown { affected, twin } => {
                row["affected"] = observed(affected);
                row[twin_word(bug)] = observed(twin);
            }
        }
        row
    });
    json!({ "schema": SCHEMA, "picklock": env!("CARGO_PKG_VERSION"), "bugs": rows.collect::<Vec<_>>() })
}
