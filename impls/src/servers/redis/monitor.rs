//! A simple failover monitor: it pings the primary, promotes a replica when the primary has been silent for too long,
//! and tells clients where the primary is, in the words of Redis Sentinel.
//!
//! Left out on purpose: full Sentinel. There is one monitor, so there are no votes, no quorum and no leader; it chooses the first
//! replica that answers, not the one with the most data; it does not publish `+switch-master`. As with Sentinel, a
//! primary that comes back takes writes until it is demoted, and loses them then.

use std::collections::BTreeSet;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use picklock_sim::host::Host;
use picklock_sim::stream::Stream;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::commands;
use super::node::{Session, SessionId};
use super::resp::{self, Reply, Requests};
use super::{MONITOR_PORT, PORT, PORT_TEXT};

/// The file that the present primary is kept in.
const CONFIG: &str = "sentinel.conf";

/// Watches a store and answers clients until the host stops.
pub(super) async fn serve(host: Host, nodes: Vec<String>, down_after: Duration) {
    let Some(first) = nodes.first() else { return };
    let kept = host.disk().read(CONFIG);
    let kept = nodes.iter().find(|node| node.as_bytes() == kept.as_slice());
    let state = State { primary: kept.unwrap_or(first).clone(), strays: BTreeSet::new(), sessions: 0 };
    let restarted = kept.is_some();
    let monitor = Arc::new(Monitor { host, nodes, down_after, state: Mutex::new(state) });
    if restarted {
        // What it knew of the others is gone: each is told again whom to follow.
        for node in &monitor.nodes {
            monitor.adopt(node);
        }
    }
    monitor.host.spawn(watch(Arc::clone(&monitor)));
    // The port is free: a host runs one monitor, and this is its start.
    let Ok(listener) = monitor.host.bind(MONITOR_PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        let monitor = Arc::clone(&monitor);
        monitor.host.clone().spawn(async move {
            // An error on a client's stream concerns nobody else.
            let _ = monitor.answer(stream).await;
        });
    }
}

struct Monitor {
    host: Host,
    /// The store and its replicas.
    nodes: Vec<String>,
    /// How long the primary may be silent.
    down_after: Duration,
    state: Mutex<State>,
}

struct State {
    primary: String,
    /// Nodes that do not follow the primary as far as the monitor knows: old primaries, and those it could not reach.
    strays: BTreeSet<String>,
    sessions: u64,
}

/// Pings the primary and fails over when it is silent.
async fn watch(monitor: Arc<Monitor>) {
    let host = &monitor.host;
    let beat = monitor.down_after / 4;
    let mut link = None;
    let mut heard = host.monotonic();
    loop {
        let began = host.monotonic();
        let primary = monitor.state().primary.clone();
        // A ping gets half the time, so that a link that has gone bad unnoticed does not by itself mean "down".
        match host.timeout(monitor.down_after / 2, ping(host, &mut link, &primary)).await {
            Ok(Ok(())) => heard = host.monotonic(),
            Ok(Err(_)) | Err(_) => link = None,
        }
        if host.monotonic().since(heard) >= monitor.down_after && monitor.fail_over(&primary).await {
            link = None;
            heard = host.monotonic();
        }
        host.sleep_until(began + beat).await;
    }
}

/// Pings over a connection that is kept; any answer is a sign of life.
async fn ping(host: &Host, link: &mut Option<Link>, node: &str) -> io::Result<()> {
    if link.is_none() {
        *link = Some(Link::open(host, node).await?);
    }
    match link {
        Some(link) => link.call(&[b"PING"]).await.map(drop),
        None => Ok(()),
    }
}

