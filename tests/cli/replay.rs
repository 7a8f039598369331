//! `picklock replay`: a line or a repro file makes the same run again.

use crate::binary::{directory, run_in};
use crate::support::{VIOLATING, and, json, keys, replay_lines, run, said, shell, text_of};

#[test]
fn the_replay_line_of_a_report_runs_twice_to_the_same_digest_and_shows_the_double_holder() {
    let here = directory();
    let report = run_in(here.path(), &VIOLATING);
    let lines = replay_lines(&report.stdout);
    let (first, second) = (shell(here.path(), lines[0]), shell(here.path(), lines[0]));
    assert_eq!((first.code, second.code), (Some(1), Some(1)), "{}: {}", lines[0], first.stderr);
    assert_eq!(said(&first.stdout, "digest").len(), 32);
    assert_eq!(first.stdout, second.stdout);
    let at =
        |mark: &str| first.stdout.find(mark).unwrap_or_else(|| panic!("no {mark} in:\n{}", first.stdout));
    assert!(at("◀ first grant") < at("◀ second grant"));
}

#[test]
fn the_line_below_a_story_replays_the_same_run() {
    let here = directory();
    for selection in [
        &["--design", "single", "--scenario", "pause"][..],
        &["--design", "setnx", "--scenario", "node-restart"],
        &["--design", "single", "--scenario", "pause", "--out", "kept"],
    ] {
        let run = and(&["run", "--seeds", "0..8", "--no-confirm", "--expect", "none"], selection);
        let report = run_in(here.path(), &run).stdout;
        let stories = report.split("how it happened, in the reduced run").nth(1).unwrap();
        let digests = stories.lines().filter_map(|line| line.strip_prefix("digest "));
        let digests: Vec<&str> = digests.filter_map(|rest| rest.split(',').next()).collect();
        let lines: Vec<&str> = stories.lines().filter_map(|line| line.strip_prefix("replay: ")).collect();
        assert_eq!(digests.len(), lines.len());
        for (digest, line) in digests.into_iter().zip(lines) {
            assert!(line.contains(" --shrink") || line.ends_with(".json"), "{line}");
            assert_eq!(said(&shell(here.path(), line).stdout, "digest"), digest, "{line}");
        }
    }
}

#[test]
fn a_run_that_is_reduced_in_part_says_how_far_and_is_made_again_by_its_line() {
    let shrink = ["replay", "single", "pause", "4", "--shrink"];
    let ended = run(&and(&shrink, &["--shrink-budget", "0ms"]));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(ended.stdout.contains("reduced only in part"), "{}", ended.stdout);
    let line = said(&ended.stdout, "replay").to_owned();
    assert!(line.ends_with(" --shrink --shrink-tries 0"), "{line}");
    let digest = |words: &[&str]| said(&run(words).stdout, "digest").to_owned();
    assert_eq!(said(&ended.stdout, "digest"), said(&shell(directory().path(), &line).stdout, "digest"));
    // Each further candidate counts, and a budget of nothing gives the same story as no candidate.
    let [none, some, all] = [&["--shrink-tries", "0"][..], &["--shrink-tries", "6"], &[]]
        .map(|limit| digest(&and(&shrink, limit)));
    assert!(none != some && some != all, "{none} {some} {all}");
    assert_eq!(none, said(&ended.stdout, "digest"));
}

#[test]
fn reducing_can_be_left_out_of_a_campaign_and_ends_with_its_budget() {
    let here = directory();
    let selection = ["run", "--design", "single", "--scenario", "pause", "--seeds", "8", "--expect", "none"];
    let ran = |more: &[&str]| run_in(here.path(), &and(&selection, more));
    let whole = ran(&["--no-confirm", "--no-shrink"]);
    let lines = replay_lines(&whole.stdout);
    assert!(!lines.is_empty() && lines.iter().all(|line| !line.contains("shrink")), "{lines:?}");
    let counts = |page: &str| json(page)["cells"][0]["violations"].clone();
    let (short, long) = (ran(&["--format", "json", "--shrink-budget", "0ms"]), ran(&["--format", "json"]));
    assert_eq!(short.code, long.code);
    assert!(short.stderr.contains("are reported as they were found"), "{}", short.stderr);
    assert!(!long.stderr.contains("are reported as they were found"), "{}", long.stderr);
    let (short, long) = (counts(&short.stdout), counts(&long.stdout));
    for (name, violation) in long.as_object().unwrap() {
        assert_eq!(short[name]["runs"], violation["runs"], "{name}");
        assert_eq!(short[name]["first_seed"], violation["first_seed"], "{name}");
    }
}

