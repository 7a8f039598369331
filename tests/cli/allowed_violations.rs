//! `picklock run --allow`: the file that the guide shows, and what is said of one that is wrong.

use crate::binary::{Ended, directory, run_in};

/// Honest holders under pauses, held against a file of this text.
fn run(text: &str, seeds: &str) -> Ended {
    let here = directory();
    std::fs::write(here.path().join("allow.toml"), text).unwrap();
    let design = "single{belief=honest}";
    let args = ["run", "--design", design, "--scenario", "pause", "--no-confirm", "--allow", "allow.toml"];
    run_in(here.path(), &[&args, ["--seeds", seeds].as_slice()].concat())
}

/// The file that the guide shows.
fn shown() -> String {
    let page = include_str!("../../docs/guide/gate.md");
    let (_, rest) = page.split_once("```toml\n").unwrap();
    rest.split_once("```").unwrap().0.to_owned()
}

#[test]
fn the_file_of_the_guide_is_read_and_what_it_allows_is_as_expected() {
    let ended = run(&shown(), "40");
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let says = "as expected: 1 yes, 0 no, 0 with too few runs for a verdict";
    assert!(ended.stdout.lines().any(|line| line == says), "{}", ended.stdout);
}

#[test]
fn what_a_file_does_not_allow_is_a_violation() {
    let ended = run("[pause]\nallow = [\"no-lost-update\"]", "200");
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("unexpected violation of effective-exclusion"), "{}", ended.stdout);
}

#[test]
fn a_mistake_is_reported_with_its_place_and_an_allowed_violation_that_nothing_needs_is_noted() {
    let ended = run("[pause]\nallow = [\"ownerships\"]", "1");
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    let says = "allow.toml:2:10: there is no invariant `ownerships` (did you mean `ownership`?)";
    assert!(ended.stderr.contains(says), "{}", ended.stderr);
    let ended = run(&shown().replace("honest-validity", "ownership"), "120");
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("note: ownership is allowed under `pause`"), "{}", ended.stderr);
}
