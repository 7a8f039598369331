//! The work of a replica with the stream of its primary.
//!
//! A replica executes the stream as it comes and deletes nothing by itself; a transaction is executed when its end has
//! come. The bytes go on to its own replicas as they are, so that all of a tree count alike.

use picklock_model::time::WallTime;

use super::link::{Introduction, Link, LinkError, LinkEvent};
use crate::protocol::resp::{Request, Requests};
use crate::server::execution::{Command, TABLE};
use crate::server::node::{LinkState, Node, PORT};
use crate::server::snapshot::{self, StreamAt};
use crate::server::store::{Access, DATABASES, Effects, Store, database};
use crate::server::stream::ReplicationId;

impl Node {
    /// The place from which the primary is asked to continue: a history, and how much of it is here.
    fn resumes(&self) -> Option<(ReplicationId, u64)> {
        let upstream = self.replication.upstream.as_ref()?;
        let history = &self.replication.history;
        upstream.resumable.then(|| (history.id(), history.offset()))
    }

    /// Takes up the stream where the snapshot stands that the dataset was loaded from: a replica goes on from there, a
    /// primary's replicas may.
    pub(crate) fn restore_stream(&mut self, at: Option<StreamAt>) {
        let Some(StreamAt { db: Some(db), id, offset }) = at else { return };
        let Some(id) = ReplicationId::parse(&id) else { return };
        let selected = usize::try_from(db).ok().filter(|db| *db < DATABASES).unwrap_or(0);
        self.replication.history.restore(id, offset, self.replication.upstream.is_none());
        if let Some(upstream) = &mut self.replication.upstream {
            upstream.resumable = true;
            upstream.selected = selected;
        }
    }

    /// The link to the primary has come so far.
    pub(crate) fn link_is(&mut self, now: WallTime, state: LinkState) {
        self.store.now = now;
        let now_s = self.now_s();
        let Some(upstream) = &mut self.replication.upstream else { return };
        if upstream.link == LinkState::Up {
            upstream.down_since_s = Some(now_s);
        }
        upstream.link = state;
        upstream.heard_s = now_s;
        upstream.transaction = None;
        if state == LinkState::Transfer {
            // From here on, what is here and what the primary has are two histories.
            upstream.resumable = false;
        }
        self.link_to_target_is(state);
    }

    /// The facts that this node reports on a new link.
    pub(crate) fn introduction(&self) -> Introduction {
        let settings = &self.replication.settings;
        Introduction {
            user: settings.user.clone(),
            password: settings.password.clone(),
            port: if settings.announced_port == 0 { PORT } else { settings.announced_port },
            address: settings.announced_address.clone(),
            has: self.resumes(),
            hands_over: self.is_handing_over(),
        }
    }

    /// Does the next thing that the link to the primary says; `None` when all is done that has come so far.
    ///
    /// # Errors
    /// When the link is of no use any more.
    pub(crate) fn hear(&mut self, now: WallTime, link: &mut Link) -> Result<Option<Heard>, LinkError> {
        self.store.now = now;
        let was_transferring = link.is_transferring();
        let Some(event) = link.next()? else { return Ok(None) };
        let (mut acknowledged, mut resynced, mut transfers) = (None, false, false);
        let effects = match event {
            LinkEvent::Progress => {
                transfers = true;
                if link.is_asking() {
                    self.asks_to_take_over();
                } else if link.is_transferring() {
                    self.failed_over();
                }
                std::mem::take(&mut self.store.effects)
            }
            LinkEvent::Full { id, offset, copy, acknowledge } => {
                let copy = snapshot::load(&copy, Store::blank(self.store.version, now), false)
                    .map_err(|_| LinkError::Garbage)?;
                acknowledged = acknowledge.then_some(offset);
                resynced = true;
                self.resync(copy.store, id, offset)
            }
            LinkEvent::Continued { id } => {
                self.resume_stream(id);
                self.failed_over();
                std::mem::take(&mut self.store.effects)
            }
            LinkEvent::Command(request) => {
                let effects = self.apply(now, &request);
                acknowledged = self.take_requested_ack();
                effects
            }
        };
        if transfers && link.is_transferring() && !was_transferring {
            self.link_is(now, LinkState::Transfer);
        }
        if let Some(offset) = acknowledged {
            link.acknowledge(offset);
        }
        self.end_turn();
        Ok(Some(Heard { effects, resynced }))
    }

