//! Kubernetes as a kind of store: the hosts of a control plane, each with a member of one etcd.

use std::time::Duration;

use picklock_etcd::Etcd;
use picklock_model::plan::Settings;
use picklock_model::trace::{LeaseClock, Role, Vocabulary};
use picklock_sim::lock::BoxFuture;
use picklock_sim::param::Param;
use picklock_sim::store::{
    Form, Member, Number, OwnAction, ServerContext, Serving, SimulatedStore, Store, StoreAddress, StoreKind,
    StoreSpec, Topology, Users,
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
pub const KIND: StoreKind = StoreKind {
    name: "kubernetes",
    params: picklock_etcd::PARAMS,
    forms: &[Form {
        name: "kubernetes",
        aliases: &[],
        number: Some(Number { most: 7 }),
        doc: "a control plane of Kubernetes of N hosts: their Lease objects over HTTP",
        stores: |members| {
            let store = Store::simulated(Kubernetes { members });
            (Topology { stores: 1, replicated: store.spec.replicates() }, store)
        },
        users: Users::ServeAlone {
            instead: "serve it with `picklock serve --topology kubernetes:N` and start the program next to it",
        },
        served: &[],
    }],
    serving: Serving {
        params: picklock_etcd::PARAMS,
        start: |context, _| Box::pin(server::serve(context)),
        words: |_| "Kubernetes: Lease objects over HTTP, no token".to_owned(),
        down_after: None,
        passwords: false,
    },
    real: None,
};

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
