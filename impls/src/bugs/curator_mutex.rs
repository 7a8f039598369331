//! Curator's `InterProcessMutex` as its bugs have it: a node that was created in one session, and a turn that comes in another.
//!
//! Its holders stop at the first loss of the connection and release, as Curator asks them to; what cannot be deleted then is deleted in the background.
//!
//! *Source:* `LockInternals.java`, `StandardLockInternalsDriver.java` of Curator 4 and 5.

use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design};
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use tokio::sync::Mutex;

use super::framework::{Framework, on_one_member};
use crate::client::attempts::until_granted;
use crate::client::zookeeper::{Failure, Session};
use crate::zookeeper::place::{Place, name, parent};

/// What a client takes for its own.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// True if it takes the node that it finds for its own, although its session is another one by then.
    pub(super) adopts: bool,
    /// True if it looks whose node it is once its turn has come.
    pub(super) looks: bool,
    /// True if a waiter begins anew when its session has ended meanwhile.
    pub(super) begins_anew: bool,
}

/// A design with this mutex.
pub(super) fn design(rules: Rules) -> Design {
    let client = move |context: Context| async move {
        let framework = Framework::new(&context)?;
        Ok(Client::lock(Mutexes { framework, rules, held: Mutex::default() }))
    };
    on_one_member(Design::new("", client))
}

struct Mutexes {
    framework: Arc<Framework>,
    rules: Rules,
    held: Mutex<Vec<Held>>,
}

struct Held {
    path: String,
    session: Arc<Session>,
    /// How many connections the session had lost when it was granted.
    losses: u64,
}

impl Mutexes {
    /// Creates a node and waits for its turn, with a new node if it is gone by then.
    async fn lock(&self, key: &Key, mark: &str) -> Result<String, Failure> {
        loop {
            let (path, session) = self.framework.create(key, mark, self.rules.adopts).await?;
            if self.wait(key, &path, session).await? {
                return Ok(path);
            }
        }
    }

    /// Waits until no node stands before this one. False if it is gone, or was given up.
    async fn wait(&self, key: &Key, path: &str, began: i64) -> Result<bool, Failure> {
        loop {
            let (session, children) = self.framework.children(key).await?;
            if self.rules.begins_anew && session.id() != began {
                self.framework.delete(path).await?;
                return Ok(false);
            }
            match Place::of(name(path), &children) {
                Place::Gone => return Ok(false),
                Place::First if !self.rules.looks => return Ok(true),
                Place::First => {
                    let owner = session.stat(path).await.ok().flatten().map(|stat| stat.ephemeral_owner);
                    if owner == Some(session.id()) {
                        return Ok(true);
                    }
                    self.framework.delete(path).await?;
                    return Ok(false);
                }
                Place::Behind(before) => {
                    let before = format!("{}/{before}", parent(key));
                    let watched = |session: Arc<Session>| {
                        let before = before.clone();
                        async move { session.watch(&before).await }
                    };
                    self.framework.again(watched).await?;
                }
            }
        }
    }

    async fn attempt(&self, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        let host = &self.framework.host;
        let mark = host.rng().owner_id();
        match host.timeout_boxed(wait, Box::pin(self.lock(key, &mark))).await {
            Ok(Ok(path)) => {
                let session = self.framework.session().await;
                let losses = session.losses();
                let grant = Grant::new(key, path.clone());
                self.held.lock().await.push(Held { path, session, losses });
                Ok(Some(grant))
            }
            failed => {
                self.framework.withdraw(key, mark);
                failed.map_or(Ok(None), |failed| failed.map(|_| None).map_err(LockError::from))
            }
        }
    }
}

impl Mutexes {
    /// The session in which a grant was made, and how many connections that had lost then.
    async fn session(&self, grant: &Grant) -> Option<(Arc<Session>, u64)> {
        let held = self.held.lock().await;
        let own = held.iter().find(|held| held.path == grant.owner)?;
        Some((Arc::clone(&own.session), own.losses))
    }
}

/// True once a session that had lost so many connections is over or has lost one more.
fn is_suspended(session: &Session, losses: u64) -> bool {
    session.is_over() || session.losses() != losses
}

impl Lock for Mutexes {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.attempt(key, self.framework.ttl / 2).await
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        until_granted(host, wait, |left| self.attempt(key, left)).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        self.held.lock().await.retain(|held| held.path != grant.owner);
        let (host, ttl) = (&self.framework.host, self.framework.ttl);
        match host.timeout_boxed(ttl, Box::pin(self.framework.delete(&grant.owner))).await {
            Ok(deleted) => Ok(deleted?),
            Err(_) => {
                self.framework.delete_at_last(grant.owner);
                Err(LockError::in_doubt("no answer in time"))
            }
        }
    }

    /// As often a holder looks whether its connection is suspended.
    fn checkpoint(&self) -> Option<Duration> {
        Some(self.framework.ttl / 20)
    }

    fn renews_in_background(&self) -> bool {
        true
    }

    async fn lost(&self, grant: &Grant) {
        if let Some((session, losses)) = self.session(grant).await {
            session.until(|session| is_suspended(session, losses)).await;
        }
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        let held = self.session(grant).await;
        Ok(held.is_some_and(|(session, losses)| !is_suspended(&session, losses)))
    }
}
