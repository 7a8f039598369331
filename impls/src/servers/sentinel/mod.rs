//! Redis Sentinel, after 7.0.15: several of them watch a primary, agree that it is down, elect one among them, and that
//! one promotes a replica and tells everybody.
//!
//! [`Sentinel`] is a machine without sockets and clocks ([`state`], [`watch`], [`info`], [`hello`], [`failover`],
//! [`commands`]); [`serve`](serve::serve) puts it on a host. Each Sentinel acts ten to nineteen times a second, at
//! times of its own.
//!
//! Left out on purpose: scripts, authentication, host names that resolve to others, connections that are shared among
//! the primaries that a Sentinel watches.
//!
//! Source: `sentinel.c` of Redis 7.0, and what three real Sentinels were seen to do.

mod clients;
mod commands;
mod config;
mod failover;
mod hello;
mod info;
mod instance;
mod primary;
mod serve;
mod state;
#[cfg(test)]
mod tests;
mod watch;

pub use instance::{Address, InstanceId, LinkId};
pub use primary::Watch;
pub(in crate::servers) use serve::serve;
pub use state::{Act, Sentinel};

/// The port of a Sentinel.
pub const PORT: u16 = 26379;

/// The name under which a store is watched.
pub const NAME: &str = "mymaster";
