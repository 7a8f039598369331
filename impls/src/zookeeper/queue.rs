//! The queue of ZooKeeper's clients: ephemeral nodes below the lock's own, in the order of their numbers, of which each watches the one before it.
//!
//! *Source:* ZooKeeper's documentation, Recipes and Solutions, Locks; `LockInternals.java`, `CreateBuilderImpl.java` of Curator 5.

use std::sync::Arc;
use std::time::Duration;

use picklock_model::ids::{Key, Token};
use picklock_sim::design::{Conditions, Context, Design, Topology};
use picklock_sim::host::Host;
use picklock_sim::lock::{Belief, Client, Deadline, Grant, Lock, LockError};
use picklock_sim::param::{Args, Count, Param, Word};
use picklock_zookeeper::ZooKeeper;
use picklock_zookeeper::messages::error;
use tokio::sync::Mutex;

use super::place::{Place, marked, name, parent, prefix};
use crate::client::attempts::until_granted;
use crate::client::policy::Policy as ClientPolicy;
use crate::client::zookeeper::{Failure, Members, Rules as SessionRules, Session};

/// How many members a store has.
pub(super) const MEMBERS: Param<Count> =
    Param { name: "members", domain: Count(1, 7), default: "3", doc: "how many members the ZooKeeper has" };

/// Whether a client finds a node of its own whose name it has not heard.
pub(super) const PROTECTED: Param<Word> = Param {
    name: "protected",
    domain: Word(&["yes", "no"]),
    default: "yes",
    doc: "whether a value of its own stands in the name of a client's node: it finds it when nobody answers whether it was created",
};

/// How long a session lasts.
pub(super) const SESSION: Param<Word> = Param {
    name: "session",
    domain: Word(&["client", "acquire"]),
    default: "client",
    doc: "which locks share a session: all of a client, or each acquire has its own",
};

/// What a holder stops at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Obeys {
    /// A member says that the session has expired.
    Expiry,
    /// The same, or the session's time has passed without a connection.
    Loss,
    /// The connection has ended.
    Suspension,
    /// Nothing.
    Nothing,
}

/// What a client does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rules {
    /// What its holders stop at.
    pub(super) obeys: Obeys,
    /// True if the transaction that created its node is a fencing token.
    pub(super) fenced: bool,
    /// True if a task acquires once more what it holds, which the client counts and asks no member for.
    pub(super) reentrant: bool,
}

/// A design whose clients stand in a queue by these rules.
pub(super) fn design(args: &Args, rules: Rules) -> Design {
    let policy = Policy {
        belief: ClientPolicy::of(args).belief,
        shares_session: args.get(SESSION) == "client",
        protects: args.get(PROTECTED) == "yes",
        rules,
    };
    let members = args.get(MEMBERS) as u32;
    let client = move |context: Context| async move { Ok(Client::lock(Queue::new(&context, policy)?)) };
    let topology = Topology { stores: 1, replicated: members > 1 };
    let store = ZooKeeper { members };
    let design = Design::new("", client).on_stores(topology, store).persistent().believing(policy.belief);
    let design = Design { survives: Conditions::LEASE, ..design.renewing() };
    let design = if rules.reentrant { design.nesting() } else { design };
    if rules.fenced { design.fenced() } else { design }
}

#[derive(Clone, Copy, Debug)]
struct Policy {
    belief: Belief,
    shares_session: bool,
    protects: bool,
    rules: Rules,
}

/// A client.
struct Queue {
    host: Host,
    ttl: Duration,
    policy: Policy,
    members: Members,
    /// The session that acquires share.
    session: Mutex<Option<Arc<Session>>>,
    held: Mutex<Vec<Held>>,
}

/// A node of one's own.
#[derive(Clone)]
struct Held {
    key: Key,
    /// The task that holds it.
    task: u32,
    /// How often that has acquired it without releasing it.
    holds: u32,
    path: String,
    /// The transaction that created it.
    created: i64,
    session: Arc<Session>,
    /// How many connections the session had lost when it was granted.
    losses: u64,
}

impl Queue {
    fn new(context: &Context, policy: Policy) -> Result<Queue, LockError> {
        Ok(Queue {
            host: context.host.clone(),
            ttl: context.ttl,
            policy,
            members: Members::of(context)?,
            session: Mutex::new(None),
            held: Mutex::default(),
        })
    }

    /// The session for an acquire: that of the client if it is not over, or a new one.
    async fn session(&self) -> Result<Arc<Session>, Failure> {
        let mut shared = self.session.lock().await;
        if let Some(session) = shared.as_ref().filter(|session| !session.is_over()) {
            return Ok(Arc::clone(session));
        }
        // A client of the bare recipe waits for the word of a member; Curator's assumes by its own clock that a session is over.
        let rules = SessionRules { loses: self.policy.rules.obeys != Obeys::Expiry };
        let session = Arc::new(Session::open(&self.host, &self.members, self.ttl, rules).await?);
        if self.policy.shares_session {
            *shared = Some(Arc::clone(&session));
        }
        Ok(session)
    }

