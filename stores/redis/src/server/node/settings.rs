//! The parameters of replication, under the names of redis.conf.
//!
//! One default differs: `repl-diskless-sync` is off until CONFIG SET says otherwise. A real primary waits five seconds for more
//! replicas before it sends a copy over its socket; a simulated run is often over by then.

/// The parameters of replication.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// A peer that is silent for longer is given up, in seconds.
    pub(crate) timeout_s: i64,
    /// How often a primary pings its replicas, in seconds.
    pub(crate) ping_period_s: u64,
    /// A replica is a good one if it has acknowledged since then, in seconds.
    pub(crate) max_lag_s: i64,
    /// The rank among the replicas when a Sentinel chooses one, the lowest first; 0 for never.
    pub(crate) priority: u64,
    /// The backlog is dropped after so many seconds without replicas; 0 for never.
    pub(crate) backlog_ttl_s: i64,
    /// True if a copy goes straight over the socket; how long it waits for more replicas, in seconds, and how many are
    /// enough; 0 for none.
    pub(crate) diskless: bool,
    pub(crate) diskless_delay_s: i64,
    pub(crate) diskless_enough: usize,
    /// The user to log in as at the primary.
    pub(crate) user: Vec<u8>,
    /// The password to log in with at the primary.
    pub(crate) password: Vec<u8>,
    /// The address and port that a replica is known by, if they are not those of its connection.
    pub(crate) announced_address: Vec<u8>,
    pub(crate) announced_port: u16,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            timeout_s: 60,
            ping_period_s: 10,
            max_lag_s: 10,
            priority: 100,
            backlog_ttl_s: 3600,
            diskless: false,
            diskless_delay_s: 5,
            diskless_enough: 0,
            user: Vec::new(),
            password: Vec::new(),
            announced_address: Vec::new(),
            announced_port: 0,
        }
    }
}
