//! No lock: read the resource, work, and change it only if it still is what was read.
//!
//! *Claim:* no change is ever lost and nothing is sold twice, whatever pauses, delays or dies, because the resource itself
//! compares. Somebody gets on: of the clients at work, the first to be done since the last change makes the next one.
//! *Weakness:* work that met a change by somebody else is done again; under contention much of it is thrown away, and a
//! slow client may never get its turn. A change whose answer is lost may or may not have been made.
//! *Source:* optimistic concurrency control, Kung and Robinson, 1981.
//!
//! The register is its own version, because it only grows, and so is the stock, because it only falls. Who is refused goes
//! on from what the refusal says, without reading again.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Conditions, Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Client, Direct, LockError};
use picklock_sim::resource::{Operation, Resource, ResourceError};
use tokio::sync::Mutex as AsyncMutex;

/// The family of designs that change the resource only if it still is what was read.
pub(crate) static FAMILY: Family = Family {
    name: "optimistic",
    claim: "no lock: a change is made only if the resource still is what was read",
    weakness: "work is done again whenever somebody else was faster",
    source: "Kung and Robinson, On Optimistic Methods for Concurrency Control, 1981",
    params: &[],
    build: |_| {
        let client = |context| async move { Ok(Client::direct(Optimistic::new(context))) };
        // A client gives up on an answer after two leases.
        let design = Design::new("", client).believing(Belief::None);
        // One that does not go on is in nobody's way.
        Design { leases_to_recover: 2, survives: Conditions::LEASE, sells: true, ..design }
    },
};

/// A connection for each task of the client: one that works is in no other's way.
struct Optimistic {
    host: Host,
    patience: Duration,
    resources: Mutex<BTreeMap<u32, Arc<AsyncMutex<Resource>>>>,
}

impl Optimistic {
    fn new(context: Context) -> Optimistic {
        Optimistic { host: context.host, patience: 2 * context.ttl, resources: Mutex::default() }
    }

    /// The connection of the task that calls.
    fn resource(&self) -> Arc<AsyncMutex<Resource>> {
        let mut resources = self.resources.lock().expect("nothing panics while it holds this lock");
        let new = || Arc::new(AsyncMutex::new(Resource::new(self.host.clone(), self.patience)));
        Arc::clone(resources.entry(self.host.task()).or_insert_with(new))
    }
}

impl Direct for Optimistic {
    async fn change(&self, key: &Key, delta: i64, work: Duration) -> Result<(), LockError> {
        let resource = self.resource();
        let mut resource = resource.lock().await;
        let mut expected = resource.apply(key, Operation::Read, None).await?;
        loop {
            self.host.sleep(work).await;
            match resource.apply(key, Operation::Swap { expected, value: expected + delta }, None).await {
                Err(ResourceError::Differs { found }) => expected = found,
                outcome => return Ok(outcome.map(drop)?),
            }
        }
    }

    async fn sell(&self, key: &Key, amount: i64, work: Duration) -> Result<bool, LockError> {
        let resource = self.resource();
        let mut resource = resource.lock().await;
        let mut expected = resource.apply(key, Operation::ReadStock, None).await?;
        while expected >= amount {
            self.host.sleep(work).await;
            match resource.apply(key, Operation::TakeIf { expected, amount }, None).await {
                Err(ResourceError::Differs { found }) => expected = found,
                outcome => return Ok(outcome.map(|_| true)?),
            }
        }
        Ok(false)
    }
}
