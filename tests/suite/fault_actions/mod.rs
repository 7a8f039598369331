//! Fault actions on real designs, by the event engine, in runs that are written by hand; and that the faults of the suite make a
//! difference.

mod clocks;
mod crashes;
mod effect;
mod halts;
mod network;

use picklock_campaign::check::Checked;
use picklock_sim::engine::Engine;

use crate::cells::design;
use crate::stage::*;

/// Both clients had their turn and nothing was violated.
fn assert_sound(run: &Checked) {
    assert_eq!(run.violated(), [""; 0], "{:?}", run.violations().map(|(_, found)| found).collect::<Vec<_>>());
    let writes = [written(run, "client-1"), written(run, "client-2")].concat();
    assert_eq!(writes.len(), 2, "both clients write");
}

#[test]
fn the_stage_alone_is_sound_for_every_design_but_those_without_a_lock() {
    for family in picklock_impls::families() {
        for engine in [Engine::Event, Engine::TURMOIL] {
            let mut plan = stage([]);
            let store = design(family.name).store;
            // No store is asked for a lease that it refuses.
            plan.world.ttl = store.map_or(LEASE, |store| store.spec.smallest_lease().max(LEASE));
            let run = run_on(engine, family.name, plan);
            // The pooler lends both clients one connection, whose session has the lock.
            if ["no-lock", "advisory-pooled"].contains(&family.name) {
                assert!(run.violates("mutual-exclusion"));
            } else {
                assert_sound(&run);
            }
        }
    }
}
