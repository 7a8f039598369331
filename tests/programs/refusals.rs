//! A program that answers `refused` at once is asked again: when it says, or after pauses that grow with a long lease.
//!
//! Skipped, with a message, where there is no Python or where the machine runs no programs in virtual time.

use std::path::Path;

use crate::binary::{directory, run_in};
use crate::can_run::can_run;
use crate::interpreter::python3;

/// How often the clients of a run ask in all, where the first holder dies and its lease must run out.
fn asked(answer: &str, lease: &str, engine: &str) -> usize {
    let program = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/twins/asked_once.py");
    let spelling = format!("program:{} {} {answer}", python3(), program.display());
    let set = ["--set", lease, "--set", "client=1", "--set", "section=1", "--set", "phase=work"];
    let args = ["replay", &spelling, "client-crash", "1", "--full", "--engine", engine];
    let ended = run_in(directory().path(), &[&args[..], &set].concat());
    assert!(!ended.stdout.contains("progress"), "{}", ended.stdout);
    let count = ended.stdout.matches("is asked `acquire").count();
    assert!(count > 1, "{}{}", ended.stdout, ended.stderr);
    count
}

#[test]
fn a_long_lease_is_waited_for_in_few_questions() {
    if !can_run(&["python3"]) {
        return;
    }
    for engine in ["event", "turmoil"] {
        let [short, long] = ["ttl=1s", "ttl=61s"].map(|lease| asked("", lease, engine));
        assert!(long < 10 * short && long < 1_000, "{engine}: {short} and {long}");
        let said = asked("retry_ms=900", "ttl=61s", engine);
        assert!(said < 150, "{engine}: {said}");
    }
}
