//! The row lock in a world: it serves in order, holds for as long as its holder does, and repeats itself.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::sync::Arc;
use std::time::Duration;

use picklock_impls::postgres::{row_lock, row_lock_outside};
use picklock_model::ids::Key;
use picklock_model::plan::{
    Action, ClientPlan, Injection, Latency, Plan, SectionPlan, Settings, Target, When, WorldSpec,
};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Trace, What};
use picklock_sim::data::{Applied, Operation};
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::lock::Client;
use picklock_sim::run::{Workload, run};

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// Read, work, write the next value, in the row or at the resource.
fn workload() -> Workload {
    Arc::new(|context| {
        Box::pin(async move {
            let recorder = context.recorder.clone();
            let mut resource = context.resource;
            let done = recorder.last_section();
            for section in context.plan.sections.iter().filter(|section| section.ordinal > done) {
                context.host.sleep(section.think).await;
                let key = section.key.clone();
                recorder.waiting(section.ordinal, &key);
                match &context.client {
                    Client::Direct(_) | Client::Autonomous(_) => panic!("a row lock is a lock"),
                    Client::Lock(lock) => match lock.acquire(&context.host, &key, context.wait).await {
                        Ok(Some(grant)) => {
                            recorder.acquired(&grant);
                            let mut pending = false;
                            if context.own_data {
                                // A database that died has given the transaction up.
                                if let Ok(found) = lock.apply(&grant, Operation::Read).await {
                                    context.host.sleep(section.work).await;
                                    let next = Operation::Write(found.value() + 1);
                                    match lock.apply(&grant, next).await {
                                        Ok(applied) => pending = matches!(applied, Applied::AtRelease(_)),
                                        Err(_) => recorder.change(What::WriteRefused { key: key.clone() }),
                                    }
                                }
                            } else {
                                let value = resource.apply(&key, Operation::Read, None).await.unwrap();
                                context.host.sleep(section.work).await;
                                resource.apply(&key, Operation::Write(value + 1), None).await.unwrap();
                            }
                            recorder.releasing(section.ordinal, &key);
                            let outcome = lock.release(grant).await;
                            if pending {
                                recorder.change(match &outcome {
                                    Ok(()) => What::WriteAcknowledged { key: key.clone() },
                                    Err(error) if error.is_undone() => {
                                        What::WriteRefused { key: key.clone() }
                                    }
                                    Err(_) => What::WriteUnknown { key: key.clone() },
                                });
                            }
                            let error = outcome.err();
                            recorder.released(section.ordinal, &key, error.as_ref());
                        }
                        Ok(None) => recorder.not_acquired(&key, "the wait was over"),
                        Err(error) => recorder.not_acquired(&key, &error.to_string()),
                    },
                }
                recorder.idle(section.ordinal);
            }
            recorder.finished();
        })
    })
}

fn design(data: &str, give_up: &str) -> Design {
    let family = if data == "row" { &row_lock::FAMILY } else { &row_lock_outside::FAMILY };
    family.with(&[("give_up", give_up)]).unwrap()
}

fn play(engine: Engine, design: &Design, injections: &[(u64, &str, Action)]) -> Trace {
    let section = |ordinal| SectionPlan::new(ordinal, Key::new("k"), ms(20), ms(50));
    let client = |nth| ClientPlan::new(format!("client-{nth}"), (1..=4).map(section).collect());
    let injection = |(at, host, action): &(u64, &str, Action)| Injection {
        fault: "test".into(),
        when: When::At { at_ns: TrueTime(at * 1_000_000) },
        target: Target::host(*host),
        action: action.clone(),
    };
    let plan = Plan {
        seed: Seed(7),
        network_seed: Seed(7),
        world: WorldSpec {
            ttl: ms(1000),
            wait: ms(2000),
            horizon: ms(60_000),
            decide: Duration::ZERO,
            latency: Latency { min: Duration::from_micros(200), max: ms(2) },
            tcp_timeout: ms(15_000),
            stock: 0,
            final_client: false,
            ready_order: picklock_model::plan::ReadyOrder::Woken,
            policy: picklock_model::plan::ClientPolicy::default(),
            store: Settings::default(),
        },
        workload: "test".into(),
        clients: (1..=3).map(client).collect(),
        choices: Vec::new(),
        injections: injections.iter().map(injection).collect(),
    };
    run(engine, design, &plan, &workload()).unwrap().trace
}

fn count(trace: &Trace, is: impl Fn(&What) -> bool) -> usize {
    trace.events.iter().filter(|event| is(&event.what)).count()
}

/// The values written to the resource, in order.
fn written(trace: &Trace) -> Vec<i64> {
    let value = |what: &What| match what {
        What::ResourceWritten { value, .. } => Some(*value),
        _ => None,
    };
    trace.events.iter().filter_map(|event| value(&event.what)).collect()
}

/// Nobody holds twice at a time, as the clients' own code saw it.
fn exclusive(trace: &Trace) -> bool {
    let mut holders = 0;
    trace.events.iter().all(|event| {
        match &event.what {
            What::Acquired { .. } => holders += 1,
            What::Releasing { .. } => holders -= 1,
            _ => {}
        }
        holders <= 1
    })
}

