//! node-redlock: with an even number of stores, an attempt whose votes are split never ends.
//!
//! *Claim:* an attempt is decided by a majority of the stores.
//! *Mechanism:* the stores are asked at once, and each answer counts for the lock or against it. The attempt ends when either
//! side has a majority. Of four stores that are split two to two, neither has: all have answered, and the promise is never
//! resolved. Nothing is tried again, and nothing is released.
//! *Versions:* node-redlock 5.0.0-beta.1 and 5.0.0-beta.2. The mended version here counts such an attempt as lost once a majority
//! is out of reach.
//! *Source:* <https://github.com/mike-marcacci/node-redlock/blob/main/src/index.ts>, `_attemptOperation`
//!
//! Left out on purpose: extending.

use std::future::{Future, pending, poll_fn};
use std::pin::Pin;
use std::task::Poll;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::{Args, Param};
use picklock_sim::params;

use super::version::FIXED;
use crate::client::connection::Connection;
use crate::client::policy::{NODE_TIMEOUT, Policy};
use crate::redis::common::{compare_and_delete, connect_if_possible, on_stores, set_if_absent};
use crate::redlock::algorithm::{NODES, nodes};

/// The attempt that never ends.
pub(super) static FAMILY: Family = Family {
    name: "node-redlock-even",
    claim: "node-redlock's Redlock, which asks its stores at once, on an even number of them",
    weakness: "an attempt that half of the stores refuse is decided for nobody, and never ends",
    source: "node-redlock 5.0.0-beta.2, https://github.com/mike-marcacci/node-redlock/blob/main/src/index.ts",
    params: params![FIXED, Param { default: "4", ..NODES }, NODE_TIMEOUT],
    build,
};

fn build(args: &Args) -> Design {
    let fixed = args.get(FIXED);
    on_stores(args, nodes(args), move |context, policy| async move {
        Ok(Votes::connect(context, policy, fixed).await)
    })
}

struct Votes {
    host: Host,
    ttl: Duration,
    stores: Vec<Connection>,
    fixed: bool,
}

impl Votes {
    async fn connect(context: Context, policy: Policy, fixed: bool) -> Votes {
        let timeout = policy.timeout(context.ttl);
        let connection = |address| Connection::new(&context.host, address, timeout);
        let stores: Vec<Connection> = context.stores.into_iter().map(connection).collect();
        for store in &stores {
            connect_if_possible(store).await;
        }
        Votes { host: context.host, ttl: context.ttl, stores, fixed }
    }

    fn quorum(&self) -> usize {
        self.stores.len() / 2 + 1
    }

    async fn release_everywhere(&self, key: &Key, owner: &str) -> usize {
        let asked = self.stores.iter().map(|store| compare_and_delete(store, key, owner));
        at_once(asked).await.into_iter().filter(|answer| answer.is_ok()).count()
    }
}

impl Lock for Votes {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let owner = self.host.rng().owner_id();
        let start = self.host.monotonic();
        let asked = self.stores.iter().map(|store| set_if_absent(store, key, &owner, self.ttl));
        let votes = at_once(asked).await.into_iter().filter(|vote| matches!(vote, Ok(true))).count();
        if votes >= self.quorum() && self.host.monotonic() < start + self.ttl {
            return Ok(Some(Grant::new(key, owner)));
        }
        let against = self.stores.len() - votes;
        if votes < self.quorum() && against < self.quorum() && !self.fixed {
            // Neither side has a majority.
            pending::<()>().await;
        }
        self.release_everywhere(key, &owner).await;
        Ok(None)
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let answered = self.release_everywhere(&grant.key, &grant.owner).await;
        if answered < self.quorum() {
            return Err(LockError::in_doubt(format!(
                "only {answered} of {} stores answered",
                self.stores.len()
            )));
        }
        Ok(())
    }
}

/// The results of all of these, which are under way at the same time.
async fn at_once<F: Future>(futures: impl Iterator<Item = F>) -> Vec<F::Output> {
    let mut waiting: Vec<Pin<Box<F>>> = futures.map(Box::pin).collect();
    let mut results: Vec<Option<F::Output>> = waiting.iter().map(|_| None).collect();
    poll_fn(|cx| {
        for (future, result) in waiting.iter_mut().zip(&mut results) {
            if result.is_none()
                && let Poll::Ready(value) = future.as_mut().poll(cx)
            {
                *result = Some(value);
            }
        }
        if results.iter().all(Option::is_some) { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    results.into_iter().flatten().collect()
}
