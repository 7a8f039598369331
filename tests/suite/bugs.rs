//! The collection of bugs that real libraries had: each is found by its scenario, and the design that does the same
//! without the bug is not accused of it.
//!
//! The seeds are bounded, so that this takes a few seconds; docs/bugs.md has the figures of many more.

use picklock_campaign::bugs::{Bug, builtin};
use picklock_impls::bugs;
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

use crate::cells::{Cell, design};

/// Few, so that this takes seconds.
const SEEDS: u64 = 60;

fn cell(spelling: &str, scenario: &str) -> Cell {
    Cell::of(&design(spelling), suite::named(scenario, &picklock_stores::params()).unwrap()).unwrap()
}

/// The first seed that shows a violation.
fn found(spelling: &str, scenario: &str, invariant: &str) -> Option<u64> {
    let cell = cell(spelling, scenario);
    (0..SEEDS).find(|seed| cell.run(Engine::Event, *seed).violates(invariant))
}

#[test]
fn every_bug_of_the_collection_has_its_lock_and_every_lock_its_entry() {
    let locks: Vec<&str> = bugs().iter().map(|family| family.name).collect();
    let entries: Vec<String> = builtin().into_iter().map(|bug| bug.name).collect();
    assert_eq!(locks, entries);
    for family in bugs() {
        assert!(family.source.contains("https://"), "{}: {}", family.name, family.source);
        let designs = picklock_impls::families();
        assert!(designs.iter().all(|design| design.name != family.name), "{} is a design too", family.name);
    }
}

#[test]
fn every_bug_is_found_under_the_seed_that_is_given() {
    for bug in builtin() {
        let Bug { name, scenario, invariant, seed, .. } = &bug;
        if !cell(name, scenario).run(Engine::Event, *seed).violates(invariant) {
            let first = found(name, scenario, invariant);
            panic!("`{}` shows no {invariant} any more; of the first seeds {first:?} does", bug.replay());
        }
    }
}

#[test]
fn no_twin_is_accused_of_the_bug() {
    for Bug { twin, scenario, invariant, .. } in builtin() {
        let accused = found(&twin, &scenario, &invariant);
        assert_eq!(accused, None, "{twin} is accused of {invariant} under {scenario}");
    }
}

#[test]
fn every_bug_repeats_itself() {
    for bug in builtin() {
        for spelling in [&bug.name, &bug.twin] {
            let cell = cell(spelling, &bug.scenario);
            let (first, second) = (cell.run(Engine::Event, 9), cell.run(Engine::Event, 9));
            assert_eq!(first.trace, second.trace, "{spelling} under {}", bug.scenario);
        }
    }
}

/// A variant that tutorials show: what a failed attempt has taken is left to its lease, so that votes stay split.
#[test]
fn a_redlock_that_does_not_take_back_failed_attempts_stands_still_for_longer() {
    let blocked = |spelling: &str| -> u64 {
        let cell = cell(spelling, "calm");
        (0..SEEDS).map(|seed| cell.run(Engine::Event, seed).metrics.blocked_ns).sum()
    };
    let (leaves, releases) = (blocked("redlock-budget"), blocked("redlock-budget{failure=release}"));
    assert!(leaves * 2 > releases * 3, "{leaves} ns against {releases} ns");
}
