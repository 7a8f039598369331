//! authentik #23876: an advisory lock behind a pooler that lends connections for a transaction.
//!
//! *Claim:* one instance migrates the database at a time; the others wait for its advisory lock.
//! *Mechanism:* the session that has the lock is the pooler's. Migrations go by any of its connections, and the unlock by another one than the
//! lock: it answers false, which nobody reads. Instances that start later wait until the pooler closes the connection, after an hour.
//! *Versions:* all behind PgBouncer with `pool_mode=transaction`; since 2026 an instance may be given a direct connection for its locks.
//! *Source:* <https://github.com/goauthentik/authentik/issues/23876>, <https://github.com/goauthentik/authentik/pull/23013>
//!
//! It is [`advisory-pooled`](crate::postgres::advisory_pooled), and [`advisory`](crate::postgres::advisory) where it is fixed.

use picklock_postgres::{Mode, Postgres, Rules};
use picklock_sim::design::{Design, Family};
use picklock_sim::param::Args;
use picklock_sim::params;

use super::version::FIXED;
use crate::postgres::advisory;

/// The lock that a pooler has.
pub(super) static FAMILY: Family = Family {
    name: "authentik-23876",
    claim: "pg_advisory_lock, with a pooler between",
    weakness: "the session of the lock is the pooler's: the unlock goes by another one",
    source: "authentik behind PgBouncer, https://github.com/goauthentik/authentik/issues/23876",
    params: params![FIXED],
    build,
};

fn build(args: &Args) -> Design {
    let pooler = Rules { mode: Mode::Transaction, size: 2 };
    let kind = Postgres { pooler: (!args.get(FIXED)).then_some(pooler), ..Postgres::default() };
    advisory::design(args, kind)
}
