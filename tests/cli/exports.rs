//! The exports of runs and results have the form that other programs read.

use std::collections::{BTreeMap, BTreeSet};

use picklock_campaign::check;
use picklock_campaign::counterexamples;
use picklock_campaign::story::Story;
use picklock_model::seed::Seed;
use picklock_reports::{Style, run};
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;
use serde_json::Value;

use crate::binary::{directory, end, picklock, run_in};

/// Runs with a pause, a crash, a failover and without a lock, with the bytes of their segments.
fn stories() -> Vec<Story> {
    let of = |spelling: &str, scenario: &str, seed: u64| {
        let known = suite::builtin(&picklock_stores::params());
        let scenario = known.into_iter().find(|one| one.name() == scenario).unwrap();
        let design = scenario.adapt(&picklock_impls::design(spelling).unwrap()).unwrap();
        let plan = check::draw(&design, &scenario, Seed(seed)).unwrap().plan;
        let run = check::check(check::Options::from(Engine::Event).with_wire(), &design, plan).unwrap();
        counterexamples::story(&design, scenario.name(), &run, format!("picklock replay {spelling} {seed}"))
    };
    vec![
        of("single", "pause", 4),
        of("single-fenced", "client-crash", 1),
        of("replicated", "failover", 2),
        of("redlock", "lost-reply", 3),
        of("no-lock", "calm", 0),
    ]
}

fn rendered(story: &Story, format: &str) -> String {
    (run::find(format).unwrap().render)(story, &Style::default()).unwrap()
}

#[test]
fn a_diagram_in_mermaid_has_only_lines_of_its_grammar() {
    for story in stories() {
        let page = rendered(&story, "mermaid");
        let block = page.split("```mermaid\n").nth(1).unwrap().split("```").next().unwrap();
        let mut lines = block.lines();
        assert_eq!(lines.next(), Some("sequenceDiagram"));
        let (mut known, mut arrows) = (BTreeSet::new(), 0);
        for line in lines {
            let line = line.strip_prefix("    ").unwrap();
            assert!(!line.contains(';') || line.contains('#'), "a semicolon ends a line: {line}");
            if let Some(participant) = line.strip_prefix("participant ") {
                let (id, name) = participant.split_once(" as ").unwrap();
                assert!(!name.is_empty() && known.insert(id.to_owned()), "{line}");
                continue;
            }
            let (head, label) = line.split_once(": ").unwrap_or_else(|| panic!("{line}"));
            assert!(!label.is_empty(), "{line}");
            if let Some(over) = head.strip_prefix("Note over ") {
                assert!(known.contains(over), "{line}");
                continue;
            }
            let arrow = ["-->>", "--x", "->>", "-x"].into_iter().find(|arrow| head.contains(arrow)).unwrap();
            let (source, target) = head.split_once(arrow).unwrap();
            assert!(known.contains(source) && known.contains(target), "{line}");
            arrows += 1;
        }
        assert!(known.len() > 1, "{page}");
        assert!(arrows > 0 || story.design == "no-lock" || story.breaches.is_empty(), "{page}");
    }
}

#[test]
fn a_trace_for_perfetto_has_spans_and_flows_that_are_whole() {
    for story in stories() {
        let page: Value = serde_json::from_str(&rendered(&story, "perfetto")).unwrap();
        let events = page["traceEvents"].as_array().unwrap();
        let mut slices = BTreeSet::new();
        let mut flows: BTreeMap<String, Vec<(&str, f64)>> = BTreeMap::new();
        let place = |event: &Value| format!("{} {} {}", event["pid"], event["tid"], event["ts"]);
        for event in events {
            match event["ph"].as_str().unwrap() {
                "M" => assert!(event["args"]["name"].is_string()),
                "X" => {
                    assert!(
                        event["ts"].as_f64().unwrap() >= 0.0 && event["dur"].as_f64().unwrap() >= 0.0,
                        "{event}"
                    );
                    assert!(event["name"].is_string() && event["args"].is_object(), "{event}");
                    slices.insert(place(event));
                }
                ph @ ("s" | "f") => {
                    let end = (if ph == "s" { "s" } else { "f" }, event["ts"].as_f64().unwrap());
                    flows.entry(event["id"].to_string()).or_default().push(end);
                    assert!(slices.contains(&place(event)), "a flow is fastened to a slice: {event}");
                }
                other => panic!("{other}"),
            }
        }
        assert!(!flows.is_empty());
        for (id, ends) in flows {
            assert!(
                matches!(ends.as_slice(), [("s", sent), ("f", arrived)] if sent <= arrived),
                "{id}: {ends:?}"
            );
        }
    }
}

