//! The lock on the lease server under the whole suite.

use own_store::lock::leased;
use picklock::Gate;

fn gate() -> Gate {
    picklock::gate(leased()).seeds(100)
}

#[test]
fn the_lock_survives_what_does_not_stop_its_holder() {
    let verdict = gate().scenarios(["calm", "client-crash", "lost-reply", "node-restart", "storm"]).assert_holds();
    println!("{verdict}");
}
