//! The `reentrant` design whose clients wait by its release channel: who is refused learns how long the lease still is,
//! subscribes, and asks again when it hears of a release or when that time is over.
//!
//! *Claim:* a waiter gets the lock as soon as it is released, and asks the store no oftener than it must.
//! *Weakness:* what is published is sent once. A release whose message is lost with the connection, or that falls between a
//! connection that broke and the next one, wakes nobody: the waiter sleeps until the lease would have ended that it knows
//! of, while the lock is free.
//! *Source:* Redisson's `RLock.tryLock(waitTime, leaseTime, unit)`, by its behaviour: it asks once
//! more after it has subscribed, since the lock may have been released meanwhile; and a subscription that broke is made
//! again without asking.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::time::Monotonic;
use picklock_sim::host::Host;
use picklock_sim::lock::{Grant, Lock, LockError};

use super::counted::{Answer, Reentrant, channel};
use crate::client::connection::Subscription;
use crate::client::renewal::Renew;

/// A client that waits by the release channel.
pub(crate) struct ByChannel {
    pub(crate) lock: Reentrant,
}

impl ByChannel {
    /// Waits for a message until `until`. A subscription that breaks is made again.
    async fn wait(&self, host: &Host, key: &Key, subscription: &mut Option<Subscription>, until: Monotonic) {
        let waiting = async {
            loop {
                if let Some(messages) = subscription
                    && messages.message().await
                {
                    return;
                }
                *subscription = self.lock.store.redis.subscribe(&channel(key)).await.ok();
                if subscription.is_none() {
                    let pause = self.lock.store.policy.retry;
                    host.sleep(host.rng().span(pause.min, pause.max)).await;
                }
            }
        };
        // Notified or not, it asks again.
        let _ = host.timeout(until.since(host.monotonic()), waiting).await;
    }
}

impl Lock for ByChannel {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.lock.try_acquire(key).await
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        let give_up = host.monotonic() + wait;
        let mut subscription = None;
        let mut subscribed_once = false;
        loop {
            host.begin_attempt();
            let held_for = match self.lock.ask(key).await {
                Ok(Answer::Granted(grant)) => return Ok(Some(grant)),
                Ok(Answer::Held(time)) => time,
                Err(error) if host.monotonic() >= give_up => return Err(error),
                // It is not known what the store did: wait as long as it may have granted.
                Err(_) => Some(self.lock.store.policy.retry.max),
            };
            let now = host.monotonic();
            if now >= give_up {
                return Ok(None);
            }
            if !subscribed_once {
                subscribed_once = true;
                subscription = self.lock.store.redis.subscribe(&channel(key)).await.ok();
                continue;
            }
            let until = held_for.map_or(give_up, |time| (now + time).min(give_up));
            self.wait(host, key, &mut subscription, until).await;
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.lock.release(grant).await
    }
}

impl Renew for ByChannel {
    async fn extend(&self, key: &Key, owner: &str) -> Result<bool, LockError> {
        self.lock.extend(key, owner).await
    }
}
