//! etcd for picklock: members that agree on one log (Raft), and hold leases.
//!
//! There is no simulated etcd. Its members run as real, unmodified processes in virtual time; this crate says how one is
//! started, on which ports it is found, how long it takes to find a new leader, what its log says of that, and how the
//! requests of its JSON gateway read in a story. Tried with 3.4.23.
//!
//! What is known of the real one, and shows in runs: only the leader lets leases run out, by its own clock, and looks for
//! them twice a second. A new leader gives every lease its full time again. A lease is no shorter than one and a half
//! election timeouts, in whole seconds. A member answers what it is asked to change once a majority has it on disk.
//!
//! A restart finds the directory as the process left it, also after a loss of power: etcd syncs what it acknowledges, so
//! that nothing is missing that would be missed.

mod gateway;
mod log;
mod real;
mod spec;

pub use spec::{Etcd, KIND, PARAMS};

/// Where clients ask.
pub const CLIENT_PORT: u16 = 2379;

/// Where members talk to each other.
pub const PEER_PORT: u16 = 2380;
