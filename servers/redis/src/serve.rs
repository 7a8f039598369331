//! Puts a node on a host: connections, the active expiry cycle, the effects on disk and on replicas.
//!
//! All tasks of a node share it behind one lock, which is never held across an await: like Redis, a node does one
//! thing at a time. Commands that arrive in one segment are executed in order and answered in one write. What a command
//! of one connection makes the node send to another goes into that one's outbox.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use picklock_sim::design::{ServerRole, ServerSeat};
use picklock_sim::host::{Host, Origin};
use picklock_sim::seed::Seed;
use picklock_sim::stream::{ReadHalf, Stream, WriteHalf};
use picklock_sim::time::Monotonic;
use picklock_sim::trace::What;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::{Notify, mpsc};

use super::journal::Journal;
use super::node::{Next, Node, Save, SessionId, Then};
use super::resp::{Reply, Request, Requests};
use super::store::Effects;
use super::version::Version;
use super::{PORT, replication};

/// How often a node looks for dead keys and passed deadlines while there are any: Redis's `hz 10`.
const TICK: Duration = Duration::from_millis(100);

/// Runs the node that this seat is for, as of this version of Redis, until its host stops.
pub(crate) async fn serve(seat: ServerSeat, version: Version) {
    let primary = match seat.role {
        ServerRole::Store { .. } | ServerRole::Sentinel { .. } => None,
        ServerRole::Replica { primary } => Some(primary),
    };
    let journal = Journal::open(&seat.host, seat.persistence);
    let primary = journal.kept_role().unwrap_or(primary);
    let restored = journal.restore(seat.host.wall(), primary.is_none());
    for event in restored.events {
        seat.host.record(Origin::default(), event);
    }
    let mut node = Node::new(restored.store, primary);
    node.store.version = version;
    let seed = seat.host.rng().below(u64::MAX);
    node.replication.rename(Seed(seed));
    // Whoever serves to clients outside wants to see other choices under another seed.
    if let Some((host, port)) = seat.announce {
        node.store.seed_choices(seed);
        node.config.port = port;
        node.replication.settings.announced_address = host.into_bytes();
        node.replication.settings.announced_port = port;
    }
    node.require_replicas(seat.min_replicas);
    node.restore_stream(restored.stream);
    journal.replace(&node);
    let shared = Shared { node, outboxes: BTreeMap::new(), stalled_until: None };
    let server = Arc::new(Server {
        host: seat.host,
        journal,
        shared: Mutex::new(shared),
        ticks: Notify::new(),
        down: Notify::new(),
        role_changed: Notify::new(),
        fed: Notify::new(),
    });
    server.host.spawn(tick(Arc::clone(&server)));
    server.host.spawn(replication::follow(Arc::clone(&server)));
    server.host.spawn(replication::cron(Arc::clone(&server)));
    // The port is free: a host runs one node, and this is its start.
    let Ok(listener) = server.host.bind(PORT).await else { return };
    loop {
        tokio::select! {
            biased;
            accepted = listener.accept() => {
                let Ok((stream, peer)) = accepted else { return };
                server.host.spawn(connection(Arc::clone(&server), stream, peer));
            }
            () = server.down.notified() => return server.shared().close_all(),
        }
    }
}

/// A node on its host.
pub(super) struct Server {
    pub(super) host: Host,
    pub(super) journal: Journal,
    shared: Mutex<Shared>,
    /// Told when the node has something to look at every so often.
    ticks: Notify,
    /// Told when the node is to stop.
    down: Notify,
    /// Told when the node has a new role or a new primary.
    pub(super) role_changed: Notify,
    /// Told when a replica has come.
    pub(super) fed: Notify,
}

/// What the tasks of a node share.
pub(super) struct Shared {
    pub(super) node: Node,
    /// Where to put what goes to a connection besides its replies.
    outboxes: BTreeMap<SessionId, mpsc::UnboundedSender<Parcel>>,
    /// Until when the node does nothing at all: DEBUG SLEEP, or a script that takes too long.
    stalled_until: Option<Monotonic>,
}

