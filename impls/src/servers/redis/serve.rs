//! Puts a node on a host: connections, the active expiry cycle, the effects on disk and on replicas.
//!
//! All tasks of a node share it behind one lock, which is never held across an await: like Redis, a node does one
//! thing at a time. Commands that arrive in one segment are executed in order and answered in one write.
//!
//! Left out on purpose: the deadline of WAIT follows the monotonic clock, in Redis the wall clock.

use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use picklock_sim::design::{ServerRole, ServerSeat};
use picklock_sim::host::{Host, Origin};
use picklock_sim::stream::{ReadHalf, Stream, WriteHalf};
use picklock_sim::time::Monotonic;
use picklock_sim::trace::What;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc};

use super::journal::Journal;
use super::node::{FedReplica, Next, Node, Session};
use super::resp::{Protocol, Reply, Request, Requests};
use super::store::{Effects, Store};
use super::{PORT, monitor, replication};

/// How often a primary looks for dead keys while it has keys that can die.
const EXPIRY_CYCLE: Duration = Duration::from_millis(100);

/// Runs the server that this seat is for until its host stops.
pub async fn serve(seat: ServerSeat) {
    let primary = match seat.role {
        ServerRole::Monitor { nodes } => return monitor::serve(seat.host, nodes, seat.down_after).await,
        ServerRole::Store { .. } => None,
        ServerRole::Replica { primary } => Some(primary),
    };
    let journal = Journal::open(&seat.host, seat.persistence);
    let primary = journal.kept_role().unwrap_or(primary);
    let (store, events) = journal.restore(seat.host.wall());
    for event in events {
        seat.host.record(Origin::default(), event);
    }
    let shared = Shared { node: Node::new(store, primary), feeds: Vec::new() };
    let server = Arc::new(Server {
        host: seat.host,
        journal,
        shared: Mutex::new(shared),
        volatile: Notify::new(),
        acknowledged: Notify::new(),
        role_changed: Notify::new(),
    });
    server.host.spawn(expire(Arc::clone(&server)));
    server.host.spawn(replication::follow(Arc::clone(&server)));
    // The port is free: a host runs one node, and this is its start.
    let Ok(listener) = server.host.bind(PORT).await else { return };
    while let Ok((stream, peer)) = listener.accept().await {
        server.host.spawn(connection(Arc::clone(&server), stream, peer));
    }
}

/// A node on its host.
pub(super) struct Server {
    pub(super) host: Host,
    pub(super) journal: Journal,
    shared: Mutex<Shared>,
    /// Told when keys that can expire appear.
    volatile: Notify,
    /// Told when a replica has acknowledged something.
    acknowledged: Notify,
    /// Told when the node has a new role or a new primary.
    pub(super) role_changed: Notify,
}

/// What the tasks of a node share.
pub(super) struct Shared {
    pub(super) node: Node,
    /// The links to replicas, by session.
    pub(super) feeds: Vec<Feed>,
}

/// A link to a replica.
pub(super) struct Feed {
    session: u64,
    segments: mpsc::UnboundedSender<Segment>,
}

/// The effects of one command, and the message that the command came with.
#[derive(Clone)]
pub(super) struct Segment {
    pub(super) origin: Origin,
    pub(super) bytes: Arc<[u8]>,
}

impl Server {
    pub(super) fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("nothing panics while it holds the node")
    }

    /// Makes effects known: to the trace, to the disk, to the replicas.
    pub(super) fn publish(&self, shared: &mut Shared, origin: Origin, effects: Effects) {
        for event in effects.events {
            // Nobody asked for an expiry.
            let origin = if matches!(event, What::Expired { .. }) { Origin::default() } else { origin };
            self.host.record(origin, event);
        }
        if !effects.writes.is_empty() {
            self.journal.append(&effects.writes, &shared.node.store);
            if !shared.feeds.is_empty() {
                let segment = Segment { origin, bytes: effects.writes.into() };
                shared.feeds.retain(|feed| feed.segments.send(segment.clone()).is_ok());
            }
        }
    }

    /// Tells the expiry cycle if it has to run.
    fn wake_expiry(&self, shared: &Shared) {
        if shared.node.may_expire() {
            self.volatile.notify_one();
        }
    }

    /// Executes a client's command.
    fn execute(
        &self,
        origin: Origin,
        session: &mut Session,
        request: &Request<'_>,
        reply: &mut Vec<u8>,
    ) -> Next {
        let now = self.host.wall();
        let mut shared = self.shared();
        let could_expire = shared.node.may_expire();
        let outcome = shared.node.execute(now, session, &request.args, reply);
        self.publish(&mut shared, origin, outcome.effects);
        match outcome.next {
            Next::Acknowledged => self.acknowledged.notify_waiters(),
            Next::RoleChanged => {
                shared.feeds.clear();
                self.role_changed.notify_one();
            }
            Next::RewriteConfig => self.journal.keep_role(shared.node.primary()),
            Next::Continue | Next::Close | Next::Wait { .. } | Next::Feed => {}
        }
        if !could_expire {
            self.wake_expiry(&shared);
        }
        outcome.next
    }

    /// Waits until enough replicas have acknowledged what a connection wrote, and says how many have.
    async fn wait(&self, wrote: u64, replicas: usize, timeout_ms: u64) -> usize {
        let enough = async {
            loop {
                // Made before looking, so that no acknowledgement slips through between the two.
                let acknowledged = self.acknowledged.notified();
                if self.shared().node.acknowledged(wrote) >= replicas {
                    return;
                }
                acknowledged.await;
            }
        };
        if timeout_ms == 0 {
            enough.await;
        } else {
            // Whether the time ran out does not matter: the answer is how many there are now.
            let _ = self.host.timeout(Duration::from_millis(timeout_ms), enough).await;
        }
        self.shared().node.acknowledged(wrote)
    }

    /// Makes a connection a replica's link: what it gets first is a full copy.
    fn feed(&self, session: u64, peer: &str, reply: &mut Vec<u8>) -> mpsc::UnboundedReceiver<Segment> {
        let (segments, effects) = mpsc::unbounded_channel();
        let mut shared = self.shared();
        let Shared { node, feeds } = &mut *shared;
        node.replicas.retain(|replica| replica.session != session);
        node.replicas.push(FedReplica { session, name: peer.to_owned(), acked: 0 });
        feeds.push(Feed { session, segments });
        replication::full_copy(node, reply);
        effects
    }

    fn drop_feed(&self, session: u64) {
        let mut shared = self.shared();
        shared.node.replicas.retain(|replica| replica.session != session);
        shared.feeds.retain(|feed| feed.session != session);
    }
}

