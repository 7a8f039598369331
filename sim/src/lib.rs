//! The simulated world of picklock, and the contracts of a lock design and of a store kind.
//!
//! Both sides of a test meet here: the tested side (a [`Design`](design::Design) whose clients are a [`Lock`](lock::Lock),
//! written against a [`Host`](host::Host)) and the testing side (a [`Plan`](picklock_model::plan::Plan)). A run takes a design
//! and a plan and leaves a [`Trace`](picklock_model::trace::Trace); nothing else decides what happens, so the same two give the
//! same trace, to the last event.
//!
//! **Entry point:** [`run::run`].
//!
//! # Where things are
//!
//! Each room uses only those to its left: base <- world <- host <- contract <- controls <- run, and host <- engine <- run.
//!
//! - *contract*: [`lock`] (what a client of a design can do), [`autonomous`] (a client that nobody asks), [`design`] and
//!   [`family`] (name, parameters, spelling), [`data`] (what sections do to what is guarded), [`store`] (what a store kind
//!   brings) with [`param`], [`recorder`] (what a workload reports of its sections).
//! - *host*: [`host`] is everything that a process may touch, with [`stream`], [`sleep`], [`task`] and [`disk`]; [`driver`]
//!   drives a host for a program that was not written against one.
//! - *controls*: [`resource`] is what locks guard, [`oracle`] is a perfect lock.
//! - *engine*: the two [`engine`]s poll tasks, move true time and carry bytes.
//! - *world*: clocks, processes, network, timers and fault actions; private, and the same under both engines. [`choices`] is the trait
//!   through which everything goes that it leaves open.
//! - *run*: [`run`](mod@run) makes one run, [`live`] runs the servers of a world in real time for real clients.
//! - *base*: [`own_thread`], [`waiter`] and [`mailbox`], small parts of everything above.
//!
//! # What is not here
//!
//! This crate names no store, draws no plan and judges no trace. The data of a run are in `picklock_model`, plans are drawn in
//! `picklock_scenarios`, traces are judged in `picklock_judge`.
//!
//! # Example
//!
//! A lock that grants everything, one client that wants it, and a pause of a second right before it writes:
//!
//! ```
//! use std::sync::Arc;
//! use std::time::Duration;
//!
//! use picklock_sim::design::Design;
//! use picklock_sim::engine::Engine;
//! use picklock_sim::host::Host;
//! use picklock_model::ids::Key;
//! use picklock_sim::lock::{Client, Grant, Lock, LockError};
//! use picklock_model::plan::{
//!     Access, ClientPlan, Edge, Injection, Latency, Action, Phase, Plan, Point, SectionPlan, Settings, Target, When,
//!     WorldSpec,
//! };
//! use picklock_sim::resource::Operation;
//! use picklock_sim::run::{ClientContext, Workload, run};
//! use picklock_model::seed::Seed;
//! use picklock_model::trace::What;
//!
//! /// The lock under test: everything that it knows of time, chance and the network comes from its host.
//! struct Generous(Host);
//!
//! impl Lock for Generous {
//!     async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
//!         Ok(Some(Grant::new(key, self.0.rng().owner_id())))
//!     }
//!     async fn release(&self, _: Grant) -> Result<(), LockError> {
//!         Ok(())
//!     }
//! }
//!
//! let design = Design::new("generous", |context| async move { Ok(Client::lock(Generous(context.host))) });
//!
//! // The workload of a client: here one section that writes the guarded resource.
//! let workload: Workload = Arc::new(|context: ClientContext| {
//!     Box::pin(async move {
//!         let ClientContext { host, client, recorder, mut resource, plan, wait, .. } = context;
//!         let (Client::Lock(lock), section) = (client, &plan.sections[0]) else { return };
//!         recorder.waiting(section.ordinal, &section.key);
//!         let Ok(Some(grant)) = lock.acquire(&host, &section.key, wait).await else { return };
//!         recorder.acquired(&grant);
//!         host.sleep(section.work).await;
//!         recorder.phase(section.ordinal, Phase::Write);
//!         let _ = resource.apply(&section.key, Operation::Write(1), grant.token).await;
//!         recorder.finished();
//!     })
//! });
//!
//! // The fault: the client stands still right before its first write to the resource.
//! let write = Point {
//!     host: "client-1".into(),
//!     section: 1,
//!     phase: Phase::Write,
//!     access: Access::Write,
//!     peer: "resource".into(),
//!     nth: 0,
//!     edge: Edge::Before,
//! };
//! let pause = Injection {
//!     fault: "pause".into(),
//!     when: When::Point { point: write, after: Duration::ZERO },
//!     target: Target::host("client-1"),
//!     action: Action::Pause { lasts: Duration::from_secs(1) },
//! };
//! let (ms, s) = (Duration::from_millis, Duration::from_secs);
//! let section = SectionPlan::new(1, Key::new("stock"), ms(0), ms(50));
//! let plan = Plan {
//!     seed: Seed(1),
//!     network_seed: Seed(1),
//!     world: WorldSpec {
//!         ttl: s(1),
//!         wait: s(1),
//!         horizon: s(5),
//!         decide: s(0),
//!         latency: Latency { min: Duration::from_micros(200), max: ms(1) },
//!         tcp_timeout: s(15),
//!         stock: 100,
//!         final_client: false,
//!         ready_order: picklock_model::plan::ReadyOrder::Woken,
//!         policy: picklock_model::plan::ClientPolicy::default(),
//!         store: Settings::default(),
//!     },
//!     workload: "one write".into(),
//!     clients: vec![ClientPlan::new("client-1", vec![section])],
//!     choices: Vec::new(),
//!     injections: vec![pause],
//! };
//! plan.validate()?;
//!
//! let trace = run(Engine::Event, &design, &plan, &workload)?.trace;
//! let written = |what: &What| matches!(what, What::ResourceWritten { .. });
//! let write = trace.events.iter().find(|event| written(&event.what)).expect("the write arrives, late");
//! assert!(write.at.as_millis() > 1_000);
//! assert_eq!(run(Engine::Event, &design, &plan, &workload)?.trace.digest, trace.digest);
//!
//! // The second engine schedules in its own way, and the same point means the same there.
//! let again = run(Engine::TURMOIL, &design, &plan, &workload)?.trace;
//! assert!(again.events.iter().any(|event| written(&event.what) && event.at.as_millis() > 1_000));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod base;
mod contract;
mod controls;
pub mod engine;
pub mod host;
pub mod run;
mod world;

pub use base::{mailbox, own_thread, waiter};
pub use contract::{autonomous, data, design, family, lock, param, recorder, store};
pub use controls::{oracle, resource};
pub use host::{disk, driver, sleep, stream, task};
pub use run::{live, scripted};
pub use world::choices;
