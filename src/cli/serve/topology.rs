//! The servers that can be served, and how each is started.

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;

use picklock_consul::Consul;
use picklock_kubernetes::Kubernetes;
use picklock_model::plan::Settings;
use picklock_model::trace::{Role, Vocabulary};
use picklock_postgres::Postgres;
use picklock_redis::{Redis, RedisCluster};
use picklock_sim::live::Served;
use picklock_sim::param::Param;
use picklock_sim::store::{Member, ServerContext, SimulatedStore as _, StoreSpec as _};

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
    /// A Redis Cluster of so many shards, each a primary and a replica.
    Cluster(u16),
    /// One PostgreSQL server.
    Postgres,
    /// A PostgreSQL server, its standby and their controller.
    PostgresStandby,
    /// An etcd of so many members.
    Etcd(u16),
    /// A ZooKeeper of so many members.
    ZooKeeper(u16),
    /// One Consul server.
    Consul,
    /// A control plane of Kubernetes of so many hosts.
    Kubernetes(u16),
}

/// The kind of the servers of a topology.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Redis,
    RedisCluster,
    Postgres,
    Etcd,
    ZooKeeper,
    Consul,
    Kubernetes,
}

impl Topology {
    pub(super) fn kind(self) -> Kind {
        match self {
            Topology::Postgres | Topology::PostgresStandby => Kind::Postgres,
            Topology::Etcd(_) => Kind::Etcd,
            Topology::ZooKeeper(_) => Kind::ZooKeeper,
            Topology::Cluster(_) => Kind::RedisCluster,
            Topology::Consul => Kind::Consul,
            Topology::Kubernetes(_) => Kind::Kubernetes,
            _ => Kind::Redis,
        }
    }
}

impl Kind {
    /// The parameters of its servers.
    pub(super) fn params(self) -> &'static [Param] {
        match self {
            Kind::Redis => picklock_redis::PARAMS,
            Kind::RedisCluster => picklock_redis::CLUSTER_PARAMS,
            Kind::Postgres => picklock_postgres::KIND.params,
            Kind::Etcd => picklock_etcd::SERVED,
            Kind::ZooKeeper => picklock_zookeeper::SERVED,
            Kind::Consul => picklock_consul::KIND.params,
            Kind::Kubernetes => picklock_kubernetes::KIND.params,
        }
    }

    /// The words for its members.
    pub(super) fn vocabulary(self) -> Vocabulary {
        match self {
            Kind::Redis | Kind::RedisCluster => Vocabulary::default(),
            Kind::Postgres => Postgres::default().vocabulary(),
            Kind::Etcd | Kind::ZooKeeper | Kind::Consul | Kind::Kubernetes => Vocabulary::ELECTED,
        }
    }

    /// The port on which a server of this role listens in its world.
    fn port(self, role: Role) -> u16 {
        match self {
            Kind::Redis | Kind::RedisCluster => Redis::default().port(role),
            Kind::Postgres => Postgres::default().port(role),
            Kind::Etcd => picklock_etcd::CLIENT_PORT,
            Kind::ZooKeeper => picklock_zookeeper::CLIENT_PORT,
            Kind::Consul => picklock_consul::PORT,
            Kind::Kubernetes => picklock_kubernetes::PORT,
        }
    }

    /// The words for a server that takes writes from the start.
    fn leader(self) -> &'static str {
        match self {
            Kind::Redis | Kind::RedisCluster => "primary",
            Kind::Postgres => "PostgreSQL: any user, any database, no password",
            Kind::Etcd => "etcd: gRPC, no password",
            Kind::ZooKeeper => "ZooKeeper: no password",
            Kind::Consul => "Consul: sessions and keys over HTTP, no token",
            Kind::Kubernetes => "Kubernetes: Lease objects over HTTP, no token",
        }
    }
}

/// How many Sentinels watch a primary.
const SENTINELS: u16 = 3;

/// More independent nodes than anybody runs.
const NODES_MAX: u16 = 99;

/// The most shards of a cluster.
const SHARDS_MAX: u16 = 49;

/// The most members of an etcd, a ZooKeeper or a control plane; more are not recommended.
const MEMBERS_MAX: u16 = 7;

impl FromStr for Topology {
    type Err = String;