    /// Creates a node of one's own.
    async fn enter(&self, key: &Key, session: &Arc<Session>, mark: Option<&str>) -> Result<Held, Failure> {
        let held = |path: String, created: i64| {
            let (key, task, session) = (key.clone(), self.host.task(), Arc::clone(session));
            Held { key, task, holds: 1, path, created, session, losses: 0 }
        };
        loop {
            match session.create_in_sequence(&prefix(key, mark)).await {
                Ok(made) => return Ok(held(made.path, made.stat.czxid)),
                Err(Failure::Refused(error::NO_NODE)) => match session.ensure(&parent(key)).await {
                    Ok(()) | Err(Failure::ConnectionLoss) => {}
                    Err(failure) => return Err(failure),
                },
                Err(Failure::ConnectionLoss) => {
                    let Some(mark) = mark else { return Err(Failure::ConnectionLoss) };
                    if let Some((path, created)) = self.find(key, session, mark).await? {
                        return Ok(held(path, created));
                    }
                }
                Err(failure) => return Err(failure),
            }
        }
    }

    /// The node with this mark, if the session has one, and the transaction that created it.
    async fn find(&self, key: &Key, session: &Session, mark: &str) -> Result<Option<(String, i64)>, Failure> {
        let parent = parent(key);
        let children = session.children(&parent).await?;
        let Some(child) = marked(&children, mark) else { return Ok(None) };
        let path = format!("{parent}/{child}");
        // A node of a session that is over ends with that one (CURATOR-498).
        let stat = session.stat(&path).await?.filter(|stat| stat.ephemeral_owner == session.id());
        Ok(stat.map(|stat| (path, stat.czxid)))
    }

    /// Waits until no node stands before the own one. False if that is gone.
    async fn wait(&self, key: &Key, own: &Held) -> Result<bool, Failure> {
        let parent = parent(key);
        loop {
            let children = own.session.children(&parent).await?;
            match Place::of(name(&own.path), &children) {
                Place::Gone => return Ok(false),
                Place::First => return Ok(true),
                Place::Behind(before) => own.session.watch(&format!("{parent}/{before}")).await?,
            }
        }
    }

    /// One attempt. None if the wait was too short, or the own node was gone by the time that its turn came.
    async fn attempt(&self, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        let until = self.host.monotonic() + wait;
        let session = self.host.timeout_boxed(wait, Box::pin(self.session())).await;
        let Ok(session) = session else { return Ok(None) };
        let session = session?;
        let mark = self.policy.protects.then(|| self.host.rng().owner_id());
        let left = until.since(self.host.monotonic());
        let entering = Box::pin(self.enter(key, &session, mark.as_deref()));
        let own = match self.host.timeout_boxed(left, entering).await {
            Ok(Ok(own)) => own,
            failed => {
                // The node may have been created.
                self.withdraw(key, &session, None, mark.as_deref()).await;
                return failed.map_or(Ok(None), |failed| failed.map(|_| None).map_err(LockError::from));
            }
        };
        let left = until.since(self.host.monotonic());
        let turn = self.host.timeout_boxed(left, Box::pin(self.wait(key, &own))).await;
        if let Ok(Ok(true)) = turn {
            return Ok(Some(self.grant(key, own).await));
        }
        if !matches!(turn, Ok(Ok(false))) {
            self.withdraw(key, &session, Some(&own.path), None).await;
        }
        turn.map_or(Ok(None), |turn| turn.map(|_| None).map_err(LockError::from))
    }

    async fn grant(&self, key: &Key, mut own: Held) -> Grant {
        let mut grant = Grant::new(key, own.path.clone());
        if self.policy.rules.fenced {
            grant.token = Some(Token(own.created as u64));
        }
        own.losses = own.session.losses();
        self.advertise(&mut grant, &own.session);
        self.held.lock().await.push(own);
        grant
    }

    /// Until when a holder may rely on its session: it counts from the last request that was answered, or from its answer.
    fn advertise(&self, grant: &mut Grant, session: &Session) {
        let (sent, answered) = session.renewed();
        grant.deadline = match self.policy.belief {
            Belief::Honest => Some(Deadline::Monotonic(sent + session.timeout())),
            Belief::Trusting => Some(Deadline::Monotonic(answered + session.timeout())),
            _ => None,
        };
    }

