//! Both locks under the whole suite that comes with picklock: what no lease can keep is allowed, and nothing else.

use own_lock::{hasty::hasty, lease::lease};
use picklock::{Design, Gate};

/// The allowed violations follow from the claims of the lock: fenced, so that nothing stale is ever applied; on one store, so that it is
/// no better than that store's memory and clock.
fn suite(design: Design) -> Gate {
    let forgets = ["failover", "split", "replication-lag", "node-restart", "storm"];
    let gate = picklock::gate(design).seeds(40).confirm(false);
    let gate = gate.allow("clock-step", ["mutual-exclusion", "honest-validity"]);
    let gate = gate.allow("suspend", ["mutual-exclusion", "honest-validity"]);
    forgets.into_iter().fold(gate, |gate, scenario| {
        gate.allow(
            scenario,
            [
                "mutual-exclusion",
                "honest-validity",
                "token-order",
                "effective-exclusion",
                "no-lost-update",
                "continuity",
            ],
        )
    })
}

#[test]
fn the_lease_keeps_what_a_lease_can() {
    suite(lease()).assert_holds();
}

#[test]
fn the_hasty_release_is_caught() {
    assert!(!suite(hasty()).run().holds());
}