#[test]
fn when_all_is_well_every_change_is_made_and_noted_with_its_section() {
    let ways = ["lock-timeout", "cancel", "leave"];
    for (data, give_up) in ["row", "apart"].into_iter().flat_map(|data| ways.map(|way| (data, way))) {
        let trace = play(Engine::Event, &design(data, give_up), &[]);
        assert_eq!(written(&trace), (1..=12).collect::<Vec<_>>(), "{data} {give_up}");
        assert_eq!(count(&trace, |what| matches!(what, What::Created { .. })), 12);
        assert_eq!(count(&trace, |what| matches!(what, What::Deleted { .. })), 12);
        assert!(exclusive(&trace));
        let effects = |what: &What| {
            matches!(
                what,
                What::Created { .. }
                    | What::Deleted { .. }
                    | What::ResourceWritten { .. }
                    | What::ResourceRead { .. }
            )
        };
        let nobodys = trace.events.iter().filter(|event| effects(&event.what) && event.grant.is_none());
        assert_eq!(nobodys.count(), 0, "{data} {give_up}: everything is in a section's service");
    }
}

#[test]
fn the_same_seed_gives_the_same_run_on_either_engine() {
    for engine in [Engine::Event, Engine::TURMOIL] {
        for data in ["row", "apart"] {
            let pause = (90, "client-1", Action::Pause { lasts: ms(700) });
            let digest = || play(engine, &design(data, "lock-timeout"), std::slice::from_ref(&pause)).digest;
            assert_eq!(digest(), digest());
        }
    }
}

#[test]
fn a_holder_that_is_paused_for_longer_than_anything_keeps_the_lock() {
    for at in [60, 75, 90, 105, 120, 135] {
        for data in ["row", "apart"] {
            let trace = play(
                Engine::Event,
                &design(data, "lock-timeout"),
                &[(at, "client-1", Action::Pause { lasts: ms(20_000) })],
            );
            assert!(exclusive(&trace));
            let values = written(&trace);
            assert_eq!(values, (1..=values.len() as i64).collect::<Vec<_>>(), "at {at} ms no change is lost");
        }
    }
}

/// A holder stands still, and a waiter gives up and asks again: how many waits are given up, and how many requests to cancel.
fn given_up(give_up: &str) -> (usize, usize) {
    let stands = (90, "client-1", Action::Pause { lasts: ms(20_000) });
    let trace = play(Engine::Event, &design("row", give_up), &[stands]);
    assert!(exclusive(&trace));
    let values = written(&trace);
    assert_eq!(values, (1..=values.len() as i64).collect::<Vec<_>>(), "{give_up}: no change is lost");
    let cancels = |what: &What| matches!(what, What::Sent { bytes: 16, .. });
    (count(&trace, |what| matches!(what, What::NotAcquired { .. })), count(&trace, cancels))
}

#[test]
fn a_waiter_gives_up_in_each_of_the_ways_and_leaves_the_others_their_turns() {
    let ways = ["lock-timeout", "cancel", "leave"].map(given_up);
    assert!(ways.iter().all(|(waits, _)| *waits >= 2), "{ways:?}");
    assert!(ways[1].1 > ways[0].1, "a CancelRequest is 16 bytes: {ways:?}");
}

#[test]
fn a_killed_holder_is_replaced_at_once_and_its_change_was_never_made() {
    let killed = Action::Crash { power_loss: false, restart_after: None };
    for at in [60, 75, 90, 105, 120, 135] {
        let trace = play(Engine::Event, &design("row", "lock-timeout"), &[(at, "client-1", killed.clone())]);
        let values = written(&trace);
        assert_eq!(values, (1..=values.len() as i64).collect::<Vec<_>>());
        let known = count(&trace, |what| matches!(what, What::WriteAcknowledged { .. }));
        assert!(values.len() - known <= 1 && known >= 8, "at {at} ms: {known} of {values:?} are known");
    }
}

#[test]
fn a_holder_without_power_keeps_the_row_from_everybody() {
    let dead = Action::Crash { power_loss: true, restart_after: None };
    let stuck = [60, 75, 90, 105, 120, 135].into_iter().filter(|at| {
        let trace = play(Engine::Event, &design("apart", "lock-timeout"), &[(*at, "client-1", dead.clone())]);
        assert!(exclusive(&trace));
        count(&trace, |what| matches!(what, What::NotAcquired { .. })) >= 6
    });
    assert!(stuck.count() >= 1, "in one of these moments it holds");
}

#[test]
fn a_database_that_dies_frees_the_row_and_keeps_what_was_committed() {
    for power_loss in [false, true] {
        let mut lost = 0;
        for at in [60, 75, 90, 105, 120, 135] {
            let dies = Action::Crash { power_loss, restart_after: Some(ms(15)) };
            let trace = play(Engine::Event, &design("row", "lock-timeout"), &[(at, "node-1", dies)]);
            lost += count(&trace, |what| matches!(what, What::Lost { .. }));
            let values = written(&trace);
            assert_eq!(values, (1..=values.len() as i64).collect::<Vec<_>>());
            let known = count(&trace, |what| matches!(what, What::WriteAcknowledged { .. }));
            assert!(values.len() >= known && known >= 4, "at {at} ms: {known} of {values:?} are known");
        }
        assert!(lost >= 1, "in one of these moments somebody holds");
    }
}

/// The digest of a run that another process is asked for.
const ASKED: &str = "PICKLOCK_ROW_LOCK_DIGEST";

#[test]
fn another_process_runs_the_same() {
    let digest = || play(Engine::Event, &design("row", "lock-timeout"), &[]).digest;
    if std::env::var_os(ASKED).is_some() {
        println!("digest {:?};", digest());
        return;
    }
    // Runs before it change nothing, although the client library has counters that go on from run to run.
    let (_, here) = (digest(), digest());
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "another_process_runs_the_same", "--nocapture"])
        .env(ASKED, "1")
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains(&format!("digest {here:?};")), "{here:?} is not in {printed}");
}
