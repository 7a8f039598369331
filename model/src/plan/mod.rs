//! Everything that will be injected into a run, and all choices of its workload, as data.
//!
//! A plan can be printed, saved in a [`ReproFile`](crate::repro::ReproFile), replayed and shrunk. Nothing else but the
//! design decides what happens in a run: same design and same plan, same trace.

mod action;
mod bounds;
mod choice;
mod client;
#[expect(clippy::module_inception, reason = "the plan itself is one of the things that a plan is made of")]
mod plan;
mod point;
mod settings;
mod world;

pub use action::{Action, Effect, Target, UNTIL_HEALED};
pub use bounds::PlanError;
pub use choice::{Choice, ChoiceKind};
pub use client::{ClientPlan, SectionPlan};
pub use plan::{Injection, Plan};
pub use point::{Access, Edge, Phase, Point, When};
pub use settings::{Declared, Setting, Settings};
pub use world::{ClientPolicy, Latency, ReadyOrder, WorldSpec};
