//! The log on its way to the standby, by the messages of PostgreSQL's streaming replication, and the controller's confirmations.
//!
//! The records are this server's own, and a place in the log is a number of records. A standby is given everything from the place on that it
//! names; there is no first copy of the database, as it has seen the log from its beginning.
//!
//! *Source:* PostgreSQL 15 documentation, 55.4 Streaming Replication Protocol; `replication/walreceiver.c`, `replication/walsender.c`.

mod confirm;
mod feed;
mod follow;
mod wire;

pub(crate) use confirm::confirm;
pub(crate) use feed::feed;
pub(crate) use follow::follow;
