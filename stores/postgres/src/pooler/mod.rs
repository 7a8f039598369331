//! A pooler between clients and the server, by the rules of pgbouncer 1.18: a client is lent a connection to the server for as long as a
//! transaction lasts, or its session.
//!
//! What a session keeps beyond that, it leaves to whoever is lent the same connection next: advisory locks, settings, prepared statements.
//!
//! Left out on purpose: several databases and users, whose connections are apart; authentication; TLS; the parameters of a client's startup
//! that pgbouncer sets anew on each connection; `min_pool_size`, `reserve_pool_size`, its own console.
//!
//! *Source:* pgbouncer's documentation, "Configuration" and "Feature matrix for pooling modes".

mod backend;
mod client;
mod pool;
mod rules;

use std::sync::Arc;

use picklock_model::trace::Role;
use picklock_sim::store::{Member, ServerContext};

use crate::PORT;
use pool::Pool;
pub use rules::{Mode, Rules};

/// Runs a pooler until its host stops.
pub(crate) async fn serve(context: ServerContext, rules: Rules) {
    let server = context.of_role(Role::Leader).next().map(Member::address).unwrap_or_default();
    let host = context.host;
    let pool = Arc::new(Pool::new(host.clone(), server, rules));
    host.spawn(pool::janitor(Arc::clone(&pool)));
    // The port is free: a host runs one server, and this is its start.
    let Ok(listener) = host.bind(PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        host.spawn(client::serve(Arc::clone(&pool), stream));
    }
}
