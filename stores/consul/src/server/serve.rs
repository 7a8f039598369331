//! Puts the server on a host.

use std::sync::Arc;

use picklock_sim::store::ServerContext;

use super::leader::Server;
use super::services;
use crate::{Consul, PORT};

/// Runs a server until its host stops.
pub(crate) async fn serve(context: ServerContext, kind: Consul) {
    let host = context.host;
    let server = Arc::new(Server::resumed(&host, kind));
    server.begin_timers();
    // The port is free: a host runs one server, and this is its start.
    let Ok(listener) = host.bind(PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let server = Arc::clone(&server);
        host.spawn(async move {
            let answer = |request, origin| services::answer(Arc::clone(&server), request, origin);
            picklock_http::serve(stream, answer).await;
        });
    }
}