/// What goes over a connection besides its replies, and the message that the command that had it came with.
#[derive(Clone)]
struct Parcel {
    origin: Origin,
    bytes: Arc<[u8]>,
    then: Then,
}

impl Server {
    pub(super) fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("nothing panics while it holds the node")
    }

    /// Makes effects known: to the trace, to the disk, to the replicas; and sends what goes to other connections.
    pub(super) fn publish(&self, shared: &mut Shared, origin: Origin, mut effects: Effects) {
        for event in std::mem::take(&mut effects.events) {
            // Nobody asked for an expiry.
            let origin = if matches!(event, What::Expired { .. }) { Origin::default() } else { origin };
            self.host.record(origin, event);
        }
        let Shared { node, outboxes, .. } = shared;
        if std::mem::take(&mut node.replication.role_changed) {
            self.role_changed.notify_one();
        }
        if !effects.writes.is_empty() {
            self.journal.append(&effects, node);
            if self.journal.needs_ticks() {
                self.ticks.notify_one();
            }
        }
        for delivery in node.take_deliveries() {
            let parcel = Parcel { origin, bytes: delivery.bytes, then: delivery.then };
            send(outboxes, delivery.session, parcel);
        }
    }

    fn needs_ticks(&self, node: &Node) -> bool {
        node.needs_ticks() || self.journal.needs_ticks()
    }

    /// Waits while the node does nothing at all.
    pub(super) async fn awake(&self) {
        loop {
            let until = self.shared().stalled_until;
            match until.filter(|until| *until > self.host.monotonic()) {
                Some(until) => self.host.sleep_until(until).await,
                None => return,
            }
        }
    }

    /// Executes a client's command; none if the node does nothing at all.
    fn execute(
        &self,
        origin: Origin,
        id: SessionId,
        request: &Request<'_>,
        reply: &mut Vec<u8>,
    ) -> Option<Next> {
        let now = self.host.wall();
        let mut shared = self.shared();
        if let Some(until) = shared.stalled_until {
            if until > self.host.monotonic() {
                return None;
            }
            shared.stalled_until = None;
        }
        let ticked = self.needs_ticks(&shared.node);
        let outcome = shared.node.execute(now, id, &request.args, reply);
        self.publish(&mut shared, origin, outcome.effects);
        match outcome.next {
            Next::RewriteConfig => self.journal.keep_role(shared.node.upstream()),
            Next::Feed => self.fed.notify_one(),
            Next::Stall(ms) | Next::Runaway(ms) => {
                shared.stalled_until = Some(self.host.monotonic() + Duration::from_millis(ms));
            }
            Next::Save(Save::Rewrite) => self.journal.replace(&shared.node),
            Next::Save(Save::Snapshot | Save::Background) => self.journal.save(&shared.node),
            Next::Shutdown => self.down.notify_one(),
            Next::Continue | Next::Close | Next::Blocked => {}
        }
        if !ticked && self.needs_ticks(&shared.node) {
            self.ticks.notify_one();
        }
        Some(outcome.next)
    }
}

fn send(outboxes: &BTreeMap<SessionId, mpsc::UnboundedSender<Parcel>>, to: SessionId, parcel: Parcel) {
    if let Some(outbox) = outboxes.get(&to) {
        // Who has just gone gets nothing.
        let _ = outbox.send(parcel);
    }
}

/// The node's ticks: while it has something to look at, else asleep.
async fn tick(server: Arc<Server>) {
    loop {
        if !server.needs_ticks(&server.shared().node) {
            server.ticks.notified().await;
            continue;
        }
        let span = TICK.as_nanos() as u64;
        let nth = server.host.monotonic().as_nanos() / span + 1;
        server.host.sleep_until(Monotonic(nth * span)).await;
        server.awake().await;
        let now = server.host.wall();
        let mut shared = server.shared();
        let effects = shared.node.tick(now);
        server.publish(&mut shared, Origin::default(), effects);
        server.journal.tick(&shared.node);
    }
}

