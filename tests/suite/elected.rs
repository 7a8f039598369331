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
fn a_client_that_may_block_others_lives_on_while_a_run_is_decided() {
    // A key without an owner that takes it up: with the process that has the session it would go at the horizon, and with it the block.
    let cell = Cell::of(&design("etcd"), scenario("node-restart", &[])).unwrap();
    assert!(cell.run(Engine::Event, 44).violates("progress"));
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
    let design = late.adapt(&design("single")).unwrap();
    let run = picklock_campaign::check::seed(Engine::Event, &design, &late, Seed(1)).unwrap();
    assert!(run.plan.injections.is_empty(), "{:?}", run.plan.injections);
    assert!(!run.is_conclusive() && run.inconclusive.is_some_and(|lacks| lacks.why().contains("nothing")));
}

/// How many of so many first runs violate this under a scenario, and in how many its fault took effect.
fn count(spelling: &str, name: &str, fault: &str, violates: &str, runs: u64) -> (u64, u64) {
    let cell = Cell::of(&design(spelling), scenario(name, &[])).unwrap();
    (0..runs).fold((0, 0), |(violated, hit), seed| {
        let run = cell.run(Engine::Event, seed);
        let (is_violated, is_hit) = (run.violates(violates), run.took_effect.contains(fault));
        (violated + u64::from(is_violated), hit + u64::from(is_hit))
    })
}

#[test]
fn members_come_and_go_and_no_data_is_harmed() {
    let of_data = ["mutual-exclusion", "effective-exclusion", "no-lost-update"];
    for (spelling, invariants) in [
        ("etcd", &of_data[..]),
        // Without a key that an unanswered transaction leaves, nobody waits for long either.
        ("etcd{failed_txn=withdraw}", &["progress"]),
        ("lease-object", &of_data[..]),
        ("lease-object", &["progress"]),
    ] {
        for invariant in invariants {
            let (violated, hit) = count(spelling, "member-change", "member-change", invariant, 20);
            assert_eq!(violated, 0, "{spelling}: {invariant}");
            assert!(hit >= 18, "{spelling}: {hit} of 20");
        }
    }
}

#[test]
fn an_entry_that_was_torn_harms_no_data() {
    for spelling in ["etcd", "zookeeper"] {
        let (violated, hit) = count(spelling, "torn-entry", "failover", "mutual-exclusion", 20);
        assert_eq!((violated, hit), (0, 20), "{spelling}");
    }
}

#[test]
fn a_leader_that_comes_back_without_its_disk_takes_a_lock_along_if_a_third_member_lags() {
    let (violated, _) = count("etcd", "lost-disk", "replication-lag", "mutual-exclusion", 60);
    assert!(violated > 0);
}
