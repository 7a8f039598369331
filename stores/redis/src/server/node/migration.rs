//! The keys that are on their way to another node.

/// A MIGRATE that has begun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Migration {
    /// Where the keys go.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// How long each step may take.
    pub(crate) timeout_ms: u64,
    /// What is sent: requests, so many of them before those that restore a key each.
    pub(crate) request: Vec<u8>,
    pub(crate) before: usize,
    pub(crate) keys: Vec<Vec<u8>>,
    /// The keys stay here as well.
    pub(crate) copies: bool,
}
