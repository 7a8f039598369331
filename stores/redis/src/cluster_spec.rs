//! Redis Cluster as a kind of store: shards with replicas, which elect one of them when a primary is lost.

use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_model::trace::Role;
use picklock_sim::lock::BoxFuture;
use picklock_sim::param::Param;
use picklock_sim::store::{
    Form, Member, Number, OwnAction, RealServer, STORES, ServerContext, Serving, SimulatedStore, Store,
    StoreAddress, StoreKind, StoreSpec, Topology, Users,
};

use crate::params::{CLUSTER_PARAMS, NODE_TIMEOUT, PERSISTENCE, SHARD_REPLICAS, VERSION};
use crate::server::{CLUSTER_ACTIONS, Own, serve_in_cluster};
use crate::spec::version;
use crate::{PORT, protocol, real};

/// A Redis Cluster of so many shards.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedisCluster {
    /// How many shards it has, each with a primary.
    pub shards: u32,
}

impl RedisCluster {
    /// So many shards.
    #[must_use]
    pub fn of(shards: u32) -> RedisCluster {
        RedisCluster { shards }
    }
}

/// Redis Cluster in the list of all kinds.
pub const CLUSTER: StoreKind = StoreKind {
    name: "redis-cluster",
    params: CLUSTER_PARAMS,
    forms: &[Form {
        name: "redis-cluster",
        aliases: &["cluster"],
        number: Some(Number { most: 49 }),
        doc: "a Redis Cluster of N shards, each a primary and its replicas",
        stores: |shards| {
            let topology = Topology { stores: 1, replicated: true };
            (topology, Store::simulated(RedisCluster::of(shards)))
        },
        users: Users::Programs,
        served: &[],
    }],
    serving: Serving {
        params: CLUSTER_PARAMS,
        start: |context, process| {
            let version = version(&context);
            Box::pin(serve_in_cluster(context, Own::served(version, process)))
        },
        words: |member| match member.role {
            Role::Follower => "replica of a shard".to_owned(),
            _ => "primary of a shard".to_owned(),
        },
        down_after: Some(NODE_TIMEOUT),
        passwords: true,
    },
    real: None,
};

/// The variable that holds the addresses of a cluster's nodes in the environment of a program.
const NODES: &str = "PICKLOCK_CLUSTER";

/// How long it takes besides until a replica stands for a primary that is suspected: until a majority has said so, and the delay of the
/// election; or until a primary that was started anew takes writes.
const ELECTION: Duration = Duration::from_secs(3);

impl StoreSpec for RedisCluster {
    fn name(&self) -> &'static str {
        CLUSTER.name
    }

    fn params(&self) -> &'static [Param] {
        CLUSTER_PARAMS
    }

    fn replicates(&self) -> bool {
        true
    }

    /// The primaries before the replicas; each shard is a group.
    fn members(&self, topology: Topology, settings: &Settings) -> Vec<Member> {
        let replicas = settings.get(SHARD_REPLICAS) as u32;
        let shards = || 1..=self.shards;
        let of_store = |store: u32| {
            let primaries = shards()
                .map(move |shard| Member::new(format!("node-{shard}"), store, Role::Leader).in_group(shard));
            let replicas = shards().flat_map(move |shard| {
                (1..=replicas).map(move |nth| {
                    Member::new(format!("replica-{shard}-{nth}"), store, Role::Follower).in_group(shard)
                })
            });
            primaries.chain(replicas)
        };
        (1..=topology.stores).flat_map(of_store).collect()
    }

    /// Whichever node is asked: each knows where all slots are.
    fn address(&self, _: u32, _: Topology, members: &[Member]) -> StoreAddress {
        StoreAddress::Ask(members.iter().map(|member| member.name.clone()).collect())
    }

    fn keep_everything(&self, settings: &mut Settings) {
        settings.set(PERSISTENCE, "always");
    }

    /// A node is suspected after one node timeout, or one and a half where it was not pinged lately.
    fn recovery_time(&self, _: Topology, settings: &Settings, _: bool) -> Duration {
        settings.get(NODE_TIMEOUT) * 3 / 2 + ELECTION
    }

    fn port(&self, _: Role) -> u16 {
        PORT
    }

    fn url(&self, host: &str, port: u16) -> String {
        format!("redis://{host}:{port}")
    }

    fn environment(&self, stores: &[StoreAddress]) -> Vec<(&'static str, String)> {
        let names = stores.iter().flat_map(|store| match store {
            StoreAddress::Host(name) => std::slice::from_ref(name),
            StoreAddress::Ask(names) | StoreAddress::Among(names) => names,
        });
        let (mut urls, mut nodes) = (Vec::new(), Vec::new());
        for name in names {
            urls.push(self.url(name, PORT));
            nodes.push(format!("{name}:{PORT}"));
        }
        vec![(STORES, urls.join(",")), (NODES, nodes.join(","))]
    }

    fn real_server(&self, member: &Member, members: &[Member], settings: &Settings) -> Option<RealServer> {
        // Which version is installed, nobody chooses.
        (settings.get(VERSION) == VERSION.default).then(|| real::cluster::server(member, members, settings))
    }

    fn decode(&self, _: Role, request: bool, bytes: &[u8]) -> Option<String> {
        if request { protocol::describe_requests(bytes) } else { protocol::describe_replies(bytes) }
    }

    fn actions(&self) -> &'static [OwnAction] {
        CLUSTER_ACTIONS
    }
}

impl SimulatedStore for RedisCluster {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        let own = Own { version: version(&context), ..Own::default() };
        Box::pin(serve_in_cluster(context, own))
    }
}
