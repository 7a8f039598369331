//! The choices of a run: all of them can be recorded and replayed, and strategies can take others than the seed's.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use picklock_model::plan::{Action, Choice, ChoiceKind, Injection, Plan, ReadyOrder, Target, When};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Digest, What};
use picklock_sim::choices::{Choices, Made, Open};
use picklock_sim::engine::Engine;
use picklock_sim::host::Origin;
use picklock_sim::resource::Operation;
use picklock_sim::run::{Options, Run, Workload, run, run_choosing};
use proptest::prelude::*;

use super::engines::{no_lock, plan};

/// Each client reads the resource now and then, and has three tasks that are due at the same instants.
fn busy() -> Workload {
    Arc::new(|context| {
        Box::pin(async move {
            for task in 1..=3 {
                let host = context.host.clone();
                context.host.spawn(async move {
                    for _ in 0..20 {
                        host.sleep(Duration::from_millis(10)).await;
                        host.record(Origin::default(), What::Noticed { text: format!("task {task}") });
                    }
                });
            }
            let mut resource = context.resource;
            for section in &context.plan.sections {
                context.host.sleep(section.think).await;
                resource.apply(&section.key, Operation::Read, None).await.unwrap();
                context.host.sleep(Duration::from_millis(100)).await;
            }
            context.recorder.finished();
        })
    })
}

/// A plan in which client-1 is paused for a while.
fn paused(seed: u64, ready_order: ReadyOrder) -> Plan {
    let mut plan = plan(seed);
    plan.world.ready_order = ready_order;
    plan.injections = vec![Injection {
        fault: "test".into(),
        when: When::At { at_ns: TrueTime(0) + Duration::from_millis(45) },
        target: Target::host("client-1"),
        action: Action::Pause { lasts: Duration::from_millis(30) },
    }];
    plan
}

fn noted(plan: &Plan) -> Run {
    run(Options::default().recording_choices(), &no_lock(), plan, &busy()).unwrap()
}

fn digest(plan: &Plan) -> Digest {
    run(Engine::Event, &no_lock(), plan, &busy()).unwrap().trace.digest
}

fn recorded(made: &[Made]) -> Vec<Choice> {
    made.iter().map(|made| made.choice).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn the_recorded_choices_of_a_run_replay_it_whatever_the_seed(seed: u64, drawn: bool, part in 0..=100_usize) {
        let ready_order = if drawn { ReadyOrder::Drawn } else { ReadyOrder::Woken };
        let plan = paused(seed, ready_order);
        let run = noted(&plan);
        prop_assert_eq!(run.trace.digest, digest(&plan));
        let all = recorded(&run.choices);
        for kind in [ChoiceKind::Latency, ChoiceKind::Wake, ChoiceKind::Poll, ChoiceKind::Clock] {
            prop_assert!(all.iter().any(|choice| choice.kind == kind), "{:?}", kind);
        }

        let prefix = Plan { choices: all[..all.len() * part / 100].to_vec(), ..plan.clone() };
        prop_assert_eq!(run.trace.digest, digest(&prefix));

        // With all its choices given, nothing of this run is left to the seed.
        let other = Seed(seed ^ 1);
        let mut replayed = Plan { seed: other, network_seed: other, choices: all.clone(), ..plan };
        prop_assert_eq!(run.trace.digest, digest(&replayed));
        replayed.choices.clear();
        prop_assert_ne!(run.trace.digest, digest(&replayed));
    }
}

#[test]
fn a_drawn_order_of_ready_tasks_is_the_same_in_each_run_and_on_each_thread() {
    let drawn = paused(5, ReadyOrder::Drawn);
    let here = digest(&drawn);
    assert_eq!(here, digest(&drawn));
    std::thread::scope(|scope| {
        for other in [(); 2].map(|()| scope.spawn(|| digest(&drawn))) {
            assert_eq!(here, other.join().unwrap());
        }
    });
    assert_ne!(here, digest(&paused(5, ReadyOrder::Woken)), "the order makes no difference");
}

