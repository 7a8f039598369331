//! Warming a program up: in a world that is thrown away it acquires and releases once, and closes its connections. What is
//! copied from it afterwards has loaded, compiled and prepared what its library needs.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::plan::{ClientPlan, Latency, Plan, ReadyOrder, Settings, WorldSpec};
use picklock_model::seed::Seed;
use picklock_model::trace::FINAL_CLIENT;
use picklock_sim::design::{Context, Design, Topology};
use picklock_sim::driver::HostDriver;
use picklock_sim::engine::Engine;
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Direct, LockError};
use picklock_sim::run::{Workload, run};
use picklock_sim::store::Store;
use picklock_supervisor::{Setup, StartError, Template};
use xxhash_rust::xxh3::xxh3_64;

use crate::driver::Beginning;
use crate::lock::ProgramLock;

/// The key that it acquires.
const KEY: &str = "warm-up";
/// How long it may wait for it, on the simulated clock.
const WAIT: Duration = Duration::from_secs(60);

/// The place for a program that was warmed up, or for the reason why it cannot be copied.
pub(crate) type Slot = Arc<Mutex<Option<Result<Template, String>>>>;

/// The world in which programs are warmed up.
#[derive(Clone)]
pub(crate) struct WarmUp {
    pub(crate) topology: Topology,
    pub(crate) store: Store,
    pub(crate) ttl: Duration,
}

/// The reason why a program was not warmed up.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WarmUpError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("warm the program up: {0}; leave `warm` out, or see docs/guide/programs.md#warm-starts")]
    World(String),
    #[error(
        "copy the program after its warm-up: copies would share {0}; leave `warm` out, or see docs/guide/programs.md#warm-starts"
    )]
    Shares(String),
}

impl WarmUp {
    /// Warms up the program of a host, in a world with the same hosts.
    pub(crate) fn run(&self, host: &Host, setup: &Setup) -> Result<Template, WarmUpError> {
        let (name, names) = (host.name().to_owned(), HostDriver::of(host).host_names());
        // Programs of different hosts draw different numbers, each the same ones every time.
        let setup = Setup { seed: xxh3_64(name.as_bytes()), ..setup.clone() };
        let slot = Slot::default();
        let (design, plan) = (self.design(name, setup, &slot), self.plan(&names));
        let workload: Workload = Arc::new(|_| Box::pin(async {}));
        // A world of its own, while the other one waits: on a thread of its own.
        let ran = std::thread::scope(|scope| {
            let ran = scope.spawn(|| run(Engine::Event, &design, &plan, &workload).map(drop));
            ran.join().expect("a run does not panic")
        });
        ran.map_err(|error| WarmUpError::World(error.message))?;
        let warmed = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        match warmed {
            Some(warmed) => warmed.map_err(WarmUpError::Shares),
            None => Err(WarmUpError::World("it did not come to rest".to_owned())),
        }
    }

    /// A design whose client of this host does it all when it is made.
    fn design(&self, name: String, setup: Setup, slot: &Slot) -> Design {
        let slot = Arc::clone(slot);
        let client = move |context: Context| {
            let (name, setup, slot) = (name.clone(), setup.clone(), Arc::clone(&slot));
            async move {
                if context.host.name() == name {
                    let lock = ProgramLock::start(&context, &setup, Beginning::ToBeCopied(slot), None, false);
                    lock.warm_up(&Key::new(KEY), WAIT).await;
                }
                Ok(Client::direct(Idle))
            }
        };
        Design::new("warm-up", client).on_store(self.topology, self.store.clone())
    }

    /// A world with these hosts, in which nothing goes wrong.
    fn plan(&self, names: &[String]) -> Plan {
        let clients = names.iter().filter(|name| name.starts_with("client-"));
        let latency = Latency { min: Duration::from_micros(200), max: Duration::from_millis(1) };
        Plan {
            seed: Seed(0),
            network_seed: Seed(0),
            world: WorldSpec {
                ttl: self.ttl,
                wait: WAIT,
                horizon: Duration::from_secs(300),
                latency,
                tcp_timeout: Duration::from_secs(30),
                stock: 0,
                policy: Default::default(),
                final_client: names.iter().any(|name| name == FINAL_CLIENT),
                ready_order: ReadyOrder::Woken,
                store: Settings::default(),
            },
            workload: "warm-up".to_owned(),
            clients: clients.map(|name| ClientPlan::new(name.clone(), Vec::new())).collect(),
            injections: Vec::new(),
            choices: Vec::new(),
        }
    }
}

/// A client that does nothing.
struct Idle;

impl Direct for Idle {
    async fn change(&self, _: &Key, _: i64, _: Duration) -> Result<(), LockError> {
        Ok(())
    }
}
