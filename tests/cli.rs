//! The command line, as scripts rely on it: exit codes, files, lines that can be copied and run again.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::Value;

#[path = "support/binary.rs"]
mod binary;

use binary::{Ended, directory, end, picklock, run_in};

/// Names that scripts rely on; the suite's own tests pin those of scenarios.
const DESIGNS: [&str; 24] = [
    "no-lock",
    "oracle",
    "setnx",
    "setnx-expire",
    "get-del",
    "timer-renew",
    "manual-renew",
    "reentrant",
    "replicated-wait",
    "redlock-budget",
    "redlock-multi",
    "segmented",
    "optimistic",
    "unique-index",
    "queue",
    "set-px-del",
    "single",
    "watchdog",
    "replicated",
    "redlock",
    "redlock-naive",
    "single-fenced",
    "redlock-fenced",
    "redlock-fenced-quorum",
];

/// A campaign that violates, in less than a second.
const VIOLATING: [&str; 9] =
    ["run", "--design", "single", "--scenario", "pause", "--seeds", "40", "--expect", "none"];

/// Runs picklock where no file is read or written.
fn run(args: &[&str]) -> Ended {
    run_in(directory().path(), args)
}

/// The text of a file that picklock wrote.
fn text_of(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Arguments and some more.
fn and<'a>(args: &[&'a str], more: &[&'a str]) -> Vec<&'a str> {
    [args, more].concat()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error} in:\n{text}"))
}

fn keys(value: &Value) -> BTreeSet<&str> {
    value.as_object().map(|object| object.keys().map(String::as_str).collect()).unwrap_or_default()
}

/// Runs a line as a shell would, with picklock on the PATH.
fn shell(within: &Path, line: &str) -> Ended {
    let folder = Path::new(env!("CARGO_BIN_EXE_picklock")).parent().expect("a binary lies in a folder");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("sh");
    command.args(["-c", line]).current_dir(within).env("PATH", format!("{}:{path}", folder.display()));
    command.env_remove("COLUMNS").env_remove("NO_COLOR").stdin(Stdio::null());
    end(command)
}

/// The value behind `name: ` at the start of a line.
fn said<'a>(text: &'a str, name: &str) -> &'a str {
    let value = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
    value.unwrap_or_else(|| panic!("nothing is said of {name} in:\n{text}"))
}

/// The lines of a report that replay something, in order.
fn replay_lines(text: &str) -> Vec<&str> {
    text.lines().map(str::trim).filter(|line| line.starts_with("picklock replay ")).collect()
}

mod list {
    use super::*;

    const KINDS: [&str; 6] = ["designs", "bugs", "scenarios", "faults", "invariants", "formats"];

