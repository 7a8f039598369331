//! Locks that are tied to a session: a client has one key of its own, its heartbeat, which runs out unless the client extends it. The
//! record of a lock has no lease. Its value names the session and the grant, and whoever finds that the session is gone puts its own
//! record in the place of the old one, in the script that looked.
//!
//! *Claim:* one renewal a client, however many locks it holds; work may outlast the lease while the client's process runs, and
//! what a dead client held is free one lease after its last heartbeat.
//! *Weakness:* all locks of a client are lost at once, when its heartbeat pauses or is cut off for a lease, and nobody notifies their
//! holders. A record outlives its lock: what is left under a session that goes on blocks the others for as long as the session does.
//! The script reads keys that it is not given, which no Redis Cluster allows.
//! *Source:* a proposal to tie renewal to the client's heartbeat; the leases of Chubby and etcd, and the sessions of ZooKeeper, are such
//! sessions in the store.
//!
//! A heartbeat that finds its session gone (`heartbeat=expire`) is the last: the next acquire opens another session. With
//! `heartbeat=set` it sets the key again: the locks that nobody has taken over meanwhile are held on, and the holder of one that
//! somebody has is as wrong as before.
//!
//! A request whose effect nobody knows may be executed late, and its record would block others for as long as the client lives. So a
//! session is given up after that: it is extended while something is held under it, and no lock is taken under it any more.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use picklock_model::ids::Key;
use picklock_sim::design::{Context, Family};
use picklock_sim::host::Host;
use picklock_sim::lock::{Grant, Lock, LockError};
use picklock_sim::param::{Param, Word};
use picklock_sim::params;
use redis::{RedisResult, cmd};

use super::bulk::{Bulk, LOCKS};
use super::common::{millis, on_stores, store_of};
use crate::client::connection::Connection;
use crate::client::policy::{BELIEF, CLOCK, DRIFT, FAILURE, Failure, Policy, RETRY, STORE, TIMEOUT};
use crate::client::script::Lua;

/// The family of designs whose locks are tied to a session.
pub(crate) static FAMILY: Family = Family {
    name: "session",
    claim: "a heartbeat key for each client, records without a lease that name it: one renewal for all locks of a client",
    weakness: "a pause or a cut of a lease loses all locks of the client at once, and notifies nobody; a record that comes back with a failover stays as long as its client lives",
    source: "a proposal to tie renewal to the client's heartbeat; leases of etcd, sessions of ZooKeeper",
    params: params![HEARTBEAT, BELIEF, CLOCK, DRIFT, RETRY, TIMEOUT, FAILURE, LOCKS, STORE],
    build: |args| {
        let (revives, locks) = (args.get(HEARTBEAT) == "set", args.get(LOCKS));
        on_stores(args, store_of(args), move |context, policy| async move {
            Sessions::connect(&context, policy, locks, revives).await
        })
        .renewing()
        .in_sessions()
    },
};

const HEARTBEAT: Param<Word> = Param {
    name: "heartbeat",
    domain: Word(&["expire", "set"]),
    default: "expire",
    doc: "how a heartbeat extends the session: with PEXPIRE, which leaves a lost one alone, or with SET, which makes it anew",
};

/// A client of the design.
struct Sessions {
    bulk: Bulk,
    /// True if a heartbeat makes a lost session anew.
    revives: bool,
    /// Its sessions that are not over yet; locks are taken under the last.
    sessions: Mutex<Vec<Arc<Session>>>,
}

/// One session.
struct Session {
    /// Its key, which values of records begin with.
    key: String,
    state: Mutex<State>,
}

/// The state of a session, as its client knows it.
#[derive(Default)]
struct State {
    /// True once something was granted under it.
    is_open: bool,
    /// True while heartbeats extend it.
    beats: bool,
    /// True if no lock is taken under it any more.
    given_up: bool,
    /// The values of the records that are held under it.
    held: BTreeSet<String>,
}

impl Session {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn give_up(&self) {
        self.state().given_up = true;
    }
}

impl State {
    /// True if nobody needs the session any more.
    fn is_over(&self) -> bool {
        self.given_up && self.held.is_empty()
    }
}

/// A request that is under way: unless its outcome is known when this is dropped, its session is given up.
struct UnderWay<'s> {
    session: &'s Session,
    is_known: bool,
}

impl<'s> UnderWay<'s> {
    fn in_session(session: &'s Session) -> UnderWay<'s> {
        UnderWay { session, is_known: false }
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        if !self.is_known {
            self.session.give_up();
        }
    }
}

/// The answer of a store to a request for the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Answer {
    Granted,
    Refused,
    /// The session that the lock was to be taken under is gone.
    Gone,
}

impl Sessions {
    async fn connect(
        context: &Context,
        policy: Policy,
        locks: u64,
        revives: bool,
    ) -> Result<Sessions, LockError> {
        let bulk = Bulk::connect(context, policy, locks).await?;
        Ok(Sessions { bulk, revives, sessions: Mutex::default() })
    }

    fn sessions(&self) -> MutexGuard<'_, Vec<Arc<Session>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The session under which a lock is to be taken.
    fn session(&self) -> Arc<Session> {
        let mut sessions = self.sessions();
        sessions.retain(|session| !session.state().is_over());
        if let Some(last) = sessions.last().filter(|session| !session.state().given_up) {
            return Arc::clone(last);
        }
        let key = format!("session:{}", self.bulk.store.host.rng().owner_id());
        let session = Arc::new(Session { key, state: Mutex::default() });
        sessions.push(Arc::clone(&session));
        session
    }

