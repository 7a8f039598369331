//! The services for locks and elections: a member does for its client what the client could do with keys and leases.
//!
//! *Source:* `v3lock` and `v3election` of etcd, and `clientv3/concurrency`, 3.4 and 3.6. Up to 3.4 nobody looks, after the wait, whether the own key
//! is still there.

use picklock_sim::host::Origin;

use super::member::Member;
use crate::grpc::status::Status;
use crate::messages::{
    Asked, DeleteRangeRequest, EventKind, Header, LeaderKey, LeaseGrantRequest, PutRequest, RangeResponse,
    TxnResponse,
};
use crate::requests::{found, get, if_made_at, key_of, last_before, make_or_read, oldest_below, place};
use crate::version::Version;

/// The seconds of a lease for a client that brings none.
const OWN_LEASE: i64 = 60;

/// A key of one's own that says that one waits, or leads.
pub(crate) struct Place {
    pub(crate) key: Vec<u8>,
    pub(crate) revision: i64,
    pub(crate) header: Header,
    pub(crate) lease: i64,
}

impl Member {
    /// Makes the key of a lease below a name, unless it is there. True if it is the oldest one.
    pub(crate) async fn stand(
        &self,
        origin: Origin,
        name: &[u8],
        lease: i64,
    ) -> Result<(Place, bool), Status> {
        let (key, lease) = self.own_key(origin, name, lease).await?;
        let put = PutRequest { key: key.clone(), lease, ..PutRequest::default() };
        let answer = self.transact(origin, make_or_read(put, Some(oldest_below(name)))).await?;
        let header = answer.header.unwrap_or_default();
        let (revision, is_oldest) = place(&answer);
        Ok((Place { key, revision, header, lease }, is_oldest))
    }

    /// Waits for its turn below this name, as one who has made its key.
    pub(crate) async fn wait_for_lock(
        &self,
        origin: Origin,
        name: &[u8],
        place: &Place,
    ) -> Result<Header, Status> {
        let header = self.wait_for_those_before(origin, name, place.revision).await?;
        if self.version == Version::V34 {
            return Ok(header);
        }
        let found = self.range(origin, &get(&place.key)).await?;
        if found.kvs.is_empty() {
            return Err(Status::unknown("mutex: session is expired"));
        }
        Ok(found.header.unwrap_or(header))
    }

    /// Makes the key of a lease below a name with a value, unless it is there with this value.
    pub(crate) async fn run(
        &self,
        origin: Origin,
        name: &[u8],
        lease: i64,
        value: Vec<u8>,
    ) -> Result<Place, Status> {
        let (key, lease) = self.own_key(origin, name, lease).await?;
        let put = PutRequest { key: key.clone(), value: value.clone(), lease, ..PutRequest::default() };
        let answer = self.transact(origin, make_or_read(put, None)).await?;
        let header = answer.header.unwrap_or_default();
        let Some(kv) = found(&answer, 0) else {
            return Ok(Place { key, revision: header.revision, header, lease });
        };
        let revision = kv.create_revision;
        if kv.value != value {
            let leader = LeaderKey { name: name.to_vec(), key: key.clone(), rev: revision, lease };
            if let Err(status) = self.proclaim(origin, &leader, value).await {
                // Whoever cannot announce the value does not go on waiting.
                let _ = self.resign(origin, &leader).await;
                return Err(status);
            }
        }
        Ok(Place { key, revision, header, lease })
    }

    /// The key of a lease below a name, and the lease: one of its own for a client that brings none.
    async fn own_key(&self, origin: Origin, name: &[u8], lease: i64) -> Result<(Vec<u8>, i64), Status> {
        let lease = match lease {
            0 => self.grant(origin, LeaseGrantRequest { ttl: OWN_LEASE, id: 0 }).await?.id,
            given => given,
        };
        Ok((key_of(name, lease), lease))
    }

    /// Waits until no key below this name is older than this revision.
    pub(crate) async fn wait_for_those_before(
        &self,
        origin: Origin,
        name: &[u8],
        revision: i64,
    ) -> Result<Header, Status> {
        loop {
            let found = self.range(origin, &last_before(name, revision)).await?;
            let header = found.header.unwrap_or_default();
            let Some(before) = found.kvs.first() else { return Ok(header) };
            self.wait_for_deletion(&before.key, header.revision).await;
        }
    }

    /// Waits until a key that was there at this revision is gone.
    async fn wait_for_deletion(&self, key: &[u8], revision: i64) {
        let (watch, mut notices) = self.new_watch(key, revision + 1);
        let _watched = self.watch(watch);
        while let Some(notice) = notices.recv().await {
            if notice.events.iter().any(|event| event.kind() == EventKind::Delete) {
                break;
            }
        }
    }

    /// Announces another value, if it still leads.
    pub(crate) async fn proclaim(
        &self,
        origin: Origin,
        leader: &LeaderKey,
        value: Vec<u8>,
    ) -> Result<Header, Status> {
        let put = PutRequest { key: leader.key.clone(), value, lease: leader.lease, ..PutRequest::default() };
        let answer = self.as_leader(origin, leader, Asked::Put(put)).await?;
        if answer.succeeded {
            Ok(answer.header.unwrap_or_default())
        } else {
            Err(Status::unknown("election: not leader"))
        }
    }

    /// Gives up the leadership, if it is still there.
    pub(crate) async fn resign(&self, origin: Origin, leader: &LeaderKey) -> Result<Header, Status> {
        let delete = DeleteRangeRequest { key: leader.key.clone(), ..DeleteRangeRequest::default() };
        let answer = self.as_leader(origin, leader, Asked::DeleteRange(delete)).await?;
        Ok(answer.header.unwrap_or_default())
    }

    async fn as_leader(
        &self,
        origin: Origin,
        leader: &LeaderKey,
        asked: Asked,
    ) -> Result<TxnResponse, Status> {
        self.transact(origin, if_made_at(leader.key.clone(), leader.rev, asked)).await
    }

    /// The key of whoever leads below this name: the oldest one.
    pub(crate) async fn elected(&self, origin: Origin, name: &[u8]) -> Result<RangeResponse, Status> {
        self.range(origin, &oldest_below(name)).await
    }
}