    /// The names of a kind.
    fn names(kind: &str) -> Vec<String> {
        let all = json(&run(&["list", kind, "--json"]).stdout);
        let names =
            all[kind].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned());
        names.collect()
    }

    fn assert_fits(page: &str) {
        let wide = page.lines().find(|line| line.chars().count() > 80 && !line.contains("picklock "));
        assert_eq!(wide, None, "{page}");
    }

    #[test]
    fn list_shows_the_names_of_everything_on_a_screen() {
        let all = run(&["list"]);
        assert_eq!((all.code, all.stderr.as_str()), (Some(0), ""));
        assert!(all.stdout.lines().count() <= 40, "{}", all.stdout);
        assert_fits(&all.stdout);
        for kind in KINDS {
            let names = names(kind);
            assert!(all.stdout.contains(&format!("{kind} ({})", names.len())), "{}", all.stdout);
        }
        assert!(all.stdout.contains("single-fenced"), "{}", all.stdout);
    }

    #[test]
    fn list_shows_a_kind_a_line_for_each() {
        for kind in KINDS {
            let one = run(&["list", kind]);
            assert_eq!(one.code, Some(0));
            assert!(one.stdout.starts_with(&format!("{kind}:\n")), "{}", one.stdout);
            assert_fits(&one.stdout);
            let lines: Vec<&str> = one.stdout.lines().skip(1).take_while(|line| !line.is_empty()).collect();
            let named: Vec<&str> = lines.iter().map(|line| line.split_whitespace().next().unwrap()).collect();
            assert_eq!(named, names(kind));
        }
    }

    #[test]
    fn list_shows_one_thing_whole() {
        for kind in KINDS {
            for name in names(kind) {
                let one = run(&["list", kind, &name]);
                assert_eq!(one.code, Some(0), "{kind} {name}: {}", one.stderr);
                assert!(one.stdout.starts_with(&name), "{}", one.stdout);
                assert_fits(&one.stdout);
            }
        }
        let said = |args: &[&str]| run(&and(&["list"], args)).stdout;
        let single = said(&["designs", "single"]);
        assert!(single.contains("weakness: ") && single.contains("belief="), "{single}");
        assert!(said(&["scenarios", "pause"]).contains("pause.for="), "{}", said(&["scenarios", "pause"]));
        assert!(said(&["invariants", "i1"]).starts_with("mutual-exclusion (I1)\n"));
        assert_eq!(said(&["design", "single{belief=honest}"]), single);
        let only = json(&said(&["faults", "pause", "--json"]));
        assert_eq!(only["faults"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn a_name_that_there_is_not_is_wrong_usage_and_the_nearest_are_named() {
        for (args, hint) in [
            (["designs", "singel"], "no design `singel` (did you mean `single`?)"),
            (["scenarios", "paus"], "no scenario `paus` (did you mean `pause`"),
            (["invariants", "I99"], "no invariant `I99`"),
            (["designs", "fenced"], "`single-fenced`, `redlock-fenced`"),
            (["faults", "xyzzy"], "no fault `xyzzy`; `picklock list faults` shows them all"),
        ] {
            let ended = run(&and(&["list"], &args));
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{args:?}");
            assert!(ended.stderr.contains(hint), "{}", ended.stderr);
        }
    }

    #[test]
    fn a_format_is_listed_once_and_a_scenario_begins_with_its_own_parameters() {
        let formats = run(&["list", "formats"]).stdout;
        assert_eq!(formats.lines().filter(|line| line.starts_with("  svg ")).count(), 1, "{formats}");
        let whole = run(&["list", "formats", "svg"]).stdout;
        assert!(whole.contains("matrix.svg") && whole.contains("picklock replay"), "{whole}");
        let pause = run(&["list", "scenarios", "pause"]).stdout;
        let at = |name: &str| pause.find(&format!("\n  {name}")).unwrap();
        assert!(
            at("pause.for") < at("contend.")
                && at("contend.") < at("world.ttl")
                && at("world.ttl") < at("redis."),
            "{pause}"
        );
        let single = run(&["list", "designs", "single"]).stdout;
        assert!(single.contains("libraries: redis-py Lock"), "{single}");
    }

    #[test]
    fn list_as_json_has_the_names_that_scripts_rely_on() {
        let all = json(&run(&["list", "--json"]).stdout);
        assert_eq!(keys(&all), ["bugs", "designs", "faults", "formats", "invariants", "scenarios"].into());
        let names = |kind: &str| -> Vec<String> {
            let entries = all[kind].as_array().unwrap().iter();
            entries.map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
        };
        let suite = picklock::scenarios::suite::builtin(&picklock_stores::params());
        assert_eq!(names("scenarios"), Vec::from_iter(suite.iter().map(|scenario| scenario.name())));
        let designs = names("designs");
        for design in DESIGNS {
            assert!(designs.iter().any(|name| name == design), "{design} is gone");
        }
        let of_runs = ["history", "edn", "mermaid", "perfetto", "shiviz"];
        let of_results = ["text", "json", "junit", "markdown", "html", "svg", "csv", "github"];
        // A drawing is of results and of runs, and stands once.
        let formats = of_results.iter().chain(&of_runs);
        assert_eq!(names("formats"), Vec::from_iter(formats.copied()));
        for invariant in
            ["mutual-exclusion", "effective-exclusion", "no-lost-update", "ownership", "token-order"]
        {
            assert!(names("invariants").contains(&invariant.to_owned()), "{invariant} is missing");
        }
        let designs = json(&run(&["list", "designs", "--json"]).stdout);
        assert_eq!(designs["designs"], all["designs"]);
        let outside = |entry: &&Value| entry["in_suite"] == false;
        let outside: Vec<&Value> = designs["designs"].as_array().unwrap().iter().filter(outside).collect();
        assert!(matches!(outside[..], [row_lock] if row_lock["name"] == "row-lock"), "{outside:?}");
        assert_eq!(keys(&designs), ["designs"].into());
    }

    #[test]
    fn everything_that_list_shows_as_settable_can_be_set_to_what_it_is() {
        let scenarios = json(&run(&["list", "scenarios", "--json"]).stdout);
        for scenario in scenarios["scenarios"].as_array().unwrap() {
            let name = scenario["name"].as_str().unwrap();
            let of = |param: &Value, field: &str| param[field].as_str().unwrap().to_owned();
            let settings: Vec<String> = (scenario["params"].as_array().unwrap().iter())
                .map(|param| format!("{}.{}={}", of(param, "group"), of(param, "name"), of(param, "value")))
                .collect();
            let replayed = |settings: &[String]| {
                let set = settings.iter().flat_map(|setting| ["--set", setting]);
                // Some scenarios are for majorities alone.
                let design = if name == "minority-down" { "redlock" } else { "reentrant" };
                run(&and(&["replay", design, name, "3"], &set.collect::<Vec<_>>()))
            };
            let (plain, set) = (replayed(&[]), replayed(&settings));
            assert_eq!(said(&plain.stdout, "digest"), said(&set.stdout, "digest"), "{name}: {}", set.stderr);
        }
    }
}

mod hints {
    use super::*;

    #[test]
    fn who_sets_the_lease_alone_is_told_that_faults_grow_with_it() {
        let noted = |settings: &[&str]| {
            let args = ["run", "--design", "single", "--scenario", "pause", "--seeds", "1", "--no-confirm"];
            let set: Vec<&str> = settings.iter().flat_map(|setting| ["--set", setting]).collect();
            run(&and(&args, &set)).stderr
        };
        let note = noted(&["ttl=10s"]);
        assert!(note.contains("with `ttl=10s` also pause.for is 5s..20s"), "{note}");
        assert!(note.contains("--set pause.for=500ms..2s"), "{note}");
        for settings in [&["ttl=1s"][..], &["ttl=10s", "pause.for=500ms..2s"], &["clients=3"]] {
            let note = noted(settings);
            assert!(!note.contains("the outcome hardly changes"), "{settings:?}: {note}");
        }
    }

    #[test]
    fn what_goes_with_a_program_alone_says_what_to_write_of_a_design() {
        let refused = |args: &[&str]| {
            let ended = run(&and(&["run", "--design", "redlock"], args));
            assert_eq!(ended.code, Some(2), "{args:?}");
            ended.stderr
        };
        let stores = refused(&["--stores", "3"]);
        assert!(
            stores.contains("--stores says something of --program") && stores.contains("redlock{nodes=3}"),
            "{stores}"
        );
        assert!(refused(&["--belief", "honest"]).contains("single{belief=honest}"));
    }

    #[test]
    fn a_time_without_a_unit_is_told_the_units_that_there_are() {
        let ended = run(&["judge", "history.jsonl", "--uncertainty", "5"]);
        assert!(
            ended.stderr.contains("write `5ms` or `5s`") && !ended.stderr.contains("ttl"),
            "{}",
            ended.stderr
        );
    }

    #[test]
    fn an_empty_history_is_told_in_a_sentence() {
        let here = directory();
        std::fs::write(here.path().join("empty.jsonl"), "").unwrap();
        let ended = run_in(here.path(), &["judge", "empty.jsonl"]);
        assert!(ended.stderr.contains("empty.jsonl: the file holds no line"), "{}", ended.stderr);
    }

    #[test]
    fn the_options_of_a_run_stand_in_groups() {
        let help = run(&["run", "--help"]).stdout;
        for group in
            ["What is run", "A lock in another language", "How many runs", "What is expected", "Report"]
        {
            assert!(help.contains(&format!("\n{group}:\n")), "{group}: {help}");
        }
        let plain = help.split_once("\nOptions:\n").unwrap().1.split("\n\n").next().unwrap();
        assert!(plain.matches("--").count() <= 2, "outside of the groups: {plain}");
    }
}

mod exit_codes {
    use super::*;

    #[test]
    fn a_violation_that_nobody_expects_is_1() {
        let ended = run(&VIOLATING);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        assert!(!replay_lines(&ended.stdout).is_empty());
    }

    #[test]
    fn no_violation_is_0() {
        let args =
            ["run", "--design", "oracle", "--scenario", "pause,calm", "--seeds", "40", "--expect", "none"];
        assert_eq!(run(&args).code, Some(0));
    }

    #[test]
    fn nothing_exercised_is_3() {
        for idle in [
            // Nobody contends.
            &["--design", "single", "--scenario", "calm", "--set", "clients=1"][..],
            // No fault hits, and nobody contends.
            &["--design", "single", "--scenario", "pause", "--set", "pause.times=0", "--set", "clients=1"],
            // A fault hits that changes nothing.
            &["--design", "single", "--scenario", "client-partition", "--set", "partition.for=0ms"],
            // The scenario says nothing of the design.
            &["--design", "oracle", "--scenario", "failover"],
        ] {
            for command in [&["run", "--expect", "none"][..], &["compare"]] {
                let ended = run(&[command, idle, &["--seeds", "10"]].concat());
                assert_eq!(ended.code, Some(3), "{command:?} {idle:?}: {}{}", ended.stdout, ended.stderr);
            }
        }
    }

    #[test]
    fn wrong_usage_is_2_and_told_on_standard_error() {
        for args in [
            &[][..],
            &["ran"],
            &["run", "--no-such-option"],
            &["run", "--seeds", "5..2"],
            &["run", "--seeds", "5..5"],
            &["run", "--seeds", "0"],
            &["run", "--jobs", "0"],
            &["run", "--budget", "1.5 x ttl"],
            &["run", "--engine", "steam"],
            &["run", "--format", "yaml"],
            &["run", "--format", "text,json"],
            &["run", "--expect", "no-such-file.toml"],
            &["list", "locks"],
            &["replay"],
            &["replay", "single", "pause"],
            &["replay", "single", "pause", "1", "2"],
            &["replay", "single", "pause", "minus-one"],
            &["replay", "single", "pause", "18446744073709551616"],
            &["replay", "single", "pause", "1", "--format", "junit"],
            &["replay", "single", "pause", "1", "--format", "svg", "--full"],
            &["replay", "oracle", "failover", "1"],
            &["completions", "cobol"],
        ] {
            let ended = run(args);
            assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{args:?}");
            assert!(!ended.stderr.is_empty(), "{args:?} ends without a word");
        }
    }

    #[test]
    fn help_and_version_are_answers() {
        for args in
            [&["--help"][..], &["run", "--help"], &["replay", "-h"], &["compare", "--help"], &["--version"]]
        {
            let ended = run(args);
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{args:?}");
        }
        assert!(run(&["--help"]).stdout.contains("Exit codes: 0 as expected, 1 violation"));
    }

    #[test]
    fn an_expectation_file_decides_what_is_as_expected() {
        let here = directory();
        let expecting = |file: &str, seeds: &str| {
            std::fs::write(here.path().join("mine.toml"), file).unwrap();
            let args = [
                "run",
                "--design",
                "single",
                "--scenario",
                "pause",
                "--seeds",
                seeds,
                "--expect",
                "mine.toml",
            ];
            run_in(here.path(), &and(&args, &["--no-confirm"])).code
        };
        let found = "violated = ['mutual-exclusion']\nmay = {effective-exclusion = 4, no-lost-update = 4}\nwithin = 40";
        assert_eq!(expecting(&format!("[single.pause]\n{found}"), "40"), Some(0));
        assert_eq!(expecting("[single]\nholds = ['pause']", "40"), Some(1));
        assert_eq!(expecting("[single.pause]\nmay.mutual-exclusion = 4", "40"), Some(1));
        // What is expected and not found counts too, but only once there were enough runs to find it.
        let missing = format!(
            "[single.pause]\n{}",
            found.replace("['mutual-exclusion']", "['mutual-exclusion', 'ownership']")
        );
        assert_eq!(expecting(&missing, "40"), Some(1));
        assert_eq!(expecting(&missing, "39"), Some(0));
        // A cell that the file does not name has no expectation: what is violated there counts.
        assert_eq!(expecting("[redlock]\nholds = ['pause']", "40"), Some(1));
    }

    #[test]
    fn fail_fast_stops_at_the_first_violation_and_is_1() {
        let here = directory();
        let args =
            ["run", "--design", "no-lock", "--scenario", "calm", "--seeds", "100000", "--expect", "none"];
        let ended = run_in(here.path(), &and(&args, &["--fail-fast", "--no-confirm", "--format", "json"]));
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let results = json(&ended.stdout);
        assert!(results["cells"][0]["runs"].as_u64().unwrap() < 1_000);
    }

    #[test]
    fn a_budget_ends_the_runs_but_is_no_interruption() {
        let args =
            ["run", "--design", "oracle", "--scenario", "calm", "--budget", "200ms", "--format", "json"];
        let ended = run(&and(&args, &["--expect", "none"]));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let results = json(&ended.stdout);
        assert_eq!(results["partial"], false);
        assert!(results["cells"][0]["runs"].as_u64().unwrap() > 0);
    }

    #[test]
    fn a_scenario_file_is_never_held_against_the_expectations_of_its_namesake() {
        let here = directory();
        // Under the built-in scenario of this name the design may do what it does here.
        std::fs::write(here.path().join("long-work.toml"), "summary = 'calm'\n[contend]\nwork = '3 x ttl'\n")
            .unwrap();
        let file =
            ["run", "--design", "single", "--scenario", "long-work.toml", "--seeds", "8", "--no-confirm"];
        assert_eq!(run_in(here.path(), &file).code, Some(1));
        let both = ["run", "--design", "single", "--scenario", "long-work.toml,long-work", "--seeds", "8"];
        let ended = run_in(here.path(), &both);
        assert_eq!(ended.code, Some(2));
        assert!(ended.stderr.contains("rename one"), "{}", ended.stderr);
        let twice = [
            "run",
            "--design",
            "oracle,oracle",
            "--scenario",
            "calm,calm",
            "--seeds",
            "2",
            "--format",
            "json",
        ];
        assert_eq!(json(&run_in(here.path(), &twice).stdout)["cells"].as_array().unwrap().len(), 1);
    }

    #[test]
    fn what_is_set_and_does_not_hold_for_a_design_is_said() {
        let args = ["compare", "--design", "single-fenced,redlock-fenced-quorum", "--seeds", "1"];
        let with = |value| run(&and(&args, &["--scenario", "node-restart", "--set", value]));
        let note = "`redlock-fenced-quorum` always runs with `redis.persistence=always`";
        let none = with("redis.persistence=none").stderr;
        assert!(none.contains(note) && !none.contains("`single-fenced` always"), "{none}");
        let same = with("redis.persistence=always").stderr;
        assert!(!same.contains(note), "{same}");
    }

    #[test]
    fn compare_is_0_whatever_it_finds() {
        let here = directory();
        let args =
            ["compare", "--design", "single,redlock", "--scenario", "pause", "--seeds", "20", "--out", "out"];
        let ended = run_in(here.path(), &args);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let compared = json(&text_of(&here.path().join("out/comparison.json")));
        assert_eq!(compared["paired"], true);
        let rates = compared["cells"][0]["rates"].as_array().unwrap();
        assert!(rates.iter().any(|rate| rate["runs"].as_u64() > Some(0)), "{rates:?}");
    }

    #[test]
    fn compare_of_many_designs_fits_a_screen_and_verbose_prints_the_rest() {
        let args = ["compare", "--scenario", "calm,pause,stall", "--seeds", "4"];
        let short = run(&args).stdout;
        assert!(short.lines().count() <= 50, "{short}");
        assert!(short.contains("\n  1. ") && short.contains("more, in the order of the table\n"), "{short}");
        assert!(short.contains("add --verbose") && short.contains("\nnext: picklock replay "), "{short}");
        let verbose = run(&and(&args, &["--verbose"])).stdout;
        assert!(verbose.lines().count() > 200, "{verbose}");
        assert!(verbose.contains("% of the time, for up to "), "{verbose}");
    }

    #[test]
    fn compare_ranks_a_fenced_lock_first_for_the_data_and_says_why() {
        let here = directory();
        let args = ["compare", "--design", "single,watchdog,redlock,single-fenced", "--scenario", "pause"];
        let ended = run_in(here.path(), &and(&args, &["--seeds", "60", "--out", "out"]));
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let ranked = |place: &str| {
            let lines: Vec<&str> = ended.stdout.lines().map(str::trim).collect();
            let at = lines.iter().position(|line| line.starts_with(place)).unwrap();
            lines[at..].join(" ")
        };
        assert!(ranked("1. ").starts_with("1. single-fenced: yes, in these runs: "), "{}", ended.stdout);
        assert!(
            ranked("1. ").contains("the resource refused what came late by its token"),
            "{}",
            ended.stdout
        );
        assert!(ranked("4. ").contains(": no: effective-exclusion broken in "), "{}", ended.stdout);
        assert!(ended.stdout.contains("single less single-fenced, "), "{}", ended.stdout);
        assert!(ended.stdout.contains("0 (<4.9%)"), "{}", ended.stdout);
        assert!(ended.stdout.lines().count() <= 50, "{}", ended.stdout);
        assert!(ended.stdout.contains("measures: in out\nnext: picklock replay "), "{}", ended.stdout);
        let wide = ended.stdout.lines().skip(1).find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{}", ended.stdout);
        let whole = text_of(&here.path().join("out/comparison.txt"));
        assert!(whole.contains("% of the time, for up to "), "{whole}");

        let compared = json(&text_of(&here.path().join("out/comparison.json")));
        assert_eq!(keys(&compared["ranking"][0]), ["design", "protects_data", "why"].into());
        assert_eq!(compared["ranking"][0]["protects_data"], true);
        assert_eq!(compared["ranking"][3]["protects_data"], false);
        let differences = compared["differences"].as_array().unwrap();
        let fields = ["scenario", "invariant", "design", "against", "seeds", "difference", "low", "high"];
        for difference in differences {
            assert_eq!(keys(difference), fields.into());
            assert_eq!(difference["against"], "single-fenced");
            // Paired: what is said of both is counted over the seeds that both exercised.
            assert!((1..=60).contains(&difference["seeds"].as_u64().unwrap()), "{difference}");
        }
        let of = |design: &str| {
            differences
                .iter()
                .find(|it| it["design"] == design && it["invariant"] == "no-lost-update")
                .unwrap()
        };
        assert!(of("single")["low"].as_f64().unwrap() > 0.0, "{}", of("single"));
    }

    #[test]
    fn replay_is_1_if_the_run_violates_and_0_if_not() {
        let found = json(&run(&and(&VIOLATING, &["--format", "json"])).stdout);
        let violations = &found["cells"][0]["violations"];
        let first = violations["mutual-exclusion"]["first_seed"].as_u64().unwrap();
        assert_eq!(run(&["replay", "single", "pause", &first.to_string()]).code, Some(1));
        let earliest =
            violations.as_object().unwrap().values().map(|it| it["first_seed"].as_u64().unwrap()).min();
        for seed in 0..earliest.unwrap() {
            assert_eq!(run(&["replay", "single", "pause", &seed.to_string()]).code, Some(0), "seed {seed}");
        }
    }
}

mod reports {
    use super::*;

    #[test]
    fn results_json_has_the_documented_fields() {
        let here = directory();
        let args = [
            "run",
            "--design",
            "single,oracle",
            "--scenario",
            "pause,failover",
            "--seeds",
            "20",
            "--out",
            "out",
        ];
        let ended = run_in(here.path(), &and(&args, &["--expect", "none"]));
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let results = json(&text_of(&here.path().join("out/results.json")));
        assert_eq!(keys(&results), ["schema", "command", "partial", "cells"].into());
        assert_eq!((&results["schema"], &results["partial"]), (&1.into(), &false.into()));
        let command = results["command"].as_str().unwrap();
        // Where results go is no part of what they are.
        assert_eq!(command, format!("picklock {} --expect none", args[..args.len() - 2].join(" ")));
        let cells = results["cells"].as_array().unwrap();
        let names: Vec<_> = cells.iter().map(|cell| [&cell["design"], &cell["scenario"]]).collect();
        let expected =
            [["single", "pause"], ["single", "failover"], ["oracle", "pause"], ["oracle", "failover"]];
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
                "not_applicable",
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
        let replay =
            json(&file("results.json"))["cells"][0]["violations"]["mutual-exclusion"]["replay"].clone();
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
        assert!(ended.stdout.lines().count() <= 50, "{}", ended.stdout);
        let wide = ended.stdout.lines().find(|line| line.chars().count() > 80);
        assert_eq!(wide, None, "{}", ended.stdout);
        // First what was found about locks; whether all was as expected comes last.
        let first = ended.stdout.lines().next().unwrap();
        assert!(first.starts_with("of ") && first.contains(" designs under "), "{}", ended.stdout);
        assert!(ended.stdout.contains("\nas expected in "), "{}", ended.stdout);
        // And whose locks the rows are.
        assert!(ended.stdout.contains("\nyour lock: redis-py Lock, "), "{}", ended.stdout);
        let next = ended.stdout.lines().last().unwrap().strip_prefix("next: ").unwrap();
        let told = shell(here.path(), next);
        assert_eq!(told.code, Some(1), "{next}");
        assert!(told.stdout.lines().count() < 110, "the next step is short: {}", told.stdout);
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
        assert_eq!(json(&printed("json"))["schema"], 1);
        assert!(printed("junit").starts_with("<?xml"));
        assert!(printed("markdown").contains("| "));
    }

    #[test]
    fn the_same_command_writes_the_same_bytes() {
        let written = |jobs: &str| {
            let here = directory();
            let args = ["run", "--design", "single", "--scenario", "pause,long-work", "--seeds", "20"];
            let ended =
                run_in(here.path(), &and(&args, &["--expect", "none", "--out", "out", "--jobs", jobs]));
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
            let args =
                ["run", "--design", "no-lock", "--scenario", "calm", "--expect", "none", "--no-confirm"];
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
        let ended =
            run_in(here.path(), &and(&args, &["--expect", "none", "--no-confirm", "--format", "json"]));
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let cell = &json(&ended.stdout)["cells"][0];
        assert_eq!(cell["engine"], "turmoil");
        let replay = cell["violations"]["mutual-exclusion"]["replay"].as_str().unwrap().to_owned();
        assert!(replay.ends_with("--engine turmoil"), "{replay}");
        assert_eq!(shell(here.path(), &replay).code, Some(1));
    }
}

mod replay {
    use super::*;

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
    fn the_line_below_a_story_tells_the_same_run() {
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
        // Each further candidate counts, and whoever has no time is told the same as whoever has tried none.
        let [none, some, all] = [&["--shrink-tries", "0"][..], &["--shrink-tries", "6"], &[]]
            .map(|limit| digest(&and(&shrink, limit)));
        assert!(none != some && some != all, "{none} {some} {all}");
        assert_eq!(none, said(&ended.stdout, "digest"));
    }

    #[test]
    fn reducing_can_be_left_out_of_a_campaign_and_ends_with_its_budget() {
        let here = directory();
        let selection =
            ["run", "--design", "single", "--scenario", "pause", "--seeds", "8", "--expect", "none"];
        let told = |more: &[&str]| run_in(here.path(), &and(&selection, more));
        let whole = told(&["--no-confirm", "--no-shrink"]);
        let lines = replay_lines(&whole.stdout);
        assert!(!lines.is_empty() && lines.iter().all(|line| !line.contains("shrink")), "{lines:?}");
        let counts = |page: &str| json(page)["cells"][0]["violations"].clone();
        let (short, long) =
            (told(&["--format", "json", "--shrink-budget", "0ms"]), told(&["--format", "json"]));
        assert_eq!(short.code, long.code);
        assert!(short.stderr.contains("are told as they were found"), "{}", short.stderr);
        assert!(!long.stderr.contains("are told as they were found"), "{}", long.stderr);
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
        let scenario =
            "summary = 'one client stops'\n[[fault]]\nkind = 'pause'\nfor = ['1 x ttl', '2 x ttl']\n";
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
        let args = [
            "run",
            "--design",
            "single,redlock",
            "--scenario",
            "failover,pause,node-restart",
            "--no-confirm",
        ];
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
        let told = |format: &str| {
            let ended = run(&and(&replay, &[format]));
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(1), ""), "{format}");
            ended.stdout
        };
        let (page, drawing) = (told("html"), told("svg"));
        assert!(page.starts_with("<!DOCTYPE html>") && page.ends_with("</html>\n"), "{page}");
        assert!(drawing.starts_with("<svg") && drawing.ends_with("</svg>\n"), "{drawing}");
        assert!(page.contains("picklock replay set-px-del long-work 0"), "{page}");
        assert_eq!((told("html"), told("svg")), (page, drawing));
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
}

mod terminal {
    use super::*;

    const ESCAPE: char = '\u{1b}';

    fn with(variables: &[(&str, &str)], args: &[&str]) -> Ended {
        let here = directory();
        let mut command = picklock(here.path());
        command.args(args).envs(variables.iter().copied());
        end(command)
    }

    #[test]
    fn colours_are_a_matter_of_the_option_where_there_is_no_terminal() {
        let replay = ["replay", "single", "long-work", "1"];
        for args in [&replay[..], &and(&VIOLATING, &["--no-confirm"])] {
            let plain = with(&[], args);
            assert!(!plain.stdout.contains(ESCAPE), "a pipe gets no colours");
            assert!(!with(&[], &and(args, &["--color", "never"])).stdout.contains(ESCAPE));
            assert!(with(&[], &and(args, &["--color", "always"])).stdout.contains(ESCAPE));
            // What is asked for on the command line is stronger than the environment.
            assert!(with(&[("NO_COLOR", "1")], &and(args, &["--color", "always"])).stdout.contains(ESCAPE));
        }
    }

    #[test]
    fn files_have_no_colours() {
        let here = directory();
        run_in(here.path(), &and(&VIOLATING, &["--no-confirm", "--color", "always", "--out", "out"]));
        assert!(!text_of(&here.path().join("out/results.txt")).contains(ESCAPE));
    }

    /// util-linux's `script` lends a terminal; where it is missing there is nothing to test with.
    #[cfg(target_os = "linux")]
    #[test]
    fn a_terminal_gets_colours_unless_it_says_no() {
        let on_terminal = |variables: &[(&str, &str)]| {
            let line = format!("'{}' replay single long-work 1", env!("CARGO_BIN_EXE_picklock"));
            let mut command = Command::new("script");
            command.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null());
            command.env_remove("NO_COLOR").env("TERM", "xterm").envs(variables.iter().copied());
            command.output().ok().map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let Some(plain) = on_terminal(&[]) else { return };
        assert!(plain.contains(ESCAPE), "{plain}");
        assert!(on_terminal(&[("NO_COLOR", "")]).unwrap().contains(ESCAPE), "an empty NO_COLOR says nothing");
        assert!(!on_terminal(&[("NO_COLOR", "1")]).unwrap().contains(ESCAPE));
        assert!(!on_terminal(&[("TERM", "dumb")]).unwrap().contains(ESCAPE));
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        // Lines that are there to be copied, or to be read by a script, are not broken.
        let copied = |line: &str| {
            ["picklock ", "replay: ", "violations: "].iter().any(|start| line.trim_start().starts_with(start))
        };
        let all =
            ["run", "--scenario", "calm,clock-drift", "--seeds", "2", "--expect", "none", "--no-confirm"];
        let compare = ["compare", "--seeds", "2", "--scenario", "calm"];
        for args in [&VIOLATING[..], &all, &compare, &["replay", "single", "long-work", "1"]] {
            for columns in [60, 80] {
                let ended = with(&[("COLUMNS", &columns.to_string())], args);
                for line in ended.stdout.lines().filter(|line| !copied(line)) {
                    assert!(line.chars().count() <= columns, "{args:?} at {columns} columns: {line}");
                }
            }
        }
    }

    #[test]
    fn without_a_terminal_a_line_every_ten_seconds_says_how_it_goes_on() {
        let args =
            ["run", "--design", "single", "--scenario", "pause", "--budget", "11s", "--expect", "none"];
        let ended = run(&and(&args, &["--no-confirm"]));
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let lines: Vec<&str> = ended.stderr.lines().collect();
        let line = lines.first().copied().unwrap_or_default();
        assert!(line.contains(" runs, ") && line.contains(" with a violation, 1"), "{lines:?}");
        assert!(!ended.stderr.contains(ESCAPE), "{lines:?}");
        // What is over at once is silent.
        assert_eq!(run(&and(&VIOLATING, &["--no-confirm"])).stderr, "");
    }

    #[test]
    fn nonsense_in_the_environment_is_ignored() {
        for columns in ["", "0", "1", "-5", "many", "99999999999999999999"] {
            let ended = with(&[("COLUMNS", columns)], &["replay", "single", "long-work", "1"]);
            assert_eq!(ended.code, Some(1), "COLUMNS={columns}: {}", ended.stderr);
        }
    }

    #[test]
    fn completions_are_made_for_every_shell() {
        for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
            let ended = run(&["completions", shell]);
            assert_eq!((ended.code, ended.stderr.as_str()), (Some(0), ""), "{shell}");
            assert!(ended.stdout.contains("picklock") && ended.stdout.contains("replay"), "{shell}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_reader_that_goes_away_is_no_error() {
        let here = directory();
        for (args, code) in [
            (&["list"][..], 0),
            (&["list", "--json"], 0),
            (&["--help"], 0),
            (&["completions", "zsh"], 0),
            (&["replay", "single", "long-work", "1", "--full"], 1),
            (&and(&VIOLATING, &["--no-confirm"]), 1),
        ] {
            let mut command = picklock(here.path());
            let mut child = command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
            // Nobody will ever read: the very first write fails.
            drop(child.stdout.take());
            let output = child.wait_with_output().unwrap();
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!((output.status.code(), stderr.as_ref()), (Some(code), ""), "{args:?}");
        }
        let head = shell(here.path(), "picklock list formats | head -n 1");
        assert_eq!((head.code, head.stdout.as_str(), head.stderr.as_str()), (Some(0), "formats:\n", ""));
    }
}

#[cfg(unix)]
mod interrupt {
    use super::*;

    /// Waits until a process has something to do with an interrupt other than to die of it.
    fn wait_until_it_listens(pid: u32) {
        // Bit 1 of the mask of caught signals is SIGINT's.
        let listens = |status: &str| {
            let mask = status.lines().find_map(|line| line.strip_prefix("SigCgt:"))?;
            Some(u64::from_str_radix(mask.trim(), 16).ok()? & 0b10 != 0)
        };
        for _ in 0..600 {
            match std::fs::read_to_string(format!("/proc/{pid}/status")) {
                Ok(status) if listens(&status) == Some(true) => break,
                _ => std::thread::sleep(std::time::Duration::from_millis(50)),
            }
        }
        // Some runs are to be made before it comes.
        std::thread::sleep(std::time::Duration::from_millis(500));
    }

    #[test]
    fn an_interrupt_gives_130_and_the_results_so_far_marked_as_partial() {
        let here = directory();
        let mut command = picklock(here.path());
        command.args(["run", "--design", "single,oracle", "--scenario", "pause", "--seeds", "1000000000"]);
        command.args(["--expect", "none", "--out", "out", "--format", "text,json,junit,markdown,html"]);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        wait_until_it_listens(child.id());
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
        assert!(kill.success());
        let output = child.wait_with_output().unwrap();
        let (stdout, stderr) =
            (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(130), "{stdout}{stderr}");
        assert!(stdout.contains("partial"), "{stdout}");
        let results = json(&text_of(&here.path().join("out/results.json")));
        assert_eq!(results["partial"], true);
        for cell in results["cells"].as_array().unwrap() {
            assert!(cell["runs"].as_u64().unwrap() > 0, "{cell}");
        }
        for name in ["results.txt", "junit.xml", "results.md", "report.html"] {
            assert!(here.path().join("out").join(name).is_file(), "{name} is missing");
        }
    }
}
