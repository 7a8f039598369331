//! A simulated PostgreSQL: one server, and of all that it can do what row locks need.
//!
//! What is modelled, after PostgreSQL 15: the protocol as clients speak it (simple and extended queries, transaction
//! status, errors with their codes), transactions at READ COMMITTED, `SELECT ... FOR UPDATE` with its queue, its timeouts
//! and its deadlocks, and a log that is synced at each commit. It is believed when the same statements give the same
//! replies as the real one.
//!
//! [`Machine`] has no socket and no clock, so it can be tested without a world; [`serve()`] puts it on a host.
//!
//! The SQL is what locks need: BEGIN, COMMIT, ROLLBACK, SET and SHOW of timeouts, CREATE TABLE with a primary key of one
//! column, and INSERT, SELECT, UPDATE and DELETE on one table. Everything else is refused, never guessed at.
//!
//! Left out on purpose: authentication, databases and schemas, savepoints, other isolation levels, indexes besides the
//! primary key, replication, recovery that takes time. Timeouts follow the monotonic clock. A scan gives rows in the order
//! of their keys.

mod data;
mod error;
mod execute;
mod guarded;
mod journal;
mod machine;
mod plan;
mod query;
mod serve;
mod session;
mod settings;
mod spec;
mod sql;
#[cfg(test)]
mod tests;
mod value;
mod wire;

pub use guarded::Guarded;
pub use journal::Record;
pub use machine::{Delivery, Effects, Machine, Now, SessionId};
pub use serve::serve;
pub use spec::{KIND, Postgres};

/// The port of a server.
pub const PORT: u16 = 5432;
