//! Redlock, extended by its holder at checkpoints, every third of the lease: the common part of the bugs of extensions.

use std::future::Future;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design};
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::{Args, Param};
use picklock_sim::params;
use redis::RedisResult;

use super::version::FIXED;
use crate::client::connection::Connection;
use crate::client::policy::{NODE_TIMEOUT, Policy};
use crate::redis::common::{extend_if_owner, on_stores};
use crate::redlock::algorithm::{NODES, Redlock, Rules, Tokens, nodes};

/// The parameters that their users may set.
pub(super) const PARAMS: &[Param] = params![FIXED, Param { default: "3", ..NODES }, NODE_TIMEOUT];

/// How a holder extends its lock.
pub(super) trait Extension: Send + Sync + 'static {
    /// On one store: false if the store does not extend it. By the published script unless given.
    fn on(
        &self,
        node: &Connection,
        grant: &Grant,
        ttl: Duration,
    ) -> impl Future<Output = RedisResult<bool>> + Send {
        extend_if_owner(node, &grant.key, &grant.owner, ttl)
    }

    /// On all stores: false if it is lost. A majority of them must extend it unless given.
    fn everywhere(
        &self,
        redlock: &Redlock,
        grant: &mut Grant,
        ttl: Duration,
    ) -> impl Future<Output = Result<bool, LockError>> + Send {
        async move { Ok(self.count(redlock, grant, ttl).await >= redlock.quorum()) }
    }

    /// How many stores extend it.
    fn count(&self, redlock: &Redlock, grant: &Grant, ttl: Duration) -> impl Future<Output = usize> + Send {
        async move {
            let mut extended = 0;
            for node in redlock.nodes() {
                extended += usize::from(self.on(node, grant, ttl).await.unwrap_or(false));
            }
            extended
        }
    }
}

/// A design whose clients extend as `extension` makes them.
pub(super) fn design<E: Extension>(
    args: &Args,
    extension: impl Fn(&Context, Policy) -> E + Send + Sync + 'static,
) -> Design {
    on_stores(args, nodes(args), move |context, policy| {
        let (extension, ttl) = (extension(&context, policy), context.ttl);
        async move {
            let redlock = Redlock::connect(context, policy, Rules::published(Tokens::None)).await;
            Ok(AtCheckpoints { redlock, extension, ttl })
        }
    })
    .renewing()
}

struct AtCheckpoints<E> {
    redlock: Redlock,
    extension: E,
    ttl: Duration,
}

impl<E: Extension> Lock for AtCheckpoints<E> {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.redlock.try_acquire(key).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.redlock.release(grant).await
    }

    fn checkpoint(&self) -> Option<Duration> {
        Some(self.ttl / 3)
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        self.extension.everywhere(&self.redlock, grant, self.ttl).await
    }
}
