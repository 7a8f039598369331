//! Locks in three languages with one bug each, and the same without it: the bug is found, and without it nothing is reported.
//!
//! A language that is not installed is skipped, with a message.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::binary::{directory, run_in};
use crate::can_run::can_run;
use crate::interpreter::{digest, python3};
use crate::nightly::by_day_or_night;

/// The source of a twin.
fn source(name: &str) -> String {
    format!("{}/tests/fixtures/twins/{name}", env!("CARGO_MANIFEST_DIR"))
}

/// The bugs, each with the scenario that shows it and the invariants that it violates.
const WRONGS: [(&str, &str, &str); 3] = [
    ("del", "long-work", "ownership"),
    ("renew", "late-renewal", "ownership"),
    ("token", "calm", "token-order"),
];

/// True if an invariant is violated under a scenario; what any lock with a lease violates there is allowed, and not reduced.
fn violated(command: &str, (wrong, scenario, invariant): (&str, &str, &str), seeds: u32) -> bool {
    let (here, seeds) = (directory(), seeds.to_string());
    let every = ["mutual-exclusion", "effective-exclusion", "no-lost-update"]
        .map(|name| format!("\"{name}\""))
        .join(", ");
    std::fs::write(here.path().join("allow.toml"), format!("[{scenario}]\nallow = [{every}]\n")).unwrap();
    let mut args = vec![
        "run",
        "--program",
        command,
        "--fenced",
        "--scenario",
        scenario,
        "--seeds",
        &seeds,
        "--no-confirm",
    ];
    args.extend(["--allow", "allow.toml", "--format", "json"]);
    if wrong == "renew" {
        args.push("--renew");
    }
    let ended = run_in(here.path(), &args);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{command}: {error}: {}{}", ended.stdout, ended.stderr));
    assert!(matches!(ended.code, Some(0 | 1)), "{command}: {}", ended.stderr);
    let cell = &report["cells"][0];
    assert_ne!(cell["runs"], 0, "{command}: {cell}");
    cell["violations"].get(invariant).is_some()
}

/// Each thing that may be wrong, with it and without it; then the same run twice.
fn distinguished(command: &str) {
    for case in WRONGS {
        assert!(violated(&format!("{command} {}", case.0), case, 3), "{case:?}");
        assert!(!violated(command, case, by_day_or_night(3, 667)), "{case:?}");
    }
    let spelling = format!("program{{fenced=yes,renew=yes}}:{command} renew");
    let again: Vec<String> = (0..2)
        .map(|_| digest(&run_in(directory().path(), &["replay", &spelling, "late-renewal", "1"])))
        .collect();
    assert_eq!(again[0], again[1], "{command}");
}

#[test]
fn in_python() {
    if can_run(&["python3"]) {
        distinguished(&format!("{} {}", python3(), source("twin.py")));
    }
}

#[test]
fn in_node() {
    if can_run(&["node"]) {
        distinguished(&format!("node {}", source("twin.js")));
    }
}

#[test]
fn in_go() {
    if !can_run(&["go"]) {
        return;
    }
    let here = directory();
    let program = built(here.path());
    distinguished(program.to_str().unwrap());
}

/// The twin in Go, built into a directory: it needs nothing but the standard library.
fn built(within: &Path) -> PathBuf {
    let program = within.join("twin");
    let mut go = Command::new("go");
    go.args(["build", "-o"]).arg(&program).arg(source("twin.go"));
    let output = go.env("CGO_ENABLED", "0").env("GO111MODULE", "off").output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program
}