#[test]
fn a_run_that_violates_nothing_cannot_be_reduced_and_says_so() {
    let calm = ["replay", "oracle", "long-work", "1"];
    let ended = run(&and(&calm, &["--shrink"]));
    assert_eq!(ended.code, Some(0));
    assert!(ended.stdout.contains("nothing to shrink: no invariant is violated"), "{}", ended.stdout);
    assert_eq!(said(&ended.stdout, "replay"), "picklock replay oracle long-work 1");
    assert!(ended.stdout.starts_with("oracle under long-work, seed 1: nothing violated"));
    let other = run(&and(&["replay", "single", "long-work", "1"], &["--shrink=progress"]));
    assert!(other.stdout.contains("nothing to shrink: progress is not violated"), "{}", other.stdout);
    let misspelled = run(&and(&["replay", "single", "long-work", "1"], &["--shrink=progres"]));
    assert_eq!(misspelled.code, Some(2));
    assert!(misspelled.stderr.contains("did you mean `progress`?"), "{}", misspelled.stderr);
}

#[test]
fn every_replay_line_can_be_copied_into_a_shell_as_it_is() {
    let here = directory();
    let suite = here.path().join("my suite");
    std::fs::create_dir(&suite).unwrap();
    let scenario = "summary = 'one client stops'\n[[fault]]\nkind = 'pause'\nfor = ['1 x ttl', '2 x ttl']\n";
    std::fs::write(suite.join("mine.toml"), scenario).unwrap();
    for more in [
        &["--design", "redlock-naive{nodes=3,clock=wall}", "--scenario", "long-work"][..],
        &["--design", "single", "--scenario", "pause", "--set", "pause.for=1.2 x ttl..2 x ttl"],
        &["--design", "set-px-del", "--scenario", "long-work", "--set", "ttl=2s", "--set", "horizon=9s"],
        &["--design", "single", "--suite", "my suite", "--set", "contend.work=0.3 x ttl"],
        &["--design", "single", "--scenario", "my suite/mine.toml"],
    ] {
        let args =
            and(&["run", "--seeds", "12", "--expect", "none", "--no-confirm", "--format", "json"], more);
        let ended = run_in(here.path(), &args);
        assert_eq!(ended.code, Some(1), "{more:?}: {}", ended.stderr);
        let results = json(&ended.stdout);
        for (invariant, violation) in results["cells"][0]["violations"].as_object().unwrap() {
            let line = violation["replay"].as_str().unwrap();
            let replayed = shell(here.path(), line);
            assert_eq!(replayed.code, Some(1), "`{line}` of {more:?}: {}", replayed.stderr);
            let violated = said(&replayed.stdout, "violations");
            assert!(violated.contains(invariant.as_str()), "`{line}` shows {violated}, not {invariant}");
            let again = said(&replayed.stdout, "replay");
            assert_eq!(again, line, "a replay names another line than the report");
        }
    }
}

#[test]
fn a_repro_replays_to_the_last_event() {
    let here = directory();
    let args =
        ["run", "--design", "single,redlock", "--scenario", "failover,pause,node-restart", "--no-confirm"];
    let ended = run_in(here.path(), &and(&args, &["--seeds", "8", "--expect", "none", "--out", "out"]));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let results = json(&text_of(&here.path().join("out/results.json")));
    let mut replayed = 0;
    for cell in results["cells"].as_array().unwrap() {
        for (invariant, violation) in cell["violations"].as_object().unwrap() {
            let repro = violation["repro"].as_str().unwrap();
            let ended = run_in(&here.path().join("out"), &["replay", repro]);
            assert_eq!(ended.code, Some(1), "{repro}: {}", ended.stderr);
            assert!(ended.stdout.contains("the same run to the last event"), "{}", ended.stdout);
            assert!(said(&ended.stdout, "violations").contains(invariant.as_str()), "{}", ended.stdout);
            replayed += 1;
        }
    }
    assert!(replayed >= 6, "only {replayed} violations");
}

#[test]
fn a_repro_can_be_seen_on_the_other_engine() {
    let here = directory();
    assert_eq!(run_in(here.path(), &and(&VIOLATING, &["--out", "out"])).code, Some(1));
    let repro = "out/repro/single.pause.mutual-exclusion.json";
    let ended = run_in(here.path(), &["replay", repro, "--engine", "turmoil"]);
    assert_eq!((ended.code, said(&ended.stdout, "engine")), (Some(1), "turmoil"), "{}", ended.stderr);
    assert!(ended.stdout.contains("the same violations; digests differ"), "{}", ended.stdout);
    let with_set = run_in(here.path(), &["replay", repro, "--set", "ttl=2s"]);
    assert_eq!(with_set.code, Some(2));
    assert!(with_set.stderr.contains("--set"), "{}", with_set.stderr);
}

#[test]
fn a_run_is_a_page_and_a_drawing_too_and_the_same_twice() {
    let replay = ["replay", "set-px-del", "long-work", "0", "--format"];
    let rendered = |format: &str| {
        let ended = run(&and(&replay, &[format]));
        assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""), "{format}");
        ended.stdout
    };
    let (page, drawing) = (rendered("html"), rendered("svg"));
    assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{page}");
    assert!(drawing.starts_with("<svg") && drawing.ends_with("</svg>\n"), "{drawing}");
    assert!(page.contains("picklock replay set-px-del long-work 0"), "{page}");
    assert_eq!((rendered("html"), rendered("svg")), (page, drawing));
}

