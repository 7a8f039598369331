//! Losses of which a lock notifies its holder: the section ends at that instant, also while it waits for the resource.

use picklock_model::trace::What;
use picklock_scenarios::scenario::Scenario;
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

use crate::cells::{Cell, design};

fn cell(spelling: &str, name: &str, settings: &[&str]) -> Cell {
    let mut scenario: Scenario = suite::named(name, &picklock_stores::params()).unwrap();
    scenario.set_all(settings).unwrap();
    Cell::of(&design(spelling), scenario).unwrap()
}

#[test]
fn a_holder_that_is_cut_off_from_the_resource_too_stops_when_its_connection_is_suspended() {
    let cell = cell("curator{obeys=suspended}", "client-partition", &[]);
    let mut notified = 0;
    for seed in 0..60 {
        let run = cell.run(Engine::Event, seed);
        assert!(!run.violates("mutual-exclusion"), "seed {seed}");
        let denied = |event: &&picklock_model::trace::Event| matches!(event.what, What::RenewalDenied { .. });
        notified += run.trace.events.iter().filter(denied).count();
    }
    assert!(notified > 4, "{notified} holders were notified of a loss");
}

#[test]
fn a_client_that_ignores_losses_works_on() {
    let cell = cell("curator{obeys=suspended}", "client-partition", &["ignores_loss=yes"]);
    let two = (0..60).filter(|seed| cell.run(Engine::Event, *seed).violates("mutual-exclusion")).count();
    assert!(two > 0, "two held in {two} of 60 runs");
}

#[test]
fn a_late_read_that_changes_nothing_does_not_harm_the_data() {
    let cell = cell("delayed", "delay", &[]);
    assert!(!cell.run(Engine::Event, 13).violates("effective-exclusion"));
}

#[test]
fn the_key_of_a_transaction_without_an_answer_blocks_the_others_while_its_session_lives() {
    let blocked = |spelling: &str| {
        let cell = cell(spelling, "lost-reply", &[]);
        (50..120).filter(|seed| cell.run(Engine::Event, *seed).violates("progress")).count()
    };
    assert!(blocked("etcd") > 0, "clientv3 leaves it");
    assert_eq!(blocked("etcd{failed_txn=withdraw}"), 0);
}

#[test]
fn a_thread_acquires_once_more_what_it_holds_with_curator_and_in_a_session_of_postgresql() {
    for spelling in ["curator", "advisory", "advisory{scope=transaction}"] {
        let cell = cell(spelling, "nested", &["lost-reply.times=0"]);
        for seed in 0..10 {
            let run = cell.run(Engine::Event, seed);
            assert_eq!(run.violated(), Vec::<String>::new(), "{spelling}, seed {seed}");
            let twice = |event: &&picklock_model::trace::Event| matches!(event.what, What::Reentered { .. });
            assert!(run.trace.events.iter().any(|event| twice(&event)), "{spelling}, seed {seed}");
        }
    }
}
