//! Puts the machine on a host: connections, timers, the log on disk, events.

use std::io;
use std::sync::Arc;

use picklock_model::time::Monotonic;
use picklock_model::trace::What;
use picklock_sim::host::{Host, Origin};
use picklock_sim::store::ServerContext;
use picklock_sim::stream::Stream;
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;

use crate::PORT;
use crate::server::actions::act;
use crate::server::config::Config;
use crate::server::guarded::Guarded;
use crate::server::journal::{Journal, Syncs};
use crate::server::keepalive::Line;
use crate::server::locks::SessionId;
use crate::server::machine::{Delivery, Machine, Now};
use crate::server::replication::{confirm, feed, follow};
use crate::server::settings::Commits;
use crate::server::shared::Server;

/// Runs a PostgreSQL server until its host stops.
pub async fn serve(context: ServerContext) {
    serve_configured(context, Config::default()).await;
}

/// The same, configured like this.
pub(crate) async fn serve_configured(context: ServerContext, config: Config) {
    let host = context.host;
    let journal = Journal::new(host.disk(), config.syncs);
    let server = Arc::new(begin(host, journal, &config));
    let timers = Arc::clone(&server);
    server.host.spawn(async move { timers.keep_time().await });
    server.host.spawn(act(Arc::clone(&server)));
    let writer = Arc::clone(&server);
    server.host.spawn(async move { writer.write_behind().await });
    if let Syncs::Later(delay) = config.syncs {
        let disk = Arc::clone(&server);
        server.host.spawn(async move { disk.sync_behind(delay).await });
    }
    if let Some(pair) = config.pair {
        match pair.primary.clone() {
            None => drop(server.host.spawn(confirm(Arc::clone(&server), pair))),
            Some(primary) if server.state().machine.replicated.in_recovery => {
                server.host.spawn(follow(Arc::clone(&server), primary));
            }
            // It was promoted, and nobody asks it whether it leads.
            Some(_) => {}
        }
    }
    // The port is free: a host runs one server, and this is its start.
    let Ok(listener) = server.host.bind(PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        server.host.spawn(connection(Arc::clone(&server), stream));
    }
}

/// A server with what its disk has.
fn begin(host: Host, mut journal: Journal, config: &Config) -> Server {
    let guarded = Guarded { leases: config.leases, ..Guarded::default() };
    let is_new = journal.begins();
    let mut machine = Machine::new(guarded, journal.records());
    let now = Now { wall: host.wall(), monotonic: host.monotonic() };
    for key in journal.locked() {
        if machine.keeps(key.as_str()) {
            // A lock that is a committed row survives.
            journal.note(&What::Created { key });
        } else if let Some(what) = machine.resume_lease(&key, now) {
            // So does a lease, unless it was over meanwhile.
            match what {
                What::Created { .. } => journal.note(&what),
                _ => host.record(Origin::default(), what),
            }
        } else {
            host.record(Origin::default(), What::Lost { key });
        }
    }
    machine.keepalive = config.keepalive;
    machine.commits = match config.commits {
        Commits::Off => Commits::Off,
        // Without a synchronous standby both are the same.
        _ => Commits::Everywhere,
    };
    if let Some(pair) = &config.pair {
        let follows = pair.primary.is_some() && !journal.was_promoted();
        machine.replicated.in_recovery = follows;
        machine.replicated.feeds = true;
        // Whoever was promoted has no standby.
        machine.replicated.synchronous = config.commits == Commits::Everywhere && pair.primary.is_none();
        machine.fence(pair.fenced.filter(|_| pair.primary.is_none()), is_new.then_some(now.monotonic));
    }
    if config.forgets() {
        journal.notes_registers = true;
        if !is_new {
            machine.report_registers(Origin::default());
            for key in journal.written().into_iter().filter(|key| !machine.has_register(key)) {
                host.record(Origin::default(), What::ResourceRestored { key, value: 0 });
            }
        }
    }
    // The log of a server with a standby is kept whole.
    match config.pair {
        Some(_) => journal.resume(),
        None => journal.begin(&machine.records()),
    }
    Server::new(host, machine, journal)
}

/// Serves one client until it goes. An error on its stream concerns nobody else.
async fn connection(server: Arc<Server>, stream: Stream) {
    let (outbox, parcels) = mpsc::unbounded_channel();
    let id = server.with(|machine, _| machine.connect());
    server.state().outboxes.insert(id, outbox);
    let _ = converse(&server, id, stream, parcels).await;
    server.state().outboxes.remove(&id);
    server.with(|machine, now| machine.disconnect(id, now));
}

async fn converse(
    server: &Server,
    id: SessionId,
    stream: Stream,
    mut parcels: mpsc::UnboundedReceiver<Delivery>,
) -> io::Result<()> {
    let (mut read, mut write) = stream.into_split();
    let (mut received, mut gone) = (Vec::new(), false);
    let mut line = Line::new(server.host.monotonic());
    loop {
        let (waits, check, keepalive, sent) = {
            let machine = &mut server.state().machine;
            (
                machine.is_waiting(id),
                machine.check_at(id, || server.host.monotonic()),
                machine.keepalive_of(id),
                machine.take_from_standby(id),
            )
        };
        if let Some(sent) = sent {
            // What it was answered so far comes first.
            while let Ok(parcel) = parcels.try_recv() {
                write.write_for(parcel.origin, &parcel.bytes).await?;
            }
            return feed(server, read, write, sent).await;
        }
        if !waits && line.is_dead {
            return Ok(());
        }
        if !waits && (gone || !received.is_empty()) {
            if received.is_empty() {
                return Ok(());
            }
            let origin = read.origin();
            server.with(|machine, now| machine.receive(id, origin, &received, now));
            received.clear();
            continue;
        }
        tokio::select! {
            biased;
            parcel = parcels.recv() => {
                let Some(parcel) = parcel else { return Ok(()) };
                if line.is_dead {
                    return Ok(());
                }
                if !parcel.bytes.is_empty() {
                    write.write_for(parcel.origin, &parcel.bytes).await?;
                    line.sent(&keepalive, server.host.monotonic(), &read);
                }
                if parcel.closes {
                    return Ok(());
                }
            }
            // A session that waits for a lock does not look at its socket, unless it is to check its client.
            len = read.read_buf(&mut received), if !gone && (!waits || check.is_some()) => {
                gone = len? == 0;
                line.heard(server.host.monotonic());
            }
            () = until(&server.host, line.due(&keepalive)), if !gone => {
                line.look(&keepalive, server.host.monotonic(), &read);
            }
            () = until(&server.host, check), if gone || line.is_dead => return Ok(()),
        }
    }
}

/// Sleeps until then; for ever without a time.
async fn until(host: &Host, at: Option<Monotonic>) {
    match at {
        Some(at) => host.sleep_until(at).await,
        None => std::future::pending().await,
    }
}
