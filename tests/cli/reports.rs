//! The reports of a campaign: formats, files, fields.

use serde_json::Value;

use crate::binary::{directory, end, picklock, run_in};
use crate::support::{VIOLATING, and, json, keys, replay_lines, run, shell, text_of};

#[test]
fn results_json_has_the_documented_fields() {
    let here = directory();
    let args =
        ["run", "--design", "single,oracle", "--scenario", "pause,failover", "--seeds", "20", "--out", "out"];
    let ended = run_in(here.path(), &and(&args, &["--expect", "none"]));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let results = json(&text_of(&here.path().join("out/results.json")));
    assert_eq!(keys(&results), ["schema", "command", "partial", "cells"].into());
    assert_eq!((&results["schema"], &results["partial"]), (&3.into(), &false.into()));
    let command = results["command"].as_str().unwrap();
    // Where results go is no part of what they are.
    assert_eq!(command, format!("picklock {} --expect none", args[..args.len() - 2].join(" ")));
    let cells = results["cells"].as_array().unwrap();
    let names: Vec<_> = cells.iter().map(|cell| [&cell["design"], &cell["scenario"]]).collect();
    let expected = [["single", "pause"], ["single", "failover"], ["oracle", "pause"], ["oracle", "failover"]];
    assert_eq!(names, expected);
    for cell in cells {
        let fields = [
            "design",
            "scenario",
            "engine",
            "runs",
            "unknown",
            "hit_lock",
            "skipped",
            "longer_lease_ns",
            "not_applicable",
            "invariants",
            "not_modelled",
            "violations",
            "took_effect",
            "exhausted",
            "expected",
            "met",
            "unmet_because",
            "metrics",
        ];
        assert_eq!(keys(cell), fields.into());
        assert_eq!(cell["engine"], "event");
        let measures = [
            "asked",
            "granted",
            "contended",
            "acquire_messages",
            "blocked_ns",
            "wanted_ns",
            "latency",
            "run_ns",
            "overlap_ns",
            "overlap_widest_ns",
            "overlap_window_ns",
            "overlap_fault_ns",
            "renewals",
            "retries",
            "renewal_peak",
            "bypasses",
            "bypass_peak",
            "holders_died",
            "wasted_ns",
            "loss_notice",
            "losses_unnoticed",
            "promotions",
            "promotions_lacking",
            "halted_holders",
            "takeovers",
        ];
        assert_eq!(keys(&cell["metrics"]), measures.into());
        assert_eq!(keys(&cell["metrics"]["latency"]), ["p50_ns", "p99_ns", "counts"].into());
    }
    assert_eq!((&cells[0]["runs"], &cells[0]["skipped"]), (&20.into(), &Value::Null));
    assert!(cells[0]["took_effect"]["pause"].as_u64().unwrap() > 0);
    assert!(cells[0]["unknown"].as_u64().unwrap() < 20);
    assert_eq!(
        cells[0]["not_applicable"],
        json(r#"["continuity", "honest-validity", "reentrancy", "token-order"]"#)
    );
    assert_eq!(cells[3]["runs"], 0);
    assert!(cells[3]["skipped"].as_str().unwrap().contains("needs a store"));
    let violation = &cells[0]["violations"]["mutual-exclusion"];
    assert_eq!(keys(violation), ["runs", "first_seed", "replay", "repro", "confirmed", "real"].into());
    assert_eq!(keys(&violation["confirmed"]), ["seen", "of"].into());
    assert_eq!(violation["confirmed"]["of"], 16);
    let seed = violation["first_seed"].as_u64().unwrap();
    assert_eq!(violation["replay"], format!("picklock replay single pause {seed}"));
    assert!(here.path().join("out").join(violation["repro"].as_str().unwrap()).is_file());
}

#[test]
fn every_format_is_written_and_what_is_printed_is_the_text() {
    let here = directory();
    let formats = "text,json,junit,markdown,html";
    let args = and(&VIOLATING, &["--out", "deep/er", "--format", formats, "--verbose"]);
    let mut command = picklock(here.path());
    // As wide as a file.
    let ended = end({
        command.args(args).env("COLUMNS", "110");
        command
    });
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let file = |name: &str| text_of(&here.path().join("deep/er").join(name));
    assert_eq!(file("results.txt"), ended.stdout);
    let replay = json(&file("results.json"))["cells"][0]["violations"]["mutual-exclusion"]["replay"].clone();
    for name in ["results.txt", "junit.xml", "results.md", "report.html"] {
        assert!(file(name).contains(replay.as_str().unwrap()), "{name} does not say how to replay");
    }
    let junit = file("junit.xml");
    assert!(junit.starts_with("<?xml") && junit.trim_end().ends_with("</testsuites>"), "{junit}");
    assert!(junit.contains("failures=\"1\"") && junit.contains("<failure"), "{junit}");
}

#[test]
fn all_designs_under_the_suite_fit_a_screen_and_verbose_shows_each_cell() {
    let here = directory();
    let args = ["run", "--seeds", "1", "--no-confirm"];
    let ended = run_in(here.path(), &args);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(ended.stdout.lines().count() <= 80, "{}", ended.stdout);
    let wide = ended.stdout.lines().find(|line| line.chars().count() > 80);
    assert_eq!(wide, None, "{}", ended.stdout);
    // First what was found about locks; whether all was as expected comes last.
    let first = ended.stdout.lines().next().unwrap();
    assert!(first.starts_with("of ") && first.contains(" designs under "), "{}", ended.stdout);
    assert!(ended.stdout.contains("\nas expected in "), "{}", ended.stdout);
    // And whose locks the rows are.
    assert!(ended.stdout.contains("\nyour lock: redis-py Lock, "), "{}", ended.stdout);
    let next = ended.stdout.lines().last().unwrap().strip_prefix("next: ").unwrap();
    let ended = shell(here.path(), next);
    assert_eq!(ended.code, Some(1), "{next}");
    assert!(ended.stdout.lines().count() < 110, "the next step is short: {}", ended.stdout);
    let next = next.strip_suffix(" --shrink").unwrap();

    let verbose = run_in(here.path(), &and(&args, &["--verbose"])).stdout;
    assert!(verbose.lines().count() > 400, "{verbose}");
    assert!(replay_lines(&verbose).contains(&next), "{next}");

    let args = ["run", "--seeds", "1", "--no-confirm", "--expect", "none", "--scenario", "calm,pause"];
    let ended = run_in(here.path(), &args);
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stdout.contains("\nviolated: "), "{}", ended.stdout);
    assert!(ended.stdout.lines().count() <= 160, "{}", ended.stdout);
    assert!(!replay_lines(&ended.stdout).is_empty(), "{}", ended.stdout);
}

