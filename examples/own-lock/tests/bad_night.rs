//! Both locks in a bad night, in the world of the service that they are for: its lease time, its network.

use std::time::Duration;

use own_lock::{hasty::hasty, lease::lease};
use picklock::{Design, Gate};

fn bad_night(design: Design) -> Gate {
    picklock::gate(design)
        .scenario_file("scenarios/bad-night.toml")
        .ttl(Duration::from_millis(800))
        .latency(Duration::from_millis(1), Duration::from_millis(15))
        .seeds(500)
}

#[test]
fn the_lease_holds() {
    let verdict = bad_night(lease()).assert_holds();
    println!("{verdict}");
}

#[test]
fn the_hasty_release_is_caught() {
    let verdict = bad_night(hasty()).assert_violates("mutual-exclusion");
    let timeline = verdict.timeline("mutual-exclusion").expect("a violation has a timeline");
    println!("{timeline}");
    let at = |mark| timeline.find(mark).expect("the timeline marks both grants of the clash");
    assert!(at("◀ first grant") < at("◀ second grant"));
}
