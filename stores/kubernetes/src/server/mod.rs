//! A host of the control plane: a member of etcd, and an API server beside it.

mod leases;
mod services;

use std::sync::Arc;

use picklock_etcd::Local;
use picklock_sim::store::ServerContext;

use crate::PORT;
use leases::{Leases, holder_of};

/// Runs both until the host stops.
pub(crate) async fn serve(context: ServerContext) {
    let local = Local::start(&context, holder_of);
    let host = context.host;
    host.spawn(local.clone().serve());
    let leases = Arc::new(Leases { host: host.clone(), etcd: local });
    // The port is free: a host runs one API server, and this is its start.
    let Ok(listener) = host.bind(PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let leases = Arc::clone(&leases);
        host.spawn(async move {
            let answer = |request, origin| services::answer(Arc::clone(&leases), request, origin);
            picklock_http::serve(stream, answer).await;
        });
    }
}
