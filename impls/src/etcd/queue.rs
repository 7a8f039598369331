//! The queue of etcd's clients: `name/lease`, made once, in the order of the revisions at which these keys were made.
//!
//! A failed acquire does what clientv3 does. `Lock` and `Campaign` return the error of their first transaction and delete nothing: if the
//! transaction was executed, its key lives as long as the session, and the session's next attempt takes it up. After a failed wait `Lock`
//! deletes its key and ignores the outcome; `Campaign` resigns if its caller has given up, and leaves its key after any other error.
//!
//! *Source:* `client/v3/concurrency/{key,mutex,election}.go` of etcd 3.4 and 3.6.

use std::sync::Arc;
use std::time::Duration;

use picklock_etcd::messages::{
    DeleteRangeRequest, DeleteRangeResponse, EventKind, PutRequest, RangeRequest, RangeResponse, TxnResponse,
    WatchCreate, WatchRequest, WatchResponse, Watching,
};
use picklock_etcd::requests::{get, key_of, last_before, make_or_read, oldest_below, place};
use picklock_etcd::{Etcd, Status, Version};
use picklock_model::ids::{Key, Token};
use picklock_sim::data::{Applied, Operation, ResourceError};
use picklock_sim::design::{Conditions, Context, Design, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Client, Deadline, Grant, Lock, LockError};
use picklock_sim::param::{Args, Count, Param, Word};
use tokio::sync::Mutex;

use super::data::{DATA, Register};
use super::held::{Held, give_back, give_back_at_last, is_in_doubt};
use crate::client::attempts::{until_granted, until_granted_or_failed};
use crate::client::etcd::{Again, Endpoints, Session};
use crate::client::policy::Policy as ClientPolicy;

/// How many members a store has.
pub(crate) const MEMBERS: Param<Count> =
    Param { name: "members", domain: Count(1, 7), default: "3", doc: "how many members the etcd has" };

/// The version of the members.
pub(crate) const VERSION: Param<Word> = Param {
    name: "version",
    domain: Word(Version::NAMES),
    default: "3.6",
    doc: "the version of etcd: how a candidate stands for election, and whether a leader that stood still makes sure that it still leads",
};

/// How long a session lasts.
pub(crate) const SESSION: Param<Word> = Param {
    name: "session",
    domain: Word(&["client", "acquire"]),
    default: "client",
    doc: "which locks share a lease and its keep-alive: all of a client, or each acquire has its own",
};

/// Whether a client looks after a silent server.
pub(crate) const KEEPALIVE: Param<Word> = Param {
    name: "grpc_keepalive",
    domain: Word(&["on", "off"]),
    default: "on",
    doc: "whether a client gives up a connection whose server does not answer a ping: after half of the lease, and as much again",
};

/// How long a client waits for the answer to a release.
pub(crate) const REQUEST_TIMEOUT: Param<Word> = Param {
    name: "request_timeout",
    domain: Word(&["lease", "none"]),
    default: "lease",
    doc: "how long a client waits for the answer to a release: one lease, or until the server gives up, after 5 s and two election timeouts",
};

/// What becomes of a session that may have left a key behind.
pub(crate) const LEFTOVER: Param<Word> = Param {
    name: "leftover",
    domain: Word(&["abandon", "keep"]),
    default: "abandon",
    doc: "what becomes of a session when nobody knows whether its key was deleted: its lease runs out, or it is kept alive, and with it the lock",
};

/// What an acquire does after an error of its first transaction.
pub(crate) const FAILED_TXN: Param<Word> = Param {
    name: "failed_txn",
    domain: Word(&["leave", "withdraw"]),
    default: "leave",
    doc: "what an acquire does after an error of its first transaction: it fails and leaves its key to the session's next acquire, as clientv3 \
          does, or deletes the key, ends the session if nobody knows whether that succeeded, and tries again",
};

/// The longest pause before a broken watch is resumed (`maxBackoff` of clientv3's `watch.go`).
const RESUMES: Duration = Duration::from_millis(100);

/// What a client does once its turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// True if it looks then whether its own key is still there.
    pub(crate) looks_again: bool,
    /// True if it releases only the key that it has made, and not one of the same name.
    pub(crate) checks_release: bool,
    /// True if the revision of its key is a fencing token.
    pub(crate) fenced: bool,
    /// True if a release that was not answered is asked for again in the background, until it is answered.
    pub(crate) repeats_release: bool,
    /// True if a wait that fails leaves the key, unless its caller has given up.
    pub(crate) leaves_after_error: bool,
}

