//! The parts of a new fault action: a variant and its facts in the model, its execution in the simulator. The action of this test
//! exists with the feature `made-up-action` alone; that all other crates compile with it is checked by `.ci/run`.

#![cfg(feature = "made-up-action")]
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::plan::{
    Action, ClientPlan, ClientPolicy, Injection, Latency, Plan, SectionPlan, Settings, Target, When,
    WorldSpec,
};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;
use picklock_model::trace::What;
use picklock_sim::design::Design;
use picklock_sim::engine::Engine;
use picklock_sim::lock::{Client, Direct, LockError};
use picklock_sim::run::{Workload, run};

struct Idle;

impl Direct for Idle {
    async fn change(&self, _: &Key, _: i64, _: Duration) -> Result<(), LockError> {
        Ok(())
    }
}

#[test]
fn a_made_up_act_is_done_and_noted() {
    let section = SectionPlan::new(1, Key::new("k"), Duration::ZERO, Duration::ZERO);
    let plan = Plan {
        seed: Seed(1),
        network_seed: Seed(1),
        world: WorldSpec {
            ttl: Duration::from_secs(1),
            wait: Duration::from_secs(1),
            horizon: Duration::from_secs(5),
            decide: Duration::ZERO,
            latency: Latency { min: Duration::from_micros(200), max: Duration::from_millis(1) },
            tcp_timeout: Duration::from_secs(15),
            stock: 0,
            final_client: false,
            ready_order: picklock_model::plan::ReadyOrder::Woken,
            policy: ClientPolicy::default(),
            store: Settings::default(),
        },
        workload: "sleep".to_owned(),
        clients: vec![ClientPlan::new("client-1", vec![section])],
        choices: Vec::new(),
        injections: vec![Injection {
            fault: "made-up".to_owned(),
            when: When::At { at_ns: TrueTime(1_000) },
            target: Target::host("client-1"),
            action: Action::MadeUp,
        }],
    };
    let workload: Workload = Arc::new(|context| {
        Box::pin(async move {
            context.host.sleep(Duration::from_secs(1)).await;
            context.recorder.finished();
        })
    });
    let design = Design::new("idle", |_| async { Ok(Client::direct(Idle)) });
    let trace = run(Engine::Event, &design, &plan, &workload).unwrap().trace;
    assert_eq!(trace.hits.len(), 1);
    let noted = "make something up at client-1";
    let is_noted =
        |what: &What| matches!(what, What::Injected { applied, .. } if trace.words(applied) == noted);
    assert!(trace.events.iter().any(|event| is_noted(&event.what)));
}