    /// Ends an attempt: its node is deleted, or that with its mark. A session that may have left one behind is of no more use.
    async fn withdraw(&self, key: &Key, session: &Arc<Session>, path: Option<&str>, mark: Option<&str>) {
        let withdrawal = async {
            let found = match (path, mark) {
                (Some(path), _) => Some(path.to_owned()),
                (None, Some(mark)) => self.find(key, session, mark).await?.map(|(path, _)| path),
                // Nobody knows its name: it stays for as long as the session.
                (None, None) => None,
            };
            match found {
                Some(path) => self.delete(session, &path).await.map(drop),
                None => Ok(()),
            }
        };
        let outcome = self.host.timeout_boxed(self.ttl, Box::pin(withdrawal)).await;
        if !matches!(outcome, Ok(Ok(()))) {
            self.leave_behind(session).await;
        } else if !self.policy.shares_session {
            session.close().await;
        }
    }

    /// Deletes a node, again if the connection ends. False if it was gone at the first time.
    async fn delete(&self, session: &Session, path: &str) -> Result<bool, Failure> {
        let mut is_in_doubt = false;
        loop {
            match session.delete(path).await {
                Ok(()) => return Ok(true),
                Err(Failure::Refused(error::NO_NODE)) => return Ok(is_in_doubt),
                Err(Failure::ConnectionLoss) => is_in_doubt = true,
                Err(failure) => return Err(failure),
            }
        }
    }

    /// A node of this session may still be there.
    async fn leave_behind(&self, session: &Arc<Session>) {
        session.abandon();
        let mut shared = self.session.lock().await;
        if shared.as_ref().is_some_and(|shared| Arc::ptr_eq(shared, session)) {
            *shared = None;
        }
    }

    /// Acquires once more what the task holds, if it may: whatever has become of its node meanwhile.
    async fn reenter(&self, key: &Key) -> Option<Grant> {
        let mut held = self.held.lock().await;
        let task = self.host.task();
        let own =
            held.iter_mut().find(|own| self.policy.rules.reentrant && own.key == *key && own.task == task)?;
        own.holds += 1;
        let mut grant = Grant::new(key, own.path.clone());
        self.advertise(&mut grant, &own.session);
        Some(grant)
    }

    /// The node of a grant, unless it was released.
    async fn own(&self, grant: &Grant) -> Option<Held> {
        self.held.lock().await.iter().find(|own| own.path == grant.owner).cloned()
    }

    /// True if a holder stops that was granted the lock when its session had lost so many connections.
    fn is_lost(&self, session: &Session, losses: u64) -> bool {
        match self.policy.rules.obeys {
            Obeys::Expiry | Obeys::Loss => session.is_over(),
            Obeys::Suspension => !session.is_connected() || session.losses() > losses,
            Obeys::Nothing => false,
        }
    }
}

impl Lock for Queue {
    async fn try_acquire(&self, key: &Key) -> Result<Option<Grant>, LockError> {
        match self.reenter(key).await {
            Some(grant) => Ok(Some(grant)),
            None => self.attempt(key, self.ttl / 2).await,
        }
    }

    async fn acquire(&self, host: &Host, key: &Key, wait: Duration) -> Result<Option<Grant>, LockError> {
        match self.reenter(key).await {
            Some(grant) => Ok(Some(grant)),
            None => until_granted(host, wait, |left| self.attempt(key, left)).await,
        }
    }

    async fn release(&self, grant: Grant) -> Result<(), LockError> {
        let own = {
            let mut held = self.held.lock().await;
            let at = held.iter().position(|own| own.path == grant.owner);
            if let Some(own) = at.map(|at| &mut held[at]).filter(|own| own.holds > 1) {
                own.holds -= 1;
                return Ok(());
            }
            at.map(|at| held.swap_remove(at))
        };
        let own = own.ok_or_else(|| LockError::new("this client does not hold the lock"))?;
        let deleting = Box::pin(self.delete(&own.session, &own.path));
        let released = match self.host.timeout_boxed(self.ttl, deleting).await {
            Ok(Ok(true)) => Ok(()),
            Ok(Ok(false)) => Err(LockError::new("the node was gone")),
            Ok(Err(failure @ Failure::Expired)) => Err(LockError::new(failure.to_string())),
            Ok(Err(failure)) => Err(failure.into()),
            Err(_) => Err(LockError::in_doubt("no answer in time")),
        };
        if released.as_ref().is_err_and(|error| !error.is_denial()) {
            self.leave_behind(&own.session).await;
        } else if !self.policy.shares_session {
            own.session.close().await;
        }
        released
    }

    /// As often a holder looks whether it is to stop.
    fn checkpoint(&self) -> Option<Duration> {
        Some(self.ttl / 20)
    }

    fn renews_in_background(&self) -> bool {
        true
    }

    async fn lost(&self, grant: &Grant) {
        if let Some(own) = self.own(grant).await {
            own.session.until(|session| self.is_lost(session, own.losses)).await;
        }
    }

    async fn renew(&self, grant: &mut Grant) -> Result<bool, LockError> {
        let own = self.own(grant).await;
        let Some(own) = own.filter(|own| !self.is_lost(&own.session, own.losses)) else { return Ok(false) };
        self.advertise(grant, &own.session);
        Ok(true)
    }
}
