//! Redisson's `RedissonRedLock`: a reentrant lock on each of several independent stores, taken one after another until
//! enough of them are.
//!
//! *Claim:* a lock on a majority of independent stores.
//! *Weakness:* it is Redlock without a validity: nobody looks at how much of the lease the acquire has used. While it
//! asks, the lease on each store is twice the time that it may wait; when enough are taken, the lease proper is set on
//! each by `PEXPIRE`, which asks nobody whose lock it is. So a client that was held up before that extends what is by then
//! somebody else's, and believes that it holds it. A client that dies while it asks blocks the others for the longer of
//! the two leases.
//! *Source:* Redisson 3.16.8, `RedissonMultiLock.tryLock(waitTime, leaseTime, unit)` with
//! `RedissonExpirable.expireAsync`, and `RedissonRedLock`, by their behaviour. The lease proper has been set like that since
//! 2.2.25, since 3.17 by a script that does not look at the owner either; 3.52 still does.
//!
//! An attempt may wait half of the lease, shared equally among the stores; a store that does not answer in its share
//! counts as lost and is released at once. Left out on purpose: waiting on a store's release channel; a store that
//! refuses is asked again until its share is spent.
//!
//! `servers=one` makes what it is sometimes mistaken for: locks of several names on one server. Then all are gone with it.

use std::time::Duration;

use picklock_model::ids::Key;
use picklock_model::time::Monotonic;
use picklock_sim::design::{Context, Design, Family, StoreAddress, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Grant, Lock, LockError};
use picklock_sim::param::{Args, Param, Word};
use picklock_sim::params;

use super::algorithm::{NODES, nodes};
use crate::client::connection::Connection;
use crate::client::policy::{BELIEF, CLOCK, DRIFT, Policy, RENEWAL, RETRY};
use crate::client::renewal::Renew;
use crate::redis::common::{connect_if_possible, on_stores_renewed};
use crate::redis::counted::{enter, expire, extend_if_inside, leave, owner};

/// The family of Redisson's lock on a majority.
pub(crate) static FAMILY: Family = Family {
    name: "redlock-multi",
    claim: "Redisson's RedLock: reentrant locks on a majority of independent stores, taken within a wait time",
    weakness: "no validity, and its lease is set at last without a look at whose lock it is by then",
    source: "Redisson 3.16.8, RedissonMultiLock and RedissonRedLock",
    params: params![NODES, SERVERS, BELIEF, CLOCK, DRIFT, RETRY, RENEWAL],
    build,
};

const SERVERS: Param<Word> = Param {
    name: "servers",
    domain: Word(&["own", "one"]),
    default: "own",
    doc: "where the locks are that a majority of is needed: each on a server of its own, or all on one, under several names",
};

fn build(args: &Args) -> Design {
    let locks = nodes(args).stores as usize;
    let one = args.get(SERVERS) == "one";
    let topology = if one { Topology::independent(1) } else { nodes(args) };
    on_stores_renewed(args, topology, move |context, policy| async move {
        Ok(RedlockMulti::connect(context, policy, locks).await)
    })
    .reentrant()
}

/// One of the locks that a majority of is needed.
struct Part {
    redis: Connection,
    /// The part of its name after that of the key; empty on a server of its own.
    suffix: String,
}

impl Part {
    fn key(&self, key: &Key) -> Key {
        if self.suffix.is_empty() {
            key.clone()
        } else {
            Key::new(&format!("{}{}", key.as_str(), self.suffix))
        }
    }
}

struct RedlockMulti {
    host: Host,
    ttl: Duration,
    parts: Vec<Part>,
    owner: String,
    policy: Policy,
}

