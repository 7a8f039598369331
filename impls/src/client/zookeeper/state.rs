//! The state of a session, shared by its calls and by the task that keeps it.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex as StdMutex, MutexGuard, PoisonError};
use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_sim::host::Host;
use picklock_sim::stream::WriteHalf;
use picklock_zookeeper::messages::{ConnectResponse, ReplyHeader, error};
use tokio::sync::{Mutex, Notify, oneshot};

use super::watches::{Waiter, Watches};

/// The reason why a call came to nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// The connection ended: nobody knows what came of the call.
    #[error("the connection was lost")]
    ConnectionLoss,
    /// A member says that the session is over.
    #[error("the session has expired")]
    Expired,
    /// The client has ended the session, or assumes that it is over.
    #[error("the session is over for its client")]
    Over,
    /// A member answers with this error.
    #[error("{}", described(*.0))]
    Refused(i32),
    /// An answer cannot be read.
    #[error("a malformed answer")]
    Malformed,
}

fn described(code: i32) -> String {
    error::name(code).map_or_else(|| format!("error {code}"), str::to_owned)
}

/// What a client does about a connection that has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Rules {
    /// True if it assumes that its session is over once it has been without a connection for the session's time.
    pub(crate) loses: bool,
}

/// How far a session is.
pub(super) enum Link {
    /// It has no connection.
    Suspended,
    /// It has one.
    Connected(Arc<Mutex<WriteHalf>>),
    /// It has ended.
    Over(Failure),
}

/// A request that waits for its answer.
pub(super) struct Pending {
    pub(super) xid: i32,
    pub(super) sent: Monotonic,
    /// None if nobody waits.
    pub(super) caller: Option<Caller>,
}

/// Whoever waits for an answer.
pub(super) struct Caller {
    pub(super) answer: oneshot::Sender<Result<Answer, Failure>>,
    /// What is watched once it is answered.
    pub(super) watch: Option<(String, Waiter)>,
}

/// The header of an answer, and the rest of it.
pub(super) type Answer = (ReplyHeader, Vec<u8>);

/// What calls and the task that keeps a session share.
pub(super) struct Shared {
    pub(super) host: Host,
    state: StdMutex<State>,
    /// Notified when the link changes, and when a member could not be reached.
    pub(super) changed: Notify,
}

pub(super) struct State {
    pub(super) link: Link,
    /// The session as a member has granted it; none before.
    pub(super) granted: Option<ConnectResponse>,
    pub(super) timeout: Duration,
    pub(super) pending: VecDeque<Pending>,
    pub(super) watches: Watches,
    pub(super) last_zxid: i64,
    /// When pings without an answer were sent.
    pub(super) pings: VecDeque<Monotonic>,
    pub(super) last_sent: Monotonic,
    pub(super) last_heard: Monotonic,
    /// When the last request that was answered had been sent, and when it was answered.
    pub(super) renewed: (Monotonic, Monotonic),
    /// When the connection ended.
    pub(super) suspended: Option<Monotonic>,
    /// How many connections have ended.
    pub(super) losses: u64,
    /// How often no member could be reached, or the connection ended.
    pub(super) failures: u64,
    next_xid: i32,
}

impl Shared {
    pub(super) fn new(host: &Host, timeout: Duration) -> Shared {
        let now = host.monotonic();
        let state = State {
            link: Link::Suspended,
            granted: None,
            timeout,
            pending: VecDeque::new(),
            watches: Watches::default(),
            last_zxid: 0,
            pings: VecDeque::new(),
            last_sent: now,
            last_heard: now,
            renewed: (now, now),
            suspended: None,
            losses: 0,
            failures: 0,
            next_xid: 1,
        };
        Shared { host: host.clone(), state: StdMutex::new(state), changed: Notify::new() }
    }

    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A member has answered the request to connect that was sent then.
    pub(super) fn connected(&self, writer: WriteHalf, granted: ConnectResponse, sent: Monotonic) {
        let now = self.host.monotonic();
        let mut state = self.state();
        state.timeout = Duration::from_millis(granted.timeout_ms.unsigned_abs().into());
        state.granted = Some(granted);
        state.link = Link::Connected(Arc::new(Mutex::new(writer)));
        (state.last_sent, state.last_heard, state.renewed) = (now, now, (sent, now));
        state.suspended = None;
        drop(state);
        self.changed.notify_waiters();
    }

    /// A member was not reached, or the connection has ended: what is under way fails.
    pub(super) fn disconnected(&self) {
        let now = self.host.monotonic();
        let mut state = self.state();
        if matches!(state.link, Link::Connected(_)) {
            state.link = Link::Suspended;
            state.suspended = Some(now);
            state.losses += 1;
        }
        state.failures += 1;
        state.fail_pending(Failure::ConnectionLoss);
        drop(state);
        self.changed.notify_waiters();
    }

    /// The session has ended, for this reason.
    pub(super) fn end(&self, why: Failure) {
        let mut state = self.state();
        if !matches!(state.link, Link::Over(_)) {
            state.link = Link::Over(why);
        }
        state.fail_pending(why);
        state.watches.end();
        drop(state);
        self.changed.notify_waiters();
    }
}

impl State {
    /// The connection, if there is one.
    pub(super) fn writer(&self) -> Option<Arc<Mutex<WriteHalf>>> {
        match &self.link {
            Link::Connected(writer) => Some(Arc::clone(writer)),
            Link::Suspended | Link::Over(_) => None,
        }
    }

    /// True if this is the connection.
    pub(super) fn is_on(&self, writer: &Arc<Mutex<WriteHalf>>) -> bool {
        matches!(&self.link, Link::Connected(current) if Arc::ptr_eq(current, writer))
    }

    /// The number of the next request.
    pub(super) fn number(&mut self) -> i32 {
        let xid = self.next_xid;
        // As the Java client, which keeps clear of the numbers with a meaning.
        self.next_xid = xid.checked_add(1).unwrap_or(1);
        xid
    }

    fn fail_pending(&mut self, why: Failure) {
        self.pings.clear();
        for caller in self.pending.drain(..).filter_map(|pending| pending.caller) {
            // Whoever waited may have given up.
            let _ = caller.answer.send(Err(why));
        }
    }

    /// An answer to the request that waits longest. False if it is not to that one.
    pub(super) fn answered(&mut self, header: ReplyHeader, body: &[u8], now: Monotonic) -> bool {
        let Some(pending) = self.pending.pop_front().filter(|pending| pending.xid == header.xid) else {
            return false;
        };
        if header.zxid > 0 {
            self.last_zxid = header.zxid;
        }
        self.renewed = (pending.sent.max(self.renewed.0), now);
        let Some(caller) = pending.caller else { return true };
        if let Some((path, waiter)) = caller.watch
            && header.error == error::OK
        {
            self.watches.add(path, waiter);
        }
        // Whoever waited may have given up.
        let _ = caller.answer.send(Ok((header, body.to_vec())));
        true
    }
}