impl Rules {
    /// Those of the mutex.
    pub(crate) const MUTEX: Rules = Rules {
        looks_again: true,
        checks_release: false,
        fenced: false,
        repeats_release: false,
        leaves_after_error: false,
    };

    /// Those of the election.
    pub(crate) const ELECTION: Rules =
        Rules { looks_again: false, checks_release: true, leaves_after_error: true, ..Rules::MUTEX };
}

/// A design whose clients stand in a queue by these rules. A parameter that its family lacks is at its default.
pub(crate) fn design(args: &Args, rules: Rules) -> Design {
    let word = |param: Param<Word>| args.find(param).unwrap_or(param.default);
    let policy = Policy {
        belief: ClientPolicy::of(args).belief,
        shares_session: word(SESSION) == "client",
        pings: word(KEEPALIVE) == "on",
        abandons: word(LEFTOVER) == "abandon" && !rules.repeats_release,
        withdraws: word(FAILED_TXN) == "withdraw",
        waits: word(REQUEST_TIMEOUT) == "none",
        guards: word(DATA) == "guarded",
        rules,
    };
    let members = args.find(MEMBERS).map_or(3, |members| members as u32);
    let etcd = Etcd { members, version: Version::named(word(VERSION)) };
    let client = move |context: Context| async move { Ok(Client::lock(Queue::new(&context, policy)?)) };
    let topology = Topology { stores: 1, replicated: members > 1 };
    let design = Design::new("", client).on_stores(topology, etcd).persistent().believing(policy.belief);
    let takes_up = policy.shares_session && (!policy.withdraws || !policy.abandons);
    let design = Design { survives: Conditions::LEASE, takes_up, ..design.renewing() };
    let design = if word(DATA) == "resource" { design } else { design.guarding_own_data() };
    if rules.fenced { design.fenced() } else { design }
}

#[derive(Clone, Copy, Debug)]
struct Policy {
    belief: Belief,
    shares_session: bool,
    pings: bool,
    abandons: bool,
    /// True if a failed acquire makes sure that its key does not stay.
    withdraws: bool,
    /// True if it waits for the answer to a release for as long as the server takes.
    waits: bool,
    /// True if data in etcd are written only if the own key is still there.
    guards: bool,
    rules: Rules,
}

/// A client.
struct Queue {
    host: Host,
    ttl: Duration,
    policy: Policy,
    endpoints: Arc<Endpoints>,
    /// The session that acquires share.
    session: Mutex<Option<Arc<Session>>>,
    held: Mutex<Vec<Held>>,
}

impl Queue {
    fn new(context: &Context, policy: Policy) -> Result<Queue, LockError> {
        let silence = policy.pings.then(|| context.ttl / 2);
        Ok(Queue {
            host: context.host.clone(),
            ttl: context.ttl,
            policy,
            endpoints: Arc::new(Endpoints::of(context, silence)?),
            session: Mutex::new(None),
            held: Mutex::default(),
        })
    }

    /// The session for an acquire: that of the client if it is not over, or a new one.
    async fn session(&self) -> Result<Arc<Session>, Status> {
        let mut shared = self.session.lock().await;
        if let Some(session) = shared.as_ref().filter(|session| !session.is_over()) {
            return Ok(Arc::clone(session));
        }
        let session = Arc::new(Session::open(&self.host, &self.endpoints, self.ttl).await?);
        if self.policy.shares_session {
            *shared = Some(Arc::clone(&session));
        }
        Ok(session)
    }

    /// Makes the own key, unless it is there. True if no other is before it.
    async fn stand(&self, name: &Key, session: Arc<Session>) -> Result<(Held, bool), Status> {
        let name = name.as_str().as_bytes();
        let (key, lease) = (key_of(name, session.lease), session.lease);
        let put = PutRequest { key: key.clone(), lease, ..PutRequest::default() };
        let request = make_or_read(put, Some(oldest_below(name)));
        let answer: TxnResponse = self.endpoints.call("etcdserverpb.KV/Txn", &request, Again::No).await?;
        let (revision, is_first) = place(&answer);
        Ok((Held { key, revision, session }, is_first))
    }

