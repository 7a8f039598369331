//! Warming a program up: in a world that is thrown away it acquires and releases once, and closes its connections. What is
//! copied from it afterwards has loaded, compiled and prepared what its library needs.

use std::sync::{Arc, PoisonError};
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
use picklock_supervisor::{Setup, Template};
use xxhash_rust::xxh3::xxh3_64;

use crate::beginning::{BeginError, Beginning, Slot};
use crate::lock::ProgramLock;

/// The key that it acquires.
const KEY: &str = "warm-up";
/// How long it may wait for it, on the simulated clock.
const WAIT: Duration = Duration::from_secs(60);

/// The world in which programs are warmed up.
#[derive(Clone)]
pub(crate) struct WarmUp {
    topology: Topology,
    store: Store,
    ttl: Duration,
    /// The parameters of the stores, which decide how many hosts there are.
    settings: Arc<Settings>,
}

impl WarmUp {
    /// The one for a client that is made in this context.
    pub(crate) fn of(context: &Context, topology: Topology, store: Store) -> WarmUp {
        WarmUp { topology, store, ttl: context.ttl, settings: Arc::clone(&context.settings) }
    }

    /// The parameters of the stores of its world, in words.
    pub(crate) fn stores(&self) -> String {
        format!("{:?}", self.settings)
    }

    /// Warms up the program of a host, in a world with the same hosts.
    pub(crate) fn run(&self, host: &Host, setup: &Setup) -> Result<Template, BeginError> {
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
            Some(warmed) => warmed.map_err(BeginError::Shares),
            None => Err(BeginError::World("it did not come to rest".to_owned())),
        }
    }

    /// Has the program of a host acquire and release once, and end, in a world with the same hosts.
    pub(crate) fn run_to_end(&self, host: &Host, setup: &Setup) -> Result<(), BeginError> {
        self.world(host, setup, |context: Context, setup: Setup| async move {
            let lock = ProgramLock::start(&context, &setup, Beginning::Started, None, false);
            lock.run_to_end(&Key::new(KEY), WAIT).await;
        })
    }

    /// A world with the same hosts, in which the program of one of them does something, and nothing else happens.
    fn world<F, Fut>(&self, host: &Host, setup: &Setup, does: F) -> Result<(), BeginError>
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
        ran.map_err(|error| BeginError::World(error.message))
    }

    /// A world with these hosts, in which nothing goes wrong.
    fn plan(&self, names: &[String]) -> Plan {
        // The final client is one like the others here: it would come only when all is over.
        let clients = names.iter().filter(|name| name.starts_with("client-") || *name == FINAL_CLIENT);
        let latency = Latency { min: Duration::from_micros(200), max: Duration::from_millis(1) };
        Plan {
            seed: Seed(0),
            network_seed: Seed(0),
            world: WorldSpec {
                ttl: self.ttl,
                wait: WAIT,
                horizon: Duration::from_secs(300),
                decide: Duration::ZERO,
                latency,
                tcp_timeout: Duration::from_secs(30),
                stock: 0,
                policy: Default::default(),
                final_client: false,
                ready_order: ReadyOrder::Woken,
                store: (*self.settings).clone(),
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

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

    use picklock_model::plan::SectionPlan;
    use picklock_model::trace::What;

    use super::*;
    use crate::Program;

    /// A lock by hand that connects when it is first asked, counts how often it was, and closes its connection when it is asked to.
    const LOCK: &str = "import os, socket, sys
store, asked = None, 0
def call(*words):
    global store
    if store is None: store = socket.create_connection(('node-1', 6379))
    store.sendall(b'*%d\\r\\n' % len(words) + b''.join(b'$%d\\r\\n%s\\r\\n' % (len(word), word.encode()) for word in words))
    return store.recv(1000)
for line in sys.stdin:
    verb, key = (line.split() + [''])[:2]
    if verb == 'acquire':
        asked += 1
        print('granted owner=%d' % asked if call('SET', key, 'x', 'NX', 'PX', '5000') == b'+OK\\r\\n' else 'refused')
    elif verb == 'release':
        call('DEL', key)
        print('released')
    elif 'keeps' not in sys.argv:
        store.close()
        store = None
        print('closed')
    else:
        print('closed')
";

    fn lines_of(command: &str, seed: u64) -> Result<Vec<String>, String> {
        let program = Program::new(command).warm();
        let settings = WarmUp {
            topology: Topology::default(),
            store: program.stores().unwrap().1,
            ttl: Duration::from_secs(5),
            settings: Arc::default(),
        };
        let mut plan = settings.plan(&["client-1".to_owned(), "client-2".to_owned()]);
        plan.world.final_client = true;
        (plan.seed, plan.network_seed) = (Seed(seed), Seed(seed));
        for (at, client) in plan.clients.iter_mut().enumerate() {
            let section = |number| {
                SectionPlan::new(number, Key::new("lock:1"), Duration::from_millis(at as u64), Duration::ZERO)
            };
            client.sections = vec![section(1), section(2)];
        }
        let workload: Workload = Arc::new(|context| {
            Box::pin(async move {
                let Client::Lock(lock) = &context.client else { return };
                for section in &context.plan.sections {
                    context.host.sleep(section.think).await;
                    if let Ok(Some(grant)) = lock.acquire(&context.host, &section.key, context.wait).await {
                        let _ = lock.release(grant).await;
                    }
                }
            })
        });
        let ran = run(Engine::Event, &program.design().unwrap(), &plan, &workload);
        let printed =
            |what: &What| if let What::Printed { line, .. } = what { Some(line.clone()) } else { None };
        ran.map(|run| run.trace.events.iter().filter_map(|event| printed(&event.what)).collect())
            .map_err(|error| error.message)
    }

    #[test]
    fn runs_begin_with_a_program_that_was_asked_once_and_are_the_same_each_time() {
        if crate::ready::findings().iter().any(|finding| finding.is_needed && !finding.is_there) {
            return picklock_testing::skip("this machine runs no programs");
        }
        let dir = tempfile::tempdir().unwrap();
        let lock = dir.path().join("lock.py");
        std::fs::write(&lock, LOCK).unwrap();
        let command = format!("python3 -S -u {}", lock.display());
        let lines = lines_of(&command, 1).unwrap();
        assert_eq!(lines.iter().filter(|line| line.starts_with("granted")).count(), 4, "{lines:?}");
        assert!(
            lines.contains(&"granted owner=2".to_owned()) && !lines.contains(&"granted owner=1".to_owned())
        );
        assert_eq!(lines_of(&command, 1).unwrap(), lines);
        let why = lines_of(&format!("{command} keeps"), 1).unwrap_err();
        assert!(
            why.contains("copies would share its descriptor") && why.contains("leave `warm` out"),
            "{why}"
        );
    }
}
