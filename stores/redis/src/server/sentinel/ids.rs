//! The names that a Sentinel gives to servers and connections.

/// A server that a Sentinel knows, for as long as it knows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct InstanceId(pub(super) u64);

/// A connection that a Sentinel has asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub(super) u64);