#[test]
fn a_comparison_in_a_directory_has_a_page() {
    let here = directory();
    let args = ["compare", "--design", "single", "--scenario", "pause", "--seeds", "10", "--out", "out"];
    assert_eq!(run_in(here.path(), &args).code, Some(0));
    let page = text_of(&here.path().join("out/report.html"));
    assert!(page.contains("single harms the data") && page.contains("data-i="), "{page}");
}

#[test]
fn a_run_as_json_has_the_documented_fields_and_the_digest_of_the_text() {
    let replay = ["replay", "set-px-del", "long-work", "0"];
    let ended = run(&and(&replay, &["--format", "json"]));
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let run_json = json(&ended.stdout);
    let fields = [
        "schema",
        "design",
        "scenario",
        "seed",
        "engine",
        "digest",
        "violations",
        "findings",
        "hosts",
        "events",
    ];
    assert_eq!(keys(&run_json), fields.into());
    assert_eq!(run_json["digest"], said(&run(&replay).stdout, "digest"));
    let violations: Vec<&str> =
        run_json["violations"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert!(violations.contains(&"ownership"), "{violations:?}");
    let events = run_json["events"].as_array().unwrap();
    for event in events {
        let common = ["at_ns", "id", "host", "cause", "conn", "grant", "what"];
        assert!(keys(event).is_superset(&common.into()), "{event}");
    }
    let times: Vec<u64> = events.iter().map(|event| event["at_ns"].as_u64().unwrap()).collect();
    assert!(times.is_sorted(), "events are in the order of true time");
    let hosts: Vec<&str> =
        run_json["hosts"].as_array().unwrap().iter().map(|host| host["name"].as_str().unwrap()).collect();
    assert!(events.iter().all(|event| hosts.contains(&event["host"].as_str().unwrap())));
    for finding in run_json["findings"].as_array().unwrap() {
        assert_eq!(keys(finding), ["invariant", "text", "grants", "events", "width_ns"].into());
        assert!(violations.contains(&finding["invariant"].as_str().unwrap()));
    }
}

#[test]
fn shrinking_keeps_the_violation_and_full_shows_more() {
    let replay = ["replay", "single", "long-work", "1"];
    let (plain, shrunk) = (run(&replay), run(&and(&replay, &["--shrink"])));
    assert_eq!((plain.code, shrunk.code), (Some(1), Some(1)), "{}", shrunk.stderr);
    assert!(said(&shrunk.stdout, "replay").ends_with(" --shrink"), "{}", shrunk.stdout);
    let full = run(&and(&replay, &["--full"]));
    assert!(full.stdout.lines().count() > plain.stdout.lines().count());
    assert_eq!(said(&full.stdout, "digest"), said(&plain.stdout, "digest"));
    // A run that violates nothing has nothing to be reduced to.
    assert_eq!(run(&["replay", "oracle", "long-work", "1", "--shrink"]).code, Some(0));
}

#[test]
fn each_line_of_a_campaign_has_the_settings_of_its_own_scenario_alone() {
    let here = directory();
    let settings = ["--set", "pause.for=1s..2s", "--set", "clock-step.by=2s..3s", "--set", "ttl=900ms"];
    let run =
        ["run", "--design", "single,redlock", "--scenario", "calm,pause,long-work,clock-step,node-restart"];
    let run =
        and(&and(&run, &["--seeds", "12", "--no-confirm", "--no-shrink", "--expect", "none"]), &settings);
    for format in ["text", "junit", "github", "html"] {
        let report = run_in(here.path(), &and(&run, &["--verbose", "--format", format])).stdout;
        // Markup writes some signs of a command in another way, and a line ends with it or with the next sign.
        let plain = ["&#39;", "&quot;", "&amp;", "%0A"].iter().zip(["'", "\"", "&", "\n"]);
        let plain = plain.fold(report, |text, (one, other)| text.replace(one, other));
        let lines = plain.split("picklock replay ").skip(1).map(|rest| {
            let end = rest.find(['\n', '<', '"', '`']).unwrap_or(rest.len());
            format!("picklock replay {}", rest[..end].trim_end_matches(" --shrink"))
        });
        let mut lines: Vec<String> = lines.filter(|line| !line.contains("DESIGN")).collect();
        lines.sort();
        lines.dedup();
        assert!(lines.iter().any(|line| line.contains("pause.for")), "{format}: {lines:#?}");
        assert!(lines.iter().any(|line| !line.contains("pause.for")), "{format}: {lines:#?}");
        for line in lines {
            let ended = shell(here.path(), &line);
            assert_eq!(ended.code, Some(1), "{format}: {line}: {}", ended.stderr);
        }
    }
}