    /// Takes over the primary's full copy. This node's own replicas have to begin anew as well.
    fn resync(&mut self, copy: Store, id: ReplicationId, offset: u64) -> Effects {
        self.store.replace(copy);
        self.digest_changes();
        self.replication.history.adopt(id, offset);
        self.cut_replicas();
        self.linked(0);
        std::mem::take(&mut self.store.effects)
    }

    /// The primary goes on where the stream stopped, perhaps under a new name: this node's own replicas have to learn it.
    fn resume_stream(&mut self, id: Option<ReplicationId>) {
        if self.replication.history.resume(id) {
            self.cut_replicas();
        }
        let selected = self.replication.upstream.as_ref().map_or(0, |upstream| upstream.selected);
        self.linked(selected);
    }

    fn linked(&mut self, selected: usize) {
        if let Some(upstream) = &mut self.replication.upstream {
            upstream.link = LinkState::Up;
            upstream.resumable = true;
            upstream.selected = selected;
            upstream.down_since_s = None;
        }
    }

    /// Executes a command of the primary's stream.
    fn apply(&mut self, now: WallTime, request: &Request<'_>) -> Effects {
        self.store.now = now;
        let now_s = self.now_s();
        let Some(upstream) = &mut self.replication.upstream else { return Effects::default() };
        upstream.heard_s = now_s;
        let is = |name: &[u8]| request.args.first().is_some_and(|first| first.eq_ignore_ascii_case(name));
        if is(b"MULTI") && upstream.transaction.is_none() {
            upstream.transaction = Some(Vec::new());
        }
        match &mut upstream.transaction {
            None => {
                self.apply_one(&request.args);
                self.pass_on(request.raw);
            }
            Some(transaction) => {
                transaction.extend_from_slice(request.raw);
                if is(b"EXEC") {
                    let transaction = std::mem::take(transaction);
                    upstream.transaction = None;
                    let mut requests = Requests::default();
                    requests.room().extend_from_slice(&transaction);
                    while let Ok(Some(request)) = requests.take() {
                        self.apply_one(&request.args);
                    }
                    self.pass_on(&transaction);
                }
            }
        }
        std::mem::take(&mut self.store.effects)
    }

    fn apply_one(&mut self, args: &[&[u8]]) {
        let Some(upstream) = &mut self.replication.upstream else { return };
        let is = |at: usize, word: &[u8]| args.get(at).is_some_and(|arg| arg.eq_ignore_ascii_case(word));
        if is(0, b"SELECT") {
            let database = args.get(1).and_then(|digits| database(digits));
            upstream.selected = database.unwrap_or(upstream.selected);
        } else if is(0, b"REPLCONF") {
            if is(1, b"GETACK") {
                // The question itself does not count yet.
                upstream.requested_ack = Some(self.replication.history.offset());
            }
        } else {
            self.store.selected = upstream.selected;
            self.store.access = Access::Stream;
            match TABLE.named(args) {
                // Messages reach those who listen here as well.
                Some(Command { name: name @ ("publish" | "spublish"), .. }) => {
                    self.spread(args[1], args[2], *name == "spublish");
                }
                Some(command) => {
                    command.apply(&mut self.store, args);
                    self.digest_changes();
                }
                None => {}
            }
        }
    }

    /// Counts bytes of the stream that were executed, and sends them to this node's own replicas.
    fn pass_on(&mut self, bytes: &[u8]) {
        self.replication.history.append(bytes);
        self.feed_all(bytes);
    }

    /// The offset of this node, if the primary has asked for it since the last acknowledgement.
    fn take_requested_ack(&mut self) -> Option<u64> {
        self.replication.upstream.as_mut()?.requested_ack.take()
    }

    /// True if the primary has been silent for too long.
    pub(crate) fn misses_primary(&mut self, now: WallTime) -> bool {
        self.store.now = now;
        let (now_s, timeout_s) = (self.now_s(), self.replication.settings.timeout_s);
        self.replication.upstream.as_ref().is_some_and(|upstream| now_s - upstream.heard_s > timeout_s)
    }
}

/// The effects of something that the primary said.
#[derive(Debug, Default)]
pub(crate) struct Heard {
    pub(crate) effects: Effects,
    /// True if the whole dataset is another one now.
    pub(crate) resynced: bool,
}