/// Serves one client until it goes. An error on its stream concerns nobody else.
async fn connection(server: Arc<Server>, mut stream: Stream, peer: String) {
    if server.shared().node.is_full() {
        server.shared().node.turn_away();
        // Whether the client reads why it is turned away is its own business.
        let _ = stream.write_all(b"-ERR max number of clients reached\r\n").await;
        return;
    }
    let (outbox, parcels) = mpsc::unbounded_channel();
    let id = {
        let mut shared = server.shared();
        let id = shared.node.connect(&peer);
        shared.outboxes.insert(id, outbox);
        id
    };
    let (read, write) = stream.into_split();
    let mut connection = Connection {
        id,
        read,
        write,
        parcels,
        requests: Requests::default(),
        reply: Vec::new(),
        waiting: false,
        answers_others: false,
    };
    let _ = connection.converse(&server).await;
    let mut shared = server.shared();
    shared.outboxes.remove(&id);
    shared.node.disconnect(id);
}

/// One client's connection.
struct Connection {
    id: SessionId,
    read: ReadHalf,
    write: WriteHalf,
    parcels: mpsc::UnboundedReceiver<Parcel>,
    requests: Requests,
    reply: Vec<u8>,
    /// True while its session waits: what it sends is kept.
    waiting: bool,
    /// True if the last thing written was in the service of another connection's command.
    answers_others: bool,
}

impl Connection {
    async fn converse(&mut self, server: &Server) -> io::Result<()> {
        loop {
            tokio::select! {
                biased;
                parcel = self.parcels.recv() => {
                    let Some(parcel) = parcel else { return Ok(()) };
                    if self.hand_over(parcel).await? == Then::Close {
                        return Ok(());
                    }
                }
                len = self.read.read_buf(self.requests.room()) => {
                    if len? == 0 || self.requests.is_overfull() {
                        return Ok(());
                    }
                }
            }
            if !self.waiting && self.execute(server).await? == Next::Close {
                return Ok(());
            }
        }
    }

    /// Writes what came from elsewhere.
    async fn hand_over(&mut self, parcel: Parcel) -> io::Result<Then> {
        self.write.answer_to(parcel.origin);
        self.answers_others = true;
        self.write.write_all(&parcel.bytes).await?;
        if parcel.then == Then::Resume {
            self.waiting = false;
        }
        Ok(parcel.then)
    }

    /// Executes all requests that are complete, or those up to one that has to wait.
    async fn execute(&mut self, server: &Server) -> io::Result<Next> {
        let origin = self.read.origin();
        let mut next = Next::Continue;
        self.requests.limits = server.shared().node.limits(self.id);
        while !matches!(next, Next::Close | Next::Blocked | Next::Runaway(_)) {
            if !self.requests.limits.trusted {
                self.requests.limits = server.shared().node.limits(self.id);
            }
            next = match self.requests.take() {
                Ok(Some(request)) => loop {
                    match server.execute(origin, self.id, &request, &mut self.reply) {
                        Some(Next::Stall(_)) => {
                            server.awake().await;
                            break Next::Continue;
                        }
                        Some(next) => break next,
                        None => server.awake().await,
                    }
                },
                Ok(None) => break,
                Err(error) => {
                    let protocol = server.shared().node.session(self.id).protocol;
                    Reply::Error(format!("ERR {error}").into()).encode(protocol, &mut self.reply);
                    Next::Close
                }
            };
        }
        self.waiting = matches!(next, Next::Blocked | Next::Runaway(_));
        if !self.reply.is_empty() {
            if std::mem::take(&mut self.answers_others) {
                self.write.answer_to(origin);
            }
            self.write.write_all(&self.reply).await?;
            self.reply.clear();
        }
        Ok(next)
    }
}

impl Shared {
    /// Closes all connections.
    fn close_all(&mut self) {
        let nothing: Arc<[u8]> = Arc::default();
        for outbox in std::mem::take(&mut self.outboxes).into_values() {
            let parcel = Parcel { origin: Origin::default(), bytes: Arc::clone(&nothing), then: Then::Close };
            // Who has just gone is not closed again.
            let _ = outbox.send(parcel);
        }
    }
}