#[test]
fn a_log_for_shiviz_is_taken_apart_by_its_expression_and_its_clocks_are_consistent() {
    for story in stories() {
        let page = rendered(&story, "shiviz");
        let mut lines = page.lines();
        assert_eq!(lines.next(), Some(r"(?<host>\S*) (?<clock>{.*})\n(?<event>.*)"));
        assert_eq!(lines.next(), Some(""), "there is one execution");
        let mut known: BTreeMap<String, BTreeMap<String, u64>> = BTreeMap::new();
        let mut count = 0;
        while let Some(head) = lines.next() {
            // As the expression says: a host without spaces, a clock in braces, and the event on a line of its own.
            let (host, clock) = head.split_once(' ').unwrap();
            assert!(clock.starts_with('{') && clock.ends_with('}') && !host.is_empty(), "{head}");
            let clock: BTreeMap<String, u64> = serde_json::from_str(clock).unwrap();
            assert!(!lines.next().unwrap().is_empty());
            let before = known.get(host).cloned().unwrap_or_default();
            assert_eq!(clock[host], before.get(host).unwrap_or(&0) + 1, "{head}");
            for (other, seen) in &before {
                assert!(clock[other] >= *seen, "{head}: a host forgets nothing");
            }
            for (other, seen) in clock.iter().filter(|(other, _)| *other != host) {
                let there = known.get(other).and_then(|known| known.get(other)).unwrap_or(&0);
                assert!(seen <= there, "{head}: nobody knows of {other} what has not happened");
            }
            known.insert(host.to_owned(), clock);
            count += 1;
        }
        assert_eq!(count, story.trace.events.len());
        assert!(known.values().any(|clock| clock.len() > 2), "somebody knows of others");
    }
}

/// The records of a text as RFC 4180 has it.
fn records(text: &str) -> Vec<Vec<String>> {
    let (mut records, mut record, mut field, mut quoted) = (Vec::new(), Vec::new(), String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match (c, quoted) {
            ('"', true) if chars.peek() == Some(&'"') => field.extend(chars.next()),
            ('"', _) => quoted = !quoted,
            (',', false) => record.push(std::mem::take(&mut field)),
            ('\r', false) => {}
            ('\n', false) => {
                record.push(std::mem::take(&mut field));
                records.push(std::mem::take(&mut record));
            }
            (c, _) => field.push(c),
        }
    }
    assert!(record.is_empty() && field.is_empty(), "it ends with a line break");
    records
}

#[test]
fn a_table_of_cells_has_the_columns_that_its_first_line_names() {
    let here = directory();
    let args = [
        "run",
        "--design",
        "single,no-lock,redlock{nodes=3,clock=wall}",
        "--scenario",
        "pause,failover",
        "--seeds",
        "12",
    ];
    let ended =
        run_in(here.path(), &[&args[..], &["--expect", "none", "--no-confirm", "--format", "csv"]].concat());
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let all = records(&ended.stdout);
    assert_eq!(all.len(), 7, "{}", ended.stdout);
    assert!(all.iter().all(|record| record.len() == all[0].len()), "{all:#?}");
    let column = |name: &str| all[0].iter().position(|known| known == name).unwrap();
    let cell = |design: &str| all.iter().find(|record| record[0] == design && record[1] == "pause").unwrap();
    assert_ne!(cell("single")[column("mutual_exclusion")], "0");
    assert_eq!(cell("single")[column("token_order")], "", "it does not apply to a design without tokens");
    assert!(all.iter().any(|record| record[0] == "redlock{nodes=3,clock=wall}"), "{all:#?}");
}

#[test]
fn annotations_are_commands_and_the_summary_goes_to_the_file_of_the_job() {
    let here = directory();
    let args = [
        "run",
        "--design",
        "single",
        "--scenario",
        "pause,calm",
        "--seeds",
        "12",
        "--no-confirm",
        "--format",
        "github",
    ];
    let mut command = picklock(here.path());
    let summary = here.path().join("summary.md");
    std::fs::write(&summary, "before\n").unwrap();
    command.args(args).args(["--expect", "none"]).env("GITHUB_STEP_SUMMARY", &summary);
    let ended = end(command);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    for line in ended.stdout.lines() {
        let (head, message) = line.strip_prefix("::").unwrap().split_once("::").unwrap();
        let (kind, title) = head.split_once(" title=").unwrap();
        assert!(["error", "warning", "notice"].contains(&kind) && !title.contains([':', ',']), "{line}");
        assert!(!message.is_empty(), "{line}");
    }
    assert!(ended.stdout.contains("::error title=single under pause::mutual-exclusion"), "{}", ended.stdout);
    assert!(ended.stdout.contains("%0Apicklock replay single pause "), "{}", ended.stdout);
    let page = std::fs::read_to_string(&summary).unwrap();
    assert!(page.starts_with("before\n") && page.contains("| `single` | pause |"), "{page}");
    let mut command = picklock(here.path());
    command.args(args).env_remove("GITHUB_STEP_SUMMARY");
    assert_eq!(
        end(command).code,
        Some(0),
        "what is expected is no error, and without a job there is no summary"
    );
}
