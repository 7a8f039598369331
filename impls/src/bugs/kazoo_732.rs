//! kazoo #732: an acquire that does not wait leaves its node behind when the delete fails.
//!
//! *Claim:* `Lock.acquire(blocking=False)` that is refused leaves nothing.
//! *Mechanism:* it creates a node, sees another one before it and deletes its own. If the connection is lost meanwhile, `_best_effort_cleanup` swallows
//! the error: the node stays for as long as the session, which goes on, and once the holder has left nobody gets the lock.
//! *Versions:* all up to 2.11.0; open. The fixed version is that of the proposed change, which deletes until it is answered.
//! *Source:* <https://github.com/python-zk/kazoo/issues/732>, <https://github.com/python-zk/kazoo/pull/760>; `kazoo/recipe/lock.py`

use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use picklock_sim::params;
use tokio::sync::Mutex;

use super::framework::{Framework, on_one_member};
use super::version::FIXED;
use crate::client::zookeeper::{Failure, Session};
use crate::zookeeper::place::{Place, name};

/// The lock that swallows the error of its clean-up.
pub(super) static FAMILY: Family = Family {
    name: "kazoo-732",
    claim: "kazoo's lock, asked without blocking: who is refused leaves nothing",
    weakness: "the delete of the node is tried once, and its error swallowed",
    source: "kazoo up to 2.11.0, https://github.com/python-zk/kazoo/issues/732",
    params: params![FIXED],
    build: |args| {
        let insists = args.get(FIXED);
        let client = move |context: Context| async move {
            let framework = Framework::new(&context)?;
            Ok(Client::lock(Locks { framework, insists, held: Mutex::default() }))
        };
        on_one_member(Design::new("", client))
    },
};

struct Locks {
    framework: Arc<Framework>,
    /// True if the delete of a refused one's node is repeated until it is answered.
    insists: bool,
    /// The nodes that are held, and the session in which each was granted.
    held: Mutex<Vec<(String, Arc<Session>)>>,
}

impl Locks {
    /// `_inner_acquire` of a new lock: true if no other stands before its node.
    async fn stand(&self, key: &Key) -> Result<(String, bool), Failure> {
        let mark = self.framework.host.rng().owner_id();
        loop {
            // `_find_node` looks for the prefix, in whichever session: so does this.
            let (path, _) = self.framework.create(key, &mark, true).await?;
            let (_, children) = self.framework.children(key).await?;
            match Place::of(name(&path), &children) {
                // ForceRetryError: it is tried anew.
                Place::Gone => {}
                place => return Ok((path, place == Place::First)),
            }
        }
    }

    /// The session in which a grant was made.
    async fn session(&self, grant: &Grant) -> Option<Arc<Session>> {
        let held = self.held.lock().await;
        held.iter().find(|(path, _)| *path == grant.owner).map(|(_, session)| Arc::clone(session))
    }

    /// `_best_effort_cleanup`.
    async fn clean_up(&self, path: &str) {
        if self.insists {
            // Only a refusal ends it, and there is none.
            let _ = self.framework.delete(path).await;
            return;
        }
        // except KazooException: pass
        let _ = self.framework.session().await.delete(path).await;
    }
}

impl Lock for Locks {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let (path, is_first) = self.stand(key).await?;
        if !is_first {
            self.clean_up(&path).await;
            return Ok(None);
        }
        let session = self.framework.session().await;
        self.held.lock().await.push((path.clone(), session));
        Ok(Some(Grant::new(key, path)))
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.held.lock().await.retain(|(path, _)| *path != grant.owner);
        Ok(self.framework.delete(&grant.owner).await?)
    }

    /// As often a holder looks whether its session is lost (`KazooState.LOST`).
    fn checkpoint(&self) -> Option<Duration> {
        Some(self.framework.ttl / 20)
    }

    fn renews_in_background(&self) -> bool {
        true
    }

    async fn lost(&self, grant: &Grant) {
        if let Some(session) = self.session(grant).await {
            session.until(Session::is_over).await;
        }
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        Ok(self.session(grant).await.is_some_and(|session| !session.is_over()))
    }
}
