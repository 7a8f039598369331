//! The verdict matrix: every built-in design under every built-in scenario does what the reviewed expectations say, and
//! the arithmetic behind the verdicts holds where it can be stated.

use std::num::NonZero;
use std::sync::atomic::AtomicBool;

use picklock::campaign::campaign::{Campaign, Silent};
use picklock::campaign::check;
use picklock::campaign::expect::Expectations;
use picklock::campaign::summary::{Cell, Summary};
use picklock::model::seed::Seed;
use picklock::reports::{Style, find};
use picklock::scenarios::scenario::Scenario;
use picklock::scenarios::suite;
use picklock::sim::design::{Design, spell};
use picklock::sim::engine::Engine;

use crate::nightly::by_day_or_night;

fn design(name: &str) -> Design {
    spell(picklock::impls::families(), name).unwrap()
}

fn scenario(name: &str, settings: &[String]) -> Scenario {
    let mut scenario = suite::builtin(&picklock_stores::params())
        .into_iter()
        .find(|scenario| scenario.name() == name)
        .unwrap();
    scenario.set_all(settings).unwrap();
    scenario
}

fn campaign(designs: Vec<Design>, scenarios: Vec<Scenario>, seeds: u64, expect: &Expectations) -> Summary {
    let campaign = Campaign {
        jobs: NonZero::new(2).unwrap(),
        expectations: Some(expect),
        ..Campaign::new(designs, scenarios, 0..seeds)
    };
    campaign.run(&AtomicBool::new(false), &Silent).unwrap()
}

#[test]
fn every_cell_of_the_matrix_is_as_expected() {
    let designs = picklock::impls::families().iter().map(|family| family.design()).collect();
    let expectations = Expectations::builtin();
    let seeds = by_day_or_night(12, 100);
    let summary = campaign(designs, suite::builtin(&picklock_stores::params()), seeds, &expectations);
    assert_clean_cells_were_put_to_the_test(&summary);
    for cell in summary.cells {
        let name = format!("{} under {}", cell.design, cell.scenario);
        assert_ne!(cell.met, Some(false), "{name}: {:?}", cell.unmet_because);
        assert_eq!(
            cell.expected.is_some(),
            cell.skipped.is_none(),
            "{name}: an expectation for every cell that runs"
        );
        let undecided = cell.violations.is_empty() && cell.hit_lock * 20 < cell.runs;
        let known = UNDECIDED
            .iter()
            .any(|(design, scenario, _)| (*design, *scenario) == (&cell.design, &cell.scenario));
        assert_eq!(
            undecided,
            known && cell.runs > 0,
            "{name}: decided in {} of {}",
            cell.hit_lock,
            cell.runs
        );
        assert!(known || cell.runs == 0 || cell.unknown < cell.runs, "{name}: no run was conclusive");
    }
    assert!(UNDECIDED.iter().all(|(_, _, why)| !why.is_empty()) && UNDECIDED.len() <= 11);
}

/// A cell has the sign of a clean one only if each of the properties that a lock is for, as far as they apply, was decided in ten runs,
/// and in as many as were left open. Of the two invariants that judge the data one is enough.
fn assert_clean_cells_were_put_to_the_test(summary: &Summary) {
    const CLEAN: &str = ",·";
    let table = (find("csv").unwrap().render)(summary, &Style::default()).unwrap();
    let cells = summary.cells.iter().zip(table.lines().skip(1));
    let clean: Vec<&Cell> = cells.filter(|(_, line)| line.ends_with(CLEAN)).map(|(cell, _)| cell).collect();
    assert!(clean.len() > 300, "{} clean cells", clean.len());
    for cell in clean {
        let asked = |names: &[&str]| {
            let mut judged = names.iter().filter_map(|name| cell.invariants.get(*name)).peekable();
            judged.peek().is_none()
                || judged.any(|judged| judged.decided >= 10 && judged.undecided <= judged.decided)
        };
        for names in [&["mutual-exclusion"][..], &["effective-exclusion", "no-lost-update"], &["progress"]] {
            let invariants = &cell.invariants;
            assert!(asked(names), "{} under {}: {names:?} {invariants:?}", cell.design, cell.scenario);
        }
    }
}

