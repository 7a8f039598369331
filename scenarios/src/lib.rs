//! What is done to a lock: scenario files, workloads, faults. This crate draws plans and never looks at what comes of them.
//!
//! A [`Scenario`](scenario::Scenario) is data with bounds. With a design and a seed it is drawn into a
//! [`Plan`](picklock_model::plan::Plan): the same three give the same plan. Who runs plans, judges the runs and searches among
//! them is the crate `picklock_campaign`.
//!
//! # Where things are
//!
//! - [`scenario`]: scenario files, read, changed from outside and drawn; [`suite`]: those that come with picklock.
//! - [`faults`]: what can go wrong, a file a fault.
//! - [`workloads`]: what clients do with their lock, a file a workload.
//! - [`error`]: what can be wrong with a file, with its place and its remedy; [`toml_view`]: TOML with places.
//!
//! To add a fault or a workload takes a file and a line in the list beside it; a scenario of the built-in suite takes the file
//! alone.

pub mod error;
pub mod faults;
pub mod scenario;
pub mod suite;
#[doc(hidden)]
pub mod testing;
pub mod toml_view;
pub mod workloads;
