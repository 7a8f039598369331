//! Kubernetes as a kind of store: the hosts of a control plane, each with a member of one etcd.

use std::time::Duration;

use picklock_etcd::Etcd;
use picklock_model::plan::Settings;
use picklock_model::trace::{LeaseClock, Role, Vocabulary};
use picklock_sim::lock::BoxFuture;
use picklock_sim::param::Param;
use picklock_sim::store::{
    Member, OwnAction, ServerContext, SimulatedStore, StoreAddress, StoreKind, StoreSpec, Topology,
};

use crate::{PORT, server};

/// A control plane of so many hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kubernetes {
    /// How many hosts it has, each with a member of etcd and an API server.
    pub members: u32,
}

impl Kubernetes {
    fn etcd(self) -> Etcd {
        Etcd::of(self.members)
    }
}

/// Kubernetes in the list of all kinds.
pub const KIND: StoreKind =
    StoreKind { name: "kubernetes", params: picklock_etcd::PARAMS, stores: None, ensemble: None, real: None };

impl StoreSpec for Kubernetes {
    fn name(&self) -> &'static str {
        "kubernetes"
    }

    fn params(&self) -> &'static [Param] {
        picklock_etcd::PARAMS
    }

    fn replicates(&self) -> bool {
        self.members > 1
    }

    fn members(&self, topology: Topology, settings: &Settings) -> Vec<Member> {
        self.etcd().members(topology, settings)
    }

    /// Whichever API server is asked.
    fn address(&self, store: u32, topology: Topology, members: &[Member]) -> StoreAddress {
        self.etcd().address(store, topology, members)
    }

    /// That of its etcd.
    fn recovery_time(&self, topology: Topology, settings: &Settings, whole: bool) -> Duration {
        self.etcd().recovery_time(topology, settings, whole)
    }

    /// A lease is whole seconds.
    fn smallest_lease(&self) -> Duration {
        Duration::from_secs(1)
    }

    /// No server counts them: candidates do, by their monotonic clocks.
    fn lease_clock(&self) -> LeaseClock {
        LeaseClock::Monotonic
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary { drops: false, ..Vocabulary::ELECTED }
    }

    fn port(&self, _: Role) -> u16 {
        PORT
    }

    fn url(&self, host: &str, port: u16) -> String {
        format!("http://{host}:{port}")
    }

    fn decode(&self, _: Role, request: bool, bytes: &[u8]) -> Option<String> {
        picklock_http::describe(request, bytes)
    }

    /// Those of its etcd.
    fn actions(&self) -> &'static [OwnAction] {
        self.etcd().actions()
    }
}

impl SimulatedStore for Kubernetes {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        Box::pin(server::serve(context))
    }
}
