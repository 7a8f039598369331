//! CURATOR-696: a latch that comes back with a new session leads by the node of its old one.
//!
//! *Claim:* Curator's `LeaderLatch`: one leader, who stops when its connection is suspended.
//! *Mechanism:* a latch that has its connection again reads the nodes and looks for its own. While the server was down nobody's session has ended, and it gives
//! each its time once more: the node of the latch's old session still stands first. It leads by it, and notices nothing when it goes.
//! *Versions:* 5.4.0 to 5.6.0 (since CURATOR-644 a latch no longer makes a new node when it is connected again); 5.7.0 compares the owner of the
//! node with its session.
//! *Source:* <https://github.com/apache/curator/issues/1211>, <https://github.com/apache/curator/pull/500>; `LeaderLatch.java`, `checkLeadership`

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Design, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Client, Grant, Lock, LockError};
use picklock_sim::params;
use tokio::sync::Mutex;

use super::framework::{Framework, on_one_member};
use super::version::FIXED;
use crate::client::zookeeper::{Failure, Session};
use crate::zookeeper::place::{Place, name, parent};

/// A latch that its application does not ask for this many leases is closed.
const IDLE: u32 = 3;

/// The latch that does not look whose node it is.
pub(super) static FAMILY: Family = Family {
    name: "curator-696",
    claim: "Curator's LeaderLatch: the lowest node leads, and a leader whose connection is suspended stops",
    weakness: "a latch that is connected again leads by the node of its last session, which is about to go",
    source: "Curator 5.4.0 to 5.6.0, https://github.com/apache/curator/issues/1211",
    params: params![FIXED],
    build: |args| {
        let looks = args.get(FIXED);
        let client = move |context: Context| async move {
            let framework = Framework::new(&context)?;
            Ok(Client::lock(Latches { framework, looks, latches: Mutex::default() }))
        };
        on_one_member(Design::new("", client))
    },
};

struct Latches {
    framework: Arc<Framework>,
    /// True if a latch looks whose node it is before it leads.
    looks: bool,
    latches: Mutex<BTreeMap<Key, Arc<Mutex<Latch>>>>,
}

/// A latch, which keeps its node when it loses the lead.
#[derive(Default)]
struct Latch {
    path: Option<String>,
    /// The session in which it leads, and how many connections that had lost when it began to.
    leads: Option<(Arc<Session>, u64)>,
    /// How often it was asked for.
    asked: u64,
}

impl Latch {
    fn is_leader(&self) -> bool {
        self.leads.as_ref().is_some_and(|(session, losses)| leads(session, *losses))
    }
}

/// True while a latch leads in a session that had lost so many connections when it began to.
fn leads(session: &Session, losses: u64) -> bool {
    !session.is_over() && session.losses() == losses
}

impl Latches {
    async fn latch(&self, key: &Key) -> Arc<Mutex<Latch>> {
        Arc::clone(self.latches.lock().await.entry(key.clone()).or_default())
    }

    /// Waits until the latch leads (`await`). It reads the nodes each time that it is connected, and makes one if it has none.
    async fn lead(&self, key: &Key, latch: &mut Latch) -> Result<String, Failure> {
        loop {
            let path = match &latch.path {
                Some(path) => path.clone(),
                None => {
                    let mark = self.framework.host.rng().owner_id();
                    let (made, _) = self.framework.create(key, &mark, false).await?;
                    latch.path.insert(made).clone()
                }
            };
            let (session, children) = self.framework.children(key).await?;
            let losses = session.losses();
            match Place::of(name(&path), &children) {
                Place::Gone => latch.path = None,
                Place::First => {
                    if self.looks {
                        let stat = session.stat(&path).await.ok().flatten();
                        if stat.is_none_or(|stat| stat.ephemeral_owner != session.id()) {
                            latch.path = None;
                            self.framework.delete_at_last(path);
                            continue;
                        }
                    }
                    latch.leads = Some((session, losses));
                    return Ok(path);
                }
                Place::Behind(before) => {
                    // However it ends, the nodes are read again.
                    let _ = session.watch(&format!("{}/{before}", parent(key))).await;
                }
            }
        }
    }

    /// Closes the latch: its node is deleted in the background.
    fn close(&self, latch: &mut Latch) {
        latch.leads = None;
        if let Some(path) = latch.path.take() {
            self.framework.delete_at_last(path);
        }
    }
}

impl Lock for Latches {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.acquire(&self.framework.host, key, self.framework.ttl / 2).await
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        let latch = self.latch(key).await;
        let mut latch = latch.lock().await;
        latch.asked += 1;
        match host.timeout_boxed(wait, Box::pin(self.lead(key, &mut latch))).await {
            Ok(led) => Ok(Some(Grant::new(key, led?))),
            Err(_) => {
                self.close(&mut latch);
                Ok(None)
            }
        }
    }

    /// A latch that has lost the lead stays: its application waits for it again.
    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let latch = self.latch(&grant.key).await;
        let mut state = latch.lock().await;
        if state.is_leader() {
            self.close(&mut state);
            return Ok(());
        }
        state.leads = None;
        let asked = state.asked;
        drop(state);
        let framework = Arc::clone(&self.framework);
        self.framework.host.spawn(async move {
            framework.host.sleep(framework.ttl * IDLE).await;
            let mut latch = latch.lock().await;
            if latch.asked == asked
                && let Some(path) = latch.path.take()
            {
                framework.delete_at_last(path);
            }
        });
        Err(LockError::new("it leads no more"))
    }

    /// As often a leader looks whether it still leads (`hasLeadership`).
    fn checkpoint(&self) -> Option<Duration> {
        Some(self.framework.ttl / 20)
    }

    fn renews_in_background(&self) -> bool {
        true
    }

    async fn lost(&self, grant: &Grant) {
        let latch = self.latch(&grant.key).await;
        let led = latch.lock().await.leads.clone();
        if let Some((session, losses)) = led {
            session.until(|session| !leads(session, losses)).await;
        }
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        let latch = self.latch(&grant.key).await;
        let latch = latch.lock().await;
        Ok(latch.is_leader())
    }
}
