//! No lock: every request inserts a row under an id of its own, and the resource refuses a second row with the same id.
//!
//! *Claim:* each request takes effect exactly once, however often it is sent: a client that did not hear an answer can
//! simply ask again.
//! *Weakness:* it orders nothing: it fits changes that do not depend on what was there before.
//! *Source:* unique constraints as idempotency keys.
//!
//! A client that gets no answer asks again three times with the same id.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Conditions, Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Client, Direct, LockError};
use picklock_sim::resource::{Operation, Resource, ResourceError};
use tokio::sync::Mutex;

/// The family of designs with a unique id for each request.
pub(crate) static FAMILY: Family = Family {
    name: "unique-index",
    claim: "no lock: each request inserts a row under a unique id, and takes effect exactly once",
    weakness: "it orders nothing",
    source: "unique constraints as idempotency keys",
    params: &[],
    build: |_| {
        let client = |context| async move { Ok(Client::direct(UniqueIndex::new(context))) };
        let design = Design::new("", client).believing(Belief::None);
        // A client asks four times, and gives each half a lease to be answered. One that does not go on is in nobody's way.
        Design { leases_to_recover: 2, survives: Conditions::LEASE, ..design }
    },
};

/// How often a request is sent before its client gives up.
const ATTEMPTS: u32 = 4;

struct UniqueIndex {
    host: Host,
    resource: Mutex<Resource>,
}

impl UniqueIndex {
    fn new(context: Context) -> UniqueIndex {
        let resource = Mutex::new(Resource::new(context.host.clone(), context.ttl / 2));
        UniqueIndex { host: context.host, resource }
    }
}

impl Direct for UniqueIndex {
    async fn change(&self, key: &Key, _delta: i64, work: Duration) -> Result<(), LockError> {
        let id = self.host.rng().below(u64::MAX);
        self.host.sleep(work).await;
        let mut resource = self.resource.lock().await;
        let mut attempts = 1;
        loop {
            match resource.apply(key, Operation::Insert(id), None).await {
                Err(ResourceError::NotSent | ResourceError::EffectUnknown) if attempts < ATTEMPTS => {
                    attempts += 1
                }
                outcome => return Ok(outcome.map(drop)?),
            }
        }
    }
}
