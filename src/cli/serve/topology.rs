//! The servers that can be served, and how each is started.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use picklock_model::trace::Role;
use picklock_postgres::Postgres;
use picklock_redis::Redis;
use picklock_sim::live::Served;
use picklock_sim::store::{Member, StoreSpec as _};

/// Which servers there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Topology {
    /// One primary.
    Single,
    /// A primary and a replica.
    Replicated,
    /// A primary, two replicas and three Sentinels.
    Sentinel,
    /// So many independent primaries.
    Redlock(u16),
    /// One PostgreSQL server.
    Postgres,
}

impl Topology {
    /// True if its servers are those of Redis.
    pub(super) fn is_redis(self) -> bool {
        self != Topology::Postgres
    }
}

/// How many Sentinels watch a primary.
const SENTINELS: u16 = 3;

/// More independent nodes than anybody runs.
const NODES_MAX: u16 = 99;

impl FromStr for Topology {
    type Err = String;

    fn from_str(text: &str) -> Result<Topology, String> {
        match text {
            "single" => Ok(Topology::Single),
            "replicated" => Ok(Topology::Replicated),
            "sentinel" => Ok(Topology::Sentinel),
            "postgres" => Ok(Topology::Postgres),
            _ => {
                let nodes = text.strip_prefix("redlock:").and_then(|nodes| nodes.parse().ok());
                let nodes = nodes.filter(|nodes| (1..=NODES_MAX).contains(nodes));
                nodes.map(Topology::Redlock).ok_or_else(|| {
                    format!(
                        "there is no topology `{text}`; there are single, replicated, sentinel, postgres and redlock:N \
                         with N from 1 to {NODES_MAX}"
                    )
                })
            }
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Topology::Single => f.write_str("single"),
            Topology::Replicated => f.write_str("replicated"),
            Topology::Sentinel => f.write_str("sentinel"),
            Topology::Redlock(nodes) => write!(f, "redlock:{nodes}"),
            Topology::Postgres => f.write_str("postgres"),
        }
    }
}

/// One server of a topology.
pub(super) struct Server {
    pub(super) member: Member,
    pub(super) what: &'static str,
}

pub(super) fn servers(topology: Topology) -> Vec<Server> {
    let member = |name: String, store: u16, role| Member::new(name, store.into(), role);
    let what =
        if topology.is_redis() { "primary" } else { "PostgreSQL: any user, any database, no password" };
    let primary = |nth: u16| Server { member: member(format!("node-{nth}"), nth, Role::Leader), what };
    let replica = |nth: u16| Server {
        member: member(format!("replica-{nth}"), 1, Role::Follower),
        what: "replica of node-1",
    };
    let sentinel = |nth: u16| Server {
        member: member(format!("sentinel-{nth}"), 1, Role::Monitor),
        what: "Sentinel of node-1, as mymaster",
    };
    let (primaries, replicas, sentinels) = match topology {
        Topology::Single | Topology::Postgres => (1, 0, 0),
        Topology::Redlock(nodes) => (nodes, 0, 0),
        Topology::Replicated => (1, 1, 0),
        Topology::Sentinel => (1, 2, SENTINELS),
    };
    let replicas = (1..=replicas).map(replica);
    (1..=primaries).map(primary).chain(replicas).chain((1..=sentinels).map(sentinel)).collect()
}

/// The servers with their doors, ready to be started. Others are given the doors, so that clients outside the world can
/// go where a server sends them.
pub(super) fn served(topology: Topology, servers: Vec<Server>, doors: &[SocketAddr]) -> Vec<Served> {
    let served = servers.into_iter().zip(doors).map(|(server, door)| {
        let role = server.member.role;
        let port =
            if topology.is_redis() { Redis::default().port(role) } else { Postgres::default().port(role) };
        let member = Member { door: Some((door.ip().to_string(), door.port())), ..server.member };
        Served { member, door: *door, port }
    });
    served.collect()
}
