//! Every single site is tried, those that violate something are found by name, and the same line makes the same run.

use std::num::NonZero;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock::campaign::explore::{self, Explored, Request};
use picklock::model::plan::{Access, Edge, Phase};
use picklock::model::seed::Seed;
use picklock::model::trace::Role;
use picklock::scenarios::faults::{self, AtSite};
use picklock::scenarios::scenario::Scenario;
use picklock::scenarios::suite;
use picklock::sim::design::{Design, spell};

fn calm(settings: &[&str]) -> Scenario {
    let mut scenario = suite::named("calm", &picklock_stores::params()).unwrap();
    scenario.set_all(settings).unwrap();
    scenario
}

fn design(name: &str, scenario: &Scenario) -> Design {
    scenario.adapt(&spell(picklock::impls::families(), name).unwrap()).unwrap()
}

fn request<'a>(design: &'a Design, scenario: &'a Scenario, kinds: &[&str]) -> Request<'a> {
    let kinds: Vec<&'static AtSite> = kinds.iter().map(|kind| faults::at_site_named(kind).unwrap()).collect();
    Request {
        design,
        scenario,
        kept: None,
        seeds: vec![Seed(0)],
        kinds,
        lasts: scenario.ttl() * 3 / 2,
        held: None,
        jobs: NonZero::new(2).unwrap(),
        pairs: None,
        lines: false,
    }
}

fn explored(name: &str, kinds: &[&str]) -> Explored {
    let scenario = calm(&["clients=2", "sections=1"]);
    let design = design(name, &scenario);
    explore::explore(&request(&design, &scenario, kinds), &AtomicBool::new(false), &|_, _| {}).unwrap()
}

#[test]
fn a_pause_at_the_write_of_the_resource_is_among_what_breaks_a_naive_holder() {
    let explored = explored("single", &["pause"]);
    assert_eq!(explored.explored(), explored.sites());
    assert!(!explored.partial && explored.without_fault.is_empty());
    let write = explored.failures.iter().find(|way| {
        let signature = &way.signature;
        signature.role == Role::Client
            && (signature.phase, signature.access, signature.edge)
                == (Phase::Write, Access::Write, Edge::Before)
            && signature.peer == Some(Role::Resource)
    });
    assert!(write.unwrap().violated.contains(&"effective-exclusion".to_owned()));
}

#[test]
fn the_control_that_must_hold_does_so_wherever_a_call_is_cancelled() {
    let explored = explored("oracle", &["cancel"]);
    assert!(explored.explored() > 5, "{}", explored.explored());
    assert_eq!(explored.violating(), 0);
}

#[test]
fn a_store_that_dies_as_it_starts_answers_when_it_is_back() {
    let explored = explored("single", &["restart"]);
    assert!(explored.explored() > 20, "{}", explored.explored());
    assert!(explored.holds.contains(&"progress".to_owned()), "{:?}", explored.holds);
}

#[test]
fn a_fence_lets_no_stale_write_through_wherever_a_pause_hits() {
    let explored = explored("single-fenced", &["pause", "stall", "delay"]);
    assert!(explored.explored() > 500, "{}", explored.explored());
    assert!(explored.holds.contains(&"effective-exclusion".to_owned()), "{:?}", explored.holds);
    assert!(explored.violating() > 0, "two hold at once all the same");
}

#[test]
fn a_store_that_dies_in_the_midst_of_a_release_makes_nobody_a_thief() {
    let explored = explored("redlock", &["restart"]);
    assert!(explored.holds.contains(&"ownership".to_owned()), "{:?}", explored.failures);
}

#[test]
fn a_site_is_run_again_by_its_number_with_the_same_digest() {
    let scenario = calm(&[]);
    let design = design("single", &scenario);
    let request = request(&design, &scenario, &["pause"]);
    let pause = faults::at_site_named("pause").unwrap();
    let again = |number| explore::again(&request, Seed(0), &[(pause, number)]).unwrap();
    assert_eq!(again(100).unwrap().trace.digest, again(100).unwrap().trace.digest);
    assert_ne!(again(100).unwrap().trace.digest, again(0).unwrap().trace.digest);
    let (kind, count) = again(usize::MAX).err().unwrap();
    assert!(kind == "pause" && count > 100);
}

#[test]
fn two_nodes_of_four_that_are_held_must_forget_and_one_is_not_enough() {
    let scenario = calm(&["head_start=0.55 x ttl", "first_work=0.85 x ttl", "clients=2", "sections=1"]);
    let design = design("redlock", &scenario);
    let mut request = request(&design, &scenario, &["restart"]);
    (request.held, request.pairs) = (Some(4), Some(Duration::from_secs(20)));
    let explored = explore::explore(&request, &AtomicBool::new(false), &|_, _| {}).unwrap();
    assert_eq!(explored.violating(), 0, "{:?}", explored.failures);
    let pairs = explored.pairs.unwrap();
    let way = pairs.failures.first().unwrap();
    assert!(way.violated.contains(&"mutual-exclusion".to_owned()), "{way:?}");
    assert!(way.both.iter().all(|(_, host)| host.starts_with("node-")));
}
