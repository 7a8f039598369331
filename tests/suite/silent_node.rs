//! A node of a Redis Cluster that is silent in a split: a client that asks the other nodes finds the one that was elected while the lease of
//! the holder in the minority lasts; a client that sends its command to the silent node again does not.

use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

use crate::cells::{Cell, design};

fn cell(spelling: &str) -> Cell {
    let scenario = suite::named("split", &picklock_stores::params()).unwrap();
    Cell::of(&design(spelling), scenario).unwrap()
}

/// The seeds whose runs have two holders. The first run is made twice, and must be the same.
fn seeds_with_two_holders(spelling: &str) -> Vec<u64> {
    let cell = cell(spelling);
    let run = |seed| cell.run(Engine::Event, seed);
    assert_eq!(run(0).trace.digest, run(0).trace.digest);
    (0..30).filter(|seed| run(*seed).violates("mutual-exclusion")).collect()
}

#[test]
fn the_lease_of_a_holder_in_the_minority_outlasts_the_election_of_a_primary() {
    let seeds = seeds_with_two_holders("cluster");
    assert!(seeds.len() >= 3, "only {seeds:?}");
}

#[test]
fn a_client_that_asks_a_silent_node_again_comes_too_late_to_meet_the_holder() {
    assert_eq!(seeds_with_two_holders("cluster{silent=resend}"), Vec::<u64>::new());
}
