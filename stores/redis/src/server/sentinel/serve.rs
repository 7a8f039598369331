//! Puts a Sentinel on a host: its timer, its connections to all that it watches, its clients, its state on disk.
//!
//! All tasks share the machine, and none holds it across an await. What it wants sent is put into
//! the outbox of the connection; what has collected there goes out in one write, as it does from Redis's event loop.

use std::cell::RefMut;
use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use picklock_model::seed::Seed;
use picklock_model::trace::What;
use picklock_sim::host::{Host, Origin};
use picklock_sim::mailbox::{Mailbox, Slot, mailbox};
use picklock_sim::own_thread::OwnThread;
use picklock_sim::stream::Stream;
use picklock_sim::task::Task;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::Notify;

use super::front::Front;
use super::ids::LinkId;
use super::instance::Address;
use super::primary::Watch;
use super::state::{Act, Sentinel, millis};
use super::{PORT, PRIMARY_NAME};
use crate::protocol::resp::{Reply, Requests};
use crate::server::node::{Next, PORT as NODE_PORT, SessionId, Then};
use crate::server::setup::{ServerRole, Setup};

/// The file that the state is kept in.
const CONFIG: &str = "sentinel.conf";

/// How many Sentinels must find a primary down.
const QUORUM: usize = 2;

/// How long a failover may take, in times that a primary may be silent: six, as in the defaults of Redis.
const FAILOVER_TIMEOUT: i64 = 6;
/// The same in milliseconds at least, for the parts of a failover that do not shrink with that time.
const FAILOVER_TIMEOUT_MIN_MS: i64 = 3_000;

/// How long a failover may take where a primary may be silent for so long, both in milliseconds.
pub(crate) fn failover_timeout_ms(down_after_ms: i64) -> i64 {
    down_after_ms.saturating_mul(FAILOVER_TIMEOUT).max(FAILOVER_TIMEOUT_MIN_MS)
}

/// The size up to which an incomplete answer is kept, in bytes.
const RECEIVED_MAX: usize = 16 * 1024 * 1024;

/// Runs the Sentinel of this setup until its host stops.
pub(crate) async fn serve(setup: Setup) {
    let Some(sentinel) = begin(&setup) else { return };
    let passive = setup.passive;
    let run_id =
        setup.own.salt.map(|salt| identifier(&format!("{salt:x}{}", setup.host.rng().below(u64::MAX))));
    let server = Arc::new(Server {
        host: setup.host,
        shared: OwnThread::new(Shared {
            front: Front::new(sentinel, run_id),
            links: BTreeMap::new(),
            clients: BTreeMap::new(),
            crashed: false,
        }),
        crash: Notify::new(),
    });
    {
        let mut shared = server.shared();
        shared.front.sentinel.introduce();
        shared.front.sentinel.save();
        server.follow_up(&mut shared);
    }
    let timer = (!passive).then(|| server.host.spawn(tick(Arc::clone(&server))));
    // The port is free: a host runs one Sentinel, and this is its start.
    let Ok(listener) = server.host.bind(PORT).await else { return };
    loop {
        tokio::select! {
            biased;
            accepted = listener.accept() => {
                let Ok((stream, peer)) = accepted else { return };
                let outbox = {
                    let mut shared = server.shared();
                    let id = shared.front.connect(&peer);
                    let (outbox, parcels) = mailbox();
                    shared.clients.insert(id, outbox);
                    (id, parcels)
                };
                server.host.spawn(client(Arc::clone(&server), stream, outbox.0, outbox.1));
            }
            () = server.crash.notified() => {
                if let Some(timer) = timer {
                    timer.abort();
                }
                server.shared().drop_all();
                return;
            }
        }
    }
}

