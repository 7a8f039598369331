//! A lock on the lease server: its holders look at their deadline, and the guarded resource at their token.

use std::io;
use std::time::Duration;

use picklock::sim::design::{StoreAddress, Topology};
use picklock::{Belief, Client, Deadline, Design, Grant, Host, Key, Lock, LockError, Context, Token};
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};

use crate::store::{LeaseServer, PORT};

/// A client of the lock.
pub struct Leased {
    host: Host,
    server: String,
    ttl: Duration,
}

/// The lock as picklock tests it.
pub fn leased() -> Design {
    let client = |context: Context| async move {
        let Some(StoreAddress::Host(server)) = context.stores.first().cloned() else {
            return Err(LockError::new("the design has no server"));
        };
        Ok(Client::lock(Leased { host: context.host, server, ttl: context.ttl }))
    };
    Design::new("leased", client)
        .believing(Belief::Honest)
        .fenced()
        .on_stores(Topology::independent(1), LeaseServer)
}

impl Leased {
    async fn ask(&self, request: String) -> Result<String, LockError> {
        let asking = async {
            let mut stream = BufReader::new(self.host.connect(&self.server, PORT).await?);
            stream.write_all(request.as_bytes()).await?;
            let mut reply = String::new();
            stream.read_line(&mut reply).await?;
            if reply.is_empty() { Err(io::Error::from(io::ErrorKind::UnexpectedEof)) } else { Ok(reply) }
        };
        Ok(self.host.timeout(self.ttl / 2, asking).await??)
    }
}

impl Lock for Leased {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.host.rng().owner_id();
        let deadline = self.host.monotonic() + self.ttl * 49 / 50;
        let reply = self.ask(format!("take {key} {owner} {}\n", self.ttl.as_millis())).await?;
        let token = reply.strip_prefix("yes ").and_then(|token| token.trim_end().parse().ok());
        let granted = |token| {
            Grant::new(key, owner).with_token(Token(token)).with_deadline(Deadline::Monotonic(deadline))
        };
        Ok(token.map(granted))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.ask(format!("free {} {}\n", grant.key, grant.owner)).await.map(drop)
    }
}
