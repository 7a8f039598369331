//! Puts a node's part in a cluster on its host: its beat, the links that it makes, and those that others make.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use picklock_model::seed::Seed;
use picklock_model::trace::Role;
use picklock_sim::host::Origin;
use picklock_sim::mailbox::{Mailbox, mailbox};
use picklock_sim::store::Member;
use picklock_sim::stream::Stream;
use tokio::io::AsyncReadExt as _;

use super::server::{Dial, Server};
use crate::server::cluster::{BUS_PORT_ABOVE, BusLink, Cluster, Message, NodeId, Place, Settings, Slots};
use crate::server::journal::Journal;
use crate::server::node::{Node, PORT};
use crate::server::setup::{ClusterSetup, Setup};

/// How often the part of a node in its cluster looks after the others: after 100 ms, to which a real node adds a millisecond or less of its
/// own. Spans of whole tenths of a second so end at the beat at which they are over, and not at the next one.
const BEAT: Duration = Duration::from_millis(101);

/// The port of the bus.
const BUS_PORT: u16 = PORT + BUS_PORT_ABOVE;

/// The part in a cluster that a node had before it restarted, or the one that it has at the start. `None` if the cluster has no node of
/// this host.
pub(super) fn open(setup: &Setup, of: &ClusterSetup) -> Option<Cluster> {
    let salt = setup.own.salt.map_or_else(String::new, |salt| format!("/{salt:x}"));
    let id = |member: &Member| NodeId::of(&format!("{}{salt}", member.name));
    let name = setup.host.name();
    let me = of.members.iter().find(|member| member.name == name).map(id)?;
    let node_timeout = i64::try_from(of.node_timeout.as_millis()).unwrap_or(i64::MAX / 16);
    let settings = Settings { node_timeout, ..Settings::default() };
    let seed = Seed(setup.host.rng().below(u64::MAX));
    let kept = Journal::kept_nodes(&setup.host.disk());
    let places: Vec<(NodeId, Place)> = of.members.iter().map(|member| (id(member), place(member))).collect();
    if let Some(cluster) = Cluster::restore(&kept, me, &places, settings.clone(), seed) {
        return Some(cluster);
    }
    let primaries: Vec<&Member> = of.members.iter().filter(|member| member.role == Role::Leader).collect();
    let shards = u32::try_from(primaries.len()).unwrap_or(u32::MAX);
    let nodes = of.members.iter().map(|member| {
        let nth = primaries.iter().position(|primary| primary.group == member.group);
        let nth = nth.unwrap_or(0);
        let is_primary = member.role == Role::Leader;
        let follows = (!is_primary).then(|| id(primaries[nth]));
        let slots = Slots::share(u32::try_from(nth).unwrap_or(0), shards);
        (id(member), place(member), follows, if is_primary { slots } else { Slots::default() })
    });
    Some(Cluster::new(me, nodes.collect(), settings, seed))
}

fn place(member: &Member) -> Place {
    let (address, port) = member.door.clone().unwrap_or_else(|| (member.name.clone(), PORT));
    Place { host: member.name.clone(), address, port }
}

/// Whom a node follows, as an address and a port.
pub(super) fn primary(cluster: &Cluster) -> Option<String> {
    let primary = cluster.myself().primary.and_then(|id| cluster.peers.get(&id))?;
    Some(format!("{} {}", primary.place.address, primary.place.port))
}

impl Node {
    /// Takes its part in a cluster, if it has one.
    pub(super) fn join(&mut self, cluster: Option<Cluster>) {
        let Some(cluster) = cluster else { return };
        let timeout = cluster.settings.node_timeout.to_string();
        self.cluster = Some(Box::new(cluster));
        self.config.set.insert("cluster-enabled", "yes".to_owned());
        self.configure("cluster-node-timeout", timeout);
    }
}

/// Looks after the others ten times a second: nodes are not in step.
pub(super) async fn beat(server: Arc<Server>) {
    let phase = server.host.rng().below(BEAT.as_nanos() as u64);
    let born = server.host.monotonic() + Duration::from_nanos(phase);
    for nth in 0.. {
        server.host.sleep_until(born + BEAT * nth).await;
        server.awake().await;
        server.in_cluster(Cluster::beat);
        server.shared().node.redirect_blocked();
        server.publish(&mut server.shared(), Origin::default(), Default::default());
    }
}

