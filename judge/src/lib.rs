//! Judging: what the invariants and the measures say of a trace. This crate knows the data of a run and nothing of the
//! world in which it took place.
//!
//! [`History`](history::History) sorts a trace by section, record and operation, once. Each invariant and each measure is
//! a pure function of it, so a run is judged in the same way wherever its trace comes from: a simulated world, or a
//! history that a real system recorded.
//!
//! # Where things are
//!
//! - [`history`]: a trace, sorted.
//! - [`invariants`]: what a run must keep, a file an invariant; [`outcome`]: what one says of a run.
//! - [`metrics`]: what a lock costs, and how long it keeps its clients waiting.
//! - [`hits`]: whether a fault hit what was granted or held.
//! - [`recorded`]: histories that were recorded elsewhere, judged by the same invariants.

pub mod history;
pub mod hits;
pub mod invariants;
pub mod metrics;
pub mod outcome;
pub mod recorded;
