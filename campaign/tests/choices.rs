//! Choices in plans: a plan keeps those that do not come from the seed, and reducing drops those that its violation does not need.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use picklock_campaign::check::{self, Options};
use picklock_campaign::shrink::shrink;
use picklock_model::ids::Key;
use picklock_model::plan::{ChoiceKind, Plan, ReadyOrder};
use picklock_model::seed::Seed;
use picklock_scenarios::scenario::Scenario;
use picklock_scenarios::testing::STORES;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Grant, Lock, LockError};

/// A lock with a race: one of its tasks publishes that there is a queue, another one looks whether there is. It waits for its turn
/// only if the second finds what the first has published.
struct Racy(Host);

const QUEUED: &str = "queued";

impl Lock for Racy {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let [published, found] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let (publisher, reader, finder) = (Arc::clone(&published), published, Arc::clone(&found));
        self.0.spawn(async move { publisher.store(true, Ordering::Relaxed) });
        self.0.spawn(async move { finder.store(reader.load(Ordering::Relaxed), Ordering::Relaxed) });
        self.0.sleep(Duration::from_millis(1)).await;
        if !found.load(Ordering::Relaxed) {
            return Ok(Some(Grant::new(key, "unqueued")));
        }
        self.0.oracle_acquire(key).await;
        Ok(Some(Grant::new(key, QUEUED)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        if grant.owner == QUEUED {
            self.0.oracle_release(&grant.key).await;
        }
        Ok(())
    }
}

fn racy() -> Design {
    Design::new("racy", |context| async move { Ok(Client::lock(Racy(context.host))) })
}

/// A calm scenario of two clients, with this order of ready tasks.
fn scenario(ready_order: &str) -> Scenario {
    let text =
        format!("summary = 'made up'\nready_order = '{ready_order}'\n[contend]\nclients = 2\nsections = 2");
    Scenario::parse("made-up.toml", &text, STORES).unwrap()
}

/// A plan whose ready tasks are not drawn, with all choices of a run in which they were, and in which the lock was broken.
fn broken_by_choices() -> Plan {
    let drawn = |seed| check::draw(&racy(), &scenario("drawn"), Seed(seed)).unwrap().plan;
    let recording = Options::default().recording_choices();
    let mut runs = (0..100).map(|seed| check::check(recording, &racy(), drawn(seed)).unwrap());
    let broken = runs.find(|run| run.violates("mutual-exclusion")).unwrap();
    let mut plan = broken.plan;
    plan.world.ready_order = ReadyOrder::Woken;
    plan.choices = broken.choices.iter().map(|made| made.choice).collect();
    plan
}

#[test]
fn the_lock_breaks_only_where_the_order_is_drawn_or_given() {
    for seed in 0..20 {
        let run = check::seed(Engine::Event, &racy(), &scenario("woken"), Seed(seed)).unwrap();
        assert!(!run.violates("mutual-exclusion"), "seed {seed}");
    }
    let run = check::check(Engine::Event, &racy(), broken_by_choices()).unwrap();
    assert!(run.violates("mutual-exclusion"));
}

#[test]
fn reducing_drops_the_choices_that_a_violation_does_not_need() {
    let plan = broken_by_choices();
    assert!(plan.choices.len() > 20, "{} choices", plan.choices.len());
    let reduced = shrink(Engine::Event, &racy(), &plan, "mutual-exclusion");
    let left: Vec<_> = reduced.choices.iter().map(|choice| (choice.kind, choice.chosen)).collect();
    assert_eq!(left, [(ChoiceKind::Poll, 1)]);
    assert!(check::check(Engine::Event, &racy(), reduced.clone()).unwrap().violates("mutual-exclusion"));
    let without = Plan { choices: Vec::new(), ..reduced };
    assert!(!check::check(Engine::Event, &racy(), without).unwrap().violates("mutual-exclusion"));
}
