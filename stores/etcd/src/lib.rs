//! The store kind etcd: members that agree on one log (Raft), and hold leases.
//!
//! There is no simulated etcd. Its members run as real, unmodified processes in virtual time; this crate says what picklock must know of
//! them. Tried with 3.4.23.
//!
//! **Entry point:** [`KIND`], which [`Etcd`] describes.
//!
//! # Where things are
//!
//! - `spec`: etcd as a store kind: the members and their roles, the address for clients, the time that a new leader may take.
//! - `real`: the command line and the ports of a member, how the installed version is found, and the lines of a member's log that say
//!   who leads.
//! - `protocol`: the requests of its JSON gateway and of its gRPC, in the words of a story.
//! - `params`: the parameters.
//!
//! There is no `server`, as the members run as real processes, and no `tests`: each file ends with its own.
//!
//! # What is known of the real one, and shows in runs
//!
//! - Only the leader lets leases run out, by its own clock, and looks for them twice a second.
//! - A new leader gives every lease its full time again.
//! - A lease is no shorter than one and a half election timeouts, in whole seconds.
//! - A member answers a change once a majority has it on disk.
//! - A restart finds the directory as the process left it, also after a loss of power: etcd syncs what it acknowledges, so nothing is
//!   missing that would be missed.
//!
//! # What is not here
//!
//! No client: adapters speak to a member through its gateway or its gRPC port. No start of processes: `picklock_programs` does it.

mod params;
mod protocol;
mod real;
mod spec;

pub use params::PARAMS;
pub use spec::{Etcd, KIND};

/// Where clients ask.
pub const CLIENT_PORT: u16 = 2379;

/// Where members talk to each other.
pub const PEER_PORT: u16 = 2380;