/// The Sentinel of a setup: with the state that it kept, or with what it would know after running for a while.
fn begin(setup: &Setup) -> Option<Sentinel> {
    let ServerRole::Sentinel { primary, replicas, sentinels } = &setup.role else { return None };
    let host = &setup.host;
    let name = host.name();
    let me = sentinels.iter().find(|place| place.host == name)?;
    let address = place(&me.address, PORT);
    let seed = Seed(host.rng().below(u64::MAX));
    // Real Sentinels of two processes may meet.
    let salt = setup.own.salt.map_or_else(String::new, |salt| format!("/{salt:x}"));
    let identifier = |host: &str| identifier(&format!("{host}{salt}"));
    let mut sentinel = Sentinel::new(identifier(&me.host), address, seed, millis(host.wall()));
    let kept = host.disk().read(CONFIG);
    if !kept.is_empty() {
        sentinel.restore(&String::from_utf8_lossy(&kept));
        return Some(sentinel);
    }
    let down_after_ms = i64::try_from(setup.down_after.as_millis()).unwrap_or(i64::MAX).max(1);
    let failover_timeout_ms = failover_timeout_ms(down_after_ms);
    let watch = Watch {
        quorum: QUORUM,
        down_after_ms,
        failover_timeout_ms,
        password: setup.own.password.clone(),
        ..Watch::default()
    };
    let id = sentinel.monitor(PRIMARY_NAME, place(primary, NODE_PORT), watch);
    for replica in replicas {
        sentinel.add_replica(id, place(replica, NODE_PORT));
    }
    for other in sentinels.iter().filter(|other| *other != me) {
        sentinel.add_sentinel(id, place(&other.address, PORT), &identifier(&other.host));
    }
    Some(sentinel)
}

/// `host` or `host:port` as an address.
fn place(text: &str, port: u16) -> Address {
    let bare = |host: &str| host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let with_port =
        text.rsplit_once(':').and_then(|(host, port)| Some(Address::new(bare(host), port.parse().ok()?)));
    with_port.unwrap_or_else(|| Address::new(text, port))
}

/// The identifier that a Sentinel has given itself before the world began.
pub(crate) fn identifier(host: &str) -> String {
    sha1_smol::Sha1::from(host.as_bytes()).digest().to_string()
}

struct Server {
    host: Host,
    shared: OwnThread<Shared>,
    /// Notified when the process is to end.
    crash: Notify,
}

struct Shared {
    front: Front,
    /// The connections to servers that are watched.
    links: BTreeMap<LinkId, Link>,
    /// Where to put what goes to a client besides its replies.
    clients: BTreeMap<SessionId, Slot<Parcel>>,
    crashed: bool,
}

struct Link {
    outbox: Slot<Vec<u8>>,
    task: Task,
}

struct Parcel {
    bytes: Arc<[u8]>,
    then: Then,
}

impl Server {
    fn shared(&self) -> RefMut<'_, Shared> {
        self.shared.get()
    }

    /// Does what the Sentinel wants done.
    fn follow_up(self: &Arc<Self>, shared: &mut Shared) {
        for act in shared.front.take_acts() {
            match act {
                Act::Connect { link, address } => {
                    let (outbox, bytes) = mailbox();
                    let task = self.host.spawn(watch(Arc::clone(self), link, address, bytes));
                    shared.links.insert(link, Link { outbox, task });
                }
                Act::Send { link, bytes } => {
                    if let Some(link) = shared.links.get(&link) {
                        link.outbox.put(bytes);
                    }
                }
                Act::Close { link } => {
                    if let Some(link) = shared.links.remove(&link) {
                        link.task.abort();
                    }
                }
                Act::Publish { channel, message } => {
                    shared.front.publish(channel, &message);
                    let text = format!("{channel} {message}");
                    self.host.record(Origin::default(), What::Noticed { text });
                }
                Act::Crash => {
                    shared.crashed = true;
                    self.crash.notify_one();
                }
            }
        }
        for delivery in shared.front.take_deliveries() {
            if let Some(outbox) = shared.clients.get(&delivery.session) {
                outbox.put(Parcel { bytes: delivery.bytes, then: delivery.then });
            }
        }
        if shared.front.sentinel.take_dirty() {
            let disk = self.host.disk();
            disk.write(CONFIG, shared.front.sentinel.config().as_bytes());
            disk.sync(CONFIG);
        }
    }
}

impl Shared {
    /// Ends all connections.
    fn drop_all(&mut self) {
        for link in std::mem::take(&mut self.links).into_values() {
            link.task.abort();
        }
        let nothing: Arc<[u8]> = Arc::default();
        for outbox in std::mem::take(&mut self.clients).into_values() {
            outbox.put(Parcel { bytes: Arc::clone(&nothing), then: Then::Close });
        }
    }
}