impl RedlockMulti {
    async fn connect(context: Context, policy: Policy, locks: usize) -> RedlockMulti {
        let owner = owner(&context);
        let share = context.ttl / 2 / u32::try_from(locks).unwrap_or(u32::MAX).max(1);
        let one = context.stores.len() < locks;
        let addresses = context.stores.iter().cycle().take(locks);
        let part = |(nth, address): (usize, &StoreAddress)| Part {
            redis: Connection::new(&context.host, address.clone(), share),
            suffix: if one { format!(":{}", nth + 1) } else { String::new() },
        };
        let parts: Vec<Part> = addresses.enumerate().map(part).collect();
        for part in &parts {
            connect_if_possible(&part.redis).await;
        }
        RedlockMulti { host: context.host, ttl: context.ttl, parts, owner, policy }
    }

    /// How long one attempt may wait for all stores together.
    fn wait(&self) -> Duration {
        self.ttl / 2
    }

    /// How many stores may be missing.
    fn spare(&self) -> usize {
        self.parts.len() - (self.parts.len() / 2 + 1)
    }

    /// Takes the lock of one store, asking again while it is refused, until the share of the wait is spent.
    async fn enter_one(&self, part: &Part, key: &Key, give_up: Monotonic) -> bool {
        loop {
            match enter(&part.redis, &part.key(key), &self.owner, 2 * self.wait()).await {
                Ok(true) => return true,
                Ok(false) => {}
                Err(_) => {
                    // Perhaps it was executed. If this is not, the lease ends it.
                    let _ = leave(&part.redis, &part.key(key), &self.owner, self.ttl).await;
                    return false;
                }
            }
            let pause = self.policy.retry;
            let pause = self.host.rng().span(pause.min, pause.max);
            if self.host.monotonic() + pause >= give_up {
                return false;
            }
            self.host.sleep(pause).await;
        }
    }

    async fn leave_all(&self, parts: &[&Part], key: &Key) -> usize {
        let mut answered = 0;
        for part in parts {
            answered += usize::from(leave(&part.redis, &part.key(key), &self.owner, self.ttl).await.is_ok());
        }
        answered
    }
}

impl Lock for RedlockMulti {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let start = self.policy.clock.read(&self.host);
        let began = self.host.monotonic();
        let share = self.wait() / u32::try_from(self.parts.len()).unwrap_or(u32::MAX);
        let (mut taken, mut missing) = (Vec::with_capacity(self.parts.len()), 0);
        for part in &self.parts {
            if self.enter_one(part, key, self.host.monotonic() + share).await {
                taken.push(part);
            } else {
                missing += 1;
            }
            if missing > self.spare() || self.host.monotonic().since(began) >= self.wait() {
                self.leave_all(&taken, key).await;
                return Ok(None);
            }
        }
        // The lease proper, on each store that was taken, one after another. Redisson does not look at what the store
        // answers; where none comes it throws, and leaves what was taken to its lease.
        for part in taken {
            expire(&part.redis, &part.key(key), self.ttl).await?;
        }
        let grant = Grant::new(key, self.owner.as_str());
        Ok(Some(match self.policy.belief {
            Belief::Honest => grant.with_deadline(self.policy.lease_end(start, self.ttl).deadline()),
            Belief::Trusting => {
                grant.with_deadline(self.policy.clock.read(&self.host).plus(self.ttl).deadline())
            }
            Belief::Naive | Belief::None => grant,
        }))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let parts: Vec<&Part> = self.parts.iter().collect();
        let answered = self.leave_all(&parts, &grant.key).await;
        if answered + self.spare() < self.parts.len() {
            return Err(LockError::in_doubt(format!(
                "only {answered} of {} stores answered",
                self.parts.len()
            )));
        }
        Ok(())
    }
}

impl Renew for RedlockMulti {
    /// Extends it wherever it is; lost when a majority cannot have it any more.
    async fn extend(&self, key: &Key, owner: &str) -> Result<bool, LockError> {
        let mut gone = 0;
        for part in &self.parts {
            let key = part.key(key);
            gone +=
                usize::from(matches!(extend_if_inside(&part.redis, &key, owner, self.ttl).await, Ok(false)));
        }
        Ok(gone <= self.spare())
    }
}
