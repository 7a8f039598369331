//! Puts the machine on a host: connections, timers, the log on disk, events.
//!
//! All tasks share the machine behind one lock, which is never held across an await.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

use picklock_model::time::Monotonic;
use picklock_model::trace::What;
use picklock_sim::host::{Host, Origin};
use picklock_sim::store::ServerContext;
use picklock_sim::stream::Stream;
use tokio::io::AsyncReadExt as _;
use tokio::sync::{Notify, mpsc};

use crate::PORT;
use crate::server::guarded::Guarded;
use crate::server::journal::Journal;
use crate::server::keepalive::{Keepalive, Line};
use crate::server::locks::SessionId;
use crate::server::machine::{Delivery, Machine, Now};

/// Runs a PostgreSQL server until its host stops.
pub async fn serve(context: ServerContext) {
    serve_configured(context, Keepalive::default(), false).await;
}

/// The same, configured to look for silent clients like this. With `leases` its clock ends those of rows.
pub(crate) async fn serve_configured(context: ServerContext, keepalive: Keepalive, leases: bool) {
    let host = context.host;
    let mut journal = Journal::new(host.disk());
    let mut machine = Machine::new(Guarded { leases, ..Guarded::default() }, journal.records());
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
    machine.keepalive = keepalive;
    journal.begin(&machine.records());
    let shared = Shared { machine, journal, outboxes: BTreeMap::new(), deadline: None };
    let server = Arc::new(Server { host, shared: Mutex::new(shared), deadline_moved: Notify::new() });
    server.host.spawn(timers(Arc::clone(&server)));
    // The port is free: a host runs one server, and this is its start.
    let Ok(listener) = server.host.bind(PORT).await else { return };
    while let Ok((stream, _)) = listener.accept().await {
        server.host.spawn(connection(Arc::clone(&server), stream));
    }
}

struct Server {
    host: Host,
    shared: Mutex<Shared>,
    /// Notified when the machine's deadline is another one.
    deadline_moved: Notify,
}

/// The state that the tasks of a server share.
struct Shared {
    machine: Machine,
    journal: Journal,
    outboxes: BTreeMap<SessionId, mpsc::UnboundedSender<Delivery>>,
    deadline: Option<Monotonic>,
}

impl Server {
    fn shared(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().expect("nothing panics while it holds the machine")
    }

    /// Has the machine do something, and makes known what came of it.
    fn with<T>(&self, act: impl FnOnce(&mut Machine, Now) -> T) -> T {
        let now = Now { wall: self.host.wall(), monotonic: self.host.monotonic() };
        let mut shared = self.shared();
        let Shared { machine, journal, outboxes, deadline } = &mut *shared;
        let result = act(machine, now);
        let effects = machine.take_effects();
        journal.append(&effects.log);
        for (origin, event) in effects.events {
            journal.note(&event);
            self.host.record(origin, event);
        }
        for delivery in effects.deliveries {
            if let Some(outbox) = outboxes.get(&delivery.session) {
                // Who has just gone gets nothing.
                let _ = outbox.send(delivery);
            }
        }
        if *deadline != machine.deadline() {
            *deadline = machine.deadline();
            self.deadline_moved.notify_one();
        }
        result
    }
}

/// Wakes the machine when something is due.
async fn timers(server: Arc<Server>) {
    loop {
        let deadline = server.shared().deadline;
        let Some(deadline) = deadline else {
            server.deadline_moved.notified().await;
            continue;
        };
        tokio::select! {
            biased;
            () = server.deadline_moved.notified() => {}
            () = server.host.sleep_until(deadline) => server.with(|machine, now| machine.tick(now)),
        }
    }
}

/// Serves one client until it goes. An error on its stream concerns nobody else.
async fn connection(server: Arc<Server>, stream: Stream) {
    let (outbox, parcels) = mpsc::unbounded_channel();
    let id = server.with(|machine, _| machine.connect());
    server.shared().outboxes.insert(id, outbox);
    let _ = converse(&server, id, stream, parcels).await;
    server.shared().outboxes.remove(&id);
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
        let (waits, check, keepalive) = {
            let machine = &server.shared().machine;
            (
                machine.is_waiting(id),
                machine.check_at(id, || server.host.monotonic()),
                machine.keepalive_of(id),
            )
        };
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
                if !parcel.bytes.is_empty() {
                    write.write_for(parcel.origin, &parcel.bytes).await?;
                    // It is acknowledged, or the connection breaks.
                    line.heard(server.host.monotonic());
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
            () = server.host.sleep_until(line.due(&keepalive)), if !gone && (!waits || check.is_some()) => {
                if !line.look(&keepalive, server.host.monotonic(), &read) {
                    return Ok(());
                }
            }
            () = until(&server.host, check), if gone => return Ok(()),
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
