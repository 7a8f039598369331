//! An advisory lock behind a pooler that lends a connection for a transaction: the session that has the lock is the pooler's.
//!
//! *Claim:* as the [advisory lock](super::advisory), whose calls it sends: one holder for as long as its session lasts.
//! *Weakness:* none of that. Whoever is lent the connection of a holder has its lock as well, since a session may take what it has once
//! more. An unlock that goes by another connection unlocks nothing, and the lock stays until the pooler closes the first one, after an hour.
//! `SET lock_timeout` stays with a connection, too.
//! *Source:* pgbouncer's documentation, "Feature matrix for pooling modes"; authentik issue 23876.
//!
//! With `pooling=session` a client has a connection for as long as it is there, and all is as without a pooler.

use picklock_postgres::{Mode, Postgres, Rules};
use picklock_sim::design::Family;
use picklock_sim::param::{Count, Param, Word};
use picklock_sim::params;

use super::advisory;
use super::waiting::{CLIENT_TIMEOUT, GIVE_UP};

/// The family of designs that lock a number through a pooler.
pub(crate) static FAMILY: Family = Family {
    name: "advisory-pooled",
    claim: "pg_advisory_lock through a pooler: one holder for as long as its session lasts",
    weakness: "the session is the pooler's: others are lent it, and an unlock goes by another one",
    source: "pgbouncer's documentation, Feature matrix for pooling modes",
    params: params![POOL, POOLING, GIVE_UP, CLIENT_TIMEOUT],
    build: |args| {
        let mode = if args.get(POOLING) == "session" { Mode::Session } else { Mode::Transaction };
        let rules = Rules { mode, size: args.get(POOL) as usize };
        advisory::design(args, Postgres { pooler: Some(rules), ..Postgres::default() })
    },
};

const POOL: Param<Count> = Param {
    name: "pool",
    domain: Count(1, 100),
    default: "2",
    doc: "how many connections the pooler has to the server",
};

const POOLING: Param<Word> = Param {
    name: "pooling",
    domain: Word(&["transaction", "session"]),
    default: "transaction",
    doc: "how long a client is lent a connection: for a transaction, or for as long as it is there",
};
