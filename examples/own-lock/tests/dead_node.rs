//! A lock on a majority of nodes claims that the rest of them may be down. The suite asks it to keep that claim.

use own_lock::majority::{hurried, patient};
use picklock::{Design, Gate};

/// The gate of this test, which looks at nothing else of the two designs.
fn suite(design: Design) -> Gate {
    picklock::gate(design).confirm(false)
}

#[test]
fn whoever_waits_for_a_dead_node_is_found_by_the_suite() {
    let verdict = suite(patient()).seeds(10).run();
    println!("{}", verdict.timeline("progress").expect("a dead node stops everybody"));
}

#[test]
fn whoever_goes_on_to_the_next_node_is_served() {
    assert!(!suite(hurried()).seeds(10).run().violates("progress"));
}