/// The timer.
async fn tick(server: Arc<Server>) {
    loop {
        let pause = {
            let now = millis(server.host.wall());
            let mut shared = server.shared();
            shared.front.sentinel.tick(now);
            server.follow_up(&mut shared);
            shared.front.sentinel.pause_ms()
        };
        server.host.sleep(Duration::from_millis(pause)).await;
    }
}

/// Keeps one connection to a server that is watched, until it breaks.
async fn watch(server: Arc<Server>, link: LinkId, address: Address, bytes: Mailbox<Vec<u8>>) {
    // Why it broke does not matter.
    let _ = talk(&server, link, &address, bytes).await;
    let now = millis(server.host.wall());
    let mut shared = server.shared();
    shared.links.remove(&link);
    shared.front.sentinel.lost(now, link);
    server.follow_up(&mut shared);
}

async fn talk(
    server: &Arc<Server>,
    link: LinkId,
    address: &Address,
    mut bytes: Mailbox<Vec<u8>>,
) -> io::Result<()> {
    let (mut read, mut write) = server.host.connect(&address.host, address.port).await?.into_split();
    let mut received = Vec::new();
    loop {
        tokio::select! {
            biased;
            first = bytes.take() => {
                let Some(mut out) = first else { return Ok(()) };
                while let Some(more) = bytes.take_now() {
                    out.extend_from_slice(&more);
                }
                write.write_for(Origin::default(), &out).await?;
            }
            len = read.read_buf(&mut received) => {
                if len? == 0 || received.len() > RECEIVED_MAX {
                    return Ok(());
                }
                let now = millis(server.host.wall());
                let mut at = 0;
                let mut shared = server.shared();
                while let Some((reply, len)) = Reply::decode(&received[at..]).map_err(io::Error::other)? {
                    at += len;
                    shared.front.sentinel.answered(now, link, reply);
                }
                received.drain(..at);
                server.follow_up(&mut shared);
            }
        }
    }
}

/// Serves one client until it goes.
async fn client(server: Arc<Server>, stream: Stream, id: SessionId, parcels: Mailbox<Parcel>) {
    // An error on a client's stream concerns nobody else.
    let _ = converse(&server, stream, id, parcels).await;
    let mut shared = server.shared();
    shared.clients.remove(&id);
    shared.front.disconnect(id);
}

async fn converse(
    server: &Arc<Server>,
    mut stream: Stream,
    id: SessionId,
    mut parcels: Mailbox<Parcel>,
) -> io::Result<()> {
    let mut requests = Requests::default();
    let mut out = Vec::new();
    loop {
        let mut next = Next::Continue;
        tokio::select! {
            biased;
            parcel = parcels.take() => {
                let Some(parcel) = parcel else { return Ok(()) };
                out.extend_from_slice(&parcel.bytes);
                if parcel.then == Then::Close {
                    next = Next::Close;
                }
            }
            len = stream.read_buf(requests.room()) => {
                if len? == 0 {
                    return Ok(());
                }
                next = server.execute(id, &mut requests, &mut out);
            }
        }
        if !out.is_empty() {
            stream.write_all(&out).await?;
            out.clear();
        }
        if next == Next::Close {
            return Ok(());
        }
    }
}

impl Server {
    /// Executes all requests that are complete.
    fn execute(self: &Arc<Self>, id: SessionId, requests: &mut Requests, out: &mut Vec<u8>) -> Next {
        let now = self.host.wall();
        let mut shared = self.shared();
        let mut next = Next::Continue;
        while next != Next::Close {
            next = match requests.take() {
                Ok(Some(request)) => shared.front.execute(now, id, &request.args, out),
                Ok(None) => break,
                Err(error) => {
                    let text = format!("ERR {error}");
                    Reply::Error(text.into()).encode(crate::protocol::resp::Protocol::Two, out);
                    Next::Close
                }
            };
            if next == Next::Shutdown {
                self.crash.notify_one();
                next = Next::Close;
            }
        }
        self.follow_up(&mut shared);
        next
    }
}
