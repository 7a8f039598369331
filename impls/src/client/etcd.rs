//! A client of etcd of our own: calls over one connection at a time, and a session, which is a lease that is kept alive in the background.
//!
//! It behaves as etcd's clientv3 does where a lock can see it. A session renews its lease every third of it, in steps of 500 ms, and looks
//! once a second whether its lease must have run out; whoever holds something by it is notified then, or when a member answers that the lease
//! is gone. Reads and what can be repeated are asked again at the next member; a change is not, as it may have been made.
//!
//! Other than clientv3 it has one connection, to a member that is drawn at the start, and goes on to the next one when it breaks; clientv3 takes
//! turns. A connection is given up whose server does not answer a ping (`grpc_keepalive`), which clientv3 does only if it is asked to.
//!
//! *Source:* `client/v3/lease.go`, `client/v3/retry.go`, `client/v3/concurrency/session.go` of etcd 3.6.

use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};
use std::time::Duration;

use picklock_etcd::messages::{LeaseGrantRequest, LeaseRequest, LeaseResponse};
use picklock_etcd::{CLIENT_PORT, Channel, Status, Stream};
use picklock_model::time::Monotonic;
use picklock_sim::design::Context;
use picklock_sim::host::Host;
use picklock_sim::lock::LockError;
use picklock_sim::store::StoreAddress;
use picklock_sim::task::Task;
use prost::Message;
use tokio::sync::Mutex;

use super::flag::Flag;

/// The steps in which a session looks what is due.
const STEP: Duration = Duration::from_millis(500);

/// How long a session waits for the first answer to a renewal, whatever its lease (`defaultTTL` of clientv3's `lease.go`).
const UNTIL_FIRST_ANSWER: Duration = Duration::from_secs(5);

/// How often a session looks whether its lease must have run out.
const LOOKS: Duration = Duration::from_secs(1);

/// The members of a store, one of which is asked at a time.
pub(crate) struct Endpoints {
    host: Host,
    names: Vec<String>,
    /// See [`Channel::connect`].
    silence: Option<Duration>,
    current: Mutex<Current>,
}

struct Current {
    next: usize,
    channel: Option<Channel>,
}

/// Whether a call may be made again where nobody knows what came of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Again {
    /// It may.
    Yes,
    /// Only if it was never sent.
    No,
}

impl Endpoints {
    /// The members of a design's store.
    ///
    /// # Errors
    /// When the design has none.
    pub(crate) fn of(context: &Context, silence: Option<Duration>) -> Result<Endpoints, LockError> {
        let names = match context.stores.first() {
            Some(StoreAddress::Host(name)) => vec![name.clone()],
            Some(StoreAddress::Ask(names) | StoreAddress::Among(names)) => names.clone(),
            None => return Err(LockError::new("the design has no store")),
        };
        let host = context.host.clone();
        let next = host.rng().below(names.len().max(1) as u64) as usize;
        Ok(Endpoints { host, names, silence, current: Mutex::new(Current { next, channel: None }) })
    }

    /// A connection to a member.
    async fn channel(&self) -> Result<Channel, Status> {
        let mut current = self.current.lock().await;
        if let Some(channel) = current.channel.as_ref().filter(|channel| channel.is_open()) {
            return Ok(channel.clone());
        }
        current.channel = None;
        let mut failure = Status::unavailable("there is no endpoint");
        for _ in 0..self.names.len() {
            let name = &self.names[current.next % self.names.len()];
            current.next += 1;
            let connected = Channel::connect(&self.host, name, CLIENT_PORT, self.silence);
            let connected = match self.silence {
                Some(silence) => self.host.timeout_boxed(silence, Box::pin(connected)).await,
                None => Ok(connected.await),
            };
            match connected {
                Ok(Ok(channel)) => {
                    current.channel = Some(channel.clone());
                    return Ok(channel);
                }
                Ok(Err(error)) => failure = error,
                Err(_) => failure = Status::deadline_exceeded(),
            }
        }
        Err(failure)
    }

    /// Makes a call, and makes it again at another member where that is allowed.
    ///
    /// # Errors
    /// What a member answers, or that none could be asked.
    pub(crate) async fn call<A: Message + Default>(
        &self,
        method: &str,
        message: &impl Message,
        again: Again,
    ) -> Result<A, Status> {
        let mut tries = 2 * self.names.len();
        loop {
            tries -= 1;
            let mut channel = self.channel().await?;
            let answer = channel.call(method, message).await;
            match answer {
                Err(status) if status.is_in_doubt() && again == Again::Yes && tries > 0 => {}
                answer => return answer,
            }
        }
    }

    /// Begins a call of several messages.
    ///
    /// # Errors
    /// When no member could be asked.
    pub(crate) async fn open(&self, method: &str) -> Result<Stream, Status> {
        self.channel().await?.open(method).await
    }
}

