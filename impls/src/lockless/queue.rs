//! No lock: all changes go through one queue and one consumer, which makes them one after another.
//!
//! *Claim:* changes never meet, because only one process makes them.
//! *Weakness:* the consumer is the bottleneck and the single point of failure. While it is down nothing happens, and what
//! it had in hand when it died its clients never learn.
//! *Source:* the usual alternative to a lock in order processing.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Design, Family, StoreAddress, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Client, Direct, LockError};

use super::queue_server as queue;

/// The family of designs with one queue and one consumer.
pub(crate) static FAMILY: Family = Family {
    name: "queue",
    claim: "no lock: all changes go through one queue and one consumer",
    weakness: "nothing happens while the consumer is down, and who waits for what it forgot waits in vain",
    source: "the usual alternative to a lock in order processing",
    params: &[],
    build: |_| {
        let client = |context: picklock_sim::design::Context| async move {
            let Some(StoreAddress::Host(server)) = context.stores.first().cloned() else {
                return Err(LockError::new("the design has no queue"));
            };
            Ok(Client::direct(Queue { host: context.host, server, timeout: 20 * context.ttl }))
        };
        let design = Design::new("", client).believing(Belief::None);
        design.on(Topology::independent(1), queue::serve).alone()
    },
};

struct Queue {
    host: Host,
    server: String,
    timeout: Duration,
}

impl Direct for Queue {
    async fn change(&self, key: &Key, delta: i64, work: Duration) -> Result<(), LockError> {
        let request = queue::Request { key: key.clone(), delta, work };
        let asking = queue::ask(&self.host, &self.server, &request);
        Ok(self.host.timeout(self.timeout, asking).await??)
    }
}
