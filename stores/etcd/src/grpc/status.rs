//! The errors of etcd's gRPC: their codes and their words.
//!
//! *Source:* `api/v3rpc/rpctypes/error.go` of etcd 3.6.

/// An error of a call.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Status {
    /// The code of gRPC.
    pub code: u32,
    /// The message.
    pub message: String,
}

/// The codes of gRPC that are used here.
mod code {
    pub(super) const CANCELLED: u32 = 1;
    pub(super) const UNKNOWN: u32 = 2;
    pub(super) const INVALID_ARGUMENT: u32 = 3;
    pub(super) const DEADLINE_EXCEEDED: u32 = 4;
    pub(super) const NOT_FOUND: u32 = 5;
    pub(super) const RESOURCE_EXHAUSTED: u32 = 8;
    pub(super) const FAILED_PRECONDITION: u32 = 9;
    pub(super) const OUT_OF_RANGE: u32 = 11;
    pub(super) const UNIMPLEMENTED: u32 = 12;
    pub(super) const INTERNAL: u32 = 13;
    pub(super) const UNAVAILABLE: u32 = 14;
}

impl Status {
    pub(crate) fn new(code: u32, message: impl Into<String>) -> Status {
        Status { code, message: message.into() }
    }

    pub(crate) fn empty_key() -> Status {
        Status::new(code::INVALID_ARGUMENT, "etcdserver: key is not provided")
    }

    pub(crate) fn key_not_found() -> Status {
        Status::new(code::INVALID_ARGUMENT, "etcdserver: key not found")
    }

    pub(crate) fn value_provided() -> Status {
        Status::new(code::INVALID_ARGUMENT, "etcdserver: value is provided")
    }

    pub(crate) fn lease_provided() -> Status {
        Status::new(code::INVALID_ARGUMENT, "etcdserver: lease is provided")
    }

    pub(crate) fn invalid_sort_option() -> Status {
        Status::new(code::INVALID_ARGUMENT, "etcdserver: invalid sort option")
    }

    pub(crate) fn duplicate_key() -> Status {
        Status::new(code::INVALID_ARGUMENT, "etcdserver: duplicate key given in txn request")
    }

    pub(crate) fn too_many_operations() -> Status {
        Status::new(code::INVALID_ARGUMENT, "etcdserver: too many operations in txn request")
    }

    pub(crate) fn request_too_large() -> Status {
        Status::new(code::INVALID_ARGUMENT, "etcdserver: request is too large")
    }

    /// A message of a call that is longer than it may be.
    pub(crate) fn too_long(len: usize, longest: usize) -> Status {
        let message = format!("grpc: received message larger than max ({len} vs. {longest})");
        Status::new(code::RESOURCE_EXHAUSTED, message)
    }

    pub(crate) fn compacted() -> Status {
        Status::new(code::OUT_OF_RANGE, "etcdserver: mvcc: required revision has been compacted")
    }

    pub(crate) fn future_revision() -> Status {
        Status::new(code::OUT_OF_RANGE, "etcdserver: mvcc: required revision is a future revision")
    }

    pub(crate) fn lease_not_found() -> Status {
        Status::new(code::NOT_FOUND, "etcdserver: requested lease not found")
    }

    pub(crate) fn lease_exists() -> Status {
        Status::new(code::FAILED_PRECONDITION, "etcdserver: lease already exists")
    }

    pub(crate) fn ttl_too_large() -> Status {
        Status::new(code::OUT_OF_RANGE, "etcdserver: too large lease TTL")
    }

    pub(crate) fn no_leader() -> Status {
        Status::new(code::UNAVAILABLE, "etcdserver: no leader")
    }

    pub(crate) fn not_leader() -> Status {
        Status::new(code::FAILED_PRECONDITION, "etcdserver: not leader")
    }

    pub(crate) fn timed_out() -> Status {
        Status::new(code::UNAVAILABLE, "etcdserver: request timed out")
    }

    pub(crate) fn unknown(message: &str) -> Status {
        Status::new(code::UNKNOWN, message)
    }

    /// The error of a service that is a client of its own member: its words are kept, its code is not.
    #[must_use]
    pub(crate) fn through_client(self) -> Status {
        Status { code: code::UNKNOWN, ..self }
    }

    pub(crate) fn unimplemented(method: &str) -> Status {
        Status::new(code::UNIMPLEMENTED, format!("{method} is not modelled"))
    }

    pub(crate) fn malformed(method: &str) -> Status {
        Status::new(code::INTERNAL, format!("a message of {method} cannot be read"))
    }

    /// The connection broke.
    #[must_use]
    pub fn unavailable(why: impl Into<String>) -> Status {
        Status::new(code::UNAVAILABLE, why)
    }

    /// There was no answer in time.
    #[must_use]
    pub fn deadline_exceeded() -> Status {
        Status::new(code::DEADLINE_EXCEEDED, "context deadline exceeded")
    }

    pub(crate) fn cancelled() -> Status {
        Status::new(code::CANCELLED, "context canceled")
    }

    /// True if the call may have been carried out, or not: the server could not be asked, or did not answer in time.
    #[must_use]
    pub fn is_in_doubt(&self) -> bool {
        matches!(self.code, code::UNAVAILABLE | code::DEADLINE_EXCEEDED | code::CANCELLED)
    }
}
