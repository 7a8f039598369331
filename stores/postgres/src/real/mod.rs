//! How the real programs of a store run: PostgreSQL's servers, and pgbouncer before one of them.
//!
//! - `installed`: where the programs are, and as whom they run;
//! - `cluster`: the files with which a server begins;
//! - `server`, `agent`, `log`: a server, what stands beside it, and its log; `pooler`: a pgbouncer.
//!
//! Left out on purpose: servers whose disk never syncs (`fsync=off`) or late, and keepalives other than Linux's.

mod agent;
mod cluster;
mod installed;
mod log;
mod pooler;
mod server;

use picklock_model::plan::Settings;
use picklock_model::trace::Role;
use picklock_sim::store::{Installed, Member, RealServer};

#[cfg(test)]
pub(crate) use self::agent::agent;
#[cfg(test)]
pub(crate) use self::installed::{as_user, programs};
use crate::pooler::Rules;

/// Which real PostgreSQL there is: `postgres 15.20`.
pub(crate) const INSTALLED: Installed =
    Installed { program: "postgres", package: "postgresql", takes_over: true, version };

fn version() -> Option<String> {
    Some(format!("postgres {}", installed::version()?))
}

/// How a member runs, behind a pooler of these rules if there is one; none for what it cannot be configured to do.
pub(crate) fn server(
    member: &Member,
    members: &[Member],
    settings: &Settings,
    rules: Option<Rules>,
) -> Option<RealServer> {
    match member.role {
        Role::Proxy => pooler::server(member, members, rules?),
        Role::Leader | Role::Follower => server::server(member, members, settings),
        _ => None,
    }
}
