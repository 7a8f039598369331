//! The records of a library in another language: made anew by a renewal, or left behind by a release.
//!
//! Skipped, with a message, where there is no Python or where the machine runs no programs in virtual time.

use std::path::Path;

use crate::binary::{directory, run_in};
use crate::can_run::can_run;
use crate::interpreter::python3;

/// The first holder stands still for so long that another one comes and goes, and then renews.
const COMES_AND_GOES: &str = r#"summary = "a holder that renews stands still while another one comes and goes"
horizon = "10 x ttl"

[contend]
clients = 2
sections = 1
work = ["1 x ttl", "1.2 x ttl"]

[[fault]]
kind = "pause"
phase = "work"
client = 1
for = ["3 x ttl", "3.2 x ttl"]
"#;

/// The invariants that a program violates, but for those that any lease violates under a pause.
fn violated(wrong: &str, scenario: &str, more: &[&str]) -> Vec<String> {
    let here = directory();
    let every =
        ["mutual-exclusion", "effective-exclusion", "no-lost-update", "continuity", "truthful-answers"];
    std::fs::write(here.path().join("comes-and-goes.toml"), COMES_AND_GOES).unwrap();
    let name = scenario.trim_end_matches(".toml");
    // Allowed violations are not reduced, which would take many more runs.
    std::fs::write(here.path().join("allow.toml"), format!("[{name}]\nallow = {every:?}\n")).unwrap();
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/twins/records.py");
    let command = format!("{} {} {wrong}", python3(), program.display());
    let mut args = vec!["run", "--program", &command, "--scenario", scenario, "--no-confirm", "--seeds", "4"];
    args.extend(["--allow", "allow.toml", "--format", "json"]);
    args.extend(more);
    let ended = run_in(here.path(), &args);
    let report: serde_json::Value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{command}: {error}: {}{}", ended.stdout, ended.stderr));
    let cell = &report["cells"][0];
    assert_eq!(cell["runs"], 4, "{command}: {cell}");
    let found = cell["violations"].as_object().unwrap().keys();
    found.filter(|name| !every[..3].contains(&name.as_str())).cloned().collect()
}

#[test]
fn a_record_that_a_renewal_makes_anew_by_two_commands_is_found() {
    if !can_run(&["python3"]) {
        return;
    }
    let renewing = ["--renew", "--engine"];
    for engine in ["event", "turmoil"] {
        let violated = |wrong| violated(wrong, "comes-and-goes.toml", &[&renewing[..], &[engine]].concat());
        assert_eq!(violated(""), [""; 0], "{engine}");
        for how in ["anew script", "anew multi", "anew plain"] {
            let found = violated(how);
            assert!(found.iter().any(|name| name == "continuity"), "{engine}, {how}: {found:?}");
            assert!(!found.iter().any(|name| name == "truthful-answers"), "{engine}, {how}: {found:?}");
        }
    }
}

#[test]
fn a_release_that_leaves_its_record_is_found_whatever_the_lease_and_the_name() {
    if !can_run(&["python3"]) {
        return;
    }
    for lease in ["ttl=1s", "ttl=60s"] {
        for engine in ["event", "turmoil"] {
            let violated = |wrong| violated(wrong, "calm", &["--set", lease, "--engine", engine]);
            assert_eq!(violated(""), [""; 0], "{lease}, {engine}");
            assert_eq!(violated("leaves"), ["truthful-answers"], "{lease}, {engine}");
        }
    }
}
