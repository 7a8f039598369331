//! The same seed, the same run: twice in a process, over threads, over processes, over builds and machines.

use std::num::NonZero;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use picklock_campaign::campaign::{Campaign, Silent};
use picklock_campaign::check::Checked;
use picklock_model::trace::Digest;
use picklock_scenarios::scenario::Scenario;
use picklock_scenarios::suite;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use serde_json::Value;

use crate::binary::{directory, run_in};
use crate::cells::{Cell, design};

fn designs() -> Vec<Design> {
    picklock_impls::families().iter().map(|family| family.design()).collect()
}

/// The built-in scenario of a name.
fn scenario(name: &str) -> Scenario {
    let found =
        suite::builtin(&picklock_stores::params()).into_iter().find(|scenario| scenario.name() == name);
    found.expect("the test names a built-in scenario")
}

/// Every built-in design under every built-in scenario that says something of it.
fn all() -> Vec<Cell> {
    let scenarios = suite::builtin(&picklock_stores::params());
    let mut cells = Vec::new();
    for design in designs() {
        cells.extend(scenarios.iter().filter_map(|scenario| Cell::of(&design, scenario.clone())));
    }
    assert!(cells.len() > 100, "the suite has shrunk to {} cells", cells.len());
    cells
}

#[test]
fn every_design_under_every_scenario_repeats_itself() {
    for cell in all() {
        let mut digests = Vec::new();
        for seed in [0, u64::MAX] {
            let (first, second) = (cell.run(Engine::Event, seed), cell.run(Engine::Event, seed));
            let what = format!("picklock replay '{}' {} {seed}", cell.name, cell.scenario.name());
            assert_eq!(first.plan, second.plan, "{what} has two plans");
            let mut pairs = first.trace.events.iter().zip(&second.trace.events);
            if let Some((event, other)) = pairs.find(|(event, other)| event != other) {
                panic!("{what} differs from itself: {event:?}, {other:?}");
            }
            assert_eq!(first.trace, second.trace, "{what}");
            assert_eq!(verdicts(&first), verdicts(&second), "{what}");
            digests.push(first.trace.digest.to_string());
        }
        digests.sort();
        digests.dedup();
        assert_eq!(digests.len(), 2, "{} under {}: seeds do not matter", cell.name, cell.scenario.name());
    }
}

/// Designs with parameters that change what their clients do.
const VARIANTS: [&str; 15] = [
    "setnx{retry=fixed}",
    "setnx-expire{form=hash,failure=release}",
    "set-px-del{form=script,retry=none}",
    "single{belief=honest,renewal=on,drift=0,timeout=20}",
    "timer-renew{connection=own}",
    "watchdog{renewal=jittered}",
    "watchdog{renewal=shared}",
    "reentrant{form=simple}",
    "reentrant{wait=pubsub}",
    "reentrant{wait=pubsub,store=replicated}",
    "replicated-wait{count=unchecked}",
    "redlock{failure=leave,timeout=10}",
    "redlock{renewal=jittered,belief=naive}",
    "redlock-multi{renewal=on,nodes=3}",
    "single-fenced{token=after}",
];

#[test]
fn every_policy_repeats_itself() {
    for spelling in VARIANTS {
        for under in ["pause", "nested", "impatient", "storm"] {
            let Some(cell) = Cell::of(&design(spelling), scenario(under)) else { continue };
            let (first, second) = (cell.run(Engine::Event, 9), cell.run(Engine::Event, 9));
            assert_eq!(first.trace, second.trace, "{spelling} under {under}");
        }
    }
}

/// The outcomes of the invariants, in a form that can be compared.
fn verdicts(run: &Checked) -> Vec<(&'static str, String)> {
    run.outcomes.iter().map(|(invariant, outcome)| (invariant.name, format!("{outcome:?}"))).collect()
}

#[test]
fn what_other_threads_do_makes_no_difference() {
    let cells = all();
    let alone: Vec<Digest> = cells.iter().map(|cell| cell.run(Engine::Event, 5).trace.digest).collect();
    let next = AtomicUsize::new(0);
    let together = Mutex::new(vec![None; cells.len()]);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                // From the last to the first, so that neither order nor neighbours are those of the runs alone.
                while let Some(at) = cells.len().checked_sub(1 + next.fetch_add(1, Ordering::Relaxed)) {
                    let digest = cells[at].run(Engine::Event, 5).trace.digest;
                    together.lock().unwrap()[at] = Some(digest);
                }
            });
        }
    });
    let together = together.into_inner().unwrap();
    for ((cell, alone), together) in cells.iter().zip(alone).zip(together) {
        assert_eq!(Some(alone), together, "{} under {}", cell.name, cell.scenario.name());
    }
}

