//! The rules of a pooler.

use std::time::Duration;

/// The rules of a pooler.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rules {
    /// When a connection to the server is given back.
    pub mode: Mode,
    /// The most connections to the server: `default_pool_size`.
    pub size: usize,
}

/// When a client gives back its connection to the server: `pool_mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// After each transaction.
    Transaction,
    /// When it leaves; the connection is cleared by `DISCARD ALL`.
    Session,
}

/// `server_lifetime`: a connection that is older is closed when it is free.
pub(super) const LIFETIME: Duration = Duration::from_secs(3_600);

/// `server_idle_timeout`: a connection that was free for longer is closed.
pub(super) const IDLE: Duration = Duration::from_secs(600);

/// `query_wait_timeout`: the time after which a client is sent away that waits for a connection.
pub(super) const PATIENCE: Duration = Duration::from_secs(120);
