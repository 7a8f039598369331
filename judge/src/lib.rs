//! The judge of picklock: what the invariants and the measures say of a trace. This crate knows the data of a run and nothing of the world
//! in which the run took place.
//!
//! [`History`](history::History) sorts a trace by section, record and operation, once. Each invariant and each measure is a pure function of
//! it, so a run is judged in the same way wherever its trace comes from: a simulated world, or a history that a real system has recorded.
//!
//! **Entry point:** [`History::of`](history::History::of) a trace, then each [`Invariant`](invariants::Invariant) of [`invariants::ALL`].
//!
//! # Where things are
//!
//! - [`history`]: a trace, sorted: `pass` (the one pass over the events), `parts` (sections, records, operations), `attempts` (of a section),
//!   `contest` (did anybody want what others held?), `names` (by which stores keep records), `stretches` (between two events of faults), `wall` (clocks
//!   of hosts).
//! - [`invariants`]: the properties of a correct run, a file each, with tests on traces written by hand; [`outcome`]: what one says of a run.
//! - [`metrics`]: what a lock costs, and how long it keeps its clients waiting; measured, not judged.
//! - [`conclusive`]: the reasons for which a run without a violation proves nothing.
//! - [`hits`]: whether a fault hit what was granted or held.
//! - [`recorded`]: histories that were recorded elsewhere: `json` and `edn` read them, `recording` puts them together from processes and
//!   servers, `as_trace` makes a trace of what one host has noted, `exclusion`, `crowds` and `tokens` compare the clocks of several hosts.
//!
//! To add an invariant takes a file and a line in [`invariants::ALL`].
//!
//! # What is not here
//!
//! No host, no lock, no protocol: stores emit neutral events (created, extended, deleted, expired, lost). Whether a violation is expected is
//! in `picklock_campaign`, how it is shown in `picklock_reports`.

pub mod conclusive;
pub mod history;
pub mod hits;
pub mod invariants;
pub mod metrics;
pub mod outcome;
pub mod recorded;
