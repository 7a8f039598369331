//! The configuration of a Consul: what its spec and its server both read.

use std::time::Duration;

/// A Consul of one server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Consul {
    /// How many times its TTL a session lives after its last renewal. Consul's is 2, and cannot be set.
    pub multiplier: u32,
    /// The shortest session that it grants (`session_ttl_min`).
    pub session_ttl_min: Duration,
}

impl Default for Consul {
    /// As Consul is without a configuration.
    fn default() -> Consul {
        Consul { multiplier: 2, session_ttl_min: Duration::from_secs(10) }
    }
}