#[test]
fn a_campaign_has_the_same_results_on_any_number_of_threads() {
    let results = |jobs: usize| {
        let designs = ["oracle", "single", "replicated", "redlock{nodes=3}"].map(design).into();
        let scenarios = ["calm", "pause", "failover", "storm"].map(scenario).into();
        // More than the seeds that a thread takes at a time, and not a multiple of them.
        let seeds = 100..118;
        let campaign =
            Campaign { jobs: NonZero::new(jobs).unwrap(), ..Campaign::new(designs, scenarios, seeds) };
        let summary = campaign.run(&AtomicBool::new(false), &Silent).unwrap();
        serde_json::to_string_pretty(&summary).unwrap()
    };
    let (one, four) = (results(1), results(4));
    if let Some((one, four)) = one.lines().zip(four.lines()).find(|(one, four)| one != four) {
        panic!("on one thread:\n{one}\non four:\n{four}");
    }
    assert_eq!(one.len(), four.len());
}

/// The digest of `picklock replay --format json` with these arguments.
fn digest_of_process(args: &[&str]) -> String {
    let ended = run_in(directory().path(), &[&["replay", "--format", "json"], args].concat());
    assert!(ended.code.is_some_and(|code| code < 2), "{args:?}: {}", ended.stderr);
    let run: Value = serde_json::from_str(&ended.stdout).expect("a run is one JSON object");
    run["digest"].as_str().expect("a run has a digest").to_owned()
}

#[test]
fn another_process_makes_the_same_run() {
    for cell in all() {
        let here = cell.run(Engine::Event, 2).trace.digest.to_string();
        let there = digest_of_process(&[&cell.name, cell.scenario.name(), "2"]);
        assert_eq!(here, there, "{} under {}", cell.name, cell.scenario.name());
    }
}

/// Every design once, under a scenario that says something of it, on the slow engine: not the same for all.
fn on_turmoil() -> impl Iterator<Item = Cell> {
    designs().into_iter().enumerate().map(|(at, design)| {
        let mut cells: Vec<Cell> = suite::builtin(&picklock_stores::params())
            .into_iter()
            .filter_map(|scenario| Cell::of(&design, scenario))
            .collect();
        cells.swap_remove(at % cells.len())
    })
}

#[test]
fn turmoil_repeats_itself_in_this_process_and_in_another() {
    for cell in on_turmoil() {
        let (name, under) = (cell.name.as_str(), cell.scenario.name());
        let digest = || cell.run(Engine::TURMOIL, 4).trace.digest.to_string();
        let first = digest();
        assert_eq!(first, digest(), "{name} under {under}");
        let there = digest_of_process(&[name, under, "4", "--engine", "turmoil"]);
        assert_eq!(first, there, "{name} under {under}");
    }
}

#[test]
fn skipping_idle_time_on_turmoil_changes_nothing() {
    let cell = Cell::of(&design("redlock{nodes=3}"), scenario("pause")).unwrap();
    let digest = |idle_skip| cell.run(Engine::Turmoil { idle_skip }, 3).trace.digest;
    assert_eq!(digest(true), digest(false));
}

/// Runs whose digests are kept: some of every fault, of every server shape, on both engines.
const KEPT: [(&str, &str, u64, Engine); 16] = [
    ("no-lock", "calm", 0, Engine::Event),
    ("oracle", "storm", 1, Engine::Event),
    ("set-px-del", "long-work", 2, Engine::Event),
    ("single", "pause", 3, Engine::Event),
    ("single", "storm", 4, Engine::Event),
    ("watchdog", "stall", 5, Engine::Event),
    ("watchdog", "clock-drift", 6, Engine::Event),
    ("replicated", "failover", 7, Engine::Event),
    ("replicated", "replication-lag", 8, Engine::Event),
    ("redlock", "client-partition", 9, Engine::Event),
    ("redlock{nodes=7,belief=trusting,clock=wall}", "clock-step", 10, Engine::Event),
    ("redlock-naive", "delay", 11, Engine::Event),
    ("single-fenced", "lost-reply", 12, Engine::Event),
    ("redlock-fenced", "node-restart", 13, Engine::Event),
    ("redlock-fenced-quorum", "client-crash", u64::MAX, Engine::Event),
    ("single", "pause", 3, Engine::TURMOIL),
];

/// Debug and release builds, this machine and any other: all make the runs whose digests are committed. A digest
/// changes with the designs, the scenarios, the drawing of faults and the simulator, so a changed one is no mistake by
/// itself; one that differs between two builds of the same source is. To accept what this build makes:
///
///     INSTA_UPDATE=always cargo test --test suite the_committed_digests
#[test]
fn the_committed_digests_come_out_on_every_machine_and_in_every_build() {
    let line = |(name, under, seed, engine): (&str, &str, u64, Engine)| {
        let cell = Cell::of(&design(name), scenario(under)).unwrap();
        let run = cell.run(engine, seed);
        let violated = run.violated().join(", ");
        format!(
            "{} {name} {under} {seed} {engine}: {} events; {violated}",
            run.trace.digest,
            run.trace.events.len()
        )
    };
    let lines: Vec<String> =
        KEPT.map(line).iter().map(|line| line.trim_end_matches("; ").to_owned()).collect();
    insta::assert_snapshot!("digests", lines.join("\n"));
}
