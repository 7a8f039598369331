//! A replicated store in two halves that both grant: for how long, with and without a rule about replicas.

use std::path::Path;
use std::time::Duration;

use picklock_campaign::check::Checked;
use picklock_model::trace::What;
use picklock_scenarios::scenario::Scenario;
use picklock_sim::engine::Engine;
use serde_json::Value;

use crate::binary::{directory, run_in};
use crate::cells::{Cell, design};

const SPLIT: Duration = Duration::from_secs(20);
const TTL: Duration = Duration::from_secs(2);
/// The longest work of a section.
const WORK: Duration = Duration::from_millis(1200);
/// A promotion takes about 1.3 s besides the half second for which the primary must be silent.
const PROMOTION: Duration = Duration::from_millis(3500);
/// Sentinels look for eight seconds at an old primary that is back before they demote it, and each second at its role.
const DEMOTION: Duration = Duration::from_millis(12_000);

fn experiment(name: &str) -> String {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/experiments");
    dir.join(format!("{name}.toml")).to_str().unwrap().to_owned()
}

fn cell(spelling: &str, name: &str, settings: &[&str]) -> Cell {
    let mut scenario = Scenario::load(Path::new(&experiment(name)), &picklock_stores::params()).unwrap();
    scenario.set_all(settings).unwrap();
    Cell::of(&design(spelling), scenario).unwrap()
}

/// From the first moment of two holders to the last.
fn window(run: &Checked) -> Duration {
    Duration::from_nanos(run.metrics.overlap_window_ns)
}

#[test]
fn there_are_two_holders_for_the_whole_split_and_until_the_old_primary_is_demoted() {
    for spelling in ["replicated", "single"] {
        let cell = cell(spelling, "split-brain", &[]);
        for seed in 0..3 {
            let run = cell.run(Engine::Event, seed);
            let window = window(&run);
            assert!(run.violates("mutual-exclusion"), "{spelling}, seed {seed}");
            assert!(window > SPLIT.saturating_sub(PROMOTION + TTL), "{spelling}, seed {seed}: {window:?}");
            assert!(window < SPLIT + DEMOTION, "{spelling}, seed {seed}: {window:?}");
            assert_eq!(Duration::from_nanos(run.metrics.overlap_fault_ns), SPLIT, "{spelling}, seed {seed}");
        }
    }
}

#[test]
fn a_primary_that_must_hear_from_replicas_stops_when_the_lag_is_over() {
    for (spelling, lag) in [("replicated", 10), ("replicated", 3), ("single", 5)] {
        let max_lag = format!("max_lag={lag}s");
        let cell = cell(spelling, "split-brain", &["min_replicas=1", &max_lag]);
        let mut longest = Duration::ZERO;
        for seed in 0..3 {
            longest = longest.max(window(&cell.run(Engine::Event, seed)));
        }
        // Redis counts the lag in whole seconds, and looks at it once a second; who was granted then still works.
        let bound = Duration::from_secs(lag + 2) + WORK;
        assert!(longest < bound, "{spelling}, lag {lag} s: two holders for {longest:?}");
        let least = Duration::from_secs(lag).saturating_sub(PROMOTION + TTL);
        assert!(longest > least, "{spelling}, lag {lag} s: two holders for {longest:?} only");
    }
}

#[test]
fn the_promoted_side_of_a_split_goes_on_only_if_it_has_a_replica_of_its_own() {
    let cell = cell("replicated", "split-brain", &["min_replicas=1", "max_lag=3s", "replicas=1"]);
    let run = cell.run(Engine::Event, 1);
    assert!(run.trace.events.iter().any(|event| matches!(event.what, What::BecameLeader)));
    assert_eq!(window(&run), Duration::ZERO, "neither side grants");
}

#[test]
fn a_lease_is_granted_again_as_early_as_the_promoted_clock_is_ahead() {
    for (by, ahead) in [("0ms", 0), ("1s", 1_000), ("2s", 2_000), ("4s", 4_000)] {
        let cell = cell("single", "promoted-clock", &[&format!("by={by}")]);
        let mut seen = 0;
        for seed in 0..12 {
            let run = cell.run(Engine::Event, seed);
            let widest = Duration::from_nanos(run.metrics.overlap_widest_ns);
            // Client-1 works for 0.9 of its lease of 8 s: what is left of that when the lease ends on the other clock.
            let expected = Duration::from_millis(7_200).saturating_sub(Duration::from_millis(8_000 - ahead));
            if expected.is_zero() {
                assert_eq!(widest, Duration::ZERO, "{by}, seed {seed}");
                continue;
            }
            // The other client is not granted the lock before it asks again, which it does every 20 to 60 ms.
            let early = expected.saturating_sub(widest);
            if widest > Duration::ZERO {
                assert!(
                    early < Duration::from_millis(150),
                    "{by}, seed {seed}: {widest:?}, not {expected:?}"
                );
                seen += 1;
            }
        }
        assert!(ahead <= 800 || seen > 2, "{by}: seen in {seen} of 12 runs");
    }
}

#[test]
fn the_experiments_of_a_split_repeat_themselves() {
    for (name, settings) in [("split-brain", &["min_replicas=1"][..]), ("promoted-clock", &[])] {
        let cell = cell("replicated", name, settings);
        let digest = || cell.run(Engine::Event, 7).trace.digest;
        assert_eq!(digest(), digest(), "{name}");
    }
}

#[test]
fn a_report_shows_for_how_long_there_were_two_holders_and_for_how_long_the_split_lasted() {
    let dir = directory();
    let scenario = experiment("split-brain");
    let args = ["run", "--design", "replicated", "--scenario", &scenario, "--seeds", "3", "--no-confirm"];
    let args = [&args[..], &["--format", "json,text,markdown", "--out", "out"]].concat();
    let ended = run_in(dir.path(), &args);
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    let page = |file: &str| std::fs::read_to_string(dir.path().join("out").join(file)).unwrap();
    let results: Value = serde_json::from_str(&page("results.json")).unwrap();
    let metrics = &results["cells"][0]["metrics"];
    assert_eq!(metrics["overlap_fault_ns"], 20_000_000_000_u64);
    assert!(metrics["overlap_window_ns"].as_u64() > metrics["overlap_widest_ns"].as_u64());
    for file in ["results.txt", "results.md"] {
        let text = page(file).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("the fault lasting 20.0s"), "{file}: {text}");
        assert!(text.contains("on and off for"), "{file}: {text}");
    }
}
