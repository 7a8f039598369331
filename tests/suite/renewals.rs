//! Runs in which nothing is renewed: a scenario about renewals puts nothing to the test there.

use picklock_scenarios::scenario::Scenario;
use picklock_sim::engine::Engine;

use crate::cells::{Cell, design};

fn scenario(name: &str) -> Scenario {
    let mut all = picklock_scenarios::suite::builtin(&picklock_stores::params()).into_iter();
    all.find(|scenario| scenario.name() == name).unwrap()
}

#[test]
fn a_run_in_which_nothing_is_renewed_proves_nothing_whatever_it_shows() {
    // Of a program nobody knows whether it renews.
    let unknown = design("single").renewing();
    let cell = Cell::of(&unknown, scenario("renewal-error")).unwrap();
    for seed in 0..5 {
        let run = cell.run(Engine::Event, seed);
        assert_eq!(run.violated(), Vec::<String>::new(), "seed {seed}");
        assert!(run.inconclusive.is_some_and(|lacks| lacks.why().contains("renewed")), "seed {seed}");
    }
    let renewed = Cell::of(&design("watchdog"), scenario("renewal-error")).unwrap();
    assert!((0..5).all(|seed| renewed.run(Engine::Event, seed).inconclusive.is_none()));
}

#[test]
fn a_client_that_gives_up_renewing_at_an_error_is_found() {
    let stopping = Cell::of(&design("watchdog{renewal=stopping}"), scenario("renewal-error")).unwrap();
    let found =
        (0..20).filter(|seed| stopping.run(Engine::Event, *seed).violates("mutual-exclusion")).count();
    assert!(found >= 2, "{found} of 20");
}
