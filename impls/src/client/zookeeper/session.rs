//! A session and its calls.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_sim::host::Host;
use picklock_sim::stream::WriteHalf;
use picklock_sim::task::Task;
use picklock_zookeeper::jute::Record;
use picklock_zookeeper::messages::codes::ANY_VERSION;
use picklock_zookeeper::messages::{
    Acl, ChildrenStat, Create, DataStat, Delete, PathStat, Read, ReplyHeader, Request, Stat, error, flags,
};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::{Mutex, oneshot};

use super::link::Keeper;
use super::members::Members;
use super::state::{Answer, Caller, Failure, Link, Pending, Rules, Shared};

/// A session, kept by a task in the background.
pub(crate) struct Session {
    host: Host,
    shared: Arc<Shared>,
    task: Task,
}

impl Session {
    /// Asks for a session of so long, and waits until a member has granted one.
    ///
    /// # Errors
    /// When it ended before.
    pub(crate) async fn open(
        host: &Host,
        members: &Members,
        timeout: Duration,
        rules: Rules,
    ) -> Result<Session, Failure> {
        let shared = Arc::new(Shared::new(host, timeout));
        let keeper = Keeper {
            host: host.clone(),
            members: members.clone(),
            asked: timeout,
            rules,
            shared: Arc::clone(&shared),
        };
        let session = Session { host: host.clone(), shared, task: host.spawn(keeper.keep()) };
        loop {
            match session.writer().await {
                Ok(_) => return Ok(session),
                Err(Failure::ConnectionLoss) => {}
                Err(over) => return Err(over),
            }
        }
    }

    /// Its number.
    pub(crate) fn id(&self) -> i64 {
        self.shared.state().granted.as_ref().map_or(0, |granted| granted.session_id)
    }

    /// The time that was granted.
    pub(crate) fn timeout(&self) -> Duration {
        self.shared.state().timeout
    }

    /// True once it is over, as far as its client knows.
    pub(crate) fn is_over(&self) -> bool {
        matches!(self.shared.state().link, Link::Over(_))
    }

    /// True while it has a connection.
    pub(crate) fn is_connected(&self) -> bool {
        matches!(self.shared.state().link, Link::Connected(_))
    }

    /// How many of its connections have ended.
    pub(crate) fn losses(&self) -> u64 {
        self.shared.state().losses
    }

    /// Waits until something is true of it, which is looked at after each change of its connection.
    pub(crate) async fn until(&self, is_true: impl Fn(&Session) -> bool) {
        loop {
            // A change between the look and the wait counts: it reaches each `notified` that was made before.
            let changed = self.shared.changed.notified();
            if is_true(self) {
                return;
            }
            changed.await;
        }
    }

    /// When the last request that was answered had been sent, and when it was answered.
    pub(crate) fn renewed(&self) -> (Monotonic, Monotonic) {
        self.shared.state().renewed
    }

    /// Lets it run out: its client no longer says that it is there.
    pub(crate) fn abandon(&self) {
        self.task.abort();
        self.shared.end(Failure::Over);
    }

    /// Ends it.
    pub(crate) async fn close(&self) {
        // Without an answer it runs out by itself.
        let _ = self.call::<()>(Request::CloseSession(()), None).await;
        self.abandon();
    }

    /// Creates a node below a parent that exists, with the next number at the end of its name.
    pub(crate) async fn create_in_sequence(&self, path: &str) -> Result<PathStat, Failure> {
        self.call(Request::Create2(create(path, flags::EPHEMERAL_SEQUENTIAL)), None).await
    }

    /// Creates a node that stays, unless it is there.
    pub(crate) async fn ensure(&self, path: &str) -> Result<(), Failure> {
        match self.call::<PathStat>(Request::Create2(create(path, flags::PERSISTENT)), None).await {
            Ok(_) | Err(Failure::Refused(error::NODE_EXISTS)) => Ok(()),
            Err(failure) => Err(failure),
        }
    }

    /// Deletes a node of any version.
    pub(crate) async fn delete(&self, path: &str) -> Result<(), Failure> {
        self.call(Request::Delete(Delete { path: path.to_owned(), version: ANY_VERSION }), None).await
    }

    /// What is known of a node; none if it is not there.
    pub(crate) async fn stat(&self, path: &str) -> Result<Option<Stat>, Failure> {
        let asked = self.repeat(|| Request::Exists(Read { path: path.to_owned(), watch: false })).await;
        unless_absent(asked)
    }

