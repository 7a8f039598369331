//! etcd as real processes in virtual time: what a lock on it keeps, what it does not, and that it is the same each time.
//!
//! Skipped, with a message, where there is no etcd, no Python, or where the machine runs no programs in virtual time.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::collections::BTreeMap;
use std::process::Command;

use picklock_processes::{ready, servers};

#[path = "support/binary.rs"]
mod binary;

use binary::{directory, run_in};

const ADAPTER: &str = concat!("python3 ", env!("CARGO_MANIFEST_DIR"), "/examples/adapters/etcd_lock.py");

/// Whether etcd can be run here, with a client in Python.
fn can_run() -> bool {
    let lacking = ready::findings().into_iter().find(|finding| finding.is_needed && !finding.is_there);
    if let Some(lacking) = lacking {
        println!("skipped: {}: {}", lacking.what, lacking.remedy);
        return false;
    }
    let python =
        Command::new("python3").arg("--version").output().is_ok_and(|output| output.status.success());
    let etcd = servers::installed_etcd().is_some();
    if !python || !etcd {
        println!("skipped: {} is not installed", if python { "etcd" } else { "python3" });
    }
    python && etcd
}

/// The lock on three members, with more of its parameters.
fn spelling(more: &str) -> String {
    format!("program{{topology=etcd:3{more}}}:{ADAPTER}")
}

/// In how many of these runs each invariant is violated.
fn violations(spelling: &str, scenario: &str, seeds: &str, set: &[&str]) -> BTreeMap<String, u64> {
    let here = directory();
    // What is allowed is not reduced, which would take many more runs.
    let allowed = format!(
        "[{scenario}]\nallow = [\"mutual-exclusion\", \"effective-exclusion\", \"no-lost-update\"]\n"
    );
    std::fs::write(here.path().join("allow.toml"), allowed).unwrap();
    let mut args =
        vec!["run", "--design", spelling, "--scenario", scenario, "--seeds", seeds, "--no-confirm"];
    args.extend(["--allow", "allow.toml", "--format", "json", "--set", "ttl=2s"]);
    args.extend(set.iter().flat_map(|setting| ["--set", setting]));
    let output = run_in(here.path(), &args);
    let report: serde_json::Value = serde_json::from_str(&output.stdout)
        .unwrap_or_else(|error| panic!("{spelling}: {error}: {}{}", output.stdout, output.stderr));
    // Nobody knows what a real server keeps, so that runs in which one died without a finding are open: 3.
    assert!(matches!(output.code, Some(0 | 1 | 3)), "{spelling}: {}", output.stderr);
    let cell = &report["cells"][0];
    assert!(cell["metrics"]["granted"].as_u64() > Some(0), "{spelling}: {cell}");
    let found = cell["violations"].as_object().unwrap();
    found.iter().map(|(name, found)| (name.clone(), found["runs"].as_u64().unwrap())).collect()
}

fn digest(spelling: &str, scenario: &str, seed: &str) -> String {
    let args = ["replay", spelling, scenario, seed, "--set", "ttl=2s"];
    let output = run_in(directory().path(), &args);
    let line = output.stdout.lines().find(|line| line.trim_start().starts_with("digest: "));
    line.unwrap_or_else(|| panic!("{}{}", output.stdout, output.stderr)).to_owned()
}

#[test]
fn nothing_is_found_where_nothing_goes_wrong() {
    if can_run() {
        assert_eq!(violations(&spelling(""), "calm", "2", &[]), BTreeMap::new());
    }
}

#[test]
fn a_holder_that_pauses_for_longer_than_its_lease_is_not_alone() {
    if can_run() {
        let found = violations(&spelling(""), "pause", "8", &["for=1.5 x ttl"]);
        assert!(found.contains_key("mutual-exclusion"), "{found:?}");
        assert!(found.contains_key("effective-exclusion"), "{found:?}");
    }
}

#[test]
fn its_revision_as_a_token_keeps_stale_writes_out() {
    if can_run() {
        let found = violations(&spelling(",fenced=yes"), "pause", "8", &["for=1.5 x ttl"]);
        assert!(found.contains_key("mutual-exclusion"), "{found:?}");
        let stale = ["effective-exclusion", "no-lost-update"].iter().any(|name| found.contains_key(*name));
        assert!(!stale, "{found:?}");
    }
}

#[test]
fn a_killed_leader_takes_no_lock_with_it() {
    if can_run() {
        assert_eq!(violations(&spelling(""), "failover", "4", &["how=crash"]), BTreeMap::new());
    }
}

#[test]
fn a_member_that_is_started_anew_finds_what_it_had_written() {
    if can_run() {
        // Alone it is all that there is of the lock.
        let alone = spelling("").replace("etcd:3", "etcd:1");
        assert_eq!(violations(&alone, "node-restart", "3", &[]), BTreeMap::new());
    }
}

#[test]
fn the_same_run_is_the_same_each_time() {
    if can_run() {
        for (scenario, seed, times) in [("pause", "1", 5), ("failover", "0", 3)] {
            let digests: Vec<String> = (0..times).map(|_| digest(&spelling(""), scenario, seed)).collect();
            assert!(digests.iter().all(|other| *other == digests[0]), "{scenario}: {digests:?}");
        }
    }
}
