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
        let slot = Slot::default();
        let kept = Arc::clone(&slot);
        self.world(host, setup, move |context: Context, setup: Setup| {
            let kept = Arc::clone(&kept);
            async move {
                let beginning = Beginning::ToBeCopied(kept);
                ProgramLock::start(&context, &setup, beginning, None, false)
                    .warm_up(&Key::new(KEY), WAIT)
                    .await;
            }
        })?;
        let warmed = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
        match warmed {
            Some(warmed) => warmed.map_err(WarmUpError::Shares),
            None => Err(WarmUpError::World("it did not come to rest".to_owned())),
        }
    }

    /// Has the program of a host acquire and release once, and end, in a world with the same hosts.
    pub(crate) fn run_to_end(&self, host: &Host, setup: &Setup) -> Result<(), WarmUpError> {
        self.world(host, setup, |context: Context, setup: Setup| async move {
            let lock = ProgramLock::start(&context, &setup, Beginning::Started, None, false);
            lock.run_to_end(&Key::new(KEY), WAIT).await;
        })
    }

    /// A world with the same hosts, in which the program of one of them does something, and nothing else happens.
    fn world<F, Fut>(&self, host: &Host, setup: &Setup, does: F) -> Result<(), WarmUpError>
    where
        F: Fn(Context, Setup) -> Fut + Clone + Send + Sync + 'static,
        Fut: Future<Output = ()> + Send + 'static,
    {
        let (name, names) = (host.name().to_owned(), HostDriver::of(host).host_names());
        // Programs of different hosts draw different numbers, each the same ones every time.
        let setup = Setup { seed: xxh3_64(name.as_bytes()), ..setup.clone() };
        // It is done when the client of this host is made.
        let client = move |context: Context| {
            let (name, setup, does) = (name.clone(), setup.clone(), does.clone());
            async move {
                if context.host.name() == name {
                    does(context, setup).await;
                }
                Ok(Client::direct(Idle))
            }
        };
        let design = Design::new("warm-up", client).on_store(self.topology, self.store.clone());
        let (plan, workload): (_, Workload) = (self.plan(&names), Arc::new(|_| Box::pin(async {})));
        // A world of its own, while the other one waits: on a thread of its own.
        let ran = std::thread::scope(|scope| {
            let ran = scope.spawn(|| run(Engine::Event, &design, &plan, &workload).map(drop));
            ran.join().expect("a run does not panic")
        });
        ran.map_err(|error| WarmUpError::World(error.message))
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
