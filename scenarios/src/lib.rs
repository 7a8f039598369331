//! The scenarios of picklock: what is done to a lock, as files, workloads and faults. This crate draws plans and never sees their results.
//!
//! A [`Scenario`](scenario::Scenario) is data with bounds. With a design and a seed it is drawn into a
//! [`Plan`](picklock_model::plan::Plan): the same three give the same plan.
//!
//! **Entry point:** [`Scenario::parse`](scenario::Scenario::parse) reads a file, [`suite`] has those that come with picklock.
//!
//! # Where things are
//!
//! - [`scenario`]: scenario files: `read` (from TOML), `set` (values from outside), `parts` and `world` (their entries and parameters), `plans` (the
//!   draw).
//! - [`faults`]: what can go wrong, a file each, in the one list that scenarios, explorations, gates and served worlds read. A fault's file says how
//!   it is drawn (`draw`), how it is placed at one point (`site`) and how a served world is asked for it (`served`).
//! - [`workloads`]: what clients do with their lock, a file each; `section` is the one round that they share.
//! - [`suite`]: the files of `scenarios/suite`, with those for experiments and for rebuilt bugs.
//! - [`error`]: the mistakes that a file can have, with place and remedy; [`toml_view`]: TOML with places.
//!
//! To add a fault or a workload takes a file and a line in the list beside it; a scenario of the suite takes the file alone.
//!
//! # What is not here
//!
//! No run and no verdict: `picklock_campaign` runs plans, has the runs judged, and searches among them. No fault action is applied here: a fault only
//! schedules those of `picklock_model::plan`, and `picklock_sim` carries them out.

pub mod error;
pub mod faults;
pub mod scenario;
pub mod suite;
#[doc(hidden)]
pub mod testing;
pub mod toml_view;
pub mod workloads;
