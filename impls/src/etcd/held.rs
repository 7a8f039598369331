//! A key of one's own in the queue: its release, and one that is repeated until it is answered.

use std::sync::Arc;
use std::time::Duration;

use picklock_etcd::messages::{Asked, DeleteRangeRequest, DeleteRangeResponse, TxnResponse};
use picklock_etcd::requests::if_made_at;
use picklock_sim::host::Host;
use picklock_sim::lock::LockError;

use crate::client::etcd::{Again, Endpoints, Session};

/// A key of one's own.
#[derive(Clone)]
pub(super) struct Held {
    pub(super) key: Vec<u8>,
    pub(super) revision: i64,
    pub(super) session: Arc<Session>,
}

/// Deletes a key of one's own, or one of the same name.
pub(super) async fn give_back(endpoints: &Endpoints, checks: bool, own: &Held) -> Result<(), LockError> {
    let delete = DeleteRangeRequest { key: own.key.clone(), ..DeleteRangeRequest::default() };
    if !checks {
        let answer: DeleteRangeResponse =
            endpoints.call("etcdserverpb.KV/DeleteRange", &delete, Again::No).await?;
        return if answer.deleted > 0 { Ok(()) } else { Err(LockError::new("the key was gone")) };
    }
    let request = if_made_at(own.key.clone(), own.revision, Asked::DeleteRange(delete));
    let answer: TxnResponse = endpoints.call("etcdserverpb.KV/Txn", &request, Again::No).await?;
    if answer.succeeded { Ok(()) } else { Err(LockError::new("the key was gone")) }
}

/// Asks for a release again until it is answered.
pub(super) async fn give_back_at_last(
    host: Host,
    ttl: Duration,
    endpoints: Arc<Endpoints>,
    checks: bool,
    own: Held,
) {
    loop {
        host.sleep(ttl / 10).await;
        let released = host.timeout_boxed(ttl, Box::pin(give_back(&endpoints, checks, &own))).await;
        if released.is_ok_and(|released| !is_in_doubt(&released)) {
            return;
        }
    }
}

/// True if nobody knows whether it took effect.
pub(super) fn is_in_doubt(released: &Result<(), LockError>) -> bool {
    released.as_ref().is_err_and(|error| !error.is_denial())
}
