//! Leases in etcd: read, created, changed and deleted.
//!
//! *Source:* `Create`, `Get`, `GuaranteedUpdate` and `Delete` in `storage/etcd3/store.go` of Kubernetes.

use std::time::Duration;

use picklock_etcd::Local;
use picklock_etcd::messages::{
    Asked, Compare, DeleteRangeRequest, KeyValue, PutRequest, RequestOp, TxnRequest,
};
use picklock_etcd::requests::get;
use picklock_model::ids::Key;
use picklock_sim::host::{Host, Origin};

use crate::lease::{Lease, Metadata};
use crate::status::Status;
use crate::time::time;

/// The key below which etcd has the leases of all namespaces.
const PREFIX: &str = "/registry/leases/";

fn key_of(namespace: &str, name: &str) -> Vec<u8> {
    format!("{PREFIX}{namespace}/{name}").into_bytes()
}

/// The name of the lease that etcd has at a key, and who holds it for how long; none if that is no lease.
pub(super) fn holder_of(key: &[u8], value: &[u8]) -> Option<(Key, Option<(String, Duration)>)> {
    key.strip_prefix(PREFIX.as_bytes())?;
    let lease: Lease = serde_json::from_slice(value).ok()?;
    let seconds = lease.spec.lease_duration_seconds.and_then(|seconds| u64::try_from(seconds).ok());
    let time = Duration::from_secs(seconds.unwrap_or_default());
    Some((Key::new(&lease.metadata.name), lease.holder().map(|holder| (holder.to_owned(), time))))
}

/// The leases of an API server.
pub(super) struct Leases {
    pub(super) host: Host,
    pub(super) etcd: Local,
}

/// Which lease is asked for, and by which message.
#[derive(Clone, Copy)]
pub(super) struct Asks<'a> {
    pub(super) origin: Origin,
    pub(super) namespace: &'a str,
    pub(super) name: &'a str,
}

impl Leases {
    pub(super) async fn get(&self, asks: Asks<'_>) -> Result<Lease, Status> {
        let found = self.found(asks).await?.ok_or_else(|| Status::not_found(asks.name))?;
        read(&found)
    }

    /// What etcd has at the key of a lease.
    async fn found(&self, Asks { origin, namespace, name }: Asks<'_>) -> Result<Option<KeyValue>, Status> {
        let found = self.etcd.range(origin, &get(&key_of(namespace, name))).await;
        Ok(found.map_err(|error| Status::internal(&error.message))?.kvs.into_iter().next())
    }

    pub(super) async fn create(&self, asks: Asks<'_>, lease: Lease) -> Result<Lease, Status> {
        if !lease.metadata.resource_version.is_empty() {
            return Err(Status::bad_request("resourceVersion should not be set on objects to be created"));
        }
        check(asks, &lease)?;
        let metadata = Metadata {
            name: asks.name.to_owned(),
            namespace: asks.namespace.to_owned(),
            uid: self.uid(),
            resource_version: String::new(),
            creation_timestamp: Some(time(self.host.wall())),
        };
        let lease = Lease { metadata, ..lease };
        self.put(asks, 0, lease).await?.ok_or_else(|| Status::already_exists(asks.name))
    }

    pub(super) async fn update(&self, asks: Asks<'_>, lease: Lease) -> Result<Lease, Status> {
        let version = lease.metadata.resource_version.clone();
        if version.is_empty() {
            let why = "metadata.resourceVersion: Invalid value: 0: must be specified for an update";
            return Err(Status::invalid(asks.name, why));
        }
        check(asks, &lease)?;
        let found = self.found(asks).await?.ok_or_else(|| Status::not_found(asks.name))?;
        let before = read(&found)?;
        if before.metadata.resource_version != version {
            return Err(Status::conflict(asks.name));
        }
        if before.spec == lease.spec {
            return Ok(before);
        }
        let metadata = Metadata { resource_version: String::new(), ..before.metadata };
        let lease = Lease { metadata, ..lease };
        self.put(asks, found.mod_revision, lease).await?.ok_or_else(|| Status::conflict(asks.name))
    }

    pub(super) async fn delete(&self, asks: Asks<'_>) -> Result<Lease, Status> {
        let found = self.found(asks).await?.ok_or_else(|| Status::not_found(asks.name))?;
        let key = found.key.clone();
        let delete = Asked::DeleteRange(DeleteRangeRequest { key, ..DeleteRangeRequest::default() });
        match self.transact(asks, found.mod_revision, delete).await? {
            Some(_) => read(&found),
            None => Err(Status::conflict(asks.name)),
        }
    }

    /// Puts a lease if its key was changed last at this revision; none if it was not.
    async fn put(&self, asks: Asks<'_>, revision: i64, mut lease: Lease) -> Result<Option<Lease>, Status> {
        let value = serde_json::to_vec(&lease).expect("a lease has only what JSON has");
        let key = key_of(asks.namespace, asks.name);
        let put = Asked::Put(PutRequest { key, value, ..PutRequest::default() });
        let changed = self.transact(asks, revision, put).await?;
        Ok(changed.map(|revision| {
            lease.metadata.resource_version = revision.to_string();
            lease
        }))
    }

    /// Does something if the key of a lease was changed last at this revision: the revision at which it is done, or none.
    async fn transact(&self, asks: Asks<'_>, revision: i64, asked: Asked) -> Result<Option<i64>, Status> {
        let key = key_of(asks.namespace, asks.name);
        let request = TxnRequest {
            compare: vec![Compare::changed_at(key, revision)],
            success: vec![RequestOp { asked: Some(asked) }],
            failure: Vec::new(),
        };
        let answer = self.etcd.transact(asks.origin, request).await;
        let answer = answer.map_err(|error| Status::internal(&error.message))?;
        let revision = answer.header.map_or(0, |header| header.revision);
        Ok(answer.succeeded.then_some(revision))
    }

    /// What no other object has: thirty-two random digits in the groups of a UUID.
    fn uid(&self) -> String {
        let hex = self.host.rng().owner_id();
        let group = |from: usize, to: usize| &hex[from..to];
        format!("{}-{}-{}-{}-{}", group(0, 8), group(8, 12), group(12, 16), group(16, 20), group(20, 32))
    }
}

/// A lease as etcd has it, with its version.
fn read(found: &KeyValue) -> Result<Lease, Status> {
    let mut lease: Lease =
        serde_json::from_slice(&found.value).map_err(|error| Status::internal(&error.to_string()))?;
    lease.metadata.resource_version = found.mod_revision.to_string();
    Ok(lease)
}

/// Checks an object that somebody has sent.
fn check(asks: Asks<'_>, lease: &Lease) -> Result<(), Status> {
    let Metadata { name, namespace, .. } = &lease.metadata;
    if name != asks.name {
        let why = "the name of the object does not match the name on the URL";
        return Err(Status::bad_request(why));
    }
    if !namespace.is_empty() && namespace != asks.namespace {
        let why = "the namespace of the provided object does not match the namespace sent on the request";
        return Err(Status::bad_request(why));
    }
    let positive = "must be greater than 0";
    if lease.spec.lease_duration_seconds.is_some_and(|seconds| seconds <= 0) {
        return Err(Status::invalid(asks.name, &format!("spec.leaseDurationSeconds: {positive}")));
    }
    if lease.spec.lease_transitions.is_some_and(|transitions| transitions < 0) {
        return Err(Status::invalid(asks.name, "spec.leaseTransitions: must be greater than or equal to 0"));
    }
    Ok(())
}
