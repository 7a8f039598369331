//! The data of picklock: the input and the output of a run. No crate of the project is below this one.
//!
//! A run takes a [`Plan`](plan::Plan) and leaves a [`Trace`](trace::Trace). Both are values that can be printed, compared, saved in a
//! [`ReproFile`](repro::ReproFile) and judged, without the world in which the run took place.
//!
//! **Entry point:** [`plan::Plan`] is the input, [`trace::Trace`] the output.
//!
//! # Where things are
//!
//! - [`plan`]: everything that will be injected into a run, and all choices of its workload: `client` (sections), `action` (fault actions and
//!   their targets), `point` (injection points), `world`, `settings` (parameters of stores), `bounds` (the checks of a plan that is read).
//! - [`trace`]: everything that happened: `event`, `record` (hosts and the trace itself), `belief`, `outage` and `extent` (what is broken when),
//!   `condition` (what a design claims to survive), `content` and `digest`.
//! - [`points`]: the injection points that a run has reached, from which faults are drawn.
//! - [`code`]: where programs are in their source.
//! - [`repro`]: a plan and the digest of its run as a file, with its form number and checksum.
//! - [`seed`]: all randomness, as named streams and addressed draws.
//! - [`time`], [`clock`]: true time, and the clocks of a host; [`ids`]: the names of hosts, keys, grants and events.
//! - [`span`]: spans of time as people write them; [`family`]: the family that the spelling of a design names.
//! - [`text`]: help for error messages.
//!
//! # What is not here
//!
//! Nothing here waits, draws from outside or talks to a network. How a plan is drawn is in `picklock_scenarios`, how it is run in
//! `picklock_sim`, what is said of a trace in `picklock_judge`.

pub mod clock;
pub mod code;
pub mod family;
pub mod ids;
pub mod plan;
pub mod points;
pub mod repro;
pub mod seed;
pub mod span;
pub mod text;
pub mod time;
pub mod trace;