    /// The session under which a grant was made, as the value of its record names it; none if it is over.
    fn session_of(&self, value: &str) -> Option<Arc<Session>> {
        self.sessions().iter().find(|session| value.starts_with(&session.key)).cloned()
    }

    /// Asks for the lock under a session.
    async fn ask(&self, session: &Session, key: &Key, value: &str) -> RedisResult<Answer> {
        static TAKE: Lua = Lua::new(
            "local absent = {}
                 for nth = 2, #KEYS do
                   local value = redis.call('get', KEYS[nth])
                   local session = value and string.match(value, '^(.*)/')
                   if value and (not session or redis.call('exists', session) == 1) then
                     return 0
                   end
                   absent[nth] = not value
                 end
                 if ARGV[3] == 'set' then
                   redis.call('set', KEYS[1], '', 'PX', ARGV[2])
                 elseif redis.call('pexpire', KEYS[1], ARGV[2]) == 0 then
                   return -1
                 end
                 for nth = 2, #KEYS do
                   redis.call('set', KEYS[nth], ARGV[1], absent[nth] and 'NX' or 'XX')
                 end
                 return 1",
        );
        let store = &self.bulk.store;
        let mut call = TAKE.prepare_invoke();
        call.key(&session.key);
        for name in self.bulk.keys(key) {
            call.key(name);
        }
        let sets = self.revives || !session.state().is_open;
        let keeps = if sets { "set" } else { "expire" };
        let answer: i64 =
            call.arg(value).arg(millis(store.ttl)).arg(keeps).invoke_async(&mut store.redis.clone()).await?;
        Ok(match answer {
            1 => Answer::Granted,
            0 => Answer::Refused,
            _ => Answer::Gone,
        })
    }

    /// Notes what was granted under a session, and has it extended from the first grant on.
    fn granted(&self, session: &Arc<Session>, value: &str) {
        let mut state = session.state();
        state.held.insert(value.to_owned());
        state.is_open = true;
        if !std::mem::replace(&mut state.beats, true) {
            let store = &self.bulk.store;
            let heartbeat = Heartbeat {
                host: store.host.clone(),
                redis: store.redis.clone(),
                ttl: store.ttl,
                revives: self.revives,
                session: Arc::clone(session),
            };
            store.host.spawn(heartbeat.repeat());
        }
    }
}

impl Lock for Sessions {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        let store = &self.bulk.store;
        loop {
            let session = self.session();
            let value = format!("{}/{}", session.key, store.host.rng().owner_id());
            let began = store.begin();
            let mut under_way = UnderWay::in_session(&session);
            let answer = self.ask(&session, key, &value).await;
            under_way.is_known = answer.as_ref().is_ok_and(|answer| *answer != Answer::Gone);
            match answer {
                Ok(Answer::Granted) => {
                    self.granted(&session, &value);
                    return Ok(Some(store.grant(key, value, began)));
                }
                Ok(Answer::Refused) => return Ok(None),
                // With a session that is new it cannot be.
                Ok(Answer::Gone) => drop(under_way),
                Err(error) => {
                    if store.policy.failure == Failure::Release {
                        let _ = self.bulk.give_back(key, &value).await;
                    }
                    return Err(error.into());
                }
            }
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let session = self.session_of(&grant.owner);
        let mut under_way = session.as_deref().map(UnderWay::in_session);
        if let Some(session) = &session {
            session.state().held.remove(&grant.owner);
        }
        let released = self.bulk.give_back(&grant.key, &grant.owner).await?;
        under_way.iter_mut().for_each(|under_way| under_way.is_known = true);
        if released { Ok(()) } else { Err(LockError::new("the session was lost before the release")) }
    }
}

/// What extends one session.
struct Heartbeat {
    host: Host,
    redis: Connection,
    ttl: Duration,
    revives: bool,
    session: Arc<Session>,
}

impl Heartbeat {
    /// Extends the session every third of the lease, until nobody needs it or it turns out to be lost.
    async fn repeat(self) {
        let third = self.ttl / 3;
        let mut due = self.host.monotonic() + third;
        loop {
            self.host.sleep_until(due).await;
            {
                let mut state = self.session.state();
                if state.is_over() {
                    state.beats = false;
                    return;
                }
            }
            // Counted from now, not from when it was due: a process that was paused does not send them in a burst.
            due = self.host.monotonic() + third;
            // A heartbeat that fails is tried again when the next one is due.
            if let Ok(Ok(false)) = self.host.timeout(third, self.extend()).await {
                let mut state = self.session.state();
                (state.given_up, state.beats) = (true, false);
                return;
            }
        }
    }

    /// False if the session is gone.
    async fn extend(&self) -> RedisResult<bool> {
        let (key, ttl) = (&self.session.key, millis(self.ttl));
        let command = match self.revives {
            true => cmd("SET").arg(key).arg("").arg("PX").arg(ttl).clone(),
            false => cmd("PEXPIRE").arg(key).arg(ttl).clone(),
        };
        command.query_async(&mut self.redis.clone()).await
    }
}