/// A lease that is kept alive.
pub(crate) struct Session {
    pub(crate) lease: i64,
    /// The time that was granted.
    pub(crate) ttl: Duration,
    shared: Arc<Shared>,
    task: Task,
}

struct Shared {
    state: StdMutex<State>,
    is_over: Flag,
}

#[derive(Clone, Copy)]
struct State {
    /// When the last renewal that was answered had been sent.
    sent: Monotonic,
    /// When the answer came.
    answered: Monotonic,
    /// By then the lease must have run out, by the client's clock.
    until: Monotonic,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Session {
    /// Takes a lease of at least so long, in whole seconds, and keeps it alive.
    ///
    /// # Errors
    /// When none was granted.
    pub(crate) async fn open(
        host: &Host,
        endpoints: &Arc<Endpoints>,
        ttl: Duration,
    ) -> Result<Session, Status> {
        let sent = host.monotonic();
        let seconds = ttl.as_secs_f64().ceil() as i64;
        let request = LeaseGrantRequest { ttl: seconds, id: 0 };
        let granted: LeaseResponse =
            endpoints.call("etcdserverpb.Lease/LeaseGrant", &request, Again::Yes).await?;
        let ttl = Duration::from_secs(u64::try_from(granted.ttl).unwrap_or_default());
        let answered = host.monotonic();
        let state = State { sent, answered, until: answered + UNTIL_FIRST_ANSWER };
        let shared = Arc::new(Shared { state: StdMutex::new(state), is_over: Flag::default() });
        let keeper = Keeper {
            host: host.clone(),
            endpoints: Arc::clone(endpoints),
            lease: granted.id,
            ttl,
            shared: Arc::clone(&shared),
        };
        let task = host.spawn(keeper.keep());
        Ok(Session { lease: granted.id, ttl, shared, task })
    }

    /// True once it is over, as far as its client knows.
    pub(crate) fn is_over(&self) -> bool {
        self.shared.is_over.is_set()
    }

    /// Waits until it is over, as far as its client knows: `Done` of clientv3.
    pub(crate) async fn done(&self) {
        self.shared.is_over.wait().await;
    }

    /// When the last renewal that was answered had been sent, and when it was answered.
    pub(crate) fn renewed(&self) -> (Monotonic, Monotonic) {
        let state = *self.shared.state();
        (state.sent, state.answered)
    }

    /// Lets its lease run out.
    pub(crate) fn abandon(&self) {
        self.task.abort();
        self.shared.is_over.set();
    }

    /// Ends it, and asks for the end of the lease.
    pub(crate) async fn close(&self, endpoints: &Endpoints) -> Result<(), Status> {
        self.abandon();
        let request = LeaseRequest { id: self.lease };
        let method = "etcdserverpb.Lease/LeaseRevoke";
        endpoints.call::<picklock_etcd::messages::Done>(method, &request, Again::Yes).await.map(drop)
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// The task that keeps a lease alive.
struct Keeper {
    host: Host,
    endpoints: Arc<Endpoints>,
    lease: i64,
    ttl: Duration,
    shared: Arc<Shared>,
}

impl Keeper {
    async fn keep(self) {
        tokio::select! {
            biased;
            () = self.renew() => {}
            () = self.watch_deadline() => {}
        }
        self.shared.is_over.set();
    }

    /// Ends when the lease must have run out, by the client's clock.
    async fn watch_deadline(&self) {
        loop {
            self.host.sleep(LOOKS).await;
            let until = self.shared.state().until;
            if self.host.monotonic() > until {
                return;
            }
        }
    }

    /// Renews until a member says that the lease is gone.
    async fn renew(&self) {
        loop {
            if let Ok(stream) = self.endpoints.open("etcdserverpb.Lease/LeaseKeepAlive").await
                && self.renew_on(stream).await
            {
                return;
            }
            self.host.sleep(STEP).await;
        }
    }

    /// Renews on one stream until it breaks. True if the lease is gone.
    async fn renew_on(&self, Stream { mut sender, mut receiver }: Stream) -> bool {
        let request = LeaseRequest { id: self.lease };
        let mut sent = std::collections::VecDeque::new();
        let mut due = self.host.monotonic();
        let mut step = self.host.monotonic();
        loop {
            tokio::select! {
                biased;
                answer = receiver.next::<LeaseResponse>() => {
                    let Ok(Some(answer)) = answer else { return false };
                    if answer.ttl <= 0 {
                        return true;
                    }
                    let now = self.host.monotonic();
                    let mut state = self.shared.state();
                    (state.answered, state.until) = (now, now + self.ttl);
                    state.sent = sent.pop_front().unwrap_or(state.sent);
                    drop(state);
                    due = now + self.ttl / 3;
                }
                () = self.host.sleep_until(step) => {
                    let now = self.host.monotonic();
                    step = now + STEP;
                    if due <= now {
                        if sender.send(&request).is_err() {
                            return false;
                        }
                        sent.push_back(now);
                    }
                }
            }
        }
    }
}
