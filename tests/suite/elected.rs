//! Stores whose members elect their leader: what a fault of the leader does to them.

use picklock_model::plan::{Action, Target};
use picklock_model::seed::Seed;
use picklock_scenarios::scenario::Scenario;
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

use crate::cells::{Cell, design};

fn scenario(name: &str, settings: &[&str]) -> Scenario {
    let mut scenario = suite::named(name, &picklock_stores::params()).unwrap();
    scenario.set_all(settings).unwrap();
    scenario
}

#[test]
fn a_split_leaves_the_leader_with_one_client() {
    let cell = Cell::of(&design("etcd"), scenario("split", &[])).unwrap();
    for seed in 0..10 {
        let run = cell.run(Engine::Event, seed);
        let [leader, others] = &run.plan.injections[..] else { panic!("{:?}", run.plan.injections) };
        let Target::Hosts(minority) = &others.target else { panic!("{others:?}") };
        let Action::Cut { to: Target::Hosts(majority), both: true, .. } = &leader.action else {
            panic!("{leader:?}")
        };
        assert!(matches!(&minority[..], [client] if client.starts_with("client-")), "{minority:?}");
        assert_eq!(majority.iter().filter(|host| host.starts_with("node-")).count(), 2, "{majority:?}");
        assert!(run.took_effect.contains("failover"), "seed {seed}");
    }
}

#[test]
fn a_leader_that_stands_still_is_replaced_and_no_data_is_harmed() {
    let settings = ["failover.how=pause", "failover.for=2 x ttl"];
    let cell = Cell::of(&design("etcd"), scenario("failover", &settings)).unwrap();
    let replaced = |seed| {
        let run = cell.run(Engine::Event, seed);
        assert!(!run.violates("effective-exclusion") && !run.violates("no-lost-update"), "seed {seed}");
        let leaders = run
            .trace
            .events
            .iter()
            .filter(|event| matches!(event.what, picklock_model::trace::What::BecameLeader));
        leaders.count() > 1
    };
    let count = (0..20).filter(|seed| replaced(*seed)).count();
    assert!(count >= 10, "{count} of 20");
}

#[test]
fn a_run_whose_faults_have_nothing_to_hit_is_inconclusive() {
    // There is no third client that could stand still.
    let settings = ["clients=2", "pause.client=3"];
    let mut late = scenario("late-waiter", &[]);
    late.set_all(&settings).unwrap();
    let design = late.applies(&design("single")).unwrap();
    let run = picklock_campaign::check::seed(Engine::Event, &design, &late, Seed(1)).unwrap();
    assert!(run.plan.injections.is_empty(), "{:?}", run.plan.injections);
    assert!(!run.is_conclusive() && run.inconclusive.is_some_and(|why| why.contains("nothing")));
}
