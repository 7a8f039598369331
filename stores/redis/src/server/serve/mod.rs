//! Puts a node on a host: connections, the active expiry cycle, the effects on disk and on replicas.
//!
//! All tasks of a node share it behind one lock, which is never held across an await: like Redis, a node does one
//! thing at a time. Commands that arrive in one segment are executed in order and answered in one write. What a command
//! of one connection makes the node send to another goes into that one's outbox.

mod actions;
mod bus;
mod caller;
mod connection;
mod follow;
mod import;
mod migration;
mod move_slot;
mod server;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

use crate::server::setup::{ServerRole, Setup};
use picklock_model::seed::Seed;
use picklock_model::time::Monotonic;
use picklock_sim::host::Origin;

pub(crate) use self::actions::{ACTIONS, CLUSTER_ACTIONS};
use self::server::Server;
use crate::server::journal::Journal;
use crate::server::node::{Mover, Node, PORT, Watch};

/// How often a node looks for dead keys and passed deadlines while there are any: Redis's `hz 10`.
const TICK: Duration = Duration::from_millis(100);

/// Runs the node of this setup until its host stops.
pub(crate) async fn serve(setup: Setup) {
    let primary = match &setup.role {
        ServerRole::Store | ServerRole::Sentinel { .. } => None,
        ServerRole::Replica { primary } => Some(primary.clone()),
    };
    let journal = Journal::open(&setup.host, setup.persistence, setup.announce.is_none());
    let primary = journal.kept_role().unwrap_or(primary);
    let cluster = setup.cluster.as_ref().and_then(|cluster| bus::open(&setup, cluster));
    let primary = cluster.as_ref().map_or(primary, bus::primary);
    let restored = journal.restore(setup.own.version, setup.host.wall(), primary.is_none());
    for event in restored.events {
        setup.host.record(Origin::default(), event);
    }
    let mut node = Node::new(restored.store, primary);
    node.store.version = setup.own.version;
    let seed = setup.host.rng().below(u64::MAX);
    node.replication.rename(Seed(seed ^ setup.own.salt.unwrap_or_default()));
    // Whoever serves to clients outside wants to see other choices under another seed.
    if let Some((host, port)) = setup.announce {
        node.store.seed_choices(seed);
        node.config.run_id = node.replication.new_name().to_string();
        let own_host = setup.host.clone();
        node.config.mover = Some(Mover(Arc::new(move |port| own_host.move_door(PORT, port).is_ok())));
        node.config.watch = Some(watch(Arc::clone(&setup.own.ending)));
        node.config.port = port;
        node.replication.settings.announced_address = host.into_bytes();
        node.replication.settings.announced_port = port;
    }
    if !setup.own.password.is_empty() {
        node.configure("requirepass", setup.own.password.clone());
        node.configure("masterauth", setup.own.password);
    }
    node.require_replicas(setup.min_replicas);
    node.join(cluster);
    node.restore_stream(restored.stream);
    journal.replace(&node);
    let in_cluster = node.cluster.is_some();
    let (server, dials) = Server::new(setup.host, journal, node);
    let server = Arc::new(server);
    if in_cluster {
        server.host.spawn(bus::dial(Arc::clone(&server), dials));
        server.host.spawn(bus::listen(Arc::clone(&server)));
        server.host.spawn(bus::beat(Arc::clone(&server)));
        server.host.spawn(import::imports(Arc::clone(&server)));
    }
    server.host.spawn(tick(Arc::clone(&server)));
    server.host.spawn(follow::follow(Arc::clone(&server)));
    server.host.spawn(follow::cron(Arc::clone(&server)));
    // The port is free: a host runs one node, and this is its start.
    let Ok(listener) = server.host.bind(PORT).await else { return };
    loop {
        tokio::select! {
            biased;
            accepted = listener.accept() => {
                let Ok((stream, peer)) = accepted else { return };
                server.host.spawn(connection::serve(Arc::clone(&server), stream, peer));
            }
            () = server.down.notified() => return server.shared().close_all(),
            action = server.host.next_action() => Server::apply(&server, action),
        }
    }
}

/// How often a script is looked at, at the least, before it counts as one that does not end: one that has few steps left ends by itself,
/// however slow the machine is at the moment.
const LOOKS: u32 = 20;

/// Watches scripts by the clock of the machine, which is that of those who wait for them.
#[expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "real clients wait in real time; no run of a scenario is served"
)]
fn watch(ending: Arc<AtomicBool>) -> Watch {
    Watch(Arc::new(move |most| {
        let (began, ending) = (std::time::Instant::now(), Arc::clone(&ending));
        let looks = AtomicU32::new(0);
        Box::new(move || {
            let enough = looks.fetch_add(1, Ordering::Relaxed) >= LOOKS;
            ending.load(Ordering::Relaxed) || enough && began.elapsed() >= most
        })
    }))
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
