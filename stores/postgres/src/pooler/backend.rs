//! A pooler's connection to the server.

use std::io;

use picklock_model::time::Monotonic;
use picklock_sim::host::Host;

use crate::link::Link;

/// A connection to the server.
pub(super) struct Backend {
    pub(super) link: Link,
    /// Since when it is there.
    pub(super) born: Monotonic,
    /// Since when it is free.
    pub(super) free: Monotonic,
}

impl Backend {
    /// Connects to the server.
    pub(super) async fn open(host: &Host, server: &str) -> io::Result<Backend> {
        let now = host.monotonic();
        let link = Link::open(host, server, &[("user", "pooler"), ("database", "pooler")]).await?;
        Ok(Backend { link, born: now, free: now })
    }

    /// Takes away what a session has left. False if that failed.
    pub(super) async fn clear(&mut self) -> bool {
        // At a session that has failed, or whose transaction is open, it is refused.
        self.link.run("DISCARD ALL").await.unwrap_or(false)
    }
}
