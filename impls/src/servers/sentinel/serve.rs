//! Puts a Sentinel on a host: its timer, its connections to other servers, its clients, its file.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use picklock_sim::host::{Host, Origin};
use picklock_sim::seed::Seed;
use picklock_sim::stream::Stream;
use picklock_sim::trace::What;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::clients::{Clients, Handled};
use super::instance::{Address, LinkId};
use super::primary::Watch;
use super::state::{Act, Sentinel};
use super::{NAME, PORT};
use crate::servers::redis::resp::{Reply, Requests};
use crate::servers::redis::{self, SessionId};

/// The file that the state is kept in.
const CONFIG: &str = "sentinel.conf";

/// How long a failover may take, in times that a primary may be silent: six, as in the defaults of Redis.
const FAILOVER_TIMEOUT: i64 = 6;
/// The same in milliseconds at least, for the parts of a failover that do not shrink with that time.
const FAILOVER_TIMEOUT_MIN: i64 = 3_000;

/// What is kept of answers that are not complete, at most, in bytes.
const RECEIVED_MAX: usize = 16 * 1024 * 1024;

/// Watches a store until the host stops: `nodes` are its primary and replicas, `others` the other Sentinels.
pub(in crate::servers) async fn serve(host: Host, nodes: &[String], others: &[String], down_after: Duration) {
    let kept = String::from_utf8_lossy(&host.disk().read(CONFIG)).into_owned();
    let address = Address::new(host.name(), PORT);
    let seed = Seed(host.rng().below(u64::MAX));
    let mut sentinel = Sentinel::new(run_id(&host.name()), address, seed, wall_ms(&host));
    if kept.is_empty() {
        begin(&mut sentinel, nodes, others, down_after);
    } else {
        sentinel.restore(&kept);
    }
    let shared =
        Shared { sentinel, clients: Clients::default(), links: BTreeMap::new(), outboxes: BTreeMap::new() };
    let server = Arc::new(Server { host, shared: Mutex::new(shared) });
    server.carry_out(&mut server.shared());
    server.host.spawn(tick(Arc::clone(&server)));
    // The port is free: a host runs one Sentinel, and this is its start.
    let Ok(listener) = server.host.bind(PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        server.host.spawn(client(Arc::clone(&server), stream));
    }
}

/// Gives a new Sentinel the state of one that has watched for a while: it knows the replicas and the other Sentinels, whom
/// it would else meet in the first two seconds.
fn begin(sentinel: &mut Sentinel, nodes: &[String], others: &[String], down_after: Duration) {
    let Some((primary, replicas)) = nodes.split_first() else { return };
    let down_after_ms = i64::try_from(down_after.as_millis()).unwrap_or(i64::MAX);
    let watch = Watch {
        quorum: others.len().div_ceil(2) + 1,
        down_after_ms,
        failover_timeout_ms: down_after_ms.saturating_mul(FAILOVER_TIMEOUT).max(FAILOVER_TIMEOUT_MIN),
        ..Watch::default()
    };
    let primary = sentinel.monitor(NAME, Address::new(primary, redis::PORT), watch);
    for replica in replicas {
        sentinel.add_replica(primary, Address::new(replica, redis::PORT));
    }
    for other in others {
        sentinel.add_sentinel(primary, Address::new(other, PORT), &run_id(other));
    }
}

/// The identifier of the Sentinel on a host.
fn run_id(host: &str) -> String {
    sha1_smol::Sha1::from(host).digest().to_string()
}

fn wall_ms(host: &Host) -> i64 {
    i64::try_from(host.wall().as_millis()).unwrap_or(i64::MAX)
}

struct Server {
    host: Host,
    shared: Mutex<Shared>,
}

struct Shared {
    sentinel: Sentinel,
    clients: Clients,
    /// Where to put what goes over connections to servers; a connection is closed by taking it out.
    links: BTreeMap<LinkId, mpsc::UnboundedSender<Vec<u8>>>,
    /// Where to put the events for clients.
    outboxes: BTreeMap<SessionId, mpsc::UnboundedSender<Vec<u8>>>,
}

async fn tick(server: Arc<Server>) {
    loop {
        let pause = server.shared().sentinel.pause_ms();
        server.host.sleep(Duration::from_millis(pause)).await;
        let now = wall_ms(&server.host);
        let mut shared = server.shared();
        shared.sentinel.tick(now);
        server.carry_out(&mut shared);
    }
}

