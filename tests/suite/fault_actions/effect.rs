//! The effect of fault actions: the cases in which one takes effect, and the rate at which those of the suite do.

use std::num::NonZero;
use std::sync::atomic::AtomicBool;

use picklock_campaign::campaign::{Campaign, Silent};
use picklock_campaign::check;
use picklock_model::plan::{Access, Action, Edge, Phase, Target};
use picklock_model::seed::Seed;
use picklock_model::trace::{Event, What};
use picklock_scenarios::suite;
use picklock_sim::engine::Engine;

use super::assert_sound;
use crate::cells::{Cell, design};
use crate::stage::*;

#[test]
fn an_action_that_finds_nothing_to_change_does_not_take_effect() {
    let pause = Action::Pause { lasts: LEASE };
    let cut = |to| Action::Cut { to, both: true, lasts: ms(100) };
    for (what, action) in [
        ("a pause after the end of all work", injection(at(5_000), first(), pause.clone())),
        ("a pause of nobody", injection(at(5_000), Target::Holder, pause.clone())),
        ("a pause of a host that is not there", injection(at(100), Target::host("client-9"), pause.clone())),
        (
            "a pause at a point that never comes",
            injection(point(Phase::Write, Access::Write, "node-1", Edge::Before), first(), pause),
        ),
        ("a cut that nothing is sent into", injection(at(3_000), first(), cut(Target::host("resource")))),
        ("a cut between clients", injection(at(100), first(), cut(Target::host("client-2")))),
        (
            "a crash of a client that is done",
            injection(at(3_000), first(), Action::Crash { power_loss: true, restart_after: None }),
        ),
        (
            "a step of the clock of a store without records",
            injection(at(3_000), Target::host("node-1"), Action::StepClock { by_ns: 1 << 40 }),
        ),
    ] {
        let run = run("single", stage([action]));
        assert!(!took_effect(&run), "{what} took effect");
        assert_sound(&run);
    }
}

#[test]
fn the_holder_is_who_holds_the_lock_when_the_action_is_applied() {
    let paused = |millis: u64| {
        let run =
            run("single", stage([injection(at(millis), Target::Holder, Action::Pause { lasts: ms(100) })]));
        let is = |client: &str| when(&run, client, |what| matches!(what, What::Paused { .. })).is_some();
        (is("client-1"), is("client-2"))
    };
    assert_eq!(paused(150), (true, false));
    let second = granted(&run("single", stage([])), "client-2").unwrap();
    assert_eq!(paused(second.as_millis() + 10), (false, true));
}

#[test]
fn a_run_is_the_fault_free_run_until_its_first_action_is_applied() {
    for scenario in suite::builtin(&picklock_stores::params()) {
        for spelling in ["single", "redlock{nodes=3}", "single-fenced{store=replicated}", "watchdog"] {
            let Some(cell) = Cell::of(&design(spelling), scenario.clone()) else { continue };
            let faulty = cell.run(Engine::Event, 11);
            let calm = cell.scenario.fault_free_plan(&cell.design, Seed(11));
            let calm = check::check(Engine::Event, &cell.design, calm).unwrap();
            let events = &faulty.trace.events;
            let applied = events.iter().position(|event| matches!(event.what, What::Injected { .. }));
            let until = applied.unwrap_or(events.len());
            // Where there are faults, a client that is done stays as a background client: it has not finished, and its
            // connections stay open.
            let compared = |events: &[Event]| -> Vec<_> {
                let compared = events
                    .iter()
                    .filter(|event| !matches!(event.what, What::Finished | What::Disconnected { .. }));
                compared
                    .map(|event| (event.at, event.host, event.conn, event.grant, event.what.clone()))
                    .collect()
            };
            let (before, calm) = (compared(&events[..until]), compared(&calm.trace.events));
            let differs = before.iter().zip(&calm).position(|(one, other)| one != other);
            let at = differs.map(|at| (&before[at], &calm[at]));
            assert_eq!(at, None, "{spelling} under {}", scenario.name());
        }
    }
}

#[test]
fn every_fault_of_the_suite_takes_effect_in_a_fair_share_of_runs() {
    let designs = ["single", "redlock"].map(design).into();
    let campaign = Campaign {
        jobs: NonZero::new(2).unwrap(),
        ..Campaign::new(designs, suite::builtin(&picklock_stores::params()), 0..60)
    };
    let summary = campaign.run(&AtomicBool::new(false), &Silent).unwrap();
    for cell in summary.cells.iter().filter(|cell| cell.skipped.is_none()) {
        let scenario = suite::builtin(&picklock_stores::params())
            .into_iter()
            .find(|scenario| scenario.name() == cell.scenario)
            .unwrap();
        let single_store = cell.design == "single";
        // A scenario with one fault is there to show it; one with many draws some of them for each run.
        let share = if scenario.faults().len() == 1 { cell.runs / 3 } else { 1 };
        for entry in scenario.faults() {
            // The storm leaves every design on the stores that it has: nothing fails over there.
            if entry.fault.name == "failover" && cell.scenario == "storm" {
                continue;
            }
            let runs_with_effect = cell.took_effect.get(entry.fault.name).copied().unwrap_or(0);
            let what = format!(
                "{} took effect in {runs_with_effect} of {} runs of {} under {}",
                entry.fault.name, cell.runs, cell.design, cell.scenario
            );
            assert!(runs_with_effect >= share.max(1), "{what}");
        }
        assert!(single_store || cell.unknown < cell.runs, "{} under {}", cell.design, cell.scenario);
        assert!(
            cell.unknown <= cell.runs / 2,
            "{} of {} runs of {} under {} are inconclusive",
            cell.unknown,
            cell.runs,
            cell.design,
            cell.scenario
        );
    }
}