impl Monitor {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("nothing panics while it holds the state")
    }

    /// Promotes the first replica that answers. False if none does.
    async fn fail_over(self: &Arc<Self>, old: &str) -> bool {
        let mut chosen = None;
        for node in &self.nodes {
            if node == old || self.state().strays.contains(node) {
                continue;
            }
            match self.order(node, &[b"REPLICAOF", b"NO", b"ONE"]).await {
                Order::Done => {
                    chosen = Some(node.clone());
                    break;
                }
                Order::NotSent => {}
                // It may have become a primary all the same.
                Order::Unknown => self.adopt(node),
            }
        }
        let Some(chosen) = chosen else { return false };
        self.host.disk().write(CONFIG, chosen.as_bytes());
        self.host.disk().sync(CONFIG);
        self.state().primary.clone_from(&chosen);
        self.adopt(old);
        for node in &self.nodes {
            if node == old || *node == chosen || self.state().strays.contains(node) {
                continue;
            }
            if self.order(node, &[b"REPLICAOF", chosen.as_bytes(), PORT_TEXT]).await != Order::Done {
                self.adopt(node);
            }
        }
        true
    }

    /// Takes care of a node that does not follow the primary.
    fn adopt(self: &Arc<Self>, node: &str) {
        let mut state = self.state();
        if state.primary != node && state.strays.insert(node.to_owned()) {
            self.host.spawn(demote(Arc::clone(self), node.to_owned()));
        }
    }

    /// Orders a node to take a role, and to keep it over restarts.
    async fn order(&self, node: &str, role: &[&[u8]]) -> Order {
        let patience = self.down_after / 2;
        let Ok(Ok(mut link)) = self.host.timeout(patience, Link::open(&self.host, node)).await else {
            return Order::NotSent;
        };
        let obeyed = async {
            let roled = link.call(role).await?;
            let kept = link.call(&[b"CONFIG", b"REWRITE"]).await?;
            Ok::<bool, io::Error>(matches!((roled, kept), (Reply::Status(_), Reply::Status(_))))
        };
        match self.host.timeout(patience, obeyed).await {
            Ok(Ok(true)) => Order::Done,
            _ => Order::Unknown,
        }
    }

    /// Answers one client.
    async fn answer(&self, mut stream: Stream) -> io::Result<()> {
        let mut session = Session::default();
        {
            let mut state = self.state();
            state.sessions += 1;
            session.id = SessionId(state.sessions);
        }
        let mut requests = Requests::default();
        let mut out = Vec::new();
        while stream.read_buf(requests.room()).await? > 0 {
            loop {
                match requests.take() {
                    Ok(None) => break,
                    Ok(Some(request)) => {
                        let reply = self.execute(&mut session, &request.args).unwrap_or_else(|error| error);
                        reply.encode(session.protocol, &mut out);
                    }
                    Err(error) => {
                        Reply::Error(format!("ERR {error}").into()).encode(session.protocol, &mut out);
                        return stream.write_all(&out).await;
                    }
                }
            }
            if !out.is_empty() {
                stream.write_all(&out).await?;
                out.clear();
            }
        }
        Ok(())
    }

    fn execute(&self, session: &mut Session, args: &[&[u8]]) -> Result<Reply, Reply> {
        let is =
            |at: usize, word: &[u8]| args.get(at).is_some_and(|arg: &&[u8]| arg.eq_ignore_ascii_case(word));
        match () {
            () if is(0, b"PING") => Ok(Reply::Status("PONG".into())),
            () if is(0, b"HELLO") => commands::hello(session, args, "sentinel", "master"),
            () if is(0, b"CLIENT") && (is(1, b"SETINFO") || is(1, b"SETNAME")) => Ok(Reply::OK),
            () if is(0, b"SENTINEL") && is(1, b"GET-MASTER-ADDR-BY-NAME") => {
                let primary = Reply::text(&self.state().primary);
                Ok(Reply::Array(vec![primary, Reply::Bulk(PORT_TEXT.to_vec())]))
            }
            () => Err(commands::unknown(args)),
        }
    }
}

/// Waits until a stray has answered for a while, then makes it follow the primary: what it alone knows is lost.
async fn demote(monitor: Arc<Monitor>, node: String) {
    let host = &monitor.host;
    let mut link = None;
    let mut answering_since = None;
    loop {
        host.sleep(monitor.down_after / 4).await;
        match host.timeout(monitor.down_after / 2, ping(host, &mut link, &node)).await {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => {
                link = None;
                answering_since = None;
                continue;
            }
        }
        let now = host.monotonic();
        if now.since(*answering_since.get_or_insert(now)) < monitor.down_after {
            continue;
        }
        let primary = monitor.state().primary.clone();
        let order = [b"REPLICAOF", primary.as_bytes(), PORT_TEXT];
        if monitor.order(&node, &order).await == Order::Done && monitor.settle(&node, &primary) {
            return;
        }
    }
}

impl Monitor {
    /// Strikes a node off the strays if the primary that it was told to follow still is the primary.
    fn settle(&self, node: &str, primary: &str) -> bool {
        let mut state = self.state();
        state.primary == primary && state.strays.remove(node)
    }
}

/// What became of an order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// The node did as it was told.
    Done,
    /// The node was not reached.
    NotSent,
    /// The node was told, and did not answer or refused.
    Unknown,
}

/// A connection to a node, with one command under way at a time.
struct Link {
    stream: Stream,
    received: Vec<u8>,
}

impl Link {
    async fn open(host: &Host, node: &str) -> io::Result<Link> {
        Ok(Link { stream: host.connect(node, PORT).await?, received: Vec::with_capacity(256) })
    }

    async fn call(&mut self, args: &[&[u8]]) -> io::Result<Reply> {
        let mut out = Vec::new();
        resp::request(&mut out, args);
        self.stream.write_all(&out).await?;
        loop {
            if let Some((reply, len)) = Reply::decode(&self.received).map_err(io::Error::other)? {
                self.received.drain(..len);
                return Ok(reply);
            }
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
        }
    }
}