    fn from_str(text: &str) -> Result<Topology, String> {
        match text {
            "single" => Ok(Topology::Single),
            "replicated" => Ok(Topology::Replicated),
            "sentinel" => Ok(Topology::Sentinel),
            "postgres" => Ok(Topology::Postgres),
            "postgres-standby" => Ok(Topology::PostgresStandby),
            "consul" => Ok(Topology::Consul),
            _ => {
                let count = |prefix: &str, most: u16| {
                    let count: Option<u16> = text.strip_prefix(prefix).and_then(|count| count.parse().ok());
                    count.filter(|count| (1..=most).contains(count))
                };
                let nodes = count("redlock:", NODES_MAX).map(Topology::Redlock);
                let shards = count("cluster:", SHARDS_MAX).or_else(|| count("redis-cluster:", SHARDS_MAX));
                let cluster = || shards.map(Topology::Cluster);
                let etcd = || count("etcd:", MEMBERS_MAX).map(Topology::Etcd);
                let zookeeper = || count("zookeeper:", MEMBERS_MAX).map(Topology::ZooKeeper);
                let kubernetes = || count("kubernetes:", MEMBERS_MAX).map(Topology::Kubernetes);
                let elected = etcd().or_else(zookeeper).or_else(kubernetes);
                nodes.or_else(cluster).or(elected).ok_or_else(|| {
                    format!(
                        "there is no topology `{text}`; there are single, replicated, sentinel, postgres, postgres-standby, consul, \
                         redlock:N with N from 1 to {NODES_MAX}, cluster:N with N from 1 to {SHARDS_MAX}, \
                         etcd:N, zookeeper:N and kubernetes:N with N from 1 to {MEMBERS_MAX}"
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
            Topology::Cluster(shards) => write!(f, "cluster:{shards}"),
            Topology::Postgres => f.write_str("postgres"),
            Topology::PostgresStandby => f.write_str("postgres-standby"),
            Topology::Etcd(members) => write!(f, "etcd:{members}"),
            Topology::ZooKeeper(members) => write!(f, "zookeeper:{members}"),
            Topology::Consul => f.write_str("consul"),
            Topology::Kubernetes(members) => write!(f, "kubernetes:{members}"),
        }
    }
}

/// One server of a topology.
pub(super) struct Server {
    pub(super) member: Member,
    pub(super) what: &'static str,
}

pub(super) fn servers(topology: Topology, settings: &Settings) -> Vec<Server> {
    let member = |name: String, store: u16, role| Member::new(name, store.into(), role);
    let what = topology.kind().leader();
    if let Topology::Etcd(members) | Topology::ZooKeeper(members) | Topology::Kubernetes(members) = topology {
        let members = Member::electing(members.into(), 1);
        return members.into_iter().map(|member| Server { member, what }).collect();
    }
    if let Topology::Cluster(shards) = topology {
        let one = picklock_sim::store::Topology { stores: 1, replicated: true };
        let members = RedisCluster::of(shards.into()).members(one, settings);
        let what = |member: &Member| {
            if member.role == Role::Leader { "primary of a shard" } else { "replica of a shard" }
        };
        return members.into_iter().map(|member| Server { what: what(&member), member }).collect();
    }
    if topology == Topology::PostgresStandby {
        return postgres_standby();
    }
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
        Topology::Single | Topology::Postgres | Topology::PostgresStandby | Topology::Consul => (1, 0, 0),
        Topology::Redlock(nodes)
        | Topology::Cluster(nodes)
        | Topology::Etcd(nodes)
        | Topology::ZooKeeper(nodes)
        | Topology::Kubernetes(nodes) => (nodes, 0, 0),
        Topology::Replicated => (1, 1, 0),
        Topology::Sentinel => (1, 2, SENTINELS),
    };
    let replicas = (1..=replicas).map(replica);
    (1..=primaries).map(primary).chain(replicas).chain((1..=sentinels).map(sentinel)).collect()
}

/// A PostgreSQL server and its standby, to which clients go, and the controller that promotes the standby.
fn postgres_standby() -> Vec<Server> {
    let replicated = picklock_sim::store::Topology { stores: 1, replicated: true };
    let members = Postgres::default().members(replicated, &Settings::default());
    let server = |member: Member| {
        let what = match member.role {
            Role::Leader => "PostgreSQL, the primary: any user, any database, no password",
            Role::Follower => "its standby, which takes writes once it is promoted",
            _ => "their controller, which no client uses",
        };
        Server { member, what }
    };
    members.into_iter().map(server).collect()
}

/// Runs a server of this Consul or control plane.
pub(super) async fn run(topology: Topology, context: ServerContext) {
    match topology {
        Topology::Kubernetes(members) => Kubernetes { members: members.into() }.serve(context).await,
        _ => Consul::default().serve(context).await,
    }
}

/// The servers with their doors, ready to be started. Others are given the doors, so that clients outside the world can
/// go where a server sends them.
pub(super) fn served(topology: Topology, servers: Vec<Server>, doors: &[SocketAddr]) -> Vec<Served> {
    let served = servers.into_iter().zip(doors).map(|(server, door)| {
        let port = topology.kind().port(server.member.role);
        let member = Member { door: Some((door.ip().to_string(), door.port())), ..server.member };
        Served { member, door: *door, port }
    });
    served.collect()
}