/// Cells that are unknown because their fault decides nothing, and why it cannot.
const UNDECIDED: [(&str, &str, &str); 11] = [
    ("permits", "clock-step", "its leases are reckoned by the clients' clocks, and only the stores' jump"),
    ("optimistic", "client-crash", "a change that its client died in is not acknowledged to anybody"),
    ("optimistic", "lost-reply", "a change whose reply was lost is not acknowledged to anybody"),
    ("unique-index", "client-crash", "a change that its client died in is not acknowledged to anybody"),
    ("queue", "client-crash", "a change that its client died in is not acknowledged to anybody"),
    ("queue", "lost-reply", "a change whose reply was lost is not acknowledged to anybody"),
    ("queue", "lost-connection", "its clients work before they send anything"),
    ("lease-row", "clock-step", "its leases are reckoned by the clients' clocks, and only the stores' jump"),
    ("optimistic-row", "client-crash", "a change that its client died in is not acknowledged to anybody"),
    ("optimistic-row", "lost-reply", "a change whose reply was lost is not acknowledged to anybody"),
    ("optimistic-row", "clock-step", "the clock jumps of a store that holds a lock, and there is none"),
];

#[test]
fn the_expectations_name_only_cells_that_exist() {
    let names = |design: &str| picklock::impls::families().iter().any(|family| family.name == design);
    let scenarios = suite::builtin(&picklock_stores::params());
    for (design, scenario) in Expectations::builtin().names() {
        assert!(names(design), "{design}");
        assert!(scenarios.iter().any(|other| other.name() == scenario), "{scenario}");
    }
}

/// Somebody else can be granted the lock exactly when the nodes that were free and those that forgot are a majority.
#[test]
fn clock_steps_break_redlock_exactly_where_the_arithmetic_of_quorums_says() {
    for nodes in [3, 5, 7] {
        let quorum = nodes / 2 + 1;
        for held in quorum..=nodes {
            for stepped in 0..=nodes {
                let settings = [format!("held={held}"), format!("stepped={stepped}")];
                let scenario = scenario("clock-step", &settings);
                let design = scenario.adapt(&design(&format!("redlock{{nodes={nodes}}}"))).unwrap();
                let breaks = nodes - held + stepped.min(held) >= quorum;
                for seed in 0..3 {
                    let run = check::seed(Engine::Event, &design, &scenario, Seed(seed)).unwrap();
                    let broken = run.violates("mutual-exclusion");
                    assert_eq!(broken, breaks, "{held} of {nodes} held, {stepped} stepped, seed {seed}");
                }
            }
        }
    }
}

/// Stale writes of an honest holder need a fault between its check and the resource.
#[test]
fn faults_on_the_links_of_the_lock_alone_break_nothing_of_an_honest_redlock() {
    for name in ["client-partition", "delay"] {
        let scenario = scenario(name, &["links=lock".to_owned()]);
        let design = scenario.adapt(&design("redlock")).unwrap();
        let mut effective = 0;
        for seed in 0..150 {
            let run = check::seed(Engine::Event, &design, &scenario, Seed(seed)).unwrap();
            assert_eq!(run.violated(), Vec::<String>::new(), "{name}, seed {seed}");
            effective += usize::from(!run.took_effect.is_empty());
        }
        assert!(
            effective > 100,
            "{name}: the fault must take effect in most runs, and did in {effective} of 150"
        );
    }
}

/// Independent counters give no order; counters written back to a majority do.
#[test]
fn the_highest_of_independent_counters_is_no_order_and_a_written_back_one_is() {
    let scenario = scenario("delay", &[]);
    let violated = |name: &str| {
        let design = scenario.adapt(&design(name)).unwrap();
        let violates = |seed| {
            check::seed(Engine::Event, &design, &scenario, Seed(seed)).unwrap().violates("token-order")
        };
        (0..100).filter(|seed| violates(*seed)).count()
    };
    assert!(violated("redlock-fenced") > 0);
    assert_eq!(violated("redlock-fenced-quorum"), 0);
}
