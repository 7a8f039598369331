//! dotnet-etcd #321: the lock service's own lease is renewed by nobody.
//!
//! *Claim:* `Lock(name)` holds until `Unlock`.
//! *Mechanism:* the request names no lease, so the server makes one of 60 s for it and stops to keep it alive as soon as the lock is granted. Work
//! that takes longer goes on beside the next holder.
//! *Versions:* dotnet-etcd up to 8.0; the fixed version passes a lease that the client keeps alive. etcd-cpp-apiv3 before its pull request 31 did the same.
//! *Source:* <https://github.com/shubhamranjan/dotnet-etcd/pull/321>, <https://github.com/etcd-cpp-apiv3/etcd-cpp-apiv3/issues/30>,
//! etcd's `server/etcdserver/api/v3lock/lock.go`

use std::sync::Arc;
use std::time::Duration;

use picklock_etcd::messages::{Done, LockResponse, NamedRequest, UnlockRequest};
use picklock_etcd::{Etcd, Status};
use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use picklock_sim::params;
use tokio::sync::Mutex;

use super::version::FIXED;
use crate::client::etcd::{Again, Endpoints, Session};

/// The lock service without a lease.
pub(super) static FAMILY: Family = Family {
    name: "dotnet-etcd-321",
    claim: "etcd's lock service: Lock(name) holds until Unlock",
    weakness: "without a lease in the request the lock lasts 60 s, whoever works",
    source: "dotnet-etcd, https://github.com/shubhamranjan/dotnet-etcd/pull/321",
    params: params![FIXED],
    build: |args| {
        let keeps_alive = args.get(FIXED);
        let client =
            move |context: Context| async move { Ok(Client::lock(Service::new(&context, keeps_alive)?)) };
        let topology = Topology { stores: 1, replicated: true };
        Design::new("", client).on_stores(topology, Etcd::of(3)).persistent().renewing()
    },
};

struct Service {
    host: Host,
    ttl: Duration,
    endpoints: Arc<Endpoints>,
    /// True if each lock hangs on a lease that this client keeps alive.
    keeps_alive: bool,
    held: Mutex<Vec<(String, Option<Session>)>>,
}

impl Service {
    fn new(context: &Context, keeps_alive: bool) -> Result<Service, LockError> {
        let endpoints = Arc::new(Endpoints::of(context, Some(context.ttl / 2))?);
        let host = context.host.clone();
        Ok(Service { host, ttl: context.ttl, endpoints, keeps_alive, held: Mutex::default() })
    }

    async fn lock(&self, key: &Key) -> Result<Grant, Status> {
        let session = match self.keeps_alive {
            true => Some(Session::open(&self.host, &self.endpoints, self.ttl).await?),
            false => None,
        };
        let lease = session.as_ref().map_or(0, |session| session.lease);
        let request = NamedRequest { name: key.as_str().as_bytes().to_vec(), lease, value: Vec::new() };
        let answer: LockResponse = self.endpoints.call("v3lockpb.Lock/Lock", &request, Again::No).await?;
        let owner = String::from_utf8_lossy(&answer.key).into_owned();
        self.held.lock().await.push((owner.clone(), session));
        Ok(Grant::new(key, owner))
    }
}

impl Lock for Service {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.acquire(&self.host, key, self.ttl / 2).await
    }

    /// The server waits; who gives up leaves its place in the queue by closing the call.
    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        match host.timeout_boxed(wait, Box::pin(self.lock(key))).await {
            Ok(granted) => Ok(Some(granted?)),
            Err(_) => Ok(None),
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let session = {
            let mut held = self.held.lock().await;
            let at = held.iter().position(|(key, _)| *key == grant.owner);
            at.and_then(|at| held.swap_remove(at).1)
        };
        let request = UnlockRequest { key: grant.owner.into_bytes() };
        let unlocked = self.endpoints.call::<Done>("v3lockpb.Lock/Unlock", &request, Again::Yes);
        let unlocked = self.host.timeout_boxed(self.ttl, Box::pin(unlocked)).await;
        if let Some(session) = session {
            // It ends by itself if nobody can be asked.
            let _ = session.close(&self.endpoints).await;
        }
        unlocked.unwrap_or_else(|_| Err(Status::deadline_exceeded()))?;
        Ok(())
    }
}
