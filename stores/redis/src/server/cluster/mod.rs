//! A node's part in a cluster: what it knows of the others, who serves which slots, and the bus over which they find out.
//!
//! The model, after `cluster.c` of Redis 7.0.15: pings with gossip in their periods, nodes that are suspected and that a majority of
//! primaries finds down, the election of a replica by votes of primaries, epochs, primaries that are demoted when they hear of a newer
//! configuration, primaries that stop when they reach no majority, failovers by hand, slots that move, and the file of nodes.
//!
//! [`Cluster`] is a machine without sockets and clocks: it is given the time, what has come over its links and when they broke, and says
//! what to do in [`Act`]s. Times are milliseconds of the wall clock, as in Redis. All nodes know each other from the start, as nodes do
//! that have been a cluster for a while; one that was reset or forgotten can be met again.
//!
//! Left out on purpose: the handshake of nodes that meet, new names after CLUSTER RESET HARD, addresses that change, host names, TLS,
//! modules, and limits on the buffers of links.

mod act;
#[cfg(test)]
mod bounds;
mod cron;
mod describe;
mod election;
mod ids;
mod join;
mod message;
mod peer;
mod receive;
mod slot;
mod state;
mod table;
#[cfg(test)]
mod tests;

pub(crate) use act::{Act, Local};
pub(crate) use ids::{BusLink, NodeId};
pub(crate) use message::{Body, Message};
pub(crate) use peer::{BUS_PORT_ABOVE, Peer, Place};
pub use slot::slot_of;
pub(crate) use slot::{SLOTS, Slots};
pub(crate) use state::{Cluster, Settings};
