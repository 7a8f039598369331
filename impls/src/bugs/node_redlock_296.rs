//! node-redlock #296 and #299: a lock that was waited for is returned as one that has expired.
//!
//! *Claim:* `using` holds the lock for as long as the routine takes, by extending it in time.
//! *Mechanism:* the expiration is counted from the moment when `acquire` was called, not from the attempt that succeeded.
//! After enough attempts it lies in the past, although the stores have just granted a whole lease. The first extension is
//! due at once and refused, because one must not extend a lock that has expired; no other follows. The routine goes on,
//! since few look at the signal that it gets, and its lease runs out.
//! *Versions:* node-redlock 5.0.0-beta.2, the last one published; mended in the repository (#274, #276).
//! *Source:* <https://github.com/mike-marcacci/node-redlock/issues/296>,
//! <https://github.com/mike-marcacci/node-redlock/issues/299>
//!
//! An attempt follows the last after 200 ms, give or take 200; an extension is due half a lease before the expiration. Left out
//! on purpose: the signal, and extensions that are tried again.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Grant, Lock, LockError, Retry};
use picklock_sim::param::{Args, Param};
use picklock_sim::params;
use picklock_sim::task::Task;

use super::version::FIXED;
use crate::client::policy::{CLOCK, NODE_TIMEOUT, Policy, Reading};
use crate::redis::common::on_stores_waiting;
use crate::redlock::algorithm::{NODES, Redlock, Rules, Tokens, nodes};

/// The lock that has expired when it is returned.
pub(super) static FAMILY: Family = Family {
    name: "node-redlock-296",
    claim: "node-redlock's using: Redlock, extended half a lease before its expiration",
    weakness: "the expiration is counted from before the wait, and what has expired is not extended",
    source: "node-redlock 5.0.0-beta.2, https://github.com/mike-marcacci/node-redlock/issues/296",
    params: params![FIXED, Param { default: "3", ..NODES }, CLOCK, NODE_TIMEOUT],
    build,
};

/// How long it waits between two attempts.
const RETRY: Retry = Retry { min: Duration::ZERO, max: Duration::from_millis(400) };

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores_waiting(args, nodes(args), move |context, policy| async move {
        Ok(Using::connect(context, policy, fixed).await)
    })
    .renewing()
}

struct Using {
    redlock: Arc<Redlock>,
    host: Host,
    ttl: Duration,
    policy: Policy,
    fixed: bool,
    /// The task that extends what is held.
    extending: Mutex<Option<Task>>,
}

impl Using {
    async fn connect(context: Context, policy: Policy, fixed: bool) -> Using {
        let (host, ttl) = (context.host.clone(), context.ttl);
        let redlock = Arc::new(Redlock::connect(context, policy, Rules::published(Tokens::None)).await);
        Using { redlock, host, ttl, policy, fixed, extending: Mutex::new(None) }
    }

    fn extend_from_now_on(&self, grant: &Grant, expiration: Reading) {
        let extender = Extender {
            redlock: Arc::clone(&self.redlock),
            host: self.host.clone(),
            ttl: self.ttl,
            policy: self.policy,
        };
        let task = self.host.spawn(extender.run(grant.key.clone(), grant.owner.clone(), expiration));
        *self.extending.lock().unwrap_or_else(PoisonError::into_inner) = Some(task);
    }
}

impl Lock for Using {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.redlock.try_acquire(key).await
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        let give_up = host.monotonic() + wait;
        let called = self.policy.clock.read(host);
        loop {
            let attempted = self.policy.clock.read(host);
            host.begin_attempt();
            let outcome = self.redlock.try_acquire(key).await;
            if let Ok(Some(grant)) = outcome {
                let start = if self.fixed { attempted } else { called };
                let expiration = self.policy.lease_end(start, self.ttl);
                self.extend_from_now_on(&grant, expiration);
                return Ok(Some(grant.with_deadline(expiration.deadline())));
            }
            let pause = host.rng().span(RETRY.min, RETRY.max);
            if host.monotonic() + pause >= give_up {
                return outcome;
            }
            host.sleep(pause).await;
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        if let Some(task) = self.extending.lock().unwrap_or_else(PoisonError::into_inner).take() {
            task.abort();
        }
        self.redlock.release(grant).await
    }
}

/// The context of the extending task.
struct Extender {
    redlock: Arc<Redlock>,
    host: Host,
    ttl: Duration,
    policy: Policy,
}

impl Extender {
    /// Extends the lock half a lease before each expiration, until it has expired or is lost.
    async fn run(self, key: Key, owner: String, mut expiration: Reading) {
        loop {
            let now = self.policy.clock.read(&self.host);
            self.host.sleep(expiration.after(now).saturating_sub(self.ttl / 2)).await;
            let start = self.policy.clock.read(&self.host);
            if start >= expiration {
                return;
            }
            if self.redlock.extend_everywhere(&key, &owner).await.yes < self.redlock.quorum() {
                return;
            }
            expiration = self.policy.lease_end(start, self.ttl);
        }
    }
}
