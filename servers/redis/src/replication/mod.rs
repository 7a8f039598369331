//! Asynchronous replication, as Redis 7.0 does it.
//!
//! A primary sends its replicas what its commands did, as commands with absolute times. [`writer`] makes the stream of
//! effects, [`history`] numbers its bytes and keeps the last of them, [`feeds`] knows the replicas and what they have
//! acknowledged. At the other end, [`link`] understands what a primary sends, [`replica`] does what it says, and
//! [`follow`] has the sockets and timers.
//!
//! Nothing here waits for anything: a write is answered before any replica has it, and is lost when the primary is lost
//! first.
//!
//! Left out on purpose: a copy is made and sent in one piece, so replicas are never seen in the middle of it.
//!
//! Source: `replication.c` of Redis 7.0.

mod copies;
mod feeds;
mod follow;
pub(super) mod history;
mod link;
mod planned;
mod replica;
mod settings;
mod state;
mod writer;

pub(super) use feeds::{Fact, shown};
pub(super) use follow::{cron, follow};
pub(super) use link::Link;
pub(super) use planned::{Failover, Stage};
pub(super) use state::{LinkState, Replication, Upstream};
pub(super) use writer::Writer;
