//! The data that a lock guards, where they lie in etcd beside it: a register for each lock, read by a linearizable range and written by a transaction.
//!
//! A guarded write is made only if the holder's own key is still the one that it has made: who has lost the lock writes nothing, since the loss and
//! the write are changes of one log.
//!
//! *Source:* the documentation of `v3lockpb`: the key of a lock can be used in transactions "to ensure updates to etcd only occur while holding lock
//! ownership"; Jepsen, etcd 3.4.3 (2020), 3.3.

use std::time::Duration;

use picklock_etcd::messages::{Asked, PutRequest, RangeResponse, RequestOp, TxnRequest, TxnResponse};
use picklock_etcd::requests::{get, if_made_at, number_in, register};
use picklock_sim::data::{Applied, Operation, ResourceError};
use picklock_sim::host::Host;
use picklock_sim::lock::Grant;
use picklock_sim::param::{Param, Word};

use super::held::Held;
use crate::client::etcd::{Again, Endpoints};

/// Where the guarded data lie.
pub(crate) const DATA: Param<Word> = Param {
    name: "data",
    domain: Word(&["resource", "etcd", "guarded"]),
    default: "resource",
    doc: "where the data lie that the lock guards: at the resource, in etcd, or in etcd and written only if the holder's own key is still there",
};

/// The client of a register.
pub(super) struct Register<'a> {
    pub(super) host: &'a Host,
    pub(super) endpoints: &'a Endpoints,
    /// How long it waits for an answer.
    pub(super) patience: Duration,
    /// The key that has to be there when it writes, if one has.
    pub(super) guard: Option<Held>,
}

impl Register<'_> {
    /// Carries out an operation in the service of a grant.
    pub(super) async fn apply(&self, grant: &Grant, operation: Operation) -> Result<Applied, ResourceError> {
        let key = register(grant.key.as_str());
        match operation {
            Operation::Read => self.read(&key).await,
            Operation::Write(value) => self.write(key, value).await,
            _ => Err(ResourceError::NotSent),
        }
    }

    async fn read(&self, key: &[u8]) -> Result<Applied, ResourceError> {
        let request = get(key);
        let found = self.endpoints.call::<RangeResponse>("etcdserverpb.KV/Range", &request, Again::Yes);
        match self.host.timeout_boxed(self.patience, Box::pin(found)).await {
            Ok(Ok(found)) => Ok(Applied::Now(found.kvs.first().map_or(0, |kv| number_in(&kv.value)))),
            _ => Err(ResourceError::Undone),
        }
    }

    async fn write(&self, key: Vec<u8>, value: i64) -> Result<Applied, ResourceError> {
        let put = PutRequest { key, value: value.to_string().into_bytes(), ..PutRequest::default() };
        let put = Asked::Put(put);
        let request = match &self.guard {
            Some(own) => if_made_at(own.key.clone(), own.revision, put),
            None => TxnRequest { success: vec![RequestOp { asked: Some(put) }], ..TxnRequest::default() },
        };
        let answer = self.endpoints.call::<TxnResponse>("etcdserverpb.KV/Txn", &request, Again::No);
        match self.host.timeout_boxed(self.patience, Box::pin(answer)).await {
            Ok(Ok(answer)) if answer.succeeded => Ok(Applied::Now(value)),
            Ok(Ok(_)) => Err(ResourceError::Undone),
            _ => Err(ResourceError::EffectUnknown),
        }
    }
}
