//! ZooKeeper as real processes in virtual time: what kazoo's lock on it keeps, what it does not, and that it is the same each
//! time.
//!
//! Skipped, with a message, where there is no ZooKeeper, no Java, no kazoo (which `examples/adapters/build` installs), or where
//! the machine runs no programs in virtual time.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use picklock_programs::servers;
use picklock_testing::skip;

use crate::can_run::can_run;
use crate::ensemble::Runs;
use crate::nightly::by_day_or_night;

const ADAPTER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/examples/adapters/kazoo_lock.py");

/// For longer than the session and the ticks until it is ended.
const PAUSE: [&str; 2] = ["for=2 x ttl", "tick_time=2s"];

/// With ticks so short that the others give a silent leader up before it is back.
const FAILOVER: [&str; 2] = ["how=crash", "tick_time=500ms"];

/// The Python that has the libraries of the adapters.
fn python() -> PathBuf {
    let usual = || Path::new(env!("CARGO_MANIFEST_DIR")).join("target/adapters");
    std::env::var_os("PICKLOCK_ADAPTERS").map_or_else(usual, PathBuf::from).join("python/bin/python")
}

/// True if ZooKeeper can be run here, with kazoo.
fn zookeeper_can_run() -> bool {
    if servers::version("zookeeper").is_none() {
        skip("ZooKeeper or Java is not installed");
        return false;
    }
    let kazoo = Command::new(python()).args(["-c", "import kazoo"]).output();
    if !kazoo.is_ok_and(|output| output.status.success()) {
        skip(format_args!("{} has no kazoo: run examples/adapters/build", python().display()));
        return false;
    }
    can_run(&[])
}

/// The lock on so many members, with more of its parameters.
fn on(members: u32, more: &str) -> Runs {
    let python = python();
    let spelling =
        format!("program{{topology=real-zookeeper:{members}{more}}}:{} {ADAPTER}", python.display());
    Runs { spelling, set: "ttl=4s" }
}

#[test]
fn a_holder_that_pauses_for_longer_than_its_session_is_not_alone() {
    if zookeeper_can_run() {
        let found = on(1, "").violations("pause", by_day_or_night("4..5", "6"), &PAUSE);
        assert!(found.contains_key("mutual-exclusion"), "{found:?}");
    }
}

#[test]
fn the_transaction_of_its_node_as_a_token_keeps_stale_writes_out() {
    if zookeeper_can_run() {
        let found = on(1, ",fenced=yes").violations("pause", by_day_or_night("4..5", "6"), &PAUSE);
        assert!(found.contains_key("mutual-exclusion"), "{found:?}");
        let stale = ["effective-exclusion", "no-lost-update"].iter().any(|name| found.contains_key(*name));
        assert!(!stale, "{found:?}");
    }
}

#[test]
fn a_killed_leader_takes_no_lock_with_it() {
    if zookeeper_can_run() {
        assert_eq!(on(3, "").violations("failover", by_day_or_night("1", "2"), &FAILOVER), BTreeMap::new());
    }
}

#[test]
fn the_same_run_is_the_same_each_time() {
    if zookeeper_can_run() {
        let times = by_day_or_night(2, 5);
        for (members, scenario, set) in [(1, "pause", PAUSE), (3, "failover", FAILOVER)] {
            let digest = |_| on(members, "").digest(scenario, "1", &set);
            let digests: Vec<String> = (0..times).map(digest).collect();
            assert!(digests.iter().all(|other| *other == digests[0]), "{members} {scenario}: {digests:?}");
        }
    }
}
