//! Consul as a kind of store: one server.

use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_model::trace::{LeaseClock, Role, Vocabulary};
use picklock_sim::lock::BoxFuture;
use picklock_sim::store::{
    Form, ServerContext, Serving, SimulatedStore, Store, StoreKind, StoreSpec, Topology, Users,
};

use crate::{Consul, PORT, server};

/// Consul in the list of all kinds.
pub const KIND: StoreKind = StoreKind {
    name: "consul",
    params: &[],
    forms: &[Form {
        name: "consul",
        aliases: &[],
        number: None,
        doc: "one Consul server: its sessions and keys over HTTP",
        stores: |_| (Topology::independent(1), Store::simulated(Consul::default())),
        users: Users::ServeAlone {
            instead: "serve it with `picklock serve --topology consul` and start the program next to it",
        },
        served: &[],
    }],
    serving: Serving {
        params: &[],
        start: |context, _| Consul::default().serve(context),
        words: |_| "Consul: sessions and keys over HTTP, no token".to_owned(),
        down_after: None,
        passwords: false,
    },
    real: None,
};

impl StoreSpec for Consul {
    fn name(&self) -> &'static str {
        "consul"
    }

    /// A client that meets a lock-delay asks again after five seconds (`DefaultLockRetryTime`).
    fn recovery_time(&self, _: Topology, _: &Settings, _: bool) -> Duration {
        Duration::from_secs(5)
    }

    fn smallest_lease(&self) -> Duration {
        self.session_ttl_min
    }

    /// The leader counts sessions by its monotonic clock.
    fn lease_clock(&self) -> LeaseClock {
        LeaseClock::Monotonic
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::ELECTED
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
}

impl SimulatedStore for Consul {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        Box::pin(server::serve(context, *self))
    }
}
