//! A node on its host, as its tasks share it, with the ways to its disk and its connections.

use std::cell::RefMut;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_model::trace::What;
use picklock_sim::host::{AppliedAction, Host, Origin};
use picklock_sim::own_thread::OwnThread;
use tokio::sync::Notify;

use crate::protocol::resp::Request;
use crate::server::journal::Journal;
use crate::server::mailbox::Slot;
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
}

/// The state that the tasks of a node share.
pub(super) struct Shared {
    pub(super) node: Node,
    /// Where to put what goes to a connection besides its replies.
    pub(super) outboxes: BTreeMap<SessionId, Slot<Parcel>>,
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
    pub(super) fn new(host: Host, journal: Journal, node: Node) -> Server {
        let shared =
            Shared { node, outboxes: BTreeMap::new(), stalled_until: None, refusing: VecDeque::new() };
        Server {
            host,
            journal,
            shared: OwnThread::new(shared),
            ticks: Notify::new(),
            down: Notify::new(),
            role_changed: Notify::new(),
            fed: Notify::new(),
        }
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

    pub(super) fn needs_ticks(&self, node: &Node) -> bool {
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
            Next::Continue | Next::Close | Next::Blocked => {}
        }
        if !ticked && self.needs_ticks(&shared.node) {
            self.ticks.notify_one();
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
        for outbox in std::mem::take(&mut self.outboxes).into_values() {
            let parcel = Parcel { origin: Origin::default(), bytes: Arc::clone(&nothing), then: Then::Close };
            outbox.put(parcel);
        }
    }
}
