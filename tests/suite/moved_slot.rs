//! A slot of a Redis Cluster that is moved while its lock is held: the lock is lost only with the primary that got the slot, or where that
//! one takes it too late.

use picklock_campaign::{check, counterexamples};
use picklock_reports::Style;
use picklock_reports::story::timeline::{self, Detail};
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

use crate::cells::{Cell, design};

fn cell(scenario: &str) -> Cell {
    let scenario = suite::named(scenario, &picklock_stores::params()).unwrap();
    Cell::of(&design("cluster"), scenario).unwrap()
}

#[test]
fn a_lock_goes_with_its_slot() {
    let cell = cell("moved-slot");
    for seed in 0..5 {
        let run = cell.run(Engine::Event, seed);
        assert_eq!(run.violated(), Vec::<String>::new(), "seed {seed}");
        assert!(run.inconclusive.is_none(), "seed {seed}");
    }
}

#[test]
fn a_lock_is_lost_with_the_primary_that_got_its_slot_and_the_story_says_so() {
    let cell = cell("moved-slot-lost");
    let runs = (0..10).map(|seed| cell.run(Engine::Event, seed));
    let harmed: Vec<_> = runs.filter(|run| run.violates("mutual-exclusion")).collect();
    assert!(harmed.len() >= 5, "{} of 10", harmed.len());
    let options = check::Options::from(Engine::Event).with_wire();
    let kept = check::check(options, &cell.design, harmed[0].plan.clone()).unwrap();
    let story = counterexamples::story(&cell.design, cell.scenario.name(), &kept, String::new());
    let text = timeline::explain(&story);
    for word in ["move-slot", "node-2", "replica-2-1"] {
        assert!(text.contains(word), "{word} is not named in: {text}");
    }
}

#[test]
fn a_lock_is_lost_where_its_slot_is_taken_later_than_others_wait_for_it() {
    let cell = cell("moved-slot-late");
    let mut runs = (0..200).map(|seed| cell.run(Engine::Event, seed));
    let harmed = runs.find(|run| run.violates("mutual-exclusion")).expect("a violation");
    let options = check::Options::from(Engine::Event).with_wire();
    let kept = check::check(options, &cell.design, harmed.plan.clone()).unwrap();
    let story = counterexamples::story(&cell.design, cell.scenario.name(), &kept, String::new());
    let text = timeline::render(&story, &Style { colour: false, width: 200 }, Detail::Relevant);
    for word in ["Pausing writes for slot handoff", "Write pause timeout", "Taking over slots"] {
        assert!(text.contains(word), "{word} is not named in: {text}");
    }
}
