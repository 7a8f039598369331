//! A client of ZooKeeper as Curator and kazoo have it: one session after the other, and calls that are made again in the session that there is by
//! then. A node that was created in one session may so be taken for one's own in the next.
//!
//! *Source:* `ConnectionState.java`, `RetryLoop.java`, `CreateBuilderImpl.java`, `ProtectedMode.java`, `FailedDeleteManager.java` of Curator 5.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::LockError;
use picklock_zookeeper::ZooKeeper;
use picklock_zookeeper::messages::error;
use tokio::sync::Mutex;

use crate::client::zookeeper::{Failure, Members, Rules, Session};
use crate::zookeeper::place::{marked, parent, prefix};

/// The pause before a call is made again.
const AGAIN: Duration = Duration::from_millis(100);

/// A client of an ensemble, whose sessions follow each other.
pub(super) struct Framework {
    pub(super) host: Host,
    pub(super) ttl: Duration,
    members: Members,
    session: Mutex<Option<Arc<Session>>>,
}

/// A design whose locks stand on an ensemble of one member: what it needs to lose its connections and to keep its data.
pub(super) fn on_one_member(design: Design) -> Design {
    let topology = Topology { stores: 1, replicated: false };
    design.on_stores(topology, ZooKeeper { members: 1 }).persistent().renewing()
}

impl Framework {
    pub(super) fn new(context: &Context) -> Result<Arc<Framework>, LockError> {
        Ok(Arc::new(Framework {
            host: context.host.clone(),
            ttl: context.ttl,
            members: Members::of(context)?,
            session: Mutex::new(None),
        }))
    }

    /// The session that there is, or a new one if that is over.
    pub(super) async fn session(&self) -> Arc<Session> {
        let mut current = self.session.lock().await;
        loop {
            if let Some(session) = current.as_ref().filter(|session| !session.is_over()) {
                return Arc::clone(session);
            }
            match Session::open(&self.host, &self.members, self.ttl, Rules { loses: true }).await {
                Ok(session) => *current = Some(Arc::new(session)),
                Err(_) => self.host.sleep(AGAIN).await,
            }
        }
    }

    /// Makes a call until it is answered, in whichever session there is.
    pub(super) async fn again<A, F>(&self, call: impl Fn(Arc<Session>) -> F + Send) -> Result<A, Failure>
    where
        F: Future<Output = Result<A, Failure>> + Send,
    {
        loop {
            let session = self.session().await;
            match call(session).await {
                Err(failure) if is_passing(failure) => self.host.sleep(AGAIN).await,
                outcome => return outcome,
            }
        }
    }

    /// The names of a lock's nodes, and the session that has asked for them.
    pub(super) async fn children(&self, key: &Key) -> Result<(Arc<Session>, Vec<String>), Failure> {
        let parent = parent(key);
        let asked = |session: Arc<Session>| {
            let parent = parent.clone();
            async move {
                let children = session.children(&parent).await?;
                Ok((session, children))
            }
        };
        self.again(asked).await
    }

    /// Creates an ephemeral node in a sequence, with a mark by which it is found when nobody has answered. `adopts`: one that an earlier session has
    /// created is taken as well; else it is deleted, as Curator does since 4.2.0. The node, and the session by then.
    pub(super) async fn create(
        self: &Arc<Self>,
        key: &Key,
        mark: &str,
        adopts: bool,
    ) -> Result<(String, i64), Failure> {
        let mut tried = None;
        loop {
            let session = self.session().await;
            match self.create_or_find(&session, key, mark, &mut tried, adopts).await {
                Err(failure) if is_passing(failure) => self.host.sleep(AGAIN).await,
                outcome => return outcome.map(|path| (path, session.id())),
            }
        }
    }

    /// `tried`: the session in which it was tried or looked for last.
    async fn create_or_find(
        self: &Arc<Self>,
        session: &Session,
        key: &Key,
        mark: &str,
        tried: &mut Option<i64>,
        adopts: bool,
    ) -> Result<String, Failure> {
        if let Some(before) = *tried {
            let children = session.children(&parent(key)).await?;
            if let Some(found) = marked(&children, mark) {
                let found = format!("{}/{found}", parent(key));
                if adopts || before == session.id() {
                    return Ok(found);
                }
                self.delete_at_last(found);
            }
        }
        *tried = Some(session.id());
        let path = prefix(key, Some(mark));
        match session.create_in_sequence(&path).await {
            Err(Failure::Refused(error::NO_NODE)) => {
                session.ensure(&parent(key)).await?;
                session.create_in_sequence(&path).await.map(|made| made.path)
            }
            outcome => outcome.map(|made| made.path),
        }
    }

    /// Deletes a node, whoever has created it, until that is answered.
    pub(super) async fn delete(&self, path: &str) -> Result<(), Failure> {
        let deleted = |session: Arc<Session>| {
            let path = path.to_owned();
            async move { session.delete(&path).await }
        };
        match self.again(deleted).await {
            Err(Failure::Refused(error::NO_NODE)) => Ok(()),
            outcome => outcome,
        }
    }

    /// The same in the background ("guaranteed").
    pub(super) fn delete_at_last(self: &Arc<Self>, path: String) {
        let framework = Arc::clone(self);
        self.host.spawn(async move {
            // The framework tries until it is answered; a refusal is final.
            let _ = framework.delete(&path).await;
        });
    }

    /// Deletes the node with this mark in the background, if there is one.
    pub(super) fn withdraw(self: &Arc<Self>, key: &Key, mark: String) {
        let (framework, key) = (Arc::clone(self), key.clone());
        self.host.spawn(async move {
            if let Ok((_, children)) = framework.children(&key).await
                && let Some(found) = marked(&children, &mark)
            {
                // As above.
                let _ = framework.delete(&format!("{}/{found}", parent(&key))).await;
            }
        });
    }
}

/// True if a call may succeed when it is made again.
fn is_passing(failure: Failure) -> bool {
    matches!(failure, Failure::ConnectionLoss | Failure::Expired | Failure::Over)
}
