//! Leases of stores that grant none below a shortest one: everything that a scenario gives in leases follows.

use std::time::Duration;

use picklock_model::plan::Action;
use picklock_scenarios::scenario::Scenario;
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

use crate::cells::{Cell, design};

fn pause() -> Scenario {
    suite::named("pause", &picklock_stores::params()).unwrap()
}

/// The lengths of the pauses of a design's first plans.
fn pauses(scenario: &Scenario, spelling: &str) -> Vec<Duration> {
    let cell = Cell::of(&design(spelling), scenario.clone()).unwrap();
    let plans = (0..30).map(|seed| cell.run(Engine::Event, seed).plan);
    let lengths = plans.flat_map(|plan| {
        assert_eq!(plan.world.ttl, scenario.lease(&cell.design));
        plan.injections.into_iter().filter_map(|injection| match injection.action {
            Action::Pause { lasts } => Some(lasts),
            _ => None,
        })
    });
    lengths.collect()
}

#[test]
fn pauses_last_in_terms_of_the_lease_that_the_store_grants() {
    let scenario = pause();
    let (single, etcd) = (pauses(&scenario, "single"), pauses(&scenario, "etcd"));
    assert_eq!((single.len(), etcd.len()), (30, 30));
    for (single, etcd) in single.into_iter().zip(etcd) {
        assert!((scenario.ttl() / 2..=scenario.ttl() * 2).contains(&single), "{single:?}");
        assert!((Duration::from_secs(1)..=Duration::from_secs(4)).contains(&etcd), "{etcd:?}");
    }
}

#[test]
fn a_lease_that_the_store_grants_is_left_as_it_is() {
    let mut scenario = pause();
    scenario.set_all(&["ttl=3s"]).unwrap();
    assert_eq!(scenario.lease(&design("etcd")), Duration::from_secs(3));
    assert_eq!(scenario.lease(&design("single")), Duration::from_secs(3));
}

#[test]
fn a_setting_of_the_store_that_changes_its_leases_changes_the_lengths_of_faults() {
    let granted = |setting: &str, ttl: &str, spelling: &str| {
        let mut scenario = pause();
        scenario.set_all(&[setting, ttl]).unwrap();
        let cell = Cell::of(&design(spelling), scenario).unwrap();
        let plan = cell.run(Engine::Event, 0).plan;
        (plan.world.ttl, cell.scenario.lease(&cell.design))
    };
    let seconds = |seconds| (Duration::from_secs(seconds), Duration::from_secs(seconds));
    assert_eq!(granted("etcd.election_timeout=3s", "ttl=1s", "etcd"), seconds(5), "one and a half elections");
    assert_eq!(granted("etcd.election_timeout=3s", "ttl=6500ms", "etcd"), seconds(7), "whole seconds");
    assert_eq!(granted("zookeeper.tick_time=2s", "ttl=60s", "zookeeper"), seconds(40), "twenty ticks");
    assert_eq!(granted("zookeeper.tick_time=1s", "ttl=1s", "zookeeper"), seconds(2), "two ticks");
}