/// A client with a race: one task publishes a value, the other one expects it.
fn racing() -> Workload {
    Arc::new(|context| {
        Box::pin(async move {
            let published = Arc::new(AtomicBool::new(false));
            let (publisher, reader) = (Arc::clone(&published), published);
            let host = context.host.clone();
            context.host.spawn(async move { publisher.store(true, Ordering::Relaxed) });
            context.host.spawn(async move {
                if !reader.load(Ordering::Relaxed) {
                    host.record(Origin::default(), What::Noticed { text: "too early".to_owned() });
                }
            });
            context.host.sleep(Duration::from_millis(1)).await;
            context.recorder.finished();
        })
    })
}

/// True if a reader came too early.
fn shows_the_race(run: &Run) -> bool {
    run.trace.events.iter().any(|event| matches!(event.what, What::Noticed { .. }))
}

/// A plan with one racing client.
fn race(seed: u64, ready_order: ReadyOrder) -> Plan {
    let mut plan = plan(seed);
    plan.world.ready_order = ready_order;
    plan.clients.truncate(1);
    plan
}

#[test]
fn a_race_of_two_tasks_is_seen_only_where_the_order_of_ready_tasks_is_drawn() {
    let seen = |ready_order| {
        let shows = |seed: &u64| {
            shows_the_race(&run(Engine::Event, &no_lock(), &race(*seed, ready_order), &racing()).unwrap())
        };
        (0..30).filter(shows).count()
    };
    assert_eq!(seen(ReadyOrder::Woken), 0);
    assert!((5..=25).contains(&seen(ReadyOrder::Drawn)), "{} of 30 seeds", seen(ReadyOrder::Drawn));
}

/// A search in depth: the first polls are those of a path, and each later one takes the task that was woken first.
struct Path(Vec<u64>);

impl Choices for Path {
    fn choose(&mut self, open: Open) -> u64 {
        match open.kind {
            ChoiceKind::Poll => self.0.get(open.ordinal as usize).copied().unwrap_or(0),
            _ => open.proposed,
        }
    }
}

impl Path {
    /// The next path after a run, in the order of a search in depth; `None` after the last one.
    fn after(run: &Run) -> Option<Path> {
        let mut polls: Vec<&Made> =
            run.choices.iter().filter(|made| made.choice.kind == ChoiceKind::Poll).collect();
        while polls.pop_if(|made| made.choice.chosen + 1 == made.options).is_some() {}
        let last = polls.pop()?.choice.chosen + 1;
        Some(Path(polls.iter().map(|made| made.choice.chosen).chain([last]).collect()))
    }
}

#[test]
fn a_search_through_all_orders_finds_the_race_and_its_choices_show_it_again() {
    let plan = race(1, ReadyOrder::Woken);
    let (mut next, mut runs, mut races) = (Some(Path(Vec::new())), 0, Vec::new());
    while let Some(path) = next {
        let options = Options::default().recording_choices();
        let run = run_choosing(options, &no_lock(), &plan, &racing(), Box::new(path)).unwrap();
        next = Path::after(&run);
        runs += 1;
        assert!(runs < 1_000, "the search does not end");
        if shows_the_race(&run) {
            races.push(run);
        }
    }
    assert!(runs > races.len() && !races.is_empty(), "{} races in {runs} orders", races.len());
    for race in races {
        let unseeded = race.choices.iter().filter(|made| !made.is_seeded()).map(|made| made.choice);
        let plan = Plan { choices: unseeded.collect(), ..plan.clone() };
        assert!(
            plan.choices.iter().all(|choice| choice.kind == ChoiceKind::Poll) && !plan.choices.is_empty()
        );
        let again = run(Engine::Event, &no_lock(), &plan, &racing()).unwrap();
        assert!(shows_the_race(&again));
        assert_eq!(again.trace.digest, race.trace.digest);
    }
}

#[test]
fn an_option_that_there_is_not_is_the_last_one() {
    let plan = paused(3, ReadyOrder::Woken);
    let slowest = |chosen| {
        let choice = |ordinal| Choice { kind: ChoiceKind::Latency, ordinal, chosen };
        digest(&Plan { choices: (0..10).map(choice).collect(), ..plan.clone() })
    };
    assert_eq!(slowest(u64::MAX), slowest(799_999), "latencies of this world span 800 us");
    assert_ne!(slowest(u64::MAX), slowest(0));
}