#[test]
fn a_format_alone_is_printed() {
    let printed = |format: &str| run(&and(&VIOLATING, &["--no-confirm", "--format", format])).stdout;
    assert_eq!(json(&printed("json"))["schema"], 3);
    assert!(printed("junit").starts_with("<?xml"));
    assert!(printed("markdown").contains("| "));
}

#[test]
fn the_same_command_writes_the_same_bytes() {
    let written = |jobs: &str| {
        let here = directory();
        let args = ["run", "--design", "single", "--scenario", "pause,long-work", "--seeds", "20"];
        let ended = run_in(here.path(), &and(&args, &["--expect", "none", "--out", "out", "--jobs", jobs]));
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let repros = here.path().join("out/repro");
        let mut names: Vec<_> =
            std::fs::read_dir(repros).unwrap().map(|entry| entry.unwrap().path()).collect();
        names.sort();
        let repros: String = names.iter().map(|name| text_of(name)).collect();
        // The command line is part of the report, and differs by the number of jobs alone.
        let strip = |text: &str| text.replace(&format!("--jobs {jobs}"), "");
        [strip(&ended.stdout), strip(&text_of(&here.path().join("out/results.json"))), repros]
    };
    let first = written("1");
    assert_eq!(first, written("1"));
    assert_eq!(first, written("3"));
}

#[test]
fn seeds_are_half_open() {
    for (seeds, runs) in
        [("3..5", 2), ("2", 2), ("7..8", 1), ("18446744073709551614..18446744073709551615", 1)]
    {
        let args = ["run", "--design", "no-lock", "--scenario", "calm", "--expect", "none", "--no-confirm"];
        let results = json(&run(&and(&args, &["--format", "json", "--seeds", seeds])).stdout);
        assert_eq!(results["cells"][0]["runs"], runs, "{seeds}");
        let first = results["cells"][0]["violations"]["mutual-exclusion"]["first_seed"].as_u64().unwrap();
        let from = seeds.split_once("..").map_or(0, |(from, _)| from.parse().unwrap());
        assert!((from..from + runs).contains(&first), "{seeds} does not hold {first}");
    }
}

#[test]
fn turmoil_makes_whole_campaigns_too() {
    let args =
        ["run", "--design", "single", "--scenario", "long-work", "--seeds", "2", "--engine", "turmoil"];
    let here = directory();
    let ended = run_in(here.path(), &and(&args, &["--expect", "none", "--no-confirm", "--format", "json"]));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let cell = &json(&ended.stdout)["cells"][0];
    assert_eq!(cell["engine"], "turmoil");
    let replay = cell["violations"]["mutual-exclusion"]["replay"].as_str().unwrap().to_owned();
    assert!(replay.ends_with("--engine turmoil"), "{replay}");
    assert_eq!(shell(here.path(), &replay).code, Some(1));
}
