//! A node on its host, as its tasks share it, with the ways to its disk and its connections.

use std::cell::RefMut;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_model::trace::What;
use picklock_sim::host::{AppliedAction, Host, Origin};
use picklock_sim::mailbox::{Mailbox, Slot, mailbox};
use picklock_sim::own_thread::OwnThread;
use tokio::sync::Notify;

use crate::protocol::resp::Request;
use crate::server::cluster::{Act, BusLink};
use crate::server::journal::Journal;
use crate::server::node::{Next, Node, Save, SessionId, Then};
use crate::server::store::Effects;

/// A node on its host.
pub(super) struct Server {
    pub(super) host: Host,
    pub(super) journal: Journal,
    shared: OwnThread<Shared>,
    /// Notified when the node has something to look at every so often.
    pub(super) ticks: Notify,
    /// Notified when the node is to stop.
    pub(super) down: Notify,
    /// Notified when the node has a new role or a new primary.
    pub(super) role_changed: Notify,
    /// Notified when a replica has come.
    pub(super) fed: Notify,
    /// Notified when slots are to be imported.
    pub(super) imports: Notify,
    /// Notified when the node goes on that did nothing at all.
    goes_on: Notify,
    /// The links of the cluster bus that are to be made.
    dials: Slot<Dial>,
}

/// A link of the cluster bus that is to be made.
pub(super) struct Dial {
    pub(super) link: BusLink,
    pub(super) host: String,
    /// What is to be sent over it.
    pub(super) bytes: Mailbox<Vec<u8>>,
}

/// The state that the tasks of a node share.
pub(super) struct Shared {
    pub(super) node: Node,
    /// Where to put what goes to a connection besides its replies.
    pub(super) outboxes: BTreeMap<SessionId, Slot<Parcel>>,
    /// Where to put what goes over a link of the cluster bus.
    pub(super) links: BTreeMap<BusLink, Slot<Vec<u8>>>,
    /// Until when the node does nothing at all: DEBUG SLEEP, or a script that takes too long.
    pub(super) stalled_until: Option<Monotonic>,
    /// Actions that have the next commands refused: how often each still has to.
    pub(super) refusing: VecDeque<AppliedAction>,
}

/// The bytes for a connection besides its replies, and the message that the command that had them came with.
#[derive(Clone)]
pub(super) struct Parcel {
    pub(super) origin: Origin,
    pub(super) bytes: Arc<[u8]>,
    pub(super) then: Then,
}

impl Server {
    /// A server, and where it puts the links that are to be made.
    pub(super) fn new(host: Host, journal: Journal, node: Node) -> (Server, Mailbox<Dial>) {
        let shared = Shared {
            node,
            outboxes: BTreeMap::new(),
            links: BTreeMap::new(),
            stalled_until: None,
            refusing: VecDeque::new(),
        };
        let (dials, to_dial) = mailbox();
        let server = Server {
            host,
            journal,
            shared: OwnThread::new(shared),
            ticks: Notify::new(),
            down: Notify::new(),
            role_changed: Notify::new(),
            fed: Notify::new(),
            imports: Notify::new(),
            goes_on: Notify::new(),
            dials,
        };
        (server, to_dial)
    }

    pub(super) fn shared(&self) -> RefMut<'_, Shared> {
        self.shared.get()
    }

    /// Makes effects known: to the trace, to the disk, to the replicas; and sends what goes to other connections.
    pub(super) fn publish(&self, shared: &mut Shared, origin: Origin, mut effects: Effects) {
        for event in std::mem::take(&mut effects.events) {
            // Nobody asked for an expiry.
            let origin = if matches!(event, What::Expired { .. }) { Origin::default() } else { origin };
            self.host.record(origin, event);
        }
        self.look_for_refusals(shared);
        self.serve_bus(shared);
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

    /// Does what the node's part in a cluster wants done on the bus, and keeps what it knows.
    fn serve_bus(&self, shared: &mut Shared) {
        for act in std::mem::take(&mut shared.node.bus) {
            match act {
                Act::Connect { link, host } => {
                    let (slot, bytes) = mailbox();
                    shared.links.insert(link, slot);
                    self.dials.put(Dial { link, host, bytes });
                }
                Act::Send { link, bytes } => {
                    if let Some(slot) = shared.links.get(&link) {
                        slot.put(bytes);
                    }
                }
                Act::Close { link } => drop(shared.links.remove(&link)),
                _ => {}
            }
        }
        if let Some(cluster) = shared.node.cluster.as_deref_mut()
            && cluster.take_dirty()
        {
            self.journal.keep_nodes(&cluster.file());
        }
    }

    pub(super) fn needs_ticks(&self, node: &Node) -> bool {
        node.needs_ticks() || self.journal.needs_ticks()
    }

    /// Waits while the node does nothing at all.
    pub(super) async fn awake(&self) {
        loop {
            let until = self.shared().stalled_until;
            match until.filter(|until| *until > self.host.monotonic()) {
                Some(until) => tokio::select! {
                    biased;
                    () = self.goes_on.notified() => {}
                    () = self.host.sleep_until(until) => {}
                },
                None => return,
            }
        }
    }

    /// Goes on before the time at which that was planned.
    pub(super) fn go_on(&self) {
        self.shared().stalled_until = None;
        self.goes_on.notify_waiters();
    }

    /// Executes a client's command; none if the node does nothing at all.
    pub(super) fn execute(
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
        shared.node.query = request.raw.len() + request.behind;
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
            Next::Continue | Next::Close | Next::Blocked | Next::Migrate => {}
        }
        if !ticked && self.needs_ticks(&shared.node) {
            self.ticks.notify_one();
        }
        if shared.node.wakes_import() {
            self.imports.notify_one();
        }
        Some(outcome.next)
    }
}

impl Server {
    /// Ends the turn in which a client's commands were executed.
    pub(super) fn end_turn(&self, origin: Origin, id: SessionId, reply: &mut Vec<u8>) {
        let mut shared = self.shared();
        if shared.node.tracking.used {
            shared.node.end_turn_of(id, reply);
            self.publish(&mut shared, origin, Effects::default());
        }
    }
}

fn send(outboxes: &BTreeMap<SessionId, Slot<Parcel>>, to: SessionId, parcel: Parcel) {
    if let Some(outbox) = outboxes.get(&to) {
        outbox.put(parcel);
    }
}

impl Shared {
    /// Closes all connections.
    pub(super) fn close_all(&mut self) {
        let nothing: Arc<[u8]> = Arc::default();
        self.links.clear();
        for outbox in std::mem::take(&mut self.outboxes).into_values() {
            let parcel = Parcel { origin: Origin::default(), bytes: Arc::clone(&nothing), then: Then::Close };
            outbox.put(parcel);
        }
    }
}
