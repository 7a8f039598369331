//! Consul's lock: a key that a session holds, and after a session that was lost a delay before the next one can have it.
//!
//! *Claim:* a holder that stands still for no longer than half of its TTL and the lock-delay is alone: for so long nobody is granted the lock
//! after its last renewal. Consul's server waits for another TTL before (`SessionTTLMultiplier`), so in fact the bound is one and a half TTLs and
//! the lock-delay.
//! *Weakness:* a longer pause makes a second holder, as with every lease. A dead holder blocks the others for up to two TTLs, the lock-delay, and the
//! five seconds after which a client asks again that met the delay. A holder that is cut off hears nothing: the renewal gives up without a word,
//! and the monitor waits for an answer, without a time limit.
//! *Source:* Consul's `api/lock.go`; Consul documentation, Sessions; M. Burrows, The Chubby lock service (2006), 2.4.

use std::sync::Arc;
use std::time::Duration;

use picklock_consul::{Consul, LOCK_DELAY_MAX};
use picklock_model::ids::{Key, Token};
use picklock_sim::design::{Conditions, Context, Design, Family, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Client, Grant, Lock, LockError};
use picklock_sim::param::{Args, Count, Param, Word};
use picklock_sim::params;
use tokio::sync::Mutex;

use super::session::Session;
use crate::client::attempts::until_granted;
use crate::client::consul::{Api, ApiError};
use crate::client::policy::{BELIEF, DRIFT, Policy, Reading};

const LOCK_DELAY: Param<Count> = Param {
    name: "lock_delay",
    domain: Count(0, 6),
    default: "1",
    doc: "the lock-delay, in leases; Consul grants no more than a minute",
};

const MULTIPLIER: Param<Count> = Param {
    name: "multiplier",
    domain: Count(1, 2),
    default: "2",
    doc: "after how many leases without a renewal the server ends a session: Consul's are 2, its contract is 1",
};

const SESSION_TTL_MIN: Param<Count> = Param {
    name: "session_ttl_min",
    domain: Count(1, 10),
    default: "10",
    doc: "the shortest session that the server grants, in seconds; the five seconds of a client that met the lock-delay stay as they are",
};

const MONITOR_RETRIES: Param<Count> = Param {
    name: "monitor_retries",
    domain: Count(0, 10),
    default: "0",
    doc: "how often in a row the monitor of a holder's key asks again after an error, two seconds later; else it takes the lock for lost",
};

const FENCING: Param<Word> = Param {
    name: "fencing",
    domain: Word(&["none", "lock-index"]),
    default: "none",
    doc: "the token of a grant, which the resource compares: none, or the LockIndex of the key",
};

/// The family of designs with Consul's lock.
pub(crate) static FAMILY: Family = Family {
    name: "delayed",
    claim: "Consul's lock: a key that a session holds, and a delay before the next one can have what a lost session held",
    weakness: "a pause longer than the rest of the session and the lock-delay makes a second holder, and a dead holder blocks for three leases",
    source: "Consul, api/lock.go; Burrows, The Chubby lock service (2006)",
    params: params![BELIEF, DRIFT, LOCK_DELAY, MULTIPLIER, SESSION_TTL_MIN, MONITOR_RETRIES, FENCING],
    build,
};

fn build(args: &Args) -> Design {
    let rules = Rules {
        policy: Policy::of(args),
        lock_delay: args.get(LOCK_DELAY) as u32,
        retries: args.get(MONITOR_RETRIES) as u32,
        fenced: args.get(FENCING) == "lock-index",
    };
    let multiplier = args.get(MULTIPLIER) as u32;
    let session_ttl_min = Duration::from_secs(args.get(SESSION_TTL_MIN));
    let client = move |context: Context| async move { Ok(Client::lock(Delayed::new(&context, rules)?)) };
    let design = Design::new("", client)
        .on_stores(Topology::independent(1), Consul { multiplier, session_ttl_min })
        .persistent()
        .believing(rules.policy.belief)
        .renewing();
    let design =
        Design { survives: Conditions::LEASE, leases_to_recover: multiplier + rules.lock_delay, ..design };
    if rules.fenced { design.fenced() } else { design }
}

/// What a client does.
#[derive(Clone, Copy, Debug)]
struct Rules {
    policy: Policy,
    /// In leases.
    lock_delay: u32,
    retries: u32,
    fenced: bool,
}

/// The longest wait of one query (`DefaultLockWaitTime`).
const QUERY: Duration = Duration::from_secs(15);

/// A client that met a lock-delay asks again this much later (`DefaultLockRetryTime`).
const AGAIN: Duration = Duration::from_secs(5);

