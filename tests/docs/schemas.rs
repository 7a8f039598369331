//! The JSON that picklock writes fits docs/schemas/, field for field.

use std::path::Path;

use serde_json::{Value, json};

use crate::binary::{directory, run_in};
use crate::schema::misfit;

fn read(name: &str) -> Value {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schemas").join(name);
    serde_json::from_str(&std::fs::read_to_string(&file).unwrap())
        .unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn assert_fits(schema: &str, text: &str, what: &str) {
    let value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{what}: {error}: {text}"));
    assert_eq!(misfit(&read(schema), &value, "$"), None, "{what} is not as docs/schemas/{schema} says");
}

#[test]
fn what_is_written_as_json_is_what_the_schemas_say() {
    let here = directory();
    let printed = |args: &[&str]| {
        let ended = run_in(here.path(), args);
        assert!(matches!(ended.code, Some(0 | 1 | 3)), "{args:?}: {}", ended.stderr);
        ended.stdout
    };
    let run = [
        "run",
        "--design",
        "single,no-lock,optimistic",
        "--scenario",
        "pause,calm,failover",
        "--seeds",
        "12",
    ];
    for more in [&["--expect", "none", "--no-confirm"][..], &["--no-confirm"]] {
        assert_fits("results.json", &printed(&[&run, more, &["--format", "json"]].concat()), "a campaign");
    }
    let compare = [
        "compare",
        "--design",
        "single,no-lock,single-fenced",
        "--scenario",
        "pause,failover",
        "--seeds",
        "12",
    ];
    assert_fits("comparison.json", &printed(&[&compare[..], &["--format", "json"]].concat()), "a comparison");
    for (design, scenario) in [
        ("single", "pause"),
        ("single-fenced", "failover"),
        ("reentrant", "clock-drift"),
        ("no-lock", "calm"),
        ("optimistic", "client-crash"),
        ("redlock", "node-restart"),
    ] {
        let replayed = printed(&["replay", design, scenario, "4", "--format", "json"]);
        assert_fits("run.json", &replayed, &format!("{design} under {scenario}"));
        let history = printed(&["replay", design, scenario, "4", "--format", "history"]);
        assert!(history.lines().count() > 10);
        history.lines().for_each(|line| assert_fits("history-line.json", line, line));
        std::fs::write(here.path().join("history.jsonl"), history).unwrap();
        assert_fits(
            "judgement.json",
            &printed(&["judge", "history.jsonl", "--format", "json"]),
            "a judgement",
        );
    }
    let explored = printed(&["explore", "--design", "single", "--fault", "stall", "--format", "json"]);
    assert_fits("explored.json", &explored, "an exploration");
    assert_fits("list.json", &printed(&["list", "--json"]), "what there is");
    let experiments = printed(&["experiment", "redlock-example", "--format", "json"]);
    assert_fits("experiments.json", &experiments, "an experiment");
    let saved = [
        "run",
        "--design",
        "single",
        "--scenario",
        "pause",
        "--seeds",
        "12",
        "--expect",
        "none",
        "--no-confirm",
        "--out",
        "out",
    ];
    printed(&saved);
    let of_the_run = std::fs::read_to_string(here.path().join("out/latest/manifest.json")).unwrap();
    assert_fits("manifest.json", &of_the_run, "a saved run");
    let mut repros = 0;
    for repro in std::fs::read_dir(here.path().join("out/repro")).unwrap() {
        assert_fits("repro.json", &std::fs::read_to_string(repro.unwrap().path()).unwrap(), "a repro");
        repros += 1;
    }
    assert!(repros > 0);
}

#[test]
fn the_schema_of_a_line_refuses_what_the_reader_refuses() {
    let schema = read("history-line.json");
    let line =
        json!({ "time_ns": 5, "host": "a", "process": 1, "type": "invoke", "f": "acquire", "key": "k" });
    assert_eq!(misfit(&schema, &line, "$"), None);
    let with = |name: &str, value: Value| {
        let mut line = line.clone();
        line[name] = value;
        line
    };
    for (name, value) in [
        ("time_ns", json!(-5)),
        ("time_ns", json!(5.5)),
        ("type", json!("done")),
        ("f", json!("lock")),
        ("f", json!("lose")),
        ("kay", json!("k")),
        ("history", json!(1)),
        ("token", json!("3")),
    ] {
        assert!(misfit(&schema, &with(name, value.clone()), "$").is_some(), "{name} {value}");
    }
    for name in ["time_ns", "host", "type", "f", "key"] {
        let mut less = line.clone();
        less.as_object_mut().unwrap().remove(name);
        assert!(misfit(&schema, &less, "$").is_some(), "without {name}");
    }
}
