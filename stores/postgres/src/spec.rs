//! PostgreSQL as a kind of store: single servers that keep what is committed.
//!
//! It has no parameters of its own: what a lock sets of a server, it sets in its session.

use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_model::trace::Role;
use picklock_sim::lock::BoxFuture;
use picklock_sim::store::{ServerContext, SimulatedStore, Store, StoreKind, StoreSpec};

use crate::{PORT, protocol, serve};

/// `tcp_keepalives_idle`: the time without traffic after which a server asks its client for a sign of life. Linux, `tcp_keepalive_time`.
const KEEPALIVES_IDLE: Duration = Duration::from_secs(7_200);

/// `tcp_keepalives_interval`: the time between two requests for a sign of life. Linux, `tcp_keepalive_intvl`.
const KEEPALIVES_INTERVAL: Duration = Duration::from_secs(75);

/// `tcp_keepalives_count`: the requests without an answer after which a connection is closed. Linux, `tcp_keepalive_probes`.
const KEEPALIVES_COUNT: u32 = 9;

/// PostgreSQL servers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Postgres;

/// PostgreSQL in the list of all kinds.
pub const KIND: StoreKind = StoreKind {
    name: "postgres",
    params: &[],
    stores: Some(|_| Store::simulated(Postgres)),
    ensemble: None,
    real: None,
};

impl StoreSpec for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn silent_client(&self, _: &Settings) -> Duration {
        KEEPALIVES_IDLE + KEEPALIVES_COUNT * KEEPALIVES_INTERVAL
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
        Box::pin(serve(context))
    }
}
