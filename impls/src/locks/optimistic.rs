//! No lock: read the resource, work, and change it only if it still is what was read.
//!
//! *Claim:* no change is ever lost, whatever pauses, delays or dies, because the resource itself compares.
//! *Weakness:* work that met a change by somebody else is done again; under contention much of it is thrown away, and a
//! slow client may never get its turn. A change whose answer is lost may or may not have been made.
//! *Source:* L20 in the project's list; optimistic concurrency control, Kung and Robinson, 1981.
//!
//! The register is its own version, because it only grows.

use std::time::Duration;

use picklock_sim::design::{Design, Family, Seat};
use picklock_sim::host::Host;
use picklock_sim::ids::Key;
use picklock_sim::lock::{Belief, Client, Direct, LockError};
use picklock_sim::resource::{Operation, Resource, ResourceError};
use tokio::sync::Mutex;

/// The design that compares.
pub(super) static FAMILY: Family = Family {
    name: "optimistic",
    claim: "no lock: a change is made only if the resource still is what was read",
    weakness: "work is done again whenever somebody else was faster",
    source: "Kung and Robinson, On Optimistic Methods for Concurrency Control, 1981",
    params: &[],
    build: |_| {
        let client = |seat| async move { Ok(Client::direct(Optimistic::new(seat))) };
        let design = Design::new("", client).believing(Belief::None);
        // A change may have to be worked for again, and that work lasts as long as a section's.
        Design { leases_to_recover: 4, ..design }
    },
};

struct Optimistic {
    host: Host,
    resource: Mutex<Resource>,
}

impl Optimistic {
    fn new(seat: Seat) -> Optimistic {
        let resource = Mutex::new(Resource::new(seat.host.clone(), 2 * seat.ttl));
        Optimistic { host: seat.host, resource }
    }
}

impl Direct for Optimistic {
    async fn change(&self, key: &Key, delta: i64, work: Duration) -> Result<(), LockError> {
        let mut resource = self.resource.lock().await;
        loop {
            let expected = resource.apply(key, Operation::Read, None).await?;
            self.host.sleep(work).await;
            match resource.apply(key, Operation::Swap { expected, value: expected + delta }, None).await {
                Err(ResourceError::Differs { .. }) => {}
                outcome => return Ok(outcome.map(drop)?),
            }
        }
    }
}