impl Server {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("nothing panics while it holds the state")
    }

    /// Does what the Sentinel wants done.
    fn carry_out(self: &Arc<Self>, shared: &mut Shared) {
        for act in shared.sentinel.take_acts() {
            match act {
                Act::Connect { link, address } => {
                    let (outbox, messages) = mpsc::unbounded_channel();
                    shared.links.insert(link, outbox);
                    self.host.spawn(connection(Arc::clone(self), link, address, messages));
                }
                Act::Send { link, bytes } => {
                    if let Some(outbox) = shared.links.get(&link) {
                        // A connection that has just broken takes nothing more.
                        let _ = outbox.send(bytes);
                    }
                }
                Act::Close { link } => drop(shared.links.remove(&link)),
                Act::Publish { channel, message } => {
                    self.host
                        .record(Origin::default(), What::Noticed { text: format!("{channel} {message}") });
                    for (client, bytes) in shared.clients.deliveries(channel, &message) {
                        if let Some(outbox) = shared.outboxes.get(&client) {
                            let _ = outbox.send(bytes);
                        }
                    }
                }
                Act::Save => {
                    let disk = self.host.disk();
                    disk.write(CONFIG, shared.sentinel.config().as_bytes());
                    disk.sync(CONFIG);
                }
            }
        }
    }
}

/// A connection to a server, from the attempt to make it to its end.
async fn connection(
    server: Arc<Server>,
    link: LinkId,
    address: Address,
    mut messages: mpsc::UnboundedReceiver<Vec<u8>>,
) {
    if let Ok(stream) = server.host.connect(&address.host, address.port).await {
        // However it ends, the Sentinel is told below.
        let _ = talk(&server, link, stream, &mut messages).await;
    }
    let now = wall_ms(&server.host);
    let mut shared = server.shared();
    if shared.links.remove(&link).is_some() {
        shared.sentinel.lost(now, link);
        server.carry_out(&mut shared);
    }
}

async fn talk(
    server: &Arc<Server>,
    link: LinkId,
    stream: Stream,
    messages: &mut mpsc::UnboundedReceiver<Vec<u8>>,
) -> io::Result<()> {
    let (mut read, mut write) = stream.into_split();
    let mut received = Vec::new();
    loop {
        tokio::select! {
            biased;
            bytes = messages.recv() => {
                let Some(mut bytes) = bytes else { return Ok(()) };
                while let Ok(more) = messages.try_recv() {
                    bytes.extend_from_slice(&more);
                }
                write.write_all(&bytes).await?;
            }
            len = read.read_buf(&mut received) => {
                if len? == 0 || received.len() > RECEIVED_MAX {
                    return Ok(());
                }
                let now = wall_ms(&server.host);
                let mut shared = server.shared();
                let mut end = 0;
                while let Some((reply, len)) = Reply::decode(&received[end..]).map_err(io::Error::other)? {
                    end += len;
                    shared.sentinel.answered(now, link, &reply);
                }
                received.drain(..end);
                server.carry_out(&mut shared);
            }
        }
    }
}

/// Serves one client until it goes.
async fn client(server: Arc<Server>, stream: Stream) {
    let (outbox, mut events) = mpsc::unbounded_channel();
    let id = {
        let mut shared = server.shared();
        let id = shared.clients.connect();
        shared.outboxes.insert(id, outbox);
        id
    };
    // An error on a client's stream concerns nobody else.
    let _ = converse(&server, id, stream, &mut events).await;
    let mut shared = server.shared();
    shared.outboxes.remove(&id);
    shared.clients.disconnect(id);
}

async fn converse(
    server: &Arc<Server>,
    id: SessionId,
    stream: Stream,
    events: &mut mpsc::UnboundedReceiver<Vec<u8>>,
) -> io::Result<()> {
    let (mut read, mut write) = stream.into_split();
    let mut requests = Requests::default();
    let mut answers_others = false;
    loop {
        tokio::select! {
            biased;
            bytes = events.recv() => {
                let Some(bytes) = bytes else { return Ok(()) };
                answers_others = true;
                write.answer_to(Origin::default());
                write.write_all(&bytes).await?;
            }
            len = read.read_buf(requests.room()) => {
                if len? == 0 {
                    return Ok(());
                }
                let (out, goes_on) = answer(server, id, &mut requests);
                if !out.is_empty() {
                    if std::mem::take(&mut answers_others) {
                        write.answer_to(read.origin());
                    }
                    write.write_all(&out).await?;
                }
                if !goes_on {
                    return Ok(());
                }
            }
        }
    }
}

/// Answers the requests that are complete; false when the connection ends.
fn answer(server: &Arc<Server>, id: SessionId, requests: &mut Requests) -> (Vec<u8>, bool) {
    let now = wall_ms(&server.host);
    let mut shared = server.shared();
    let mut out = Vec::new();
    loop {
        match requests.take() {
            Ok(None) => break,
            Ok(Some(request)) => match shared.clients.handle(id, &request.args, &mut out) {
                Handled::Here => {}
                Handled::Ends => return (out, false),
                Handled::Not => {
                    let reply = shared.sentinel.execute(now, &request.args);
                    reply.encode(shared.clients.protocol(id), &mut out);
                }
            },
            Err(error) => {
                Reply::Error(format!("ERR {error}").into()).encode(shared.clients.protocol(id), &mut out);
                return (out, false);
            }
        }
    }
    server.carry_out(&mut shared);
    (out, true)
}