/// Makes the links that the node's part in the cluster asks for.
pub(super) async fn dial(server: Arc<Server>, mut dials: Mailbox<Dial>) {
    while let Some(Dial { link, host, bytes }) = dials.take().await {
        server.host.spawn(link_to(Arc::clone(&server), link, host, bytes));
    }
}

/// Takes the links that others make.
pub(super) async fn listen(server: Arc<Server>) {
    // The port is free: a host runs one node, and this is its start.
    let Ok(listener) = server.host.bind(BUS_PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let (slot, bytes) = mailbox();
        let mut link = BusLink(0);
        server.in_cluster(|cluster| link = cluster.accepted());
        server.shared().links.insert(link, slot);
        server.host.spawn(link_from(Arc::clone(&server), link, stream, bytes));
    }
}

/// One link that this node makes, until it breaks or is given up.
async fn link_to(server: Arc<Server>, link: BusLink, host: String, mut bytes: Mailbox<Vec<u8>>) {
    // Why it broke does not matter.
    let _ = async {
        let connecting = server.host.connect(&host, BUS_PORT);
        let Some((stream, waiting)) = connected(connecting, &mut bytes).await? else { return Ok(()) };
        server.awake().await;
        server.in_cluster(|cluster| cluster.connected(link));
        talk(&server, link, stream, bytes, waiting).await
    }
    .await;
    server.lost(link).await;
}

/// The stream once it is there, and what was to be sent meanwhile; `None` if the link was given up before.
async fn connected(
    connecting: impl Future<Output = io::Result<Stream>>,
    bytes: &mut Mailbox<Vec<u8>>,
) -> io::Result<Option<(Stream, Vec<u8>)>> {
    let mut connecting = std::pin::pin!(connecting);
    let mut waiting = Vec::new();
    loop {
        tokio::select! {
            biased;
            more = bytes.take() => match more {
                Some(more) => waiting.extend_from_slice(&more),
                None => return Ok(None),
            },
            stream = &mut connecting => return Ok(Some((stream?, waiting))),
        }
    }
}

/// One link that another node has made.
async fn link_from(server: Arc<Server>, link: BusLink, stream: Stream, bytes: Mailbox<Vec<u8>>) {
    let _ = talk(&server, link, stream, bytes, Vec::new()).await;
    server.lost(link).await;
}

async fn talk(
    server: &Server,
    link: BusLink,
    stream: Stream,
    mut bytes: Mailbox<Vec<u8>>,
    mut out: Vec<u8>,
) -> io::Result<()> {
    let (mut read, mut write) = stream.into_split();
    let mut received = Vec::new();
    loop {
        if !out.is_empty() {
            write.write_for(Origin::default(), &out).await?;
            out.clear();
        }
        tokio::select! {
            biased;
            first = bytes.take() => {
                let Some(first) = first else { return Ok(()) };
                out = first;
                while let Some(more) = bytes.take_now() {
                    out.extend_from_slice(&more);
                }
            }
            len = read.read_buf(&mut received) => {
                if len? == 0 {
                    return Ok(());
                }
                server.awake().await;
                let mut at = 0;
                while let Some((message, len)) = Message::decode(&received[at..]).map_err(io::Error::other)? {
                    at += len;
                    server.in_cluster(|cluster| cluster.receive(link, message));
                }
                received.drain(..at);
            }
        }
    }
}

impl Server {
    /// Has the node's part in the cluster do something, and makes known what comes of it.
    pub(super) fn in_cluster(&self, does: impl FnOnce(&mut Cluster)) {
        let now = self.host.wall();
        let mut shared = self.shared();
        let ticked = self.needs_ticks(&shared.node);
        let effects = shared.node.in_cluster(now, does);
        self.publish(&mut shared, Origin::default(), effects);
        if !ticked && self.needs_ticks(&shared.node) {
            self.ticks.notify_one();
        }
        if shared.node.wakes_import() {
            self.imports.notify_one();
        }
    }

    async fn lost(&self, link: BusLink) {
        self.awake().await;
        drop(self.shared().links.remove(&link));
        self.in_cluster(|cluster| cluster.lost(link));
    }
}
