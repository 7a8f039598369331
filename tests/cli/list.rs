//! `picklock list`: the names and parameters of everything there is.

use serde_json::Value;

use crate::support::{and, json, keys, run, said};

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

const KINDS: [&str; 6] = ["designs", "bugs", "scenarios", "faults", "invariants", "formats"];

/// The names of a kind.
fn names(kind: &str) -> Vec<String> {
    let all = json(&run(&["list", kind, "--json"]).stdout);
    let names = all[kind].as_array().unwrap().iter().map(|entry| entry["name"].as_str().unwrap().to_owned());
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
fn a_fault_is_listed_under_each_of_its_names() {
    let named = run(&["list", "faults", "client-crash"]).stdout;
    assert!(named.contains("also called crash, kill"), "{named}");
    assert_eq!(run(&["list", "faults", "crash"]).stdout, named);
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
    for invariant in ["mutual-exclusion", "effective-exclusion", "no-lost-update", "ownership", "token-order"]
    {
        assert!(names("invariants").contains(&invariant.to_owned()), "{invariant} is missing");
    }
    let designs = json(&run(&["list", "designs", "--json"]).stdout);
    assert_eq!(designs["designs"], all["designs"]);
    let outside = |entry: &&Value| entry["in_suite"] == false;
    let outside: Vec<&Value> = designs["designs"].as_array().unwrap().iter().filter(outside).collect();
    assert!(outside.is_empty(), "{outside:?}");
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
