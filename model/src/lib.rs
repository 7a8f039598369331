//! The data of picklock: what goes into a run and what comes out of it. No crate of the house is below this one, and
//! nothing here waits, draws from outside or talks to a network.
//!
//! A run takes a [`Plan`](plan::Plan) and leaves a [`Trace`](trace::Trace). Both are values that can be printed,
//! compared, saved in a [`ReproFile`](repro::ReproFile) and judged, without the world in which the run took place.
//!
//! # Where things are
//!
//! - [`plan`]: everything that will be injected into a run, and all choices of its workload; [`seed`] for all
//!   randomness that is left.
//! - [`points`]: the protocol points that a run passed, at which a plan can hit.
//! - [`trace`]: the events of a run in true time, each with its cause, the beliefs of clients, and a digest.
//! - [`repro`]: a plan and the digest of its run as a file.
//! - [`time`] and [`clock`]: true time, and what the clocks of a host make of it; [`ids`]: the names of things.
//! - [`text`]: help for error messages.

pub mod clock;
pub mod ids;
pub mod plan;
pub mod points;
pub mod repro;
pub mod seed;
pub mod text;
pub mod time;
pub mod trace;
