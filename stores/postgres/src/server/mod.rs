//! The simulated server: a machine that executes statements without a socket and a clock, and what puts it on a host.

mod actions;
mod config;
mod control;
mod data;
mod execute;
mod extended;
mod fence;
mod guarded;
mod journal;
mod keepalive;
mod leases;
mod locks;
mod machine;
mod outcome;
mod pair_state;
mod plan;
mod query;
mod replicated;
mod replication;
mod serve;
mod session;
mod settings;
mod shared;
mod sql;

pub(crate) use actions::ACTIONS;
pub(crate) use config::{Config, Pair};
pub use guarded::Guarded;
pub use journal::Record;
pub use keepalive::Keepalive;
pub use locks::SessionId;
pub use machine::{Delivery, Effects, Machine, Now};
pub use serve::serve;
pub(crate) use serve::serve_configured;
pub(crate) use settings::Commits;
