//! The lock on the lease server under the suite.

use own_store::lock::leased;
use picklock::Gate;

fn gate() -> Gate {
    picklock::gate(leased()).seeds(50)
}

#[test]
fn the_lock_holds_as_long_as_its_holder_is_not_stopped() {
    let scenarios = [
        "calm",
        "client-crash",
        "client-partition",
        "clock-step",
        "delay",
        "lost-reply",
        "node-restart",
        "long-work",
    ];
    println!("{}", gate().scenarios(scenarios).assert_holds());
}

#[test]
fn the_data_are_safe_under_the_whole_suite() {
    let verdict = gate().confirm(false).run();
    println!("{verdict}");
    for invariant in ["effective-exclusion", "token-order", "ownership", "progress"] {
        assert!(!verdict.violates(invariant), "{invariant}");
    }
}

#[test]
fn a_server_that_forgets_at_once_is_caught() {
    gate().scenarios(["node-restart"]).set("lease-server.grace=0s").assert_violates("mutual-exclusion");
}

#[test]
fn a_server_that_waits_for_longer_than_it_must_is_as_safe() {
    picklock::gate(leased()).scenarios(["node-restart"]).set("grace=2 x ttl").assert_holds();
}

#[test]
fn the_same_seed_gives_the_same_run() {
    // The gate makes the first runs of every scenario twice, and fails if they differ.
    gate().scenarios(["node-restart"]).seeds(8).assert_holds();
}
