//! The services for locks and elections: a member does for its client what the client could do with keys and leases.
//!
//! *Source:* `v3lock` and `v3election` of etcd, and `clientv3/concurrency`, 3.4 and 3.6. Up to 3.4 nobody looks, after the wait, whether the own key
//! is still there.

use picklock_sim::host::Origin;

use super::member::Member;
use super::state::end_of_prefix;
use super::status::Status;
use crate::messages::{
    Answered, Asked, Compare, CompareResult, Compared, DeleteRangeRequest, EventKind, Header, KeyValue,
    LeaderKey, LeaseGrantRequest, PutRequest, RangeRequest, RequestOp, SortOrder, SortTarget, TxnRequest,
};
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
    /// Waits for its turn below this name.
    pub(crate) async fn lock(&self, origin: Origin, name: &[u8], lease: i64) -> Result<Place, Status> {
        let mut place = self.queue_up(origin, name, lease, Vec::new()).await?;
        self.wait_for_those_before(origin, name, place.revision).await?;
        if self.version != Version::V34 {
            let look = RangeRequest { key: place.key.clone(), ..RangeRequest::default() };
            let found = self.range(origin, &look).await?;
            if found.kvs.is_empty() {
                return Err(Status::unknown("mutex: session is expired"));
            }
            place.header = found.header.unwrap_or(place.header);
        } else {
            place.header = self.header();
        }
        Ok(place)
    }

    /// Waits until it leads, and announces a value by then.
    pub(crate) async fn campaign(
        &self,
        origin: Origin,
        name: &[u8],
        lease: i64,
        value: Vec<u8>,
    ) -> Result<Place, Status> {
        let place = self.queue_up(origin, name, lease, value).await?;
        self.wait_for_those_before(origin, name, place.revision).await?;
        Ok(Place { header: self.header(), ..place })
    }

    /// Makes the key of a lease below a name, unless it is there.
    async fn queue_up(
        &self,
        origin: Origin,
        name: &[u8],
        lease: i64,
        value: Vec<u8>,
    ) -> Result<Place, Status> {
        let lease = match lease {
            0 => self.grant(origin, LeaseGrantRequest { ttl: OWN_LEASE, id: 0 }).await?.id,
            given => given,
        };
        let key = [name, b"/", format!("{lease:x}").as_bytes()].concat();
        let put = PutRequest { key: key.clone(), value: value.clone(), lease, ..PutRequest::default() };
        let get = RangeRequest { key: key.clone(), ..RangeRequest::default() };
        let is_new = Compare {
            result: CompareResult::Equal.into(),
            key: key.clone(),
            compared: Some(Compared::Create(0)),
            range_end: Vec::new(),
        };
        let request = TxnRequest {
            compare: vec![is_new],
            success: vec![RequestOp { asked: Some(Asked::Put(put)) }],
            failure: vec![RequestOp { asked: Some(Asked::Range(get)) }],
        };
        let answer = self.transact(origin, request).await?;
        let header = answer.header.unwrap_or_default();
        let before = answer.responses.first().and_then(|response| match &response.answered {
            Some(Answered::Range(found)) => found.kvs.first(),
            _ => None,
        });
        let Some(kv) = before else { return Ok(Place { key, revision: header.revision, header, lease }) };
        let revision = kv.create_revision;
        if kv.value != value {
            self.proclaim(
                origin,
                &LeaderKey { name: name.to_vec(), key: key.clone(), rev: revision, lease },
                value,
            )
            .await?;
        }
        Ok(Place { key, revision, header, lease })
    }

    /// Waits until no key below this name is older than this revision.
    async fn wait_for_those_before(&self, origin: Origin, name: &[u8], revision: i64) -> Result<(), Status> {
        let prefix = [name, b"/"].concat();
        loop {
            let last = RangeRequest {
                range_end: end_of_prefix(&prefix),
                key: prefix.clone(),
                limit: 1,
                sort_order: SortOrder::Descend.into(),
                sort_target: SortTarget::Create.into(),
                max_create_revision: revision - 1,
                ..RangeRequest::default()
            };
            let found = self.range(origin, &last).await?;
            let Some(before) = found.kvs.first() else { return Ok(()) };
            let from = found.header.map_or(0, |header| header.revision);
            self.wait_for_deletion(&before.key, from).await;
        }
    }

    /// Waits until a key that was there at this revision is gone.
    async fn wait_for_deletion(&self, key: &[u8], revision: i64) {
        let (watch, mut notices) = self.new_watch(key, b"");
        let number = self.watch(watch, revision + 1);
        while let Some(notice) = notices.recv().await {
            if notice.events.iter().any(|event| event.kind() == EventKind::Delete) {
                break;
            }
        }
        self.replica.with(|_, machine| machine.unwatch(number));
    }

    /// Announces another value, if it still leads.
    pub(crate) async fn proclaim(
        &self,
        origin: Origin,
        leader: &LeaderKey,
        value: Vec<u8>,
    ) -> Result<Header, Status> {
        let put = PutRequest { key: leader.key.clone(), value, lease: leader.lease, ..PutRequest::default() };
        self.as_leader(origin, leader, Asked::Put(put)).await
    }

    /// Gives up the leadership, if it is still there.
    pub(crate) async fn resign(&self, origin: Origin, leader: &LeaderKey) -> Result<Header, Status> {
        let delete = DeleteRangeRequest { key: leader.key.clone(), ..DeleteRangeRequest::default() };
        match self.as_leader(origin, leader, Asked::DeleteRange(delete)).await {
            Err(status) if status == not_leader() => Ok(self.header()),
            answer => answer,
        }
    }

    async fn as_leader(&self, origin: Origin, leader: &LeaderKey, asked: Asked) -> Result<Header, Status> {
        let is_same = Compare {
            result: CompareResult::Equal.into(),
            key: leader.key.clone(),
            compared: Some(Compared::Create(leader.rev)),
            range_end: Vec::new(),
        };
        let success = vec![RequestOp { asked: Some(asked) }];
        let request = TxnRequest { compare: vec![is_same], success, failure: Vec::new() };
        let answer = self.transact(origin, request).await?;
        if answer.succeeded { Ok(answer.header.unwrap_or_default()) } else { Err(not_leader()) }
    }

    /// The key of whoever leads below this name: the oldest one.
    pub(crate) async fn elected(&self, origin: Origin, name: &[u8]) -> Result<Option<KeyValue>, Status> {
        let prefix = [name, b"/"].concat();
        let first = RangeRequest {
            range_end: end_of_prefix(&prefix),
            key: prefix,
            limit: 1,
            sort_order: SortOrder::Ascend.into(),
            sort_target: SortTarget::Create.into(),
            ..RangeRequest::default()
        };
        Ok(self.range(origin, &first).await?.kvs.into_iter().next())
    }
}

fn not_leader() -> Status {
    Status::unknown("election: not leader")
}
