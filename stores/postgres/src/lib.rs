//! A simulated PostgreSQL: one server, with the part of its behaviour that row locks need.
//!
//! Modelled after PostgreSQL 15: the protocol as clients speak it (simple and extended queries, transaction status, errors with their
//! codes), transactions at READ COMMITTED, `SELECT ... FOR UPDATE` with its queue, its timeouts and its deadlocks, and a log that is synced at
//! each commit. It is trusted because the same statements give the same replies as a real server.
//!
//! **Entry point:** [`Machine`] executes statements without a socket and a clock; [`serve()`] puts it on a host.
//!
//! # Where things are
//!
//! Each room may name those below it:
//!
//! | room | what |
//! | --- | --- |
//! | `spec` | PostgreSQL as a store kind: its name and its address; it has no parameters |
//! | `server` | the simulated server |
//! | `protocol` | messages of both directions with the values and errors that they carry, and their words in a story |
//! | `tests` | scripts whose replies a real server has given, servers in a world, hostile bytes |
//!
//! There is no `real` yet: no run has a real PostgreSQL as its store.
//!
//! In `server`:
//!
//! - *On a host*: `serve` (sockets and sessions), `journal` (the log on disk), `guarded` (which rows are locks, and which are the resource).
//! - *The machine*: `machine` (sessions, queues of waiters, deadlocks), `query` (the messages of a session), `plan` (what a
//!   statement means), `execute` (as far as it comes without waiting), `session`, `settings`, `data` (tables, rows and their locks).
//! - *The language*: `sql` (lexer, parser).
//!
//! # What is not here
//!
//! The SQL is what locks need: BEGIN, COMMIT, ROLLBACK, SET and SHOW of timeouts, CREATE TABLE with a primary key of one column, and INSERT,
//! SELECT, UPDATE and DELETE on one table. Everything else is refused, never guessed at.
//!
//! Left out on purpose: authentication, databases and schemas, savepoints, other isolation levels, indexes besides the primary key,
//! replication, recovery that takes time. Timeouts follow the monotonic clock. A scan gives rows in the order of their keys.

mod protocol;
mod server;
mod spec;
#[cfg(test)]
mod tests;

pub use server::{Delivery, Effects, Guarded, Machine, Now, Record, SessionId, serve};
pub use spec::{KIND, Postgres};

/// The port of a server.
pub const PORT: u16 = 5432;
