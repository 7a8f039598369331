//! etcd as real processes in virtual time: what a lock on it keeps, what it does not, and that it is the same each time.
//!
//! Skipped, with a message, where there is no etcd, no Python, or where the machine runs no programs in virtual time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use picklock_programs::servers;
use picklock_testing::skip;

use crate::can_run::can_run;
use crate::ensemble::Runs;
use crate::nightly::by_day_or_night;

const ADAPTER: &str = concat!("python3 ", env!("CARGO_MANIFEST_DIR"), "/examples/adapters/etcd_lock.py");

/// True if etcd can be run here, with a client in Python.
fn etcd_can_run() -> bool {
    let etcd = servers::version("etcd").is_some();
    if !etcd {
        skip("etcd is not installed");
    }
    etcd && can_run(&["python3"])
}

/// The lock on so many members, with more of its parameters.
fn on(members: u32, more: &str) -> Runs {
    Runs { spelling: format!("program{{topology=real-etcd:{members}{more}}}:{ADAPTER}"), set: "ttl=2s" }
}

#[test]
fn nothing_is_found_where_nothing_goes_wrong() {
    if etcd_can_run() {
        assert_eq!(on(3, "").violations("calm", "2", &[]), BTreeMap::new());
    }
}

#[test]
fn a_holder_that_pauses_for_longer_than_its_lease_is_not_alone() {
    if etcd_can_run() {
        let found = on(3, "").violations("pause", by_day_or_night("4..5", "8"), &["for=1.5 x ttl"]);
        assert!(found.contains_key("mutual-exclusion"), "{found:?}");
        assert!(found.contains_key("effective-exclusion"), "{found:?}");
    }
}

#[test]
fn its_revision_as_a_token_keeps_stale_writes_out() {
    if etcd_can_run() {
        let found =
            on(3, ",fenced=yes").violations("pause", by_day_or_night("4..5", "8"), &["for=1.5 x ttl"]);
        assert!(found.contains_key("mutual-exclusion"), "{found:?}");
        let stale = ["effective-exclusion", "no-lost-update"].iter().any(|name| found.contains_key(*name));
        assert!(!stale, "{found:?}");
    }
}

#[test]
fn a_killed_leader_takes_no_lock_with_it() {
    if etcd_can_run() {
        assert_eq!(
            on(3, "").violations("failover", by_day_or_night("2", "4"), &["how=crash"]),
            BTreeMap::new()
        );
    }
}

#[test]
fn a_member_that_is_started_anew_finds_what_it_had_written() {
    if etcd_can_run() {
        // Alone it is all that there is of the lock.
        assert_eq!(on(1, "").violations("node-restart", "2", &[]), BTreeMap::new());
    }
}

#[test]
fn the_same_run_is_the_same_each_time() {
    if etcd_can_run() {
        for (scenario, seed, times) in [("pause", "1", by_day_or_night(2, 5)), ("failover", "0", 2)] {
            let digests: Vec<String> = (0..times).map(|_| on(3, "").digest(scenario, seed, &[])).collect();
            assert!(digests.iter().all(|other| *other == digests[0]), "{scenario}: {digests:?}");
        }
    }
}

/// The Python that has the libraries of the adapters.
fn python() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/adapters");
    std::env::var_os("PICKLOCK_ADAPTERS").map_or_else(usual, PathBuf::from).join("python/bin/python")
}

#[test]
fn a_library_on_the_c_core_of_grpc_is_the_same_each_time() {
    let has_it = Command::new(python()).args(["-c", "import etcd3"]).output();
    if !has_it.is_ok_and(|output| output.status.success()) {
        return skip(format_args!("{} has no etcd3: run examples/adapters/build", python().display()));
    }
    if etcd_can_run() {
        let adapter = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/adapters/etcd3_lock.py");
        let spelling = format!("program{{topology=real-etcd:1}}:{} {adapter}", python().display());
        let runs = Runs { spelling, set: "ttl=2s" };
        assert_eq!(runs.violations("calm", "2", &["clients=2"]), BTreeMap::new());
        let times = by_day_or_night(2, 20);
        let digests: Vec<String> = (0..times).map(|_| runs.digest("calm", "0", &["clients=2"])).collect();
        assert!(digests.iter().all(|other| *other == digests[0]), "{digests:?}");
    }
}
