//! Long work cut into steps, each under a lock of its own for no longer than it takes; the step that changes the
//! resource does so only if it still is what that step read.
//!
//! *Claim:* no single hold outlasts its lease, however long the whole takes, and a step that does so all the same changes
//! nothing that is no longer as it was.
//! *Weakness:* between two steps others may do theirs, so the whole is not one critical section; each step costs an
//! acquire and a release; and what protects the resource in the end is the comparison, not the lock.
//! *Source:* the usual advice for jobs that are longer than any sensible lease.
//!
//! Only the last step touches the guarded resource. The others stand for steps whose effects lie elsewhere.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Conditions, Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Client, Direct, Lock, LockError};
use picklock_sim::param::{Args, Count, Param};
use picklock_sim::resource::{Operation, Resource, ResourceError};
use tokio::sync::Mutex;

use super::common::store_of;
use super::single::Single;
use crate::client::policy::{FAILURE, Policy, STORE, TIMEOUT};
use picklock_redis::Redis;
use picklock_sim::params;

/// The family of designs that work in steps.
pub(crate) static FAMILY: Family = Family {
    name: "segmented",
    claim: "long work cut into steps, a lock for each, and a comparison where the resource is changed",
    weakness: "others may work between two steps, and each step costs an acquire and a release",
    source: "the usual advice for jobs longer than a lease",
    params: params![STEPS, TIMEOUT, FAILURE, STORE],
    build,
};

const STEPS: Param<Count> =
    Param { name: "steps", domain: Count(1, 100), default: "4", doc: "how many steps the work is cut into" };

fn build(args: &Args) -> Design {
    let steps = u32::try_from(args.get(STEPS)).expect("the domain ends at 100");
    let policy = Policy::of(args);
    let client =
        move |context| async move { Ok(Client::direct(Segmented::connect(context, policy, steps).await?)) };
    let design = Design::new("", client).believing(Belief::None).on_stores(store_of(args), Redis::default());
    // All steps of one client and a wait for each belong to one change.
    Design { leases_to_recover: 5, survives: Conditions::LEASE, ..design }
}

struct Segmented {
    host: Host,
    lock: Single,
    resource: Mutex<Resource>,
    /// How long a step waits for its lock.
    wait: Duration,
    steps: u32,
}

impl Segmented {
    async fn connect(context: Context, policy: Policy, steps: u32) -> Result<Segmented, LockError> {
        let lock = Single::connect(&context, policy).await?;
        let resource = Mutex::new(Resource::new(context.host.clone(), 2 * context.ttl));
        Ok(Segmented { host: context.host, lock, resource, wait: 10 * context.ttl, steps })
    }

    /// One step under its lock. False if the resource was changed by somebody else meanwhile.
    async fn step(&self, key: &Key, delta: i64, work: Duration) -> Result<bool, LockError> {
        let grant = self.lock.acquire(&self.host, key, self.wait).await?;
        let grant = grant.ok_or_else(|| LockError::new("a step did not get its lock"))?;
        let done = self.locked(key, delta, work).await;
        // A release that fails changes nothing: the lease ends the lock.
        let _ = self.lock.release(grant).await;
        Ok(done?)
    }

    async fn locked(&self, key: &Key, delta: i64, work: Duration) -> Result<bool, ResourceError> {
        if delta == 0 {
            self.host.sleep(work).await;
            return Ok(true);
        }
        let mut resource = self.resource.lock().await;
        let expected = resource.apply(key, Operation::Read, None).await?;
        self.host.sleep(work).await;
        match resource.apply(key, Operation::Swap { expected, value: expected + delta }, None).await {
            Err(ResourceError::Differs { .. }) => Ok(false),
            outcome => outcome.map(|_| true),
        }
    }
}

impl Direct for Segmented {
    async fn change(&self, key: &Key, delta: i64, work: Duration) -> Result<(), LockError> {
        let slice = work / self.steps;
        for _ in 1..self.steps {
            self.step(key, 0, slice).await?;
        }
        while !self.step(key, delta, slice).await? {}
        Ok(())
    }
}
