//! PostgreSQL as a kind of store: single servers that keep what is committed.
//!
//! It has no parameters of its own: what a lock sets of a server, it sets in its session. A design may put a pooler before each server.

use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_model::trace::Role;
use picklock_sim::lock::BoxFuture;
use picklock_sim::store::{
    Member, ServerContext, SimulatedStore, Store, StoreAddress, StoreKind, StoreSpec, Topology,
};

use crate::pooler::{self, Rules};
use crate::server::{Keepalive, serve_configured};
use crate::{PORT, protocol};

/// PostgreSQL servers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Postgres {
    /// The rules of the pooler before each of them, if there is one.
    pub pooler: Option<Rules>,
    /// When they look whether a silent client is still there.
    pub keepalive: Keepalive,
    /// True if their clocks say when the lease of a row is over, and not those of clients.
    pub leases: bool,
}

/// PostgreSQL in the list of all kinds.
pub const KIND: StoreKind = StoreKind {
    name: "postgres",
    params: &[],
    stores: Some(|_| Store::simulated(Postgres::default())),
    ensemble: None,
    real: None,
};

fn pooler(store: u32) -> String {
    format!("pooler-{store}")
}

impl StoreSpec for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    /// Servers before poolers.
    fn members(&self, topology: Topology, _: &Settings) -> Vec<Member> {
        let stores = || 1..=topology.stores;
        let servers = stores().map(|store| Member::new(format!("node-{store}"), store, Role::Leader));
        let poolers = stores()
            .filter(|_| self.pooler.is_some())
            .map(|store| Member::new(pooler(store), store, Role::Proxy));
        servers.chain(poolers).collect()
    }

    fn address(&self, store: u32, _: Topology, _: &[Member]) -> StoreAddress {
        StoreAddress::Host(match self.pooler {
            Some(_) => pooler(store),
            None => format!("node-{store}"),
        })
    }

    fn silent_client(&self, _: &Settings) -> Duration {
        self.keepalive.patience()
    }

    fn port(&self, _: Role) -> u16 {
        PORT
    }

    fn url(&self, host: &str, port: u16) -> String {
        format!("postgres://postgres@{host}:{port}/postgres")
    }

    fn decode(&self, _: Role, request: bool, bytes: &[u8]) -> Option<String> {
        if request { protocol::describe_request(bytes) } else { protocol::describe_replies(bytes) }
    }
}

impl SimulatedStore for Postgres {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        match self.pooler.filter(|_| context.member.role == Role::Proxy) {
            Some(rules) => Box::pin(pooler::serve(context, rules)),
            None => Box::pin(serve_configured(context, self.keepalive, self.leases)),
        }
    }
}
