//! The servers that can be served, and how each is started.

use std::collections::BTreeMap;
use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use picklock_redis::PORT;
use picklock_redis::sentinel;
use picklock_sim::design::{SentinelPlace, ServerRole, ServerSeat};
use picklock_sim::live::Served;
use picklock_sim::plan::{MinReplicas, Persistence};

use crate::cli::args::ServeArgs;

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
}

/// How many Sentinels watch a primary.
const SENTINELS: usize = 3;

/// More independent nodes than anybody runs.
const NODES_MAX: u16 = 99;

impl FromStr for Topology {
    type Err = String;

    fn from_str(text: &str) -> Result<Topology, String> {
        match text {
            "single" => Ok(Topology::Single),
            "replicated" => Ok(Topology::Replicated),
            "sentinel" => Ok(Topology::Sentinel),
            _ => {
                let nodes = text.strip_prefix("redlock:").and_then(|nodes| nodes.parse().ok());
                let nodes = nodes.filter(|nodes| (1..=NODES_MAX).contains(nodes));
                nodes.map(Topology::Redlock).ok_or_else(|| {
                    format!(
                        "there is no topology `{text}`; there are single, replicated, sentinel and redlock:N with N \
                         from 1 to {NODES_MAX}"
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
        }
    }
}

/// One server of a topology.
pub(super) struct Server {
    pub(super) name: String,
    pub(super) what: &'static str,
    role: ServerRole,
    port: u16,
}

pub(super) fn servers(topology: Topology) -> Vec<Server> {
    let primary = |number: u16, replicas: Vec<String>| Server {
        name: format!("node-{number}"),
        what: "primary",
        role: ServerRole::Store { replicas },
        port: PORT,
    };
    let replica = |name: &String| Server {
        name: name.clone(),
        what: "replica of node-1",
        role: ServerRole::Replica { primary: "node-1".to_owned() },
        port: PORT,
    };
    let replicas = |count: u16| -> Vec<String> { (1..=count).map(|nth| format!("replica-{nth}")).collect() };
    match topology {
        Topology::Single => vec![primary(1, Vec::new())],
        Topology::Redlock(nodes) => (1..=nodes).map(|nth| primary(nth, Vec::new())).collect(),
        Topology::Replicated => {
            let replicas = replicas(1);
            let rest: Vec<Server> = replicas.iter().map(replica).collect();
            std::iter::once(primary(1, replicas)).chain(rest).collect()
        }
        Topology::Sentinel => {
            let replicas = replicas(2);
            let rest: Vec<Server> = replicas.iter().map(replica).collect();
            let names: Vec<String> = (1..=SENTINELS).map(|nth| format!("sentinel-{nth}")).collect();
            let place = |name: &String| SentinelPlace { host: name.clone(), address: name.clone() };
            let role = ServerRole::Sentinel {
                primary: "node-1".to_owned(),
                replicas: replicas.clone(),
                sentinels: names.iter().map(place).collect(),
            };
            let sentinels = names.into_iter().map(|name| Server {
                name,
                what: "Sentinel of node-1, as mymaster",
                role: role.clone(),
                port: sentinel::PORT,
            });
            std::iter::once(primary(1, replicas)).chain(rest).chain(sentinels).collect()
        }
    }
}

/// The servers with their doors, ready to be started.
pub(super) fn seats(
    servers: Vec<Server>,
    doors: &[SocketAddr],
    args: &ServeArgs,
    down_after: Duration,
) -> Vec<Served> {
    let persistence = if args.persistent { Persistence::Always } else { Persistence::None };
    let addresses: BTreeMap<String, SocketAddr> =
        servers.iter().zip(doors).map(|(server, door)| (server.name.clone(), *door)).collect();
    let served = servers.into_iter().zip(doors).map(|(server, door)| {
        let role = by_address(server.role, &addresses);
        let announce = Some((door.ip().to_string(), door.port()));
        Served {
            name: server.name,
            role: role.kind(),
            door: *door,
            port: server.port,
            seat: Arc::new(move |host| {
                let (role, announce) = (role.clone(), announce.clone());
                ServerSeat {
                    host,
                    role,
                    persistence,
                    down_after,
                    min_replicas: MinReplicas::default(),
                    announce,
                }
            }),
        }
    });
    served.collect()
}

/// A role with the addresses of doors in the place of hosts' names, so that clients outside the world can go where a
/// server sends them.
fn by_address(role: ServerRole, addresses: &BTreeMap<String, SocketAddr>) -> ServerRole {
    let address = |name: &String| addresses.get(name).map_or_else(|| name.clone(), SocketAddr::to_string);
    let all = |names: &[String]| names.iter().map(address).collect();
    match role {
        ServerRole::Store { replicas } => ServerRole::Store { replicas: all(&replicas) },
        ServerRole::Replica { primary } => ServerRole::Replica { primary: address(&primary) },
        ServerRole::Sentinel { primary, replicas, sentinels } => ServerRole::Sentinel {
            primary: address(&primary),
            replicas: all(&replicas),
            sentinels: sentinels
                .into_iter()
                .map(|place| SentinelPlace { address: address(&place.host), ..place })
                .collect(),
        },
    }
}
