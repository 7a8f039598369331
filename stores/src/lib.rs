//! The list of the store kinds that come with picklock: the one place beside their own folders that names them all.
//!
//! A store kind is what picklock knows of one product. It is a folder here with a crate of its own, and a line in [`KINDS`]. Scenarios may
//! set the parameters of each, programs and `serve` take the topologies of each, and the environment check looks for the real server of each.
//!
//! **Entry points:** [`KINDS`]; [`Servers`] reads a topology.
//!
//! # Where things are
//!
//! | crate | product | who serves it |
//! | --- | --- | --- |
//! | `stores/redis` | Redis 7.0, with replicas and Sentinels | simulated servers, or a real redis-server in virtual time |
//! | `stores/redis` | Redis Cluster 7.0 | simulated nodes |
//! | `stores/postgres` | PostgreSQL 15, as far as locks go | simulated servers, or a real postgres and a real pgbouncer in virtual time |
//! | `stores/etcd` | etcd 3.4 and 3.6 | simulated servers, or real ones in virtual time |
//! | `stores/zookeeper` | ZooKeeper 3.8 | simulated servers, or real ones in virtual time |
//! | `stores/consul` | Consul's sessions and keys | a simulated server |
//! | `stores/kubernetes` | Kubernetes' Lease objects | simulated API servers on a simulated etcd |
//!
//! Each crate has the same rooms, as far as its kind needs them:
//!
//! | room | what |
//! | --- | --- |
//! | `spec` | the store kind as scenarios, the world and programs see it; its parameters are beside it, in `params` |
//! | `real` | how a real member is started, and how its log reads |
//! | `protocol` | the protocol, and its words in a story |
//! | `server` | the simulated server |
//! | `tests` | tests of all of it, besides those at the ends of files |
//!
//! The spec may name all the others, `protocol` and `params` none of them.
//!
//! A store kind declares a [`StoreSpec`](picklock_sim::store::StoreSpec); the smallest is that of Consul. A new
//! kind also joins the workspace and the table of arrows in `tests/structure.rs`.
//!
//! # What is not here
//!
//! Clients of these stores are in `picklock_impls`, the start of real servers as processes of hosts is in `picklock_programs`.

mod servers;

use picklock_sim::store::{StoreKind, StoreParams};

pub use servers::{Runs, Servers, ServersError, listed};

/// All kinds; a program that names none gets the first.
pub static KINDS: &[&StoreKind] = &[
    &picklock_redis::KIND,
    &picklock_redis::CLUSTER,
    &picklock_postgres::KIND,
    &picklock_etcd::KIND,
    &picklock_zookeeper::KIND,
    &picklock_consul::KIND,
    &picklock_kubernetes::KIND,
];

/// The kinds as scenarios may speak of them.
#[must_use]
pub fn params() -> Vec<StoreParams> {
    KINDS.iter().map(|kind| StoreParams { kind: kind.name, params: kind.params }).collect()
}
