//! Both locks in a bad night: the world that this service runs in, with its lease time and its network.

use std::time::Duration;

use own_lock::{hasty::hasty, lease::lease};
use picklock::{Design, Gate};

fn bad_night(design: Design) -> Gate {
    picklock::gate(design)
        .scenario_file("scenarios/bad-night.toml")
        .ttl(Duration::from_millis(800))
        .latency(Duration::from_millis(1), Duration::from_millis(15))
}

#[test]
fn the_lease_holds() {
    let verdict = bad_night(lease()).scenarios(["calm"]).seeds(500).assert_holds();
    println!("{verdict}");
}

#[test]
fn the_hasty_release_is_caught() {
    let verdict = bad_night(hasty()).seeds(500).assert_violates("ownership");
    let timeline = verdict.timeline("ownership").expect("a violation is told");
    println!("{timeline}");
    assert!(timeline.contains("deletes the record"));
}