/// A client.
struct Delayed {
    host: Host,
    ttl: Duration,
    rules: Rules,
    api: Arc<Api>,
    held: Mutex<Vec<Session>>,
}

impl Delayed {
    fn new(context: &Context, rules: Rules) -> Result<Delayed, LockError> {
        let (host, api) = (context.host.clone(), Arc::new(Api::of(context)?));
        Ok(Delayed { host, ttl: context.ttl, rules, api, held: Mutex::default() })
    }

    /// One call of `Lock`, with a session of its own. None if the wait was over first.
    async fn attempt(&self, key: &Key, wait: Duration) -> Result<Option<Grant>, ApiError> {
        let until = self.host.monotonic() + wait;
        let attempt = Box::pin(async {
            let lock_delay = (self.ttl * self.rules.lock_delay).min(LOCK_DELAY_MAX);
            let session = Session::begin(&self.host, &self.api, self.ttl, lock_delay).await?;
            let mut past = 0;
            loop {
                self.host.begin_attempt();
                let left = until.since(self.host.monotonic()).min(QUERY);
                let (index, pair) = self.api.get(key.as_str(), past, Some(left)).await?;
                let holder = pair.and_then(|pair| pair.session);
                if holder.is_some_and(|holder| holder != session.id) {
                    past = index;
                    continue;
                }
                if self.api.acquire(key.as_str(), &session.id).await? {
                    return self.grant(key, session).await;
                }
                let (index, pair) = self.api.get(key.as_str(), 0, Some(left)).await?;
                if pair.is_some_and(|pair| pair.session.is_some()) {
                    past = index;
                } else {
                    past = 0;
                    self.host.sleep(AGAIN).await;
                }
            }
        });
        self.host.timeout_boxed(wait, attempt).await.unwrap_or(Ok(None))
    }

    /// The grant of a session that has acquired its key. None if it is lost already.
    async fn grant(&self, key: &Key, session: Session) -> Result<Option<Grant>, ApiError> {
        let mut grant = Grant::new(key, session.id.clone());
        if self.rules.fenced {
            let (_, pair) = self.api.get(key.as_str(), 0, None).await?;
            let own = pair.filter(|pair| pair.session.as_deref() == Some(&*session.id));
            let Some(own) = own else { return Ok(None) };
            grant.token = Some(Token(own.lock_index));
        }
        session.monitor(&self.host, &self.api, key.as_str(), self.rules.retries);
        self.advertise(&mut grant, &session);
        self.held.lock().await.push(session);
        Ok(Some(grant))
    }

    /// Until when a holder may rely on its session, by what Consul promises: a TTL, from the request for the last renewal, or from its answer.
    fn advertise(&self, grant: &mut Grant, session: &Session) {
        let (sent, answered) = session.renewed();
        grant.deadline = match self.rules.policy.belief {
            Belief::Honest => {
                Some(self.rules.policy.lease_end(Reading::Monotonic(sent), self.ttl).deadline())
            }
            Belief::Trusting => Some(Reading::Monotonic(answered).plus(self.ttl).deadline()),
            _ => None,
        };
    }
}

impl Lock for Delayed {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        Ok(self.attempt(key, self.ttl / 2).await?)
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        until_granted(host, wait, |left| async move { Ok(self.attempt(key, left).await?) }).await
    }

    /// Releases the key, whether its session still holds it or not, and has the session end.
    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let session = {
            let mut held = self.held.lock().await;
            let at = held.iter().position(|session| session.id == grant.owner);
            at.map(|at| held.swap_remove(at))
        };
        let session = session.ok_or_else(|| LockError::new("this client does not hold the lock"))?;
        // The session ends after this, whatever comes of it.
        self.api.release(grant.key.as_str(), &session.id).await?;
        Ok(())
    }

    /// As often a holder looks whether its monitor has seen the lock go.
    fn checkpoint(&self) -> Option<Duration> {
        Some(self.ttl / 20)
    }

    fn renews_in_background(&self) -> bool {
        true
    }

    async fn lost(&self, grant: &Grant) {
        let lost = {
            let held = self.held.lock().await;
            held.iter().find(|session| session.id == grant.owner).map(|session| Arc::clone(session.lost()))
        };
        if let Some(lost) = lost {
            lost.wait().await;
        }
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        let held = self.held.lock().await;
        let session = held.iter().find(|session| session.id == grant.owner);
        let Some(session) = session.filter(|session| !session.lost().is_set()) else { return Ok(false) };
        self.advertise(grant, session);
        Ok(true)
    }
}
