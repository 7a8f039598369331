//! A member as a service on its own host uses it: an API server that keeps its objects in it.

use std::sync::Arc;

use picklock_sim::host::Origin;
use picklock_sim::store::ServerContext;

use super::member::Member;
use super::serve::{accept, start};
use super::state::HolderOf;
use crate::grpc::status::Status;
use crate::messages::{RangeRequest, RangeResponse, TxnRequest, TxnResponse};
use crate::version::Version;

/// A member on this host.
#[derive(Clone)]
pub struct Local {
    member: Arc<Member>,
}

impl Local {
    /// Starts a member of the current version. The locks that it reports are, beside those of etcd's own recipes, the values that this function
    /// knows a holder of.
    #[must_use]
    pub fn start(context: &ServerContext, holder_of: HolderOf) -> Local {
        Local { member: start(context, Version::V36, Some(holder_of)) }
    }

    /// Serves etcd's own clients until the host stops.
    pub async fn serve(self) {
        accept(self.member).await;
    }

    /// Reads a range; a majority confirms that it is the present one, unless the request says that it need not be.
    ///
    /// # Errors
    /// As etcd answers.
    pub async fn range(&self, origin: Origin, request: &RangeRequest) -> Result<RangeResponse, Status> {
        self.member.range(origin, request).await
    }

    /// Carries out a transaction.
    ///
    /// # Errors
    /// As etcd answers.
    pub async fn transact(&self, origin: Origin, request: TxnRequest) -> Result<TxnResponse, Status> {
        self.member.transact(origin, request).await
    }
}
