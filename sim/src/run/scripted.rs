//! A world in which scripts stand in place of clients: what a test of simulated servers needs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use super::{Panicked, Run, Workload, run};
use crate::contract::design::Design;
use crate::contract::lock::{BoxFuture, Client, Grant, Lock, LockError};
use crate::contract::store::{SimulatedStore, Topology};
use crate::engine::Engine;
use crate::host::Host;
use picklock_model::ids::Key;
use picklock_model::plan::{
    Action, ClientPlan, ClientPolicy, Injection, Latency, Plan, ReadyOrder, Settings, Target, When, WorldSpec,
};
use picklock_model::seed::Seed;
use picklock_model::time::TrueTime;

/// The program of a client.
pub type Script = fn(Host) -> BoxFuture<'static, ()>;

/// What of a world a test chooses.
#[derive(Clone, Debug)]
pub struct Scripted {
    /// The engine that runs it.
    pub engine: Engine,
    /// The lease time, and how long a client waits.
    pub ttl: Duration,
    /// How long it lasts at most.
    pub horizon: Duration,
    /// The settings of the store; those that are not given are at their defaults.
    pub settings: Settings,
    /// The fault actions.
    pub injections: Vec<Injection>,
}

impl Default for Scripted {
    /// One minute on the engine of campaigns, with a lease of a second and nothing that goes wrong.
    fn default() -> Scripted {
        Scripted {
            engine: Engine::Event,
            ttl: Duration::from_secs(1),
            horizon: Duration::from_secs(60),
            settings: Settings::default(),
            injections: Vec::new(),
        }
    }
}

/// A fault action on a host at this time.
#[must_use]
pub fn at(time: Duration, host: &str, action: Action) -> Injection {
    let when = When::At { at_ns: TrueTime(0) + time };
    Injection { fault: "test".into(), when, target: Target::host(host), action }
}

impl Scripted {
    /// Runs scripts on the hosts `client-1` and so on, beside a store of this kind: the run, and which scripts came to their end.
    ///
    /// # Errors
    /// As [`run`].
    pub fn play(
        &self,
        kind: impl SimulatedStore,
        topology: Topology,
        scripts: &[Script],
    ) -> Result<(Run, Vec<bool>), Panicked> {
        let design = Design::new("test", |_| async { Ok(Client::lock(NoLock)) }).on_stores(topology, kind);
        let names: Vec<String> = (1..=scripts.len()).map(|nth| format!("client-{nth}")).collect();
        let plan = self.plan(&names);
        let ended = Arc::new(Mutex::new(vec![false; scripts.len()]));
        let (scripts, ends) = (scripts.to_vec(), Arc::clone(&ended));
        let workload: Workload = Arc::new(move |context| {
            let nth = names.iter().position(|name| *name == context.host.name());
            let (script, ends) = (nth.and_then(|nth| Some((nth, *scripts.get(nth)?))), Arc::clone(&ends));
            Box::pin(async move {
                if let Some((nth, script)) = script {
                    script(context.host.clone()).await;
                    ends.lock().unwrap_or_else(PoisonError::into_inner)[nth] = true;
                }
                context.recorder.finished();
            })
        });
        let run = run(self.engine, &design, &plan, &workload)?;
        let ended = ended.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok((run, ended))
    }

    fn plan(&self, names: &[String]) -> Plan {
        Plan {
            seed: Seed(1),
            network_seed: Seed(1),
            world: WorldSpec {
                ttl: self.ttl,
                wait: self.ttl,
                horizon: self.horizon,
                decide: Duration::ZERO,
                latency: Latency { min: Duration::from_micros(200), max: Duration::from_millis(1) },
                tcp_timeout: Duration::from_secs(15),
                stock: 0,
                final_client: false,
                ready_order: ReadyOrder::Woken,
                policy: ClientPolicy::default(),
                store: self.settings.clone(),
            },
            workload: "test".into(),
            clients: names.iter().map(|name| ClientPlan::new(name.clone(), Vec::new())).collect(),
            choices: Vec::new(),
            injections: self.injections.clone(),
        }
    }
}

/// A lock that nobody asks, for a design of which a test needs the servers alone.
#[derive(Clone, Copy, Debug)]
pub struct NoLock;

impl Lock for NoLock {
    async fn try_acquire(&self, _: &Key) -> Result<Option<Grant>, LockError> {
        Ok(None)
    }

    async fn release(&self, _: Grant) -> Result<(), LockError> {
        Ok(())
    }
}