/// The active expiry cycle: on the node's tick while something can expire, else asleep.
async fn expire(server: Arc<Server>) {
    loop {
        if !server.shared().node.may_expire() {
            server.volatile.notified().await;
            continue;
        }
        let cycle = EXPIRY_CYCLE.as_nanos() as u64;
        let tick = server.host.monotonic().as_nanos() / cycle + 1;
        server.host.sleep_until(Monotonic(tick * cycle)).await;
        let now = server.host.wall();
        let mut shared = server.shared();
        let effects = shared.node.expire(now);
        server.publish(&mut shared, Origin::default(), effects);
    }
}

/// Serves one client until it goes. An error on its stream concerns nobody else.
async fn connection(server: Arc<Server>, stream: Stream, peer: String) {
    let mut session = server.shared().node.session();
    let id = session.id;
    let _ = converse(&server, &mut session, stream, &peer).await;
    server.drop_feed(id);
}

async fn converse(server: &Server, session: &mut Session, stream: Stream, peer: &str) -> io::Result<()> {
    let (mut read, mut write) = stream.into_split();
    let mut requests = Requests::default();
    let mut reply = Vec::new();
    while read.read_buf(requests.room()).await? > 0 {
        let origin = read.origin();
        loop {
            let request = match requests.take() {
                Ok(Some(request)) => request,
                Ok(None) => break,
                Err(error) => {
                    Reply::Error(format!("ERR {error}").into()).encode(session.protocol, &mut reply);
                    return write.write_all(&reply).await;
                }
            };
            match server.execute(origin, session, &request, &mut reply) {
                Next::Close => return write.write_all(&reply).await,
                Next::Wait { replicas, timeout_ms } => {
                    write.write_all(&reply).await?;
                    reply.clear();
                    let acked = server.wait(session.wrote, replicas, timeout_ms).await;
                    let acked = Reply::Integer(i64::try_from(acked).unwrap_or(i64::MAX));
                    acked.encode(Protocol::Two, &mut reply);
                }
                Next::Feed => {
                    let effects = server.feed(session.id, peer, &mut reply);
                    write.write_all(&reply).await?;
                    return feed(server, session, requests, (read, write), effects).await;
                }
                Next::Continue | Next::Acknowledged | Next::RoleChanged | Next::RewriteConfig => {}
            }
        }
        if !reply.is_empty() {
            write.write_all(&reply).await?;
            reply.clear();
        }
    }
    Ok(())
}

/// Sends effects to a replica, each in the service of the command that had it, and takes its acknowledgements.
async fn feed(
    server: &Server,
    session: &mut Session,
    mut requests: Requests,
    (mut read, mut write): (ReadHalf, WriteHalf),
    mut effects: mpsc::UnboundedReceiver<Segment>,
) -> io::Result<()> {
    let mut ignored = Vec::new();
    loop {
        tokio::select! {
            biased;
            segment = effects.recv() => {
                let Some(segment) = segment else { return Ok(()) };
                write.answer_to(segment.origin);
                write.write_all(&segment.bytes).await?;
            }
            len = read.read_buf(requests.room()) => {
                if len? == 0 {
                    return Ok(());
                }
                let origin = read.origin();
                while let Ok(Some(request)) = requests.take() {
                    server.execute(origin, session, &request, &mut ignored);
                    ignored.clear();
                }
            }
        }
    }
}

impl Shared {
    /// Replaces the dataset by a primary's full copy; replicas of this replica have to begin anew as well.
    pub(super) fn resync(&mut self, copy: Store, offset: u64) -> Effects {
        self.feeds.clear();
        self.node.resync(copy, offset)
    }
}
