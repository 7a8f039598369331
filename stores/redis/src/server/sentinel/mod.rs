//! A simulated Redis Sentinel: it watches a primary together with others of its kind, and when they agree that it is
//! down, one of them, elected by the others, makes one of its replicas the primary.
//!
//! The model, after Sentinel of Redis 7.0.15: pings, INFO and greetings in their periods, subjectively and
//! objectively down, votes and epochs, the choice and promotion of a replica, the reconfiguration of the others and of
//! a primary that comes back, tilt mode, the state on disk, the commands, and the events that clients can subscribe to.
//!
//! [`Sentinel`] is a machine without sockets and clocks, so it can be tested without a world; `Front` answers clients;
//! `serve` puts both on a host.
//!
//! Left out on purpose: scripts (they are refused, as by default), TLS, access control, one connection to another
//! Sentinel shared by all primaries that both watch, and the resolution of names: a name is an address here.
//!
//! Source: `sentinel.c` of Redis 7.0.15; <https://redis.io/docs/latest/operate/oss_and_stack/management/sentinel/>.

mod commands;
mod config;
mod failover;
mod front;
mod hello;
mod ids;
mod info;
mod instance;
mod lent;
mod primary;
mod serve;
mod state;
#[cfg(test)]
mod tests;
mod watch;

pub use ids::LinkId;
pub use instance::Address;
pub use primary::Watch;
pub(crate) use serve::{failover_timeout_ms, identifier, serve};
pub use state::{Act, Sentinel};

/// The port of a Sentinel.
pub const PORT: u16 = 26379;

/// The name of the primary that the Sentinels of a simulated store watch, as in Redis's example configuration.
pub const PRIMARY_NAME: &str = "mymaster";
