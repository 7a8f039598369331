//! Asynchronous replication, as Redis 7.0 does it: what a node does for it with its state alone.
//!
//! A primary sends its replicas what its commands did, as commands with absolute times. [`feeds`] knows the replicas and
//! what they have acknowledged, [`copies`] makes what one gets that has nothing yet, [`roles`] and [`planned`] change who
//! follows whom. A replica's end of the link is [`following`](crate::server::following), since it executes what it hears.
//!
//! Nothing here waits for anything: a write is answered before any replica has it, and is lost when the primary is lost
//! first.
//!
//! Left out on purpose: a copy is made and sent in one piece, so replicas are never seen in the middle of it.
//!
//! Source: `replication.c` of Redis 7.0.

mod clustered;
mod copies;
mod feeds;
mod planned;
mod roles;
mod slot_task;

pub(crate) use feeds::{Fact, shown};
pub(crate) use slot_task::refused;