    /// Waits until no key of this name is older than the own one.
    async fn wait_for_those_before(&self, name: &Key, own: &Held) -> Result<(), Status> {
        loop {
            let last = last_before(name.as_str().as_bytes(), own.revision);
            let found = self.range(&last).await?;
            let Some(before) = found.kvs.into_iter().next() else { return Ok(()) };
            let revision = found.header.map_or(0, |header| header.revision);
            self.wait_for_deletion(&before.key, revision).await;
        }
    }

    /// Watches a key until it is deleted; on another member if the connection breaks.
    async fn wait_for_deletion(&self, key: &[u8], mut revision: i64) {
        loop {
            // clientv3 resumes a watch for as long as its caller waits.
            let Ok(mut stream) = self.endpoints.open("etcdserverpb.Watch/Watch").await else {
                self.host.sleep(RESUMES).await;
                continue;
            };
            let create =
                WatchCreate { key: key.to_vec(), start_revision: revision, ..WatchCreate::default() };
            if stream.sender.send(&WatchRequest { watching: Some(Watching::Create(create)) }).is_err() {
                continue;
            }
            while let Ok(Some(answer)) = stream.receiver.next::<WatchResponse>().await {
                if answer.events.iter().any(|event| event.kind() == EventKind::Delete) {
                    return;
                }
                revision = revision.max(answer.header.map_or(0, |header| header.revision));
            }
        }
    }

    async fn range(&self, request: &RangeRequest) -> Result<RangeResponse, Status> {
        self.endpoints.call("etcdserverpb.KV/Range", request, Again::Yes).await
    }

    /// Stands in the queue until its turn.
    async fn wait(&self, name: &Key, own: &Held, is_first: bool) -> Result<bool, Status> {
        if is_first {
            return Ok(true);
        }
        self.wait_for_those_before(name, own).await?;
        if !self.policy.rules.looks_again {
            return Ok(true);
        }
        Ok(!self.range(&get(&own.key)).await?.kvs.is_empty())
    }

    /// One attempt. None if the wait was too short, or the session was over by the time that its turn came.
    async fn attempt(&self, name: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        let until = self.host.monotonic() + wait;
        let session = self.host.timeout_boxed(wait, Box::pin(self.session())).await;
        let Ok(session) = session else { return Ok(None) };
        let session = session?;
        let left = until.since(self.host.monotonic());
        let stood = self.host.timeout_boxed(left, Box::pin(self.stand(name, Arc::clone(&session)))).await;
        let (own, is_first) = match stood {
            Ok(Ok(stood)) => stood,
            failed => {
                let error = failed.ok().and_then(Result::err).map(LockError::from);
                if self.policy.withdraws {
                    // The key may have been made, or may be made yet.
                    let comes = error.as_ref().is_none_or(|error| !error.is_denial());
                    let key = key_of(name.as_str().as_bytes(), session.lease);
                    self.withdraw(&key, &session, comes).await;
                }
                return error.map_or(Ok(None), Err);
            }
        };
        let left = until.since(self.host.monotonic());
        let turn = self.host.timeout_boxed(left, Box::pin(self.wait(name, &own, is_first))).await;
        match turn {
            Ok(Ok(true)) => Ok(Some(self.grant(name, own).await)),
            Ok(Ok(false)) => {
                // Whoever had the lease no longer has it: the next attempt takes a new one.
                *self.session.lock().await = None;
                Ok(None)
            }
            Ok(Err(error)) => {
                if !self.policy.rules.leaves_after_error || self.policy.withdraws {
                    self.give_up(&own).await;
                }
                Err(error.into())
            }
            Err(_) => {
                self.give_up(&own).await;
                Ok(None)
            }
        }
    }

    /// Ends an attempt whose wait failed or took too long: its key is deleted. clientv3 ignores the outcome of that.
    async fn give_up(&self, own: &Held) {
        let deleted = give_back(&self.endpoints, self.policy.rules.checks_release, own);
        let deleted = self.host.timeout_boxed(self.ttl, Box::pin(deleted)).await;
        if self.policy.withdraws && deleted.as_ref().map_or(true, is_in_doubt) {
            self.leave_behind(&own.session).await;
        }
    }

    /// The key of a grant, unless it was released.
    async fn own(&self, grant: &Grant) -> Option<Held> {
        self.held.lock().await.iter().find(|own| own.key == grant.owner.as_bytes()).cloned()
    }