    /// The names of the children of a node; none if there is no such node.
    pub(crate) async fn children(&self, path: &str) -> Result<Vec<String>, Failure> {
        let request = || Request::GetChildren2(Read { path: path.to_owned(), watch: false });
        let found = unless_absent(self.repeat::<ChildrenStat>(request).await)?;
        Ok(found.unwrap_or_default().children)
    }

    /// Waits until a node is gone or has other data. At once if it is not there.
    pub(crate) async fn watch(&self, path: &str) -> Result<(), Failure> {
        let changed = loop {
            let (waiter, changed) = oneshot::channel();
            let request = Request::GetData(Read { path: path.to_owned(), watch: true });
            match self.call::<DataStat>(request, Some((path.to_owned(), waiter))).await {
                Ok(_) => break changed,
                Err(Failure::Refused(error::NO_NODE)) => return Ok(()),
                Err(Failure::ConnectionLoss) => {}
                Err(failure) => return Err(failure),
            }
        };
        changed.await.map_err(|_| Failure::Over)
    }

    /// Reads, again and again until an answer comes or the session is over.
    async fn repeat<A: Record>(&self, request: impl Fn() -> Request) -> Result<A, Failure> {
        loop {
            match self.call(request(), None).await {
                Err(Failure::ConnectionLoss) => {}
                outcome => return outcome,
            }
        }
    }

    /// Makes a call once there is a connection. What is to be watched is so from its answer on.
    async fn call<A: Record>(
        &self,
        request: Request,
        watch: Option<(String, oneshot::Sender<()>)>,
    ) -> Result<A, Failure> {
        let writer = self.writer().await?;
        let sent = self.send(&writer, &request, watch).await;
        let Ok(answer) = sent else {
            self.until_gone(&writer).await;
            return Err(Failure::ConnectionLoss);
        };
        // Nobody answers who was dropped with the task.
        let (header, body): (ReplyHeader, Vec<u8>) = answer.await.unwrap_or(Err(Failure::Over))?;
        match header.error {
            error::OK => A::whole(&body).map_err(|_| Failure::Malformed),
            error::SESSION_EXPIRED => Err(Failure::Expired),
            other => Err(Failure::Refused(other)),
        }
    }

    /// Sends a request. It has a number once all of it is sent, so that a caller who gives up before leaves nothing behind.
    async fn send(
        &self,
        writer: &Arc<Mutex<WriteHalf>>,
        request: &Request,
        watch: Option<(String, oneshot::Sender<()>)>,
    ) -> io::Result<oneshot::Receiver<Result<Answer, Failure>>> {
        let mut out = writer.lock().await;
        let xid = self.shared.state().number();
        let sent = self.host.monotonic();
        out.write_all(&request.packet(xid)).await?;
        let (answer, answered) = oneshot::channel();
        let mut state = self.shared.state();
        // The connection may have ended while this request waited for its turn to write.
        if !state.is_on(writer) {
            return Err(io::ErrorKind::NotConnected.into());
        }
        state.last_sent = sent;
        state.pending.push_back(Pending { xid, sent, caller: Some(Caller { answer, watch }) });
        Ok(answered)
    }

    /// Waits until the task that listens has noticed that this connection has ended.
    async fn until_gone(&self, writer: &Arc<Mutex<WriteHalf>>) {
        loop {
            let changed = self.shared.changed.notified();
            if !self.shared.state().is_on(writer) {
                return;
            }
            changed.await;
        }
    }

    /// The connection, once there is one. A connection that was to be made and was not is an error, as that of one that ended.
    async fn writer(&self) -> Result<Arc<Mutex<WriteHalf>>, Failure> {
        let failures = self.shared.state().failures;
        loop {
            let changed = self.shared.changed.notified();
            {
                let state = self.shared.state();
                match &state.link {
                    Link::Connected(writer) => return Ok(Arc::clone(writer)),
                    Link::Over(why) => return Err(*why),
                    Link::Suspended if state.failures != failures => return Err(Failure::ConnectionLoss),
                    Link::Suspended => {}
                }
            }
            changed.await;
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.task.abort();
    }
}

fn create(path: &str, flags: i32) -> Create {
    Create { path: path.to_owned(), data: Some(Vec::new()), acl: vec![Acl::open()], flags }
}

fn unless_absent<A>(outcome: Result<A, Failure>) -> Result<Option<A>, Failure> {
    match outcome {
        Ok(found) => Ok(Some(found)),
        Err(Failure::Refused(error::NO_NODE)) => Ok(None),
        Err(failure) => Err(failure),
    }
}
