//! A simulated PostgreSQL: one server, with the part of its behaviour that locks need.
//!
//! Modelled after PostgreSQL 15: the protocol as clients speak it (simple and extended queries, transaction status, errors with their
//! codes), transactions with savepoints, versions of rows and snapshots, row locks of three strengths with their queues, advisory locks,
//! timeouts, cancellation, deadlocks, sequences, messages on channels, and a log that is synced at each commit. It is trusted because the
//! same statements give the same replies as a real server, in scripts and in random sessions of several clients.
//!
//! **Entry point:** [`Machine`] executes statements without a socket and a clock; [`serve()`] puts it on a host.
//!
//! # Where things are
//!
//! Each room may name those below it:
//!
//! | room | what |
//! | --- | --- |
//! | `spec` | PostgreSQL as a store kind: its name, its hosts, its parameters (`params`) |
//! | `real` | how the real programs are run: PostgreSQL's servers, and pgbouncer |
//! | `pooler` | a pooler between clients and a server |
//! | `server` | the simulated server |
//! | `controller` | who has a standby lead |
//! | `link` | the connection of a pooler, a standby or a controller to a server |
//! | `protocol` | messages of both directions with the values and errors that they carry, and their words in a story |
//! | `tests` | scripts whose replies a real server has given, servers in a world, hostile bytes |
//!
//! In `server`:
//!
//! - *On a host*: `serve` (sockets and sessions), `shared` (what its tasks share), `config`, `journal` (the log on disk), `replication` (the log on its
//!   way to a standby), `keepalive` (silent clients), `leases` (which rows are leases), `guarded` (which rows are locks, and which are the resource).
//! - *The machine*: `machine` (sessions, alarms, signals), `query` (the messages of a session), `extended` (prepared statements and portals), `control` (statements about the session),
//!   `outcome` (the ends of transactions), `replicated` (commits that wait for a standby, and what a standby does), `fence`, `session`, `settings`.
//! - *Statements*: `execute` (as far as one comes without waiting), `plan` (what it means).
//! - *State*: `locks` (queues, waits, deadlocks), `data` (tables, versions of rows, sequences).
//! - *The language*: `sql` (lexer, parser).
//!
//! # What is not here
//!
//! The SQL is what locks and job queues need: CREATE of tables (with CHECK), sequences, indexes (unique ones partial and of expressions as well),
//! domains, enums and functions of one expression; INSERT (of values or of a SELECT, with ON CONFLICT), SELECT, UPDATE (with FROM) and DELETE (with
//! USING), with RETURNING, ORDER BY, LIMIT, row locks of one table, joins, subqueries, UNION, arrays as rows, `row_number`, `count`, `max`, `min` and
//! `array_agg`; WITH; BEGIN, COMMIT, ROLLBACK, savepoints; SET, SHOW and RESET of timeouts; LISTEN, NOTIFY; DISCARD ALL. Everything else is refused
//! as `not modelled` (0A000), never guessed at. The scope is closed (`docs/decisions/0050`): `server/scope.txt` lists the functions with their
//! senders. JSON, LIKE and regular expressions are outside of it.
//!
//! Left out on purpose: authentication, databases and schemas, more standbys than one, recovery that takes time, and the locks by which
//! SERIALIZABLE finds conflicts of several rows: it is REPEATABLE READ here. The only time zone is UTC. Timeouts follow the monotonic
//! clock. A scan gives rows in the order in which their versions were made, and a join in the order of its tables.

mod controller;
mod link;
mod params;
mod pooler;
mod protocol;
mod real;
mod server;
mod spec;
#[cfg(test)]
mod tests;

pub use params::{DOWN_AFTER, FENCED, FSYNC, SYNCHRONOUS_COMMIT};
pub use pooler::{Mode, Rules};
pub use server::{Delivery, Effects, Guarded, Keepalive, Machine, Now, Record, SessionId, serve};
pub use spec::{KIND, Postgres};

/// The port of a server.
pub const PORT: u16 = 5432;