    async fn grant(&self, name: &Key, own: Held) -> Grant {
        let mut grant = Grant::new(name, String::from_utf8_lossy(&own.key));
        if self.policy.rules.fenced {
            grant.token = Some(Token(own.revision as u64));
        }
        self.advertise(&mut grant, &own.session);
        self.held.lock().await.push(own);
        grant
    }

    /// Until when a holder may rely on its session: it counts from the request for the last renewal, or from its answer.
    fn advertise(&self, grant: &mut Grant, session: &Session) {
        let (sent, answered) = session.renewed();
        grant.deadline = match self.policy.belief {
            Belief::Honest => Some(Deadline::Monotonic(sent + session.ttl)),
            Belief::Trusting => Some(Deadline::Monotonic(answered + session.ttl)),
            _ => None,
        };
    }

    /// Deletes the key of a transaction that failed. The session of a key that is not there and may still come is of no more use.
    async fn withdraw(&self, key: &[u8], session: &Arc<Session>, may_come: bool) {
        let request = DeleteRangeRequest { key: key.to_vec(), ..DeleteRangeRequest::default() };
        let deleted =
            self.endpoints.call::<DeleteRangeResponse>("etcdserverpb.KV/DeleteRange", &request, Again::No);
        let outcome = self.host.timeout_boxed(self.ttl, Box::pin(deleted)).await;
        let is_gone = |answer: &DeleteRangeResponse| answer.deleted > 0 || !may_come;
        if !matches!(&outcome, Ok(Ok(answer)) if is_gone(answer)) {
            self.leave_behind(session).await;
        }
    }

    /// A key of this session may still be there: the session is of no more use, unless the client does not care.
    async fn leave_behind(&self, session: &Arc<Session>) {
        if !self.policy.abandons {
            return;
        }
        session.abandon();
        let mut shared = self.session.lock().await;
        if shared.as_ref().is_some_and(|shared| Arc::ptr_eq(shared, session)) {
            *shared = None;
        }
    }
}

impl Lock for Queue {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        self.attempt(key, self.ttl / 2).await
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        match self.policy.withdraws {
            true => until_granted(host, wait, |left| self.attempt(key, left)).await,
            // `Lock` and `Campaign` try once.
            false => until_granted_or_failed(host, wait, |left| self.attempt(key, left)).await,
        }
    }

    async fn apply(&self, grant: &Grant, operation: Operation) -> Result<Applied, ResourceError> {
        let own = self.own(grant).await.ok_or(ResourceError::NotSent)?;
        let guard = self.policy.guards.then_some(own);
        let register =
            Register { host: &self.host, endpoints: &self.endpoints, patience: 2 * self.ttl, guard };
        register.apply(grant, operation).await
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let own = {
            let mut held = self.held.lock().await;
            let at = held.iter().position(|own| own.key == grant.owner.as_bytes());
            at.map(|at| held.swap_remove(at))
        };
        let own = own.ok_or_else(|| LockError::new("this client does not hold the lock"))?;
        let Rules { checks_release: checks, repeats_release, .. } = self.policy.rules;
        let released = match self.policy.waits {
            true => give_back(&self.endpoints, checks, &own).await,
            false => {
                let released = give_back(&self.endpoints, checks, &own);
                let released = self.host.timeout_boxed(self.ttl, Box::pin(released)).await;
                released.unwrap_or_else(|_| Err(LockError::in_doubt("no answer in time")))
            }
        };
        if is_in_doubt(&released) {
            if repeats_release {
                let endpoints = Arc::clone(&self.endpoints);
                self.host.spawn(give_back_at_last(
                    self.host.clone(),
                    self.ttl,
                    endpoints,
                    checks,
                    own.clone(),
                ));
            }
            self.leave_behind(&own.session).await;
        }
        if !self.policy.shares_session {
            // The lease of this acquire alone: it ends by itself if nobody can be asked.
            let _ = own.session.close(&self.endpoints).await;
        }
        released
    }

    /// As often a holder looks whether its session is over.
    fn checkpoint(&self) -> Option<Duration> {
        Some(self.ttl / 20)
    }

    fn renews_in_background(&self) -> bool {
        true
    }

    async fn lost(&self, grant: &Grant) {
        if let Some(own) = self.own(grant).await {
            own.session.done().await;
        }
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        let Some(own) = self.own(grant).await.filter(|own| !own.session.is_over()) else { return Ok(false) };
        self.advertise(grant, &own.session);
        Ok(true)
    }
}
