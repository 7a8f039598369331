//! Atomic slot migration, at the source: it feeds the node that gets slots as a replica, and then lets nobody write until they have their
//! new owner (Redis 8.4 `cluster_asm.c`). The destination's part is in [`following`](crate::server::following).
//!
//! Modelled from the sources, and compared with no real node. Left out on purpose: the second connection for the copy, tasks on replicas,
//! the limits of lag and of the time to drain, keys in slots of others that some commands hide.
//!
//! The source goes on after `cluster-slot-migration-write-pause-timeout` if the slots have no new owner by then. One that was only late
//! takes them all the same: what the source has written meanwhile is lost then.

use std::sync::Arc;

use picklock_model::trace::What;

use crate::protocol::resp::{self, Reply, Requests};
use crate::server::cluster::{NodeId, slot_of};
use crate::server::node::{Node, SessionId, SlotRanges, SlotState, SlotTask, Then};
use crate::server::rdb;
use crate::server::store::Effects;

/// `cluster-slot-migration-write-pause-timeout`.
const PAUSE_MAX_MS: i64 = 10_000;

impl Node {
    /// The one node that has all these slots.
    pub(crate) fn source_of(&self, slots: &SlotRanges) -> Result<NodeId, String> {
        let Some(cluster) = self.cluster.as_deref() else { return Err("no cluster".to_owned()) };
        if cluster.is_replica() {
            return Err("slot migration not allowed on replica.".to_owned());
        }
        if !cluster.importing.is_empty() || !cluster.migrating.is_empty() {
            return Err("all slot states must be STABLE to start a slot migration task.".to_owned());
        }
        let mut source = None;
        for slot in slots.iter().flat_map(|(first, last)| *first..=*last) {
            let owner = cluster.owner(slot).ok_or_else(|| format!("slot has no owner: {slot}"))?;
            if *source.get_or_insert(owner) != owner {
                return Err("slots belong to different source nodes".to_owned());
            }
        }
        source.ok_or_else(|| "slot has no owner".to_owned())
    }

    /// Feeds another node with slots of this one over a session: first the keys, then what is changed.
    ///
    /// # Errors
    /// The reply to give when that cannot be.
    pub(crate) fn export_slots(
        &mut self,
        session: SessionId,
        id: &[u8],
        slots: SlotRanges,
    ) -> Result<(), Reply> {
        let now_ms = self.store.now_ms();
        let source = self.source_of(&slots).map_err(|text| refused(&text))?;
        let peer = self.session(session).peer.clone();
        let Some(cluster) = self.cluster.as_deref() else { return Err(refused("no cluster")) };
        if source != cluster.me {
            return Err(Reply::error("ERR This node is not the owner of the slots"));
        }
        let dest = cluster.peers.iter().find(|(_, other)| other.place.host == peer && !other.is_replica);
        let dest = *dest.ok_or_else(|| refused("Destination node is not a master"))?.0;
        let id = String::from_utf8_lossy(id).into_owned();
        let again = self.slot_tasks.current_in(&[SlotState::Failed]).filter(|task| task.id == id);
        let retries = again.map_or(0, |task| task.retries + 1);
        match self.slot_tasks.current.as_ref().map(|task| task.state) {
            None => {}
            Some(SlotState::Failed) if retries > 0 => self.slot_tasks.current = None,
            Some(SlotState::Failed) => self.slot_tasks.end(SlotState::Canceled, now_ms),
            Some(_) => return Err(Reply::error("ERR Another ASM task is already in progress")),
        }
        let task = SlotTask {
            state: SlotState::Sends,
            retries,
            started_ms: now_ms,
            session: Some(session),
            ..SlotTask::new(id, slots, source, dest, now_ms)
        };
        let copy = self.copy_of(&task);
        self.slot_tasks.current = Some(task);
        self.send(session, &copy);
        Ok(())
    }

    /// No functions, and the keys of this node in the slots of a task, as commands, after the word that they follow.
    fn copy_of(&self, task: &SlotTask) -> Vec<u8> {
        let mut out = b"+RDBCHANNELSYNCSLOTS\r\n".to_vec();
        resp::request(&mut out, &[b"FUNCTION", b"RESTORE", &rdb::no_libraries(), b"REPLACE"]);
        for (database, key, entry) in self.store.all() {
            if database == 0 && task.has(slot_of(key)) {
                let ends = entry.expires.unwrap_or(0).to_string();
                let payload = rdb::dump(&entry.value);
                resp::request(&mut out, &[b"RESTORE", key, ends.as_bytes(), &payload, b"REPLACE", b"ABSTTL"]);
            }
        }
        resp::request(&mut out, &[b"CLUSTER", b"SYNCSLOTS", b"SNAPSHOT-EOF"]);
        out
    }

    /// Sends changes of keys in slots that another node gets.
    pub(super) fn feed_slots(&mut self, effects: &Effects) {
        let Some(task) = self.slot_tasks.current_in(&[SlotState::Sends]).cloned() else { return };
        let Some(session) = task.session else { return };
        let (mut start, mut out) = (0, Vec::new());
        for part in &effects.parts {
            let bytes = &effects.writes[start..part.end];
            start = part.end;
            let mut requests = Requests::default();
            requests.room().extend_from_slice(bytes);
            if let Ok(Some(request)) = requests.take()
                && self.keys_of(&request.args).first().is_some_and(|key| task.has(slot_of(key)))
            {
                out.extend_from_slice(bytes);
            }
        }
        if !out.is_empty() {
            self.send(session, &out);
        }
    }

    /// The destination has all that it was sent: from now on nobody writes, until the slots are its own.
    pub(crate) fn hand_off(&mut self, session: SessionId) {
        let now_ms = self.store.now_ms();
        let Some(task) = self.slot_tasks.current_in(&[SlotState::Sends]) else { return };
        if task.session != Some(session) {
            return;
        }
        (task.state, task.paused_ms, task.session) = (SlotState::HandedOff, Some(now_ms), None);
        let text = format!("Pausing writes for slot handoff, slots {}", task.ranges());
        let mut out = Vec::new();
        resp::request(&mut out, &[b"CLUSTER", b"SYNCSLOTS", b"STREAM-EOF"]);
        self.send(session, &out);
        self.store.effects.events.push(What::Noticed { text });
    }

    /// Looks whether slots that were handed over have their new owner, or have had none for too long.
    pub(super) fn tend_slots(&mut self) {
        let now_ms = self.store.now_ms();
        let Some(task) = self.slot_tasks.current_in(&[SlotState::HandedOff, SlotState::Sends]).cloned()
        else {
            return;
        };
        let Some(cluster) = self.cluster.as_deref() else { return };
        let is_mine = task.each_slot().all(|slot| cluster.myself().slots.contains(slot));
        let waited = now_ms - task.paused_ms.unwrap_or(now_ms);
        if !is_mine {
            let is_theirs = cluster
                .peers
                .get(&task.dest)
                .is_some_and(|dest| task.each_slot().all(|slot| dest.slots.contains(slot)));
            let state = if task.paused_ms.is_some() && is_theirs {
                SlotState::Completed
            } else {
                SlotState::Canceled
            };
            self.close_feed();
            self.slot_tasks.end(state, now_ms);
        } else if waited >= PAUSE_MAX_MS {
            self.slots_failed(&format!(
                "Write pause timeout during slot handoff: destination did not take ownership within {PAUSE_MAX_MS} ms."
            ));
        } else {
            return;
        }
        self.go_on_writing();
    }

    /// The connection of the task has broken: over this session, on the source.
    pub(crate) fn slots_lost(&mut self, session: SessionId) {
        let current = self.slot_tasks.current_in(&SlotState::CONNECTED);
        if current.is_some_and(|task| task.session == Some(session)) {
            self.slots_failed("Main channel - Connection is closed");
        }
    }

    pub(crate) fn slots_failed(&mut self, why: &str) {
        if let Some(task) = self.slot_tasks.current.as_mut() {
            let text = format!("Slot migration failed: slots {}, {why}", task.ranges());
            self.store.effects.events.push(What::Noticed { text });
            task.error = format!("{why} (state: {}, rdb_channel_state: none)", task.state.name());
            (task.state, task.paused_ms) = (SlotState::Failed, None);
        }
        self.close_feed();
    }

    /// Closes the connection over which another node was fed.
    fn close_feed(&mut self) {
        let session = self.slot_tasks.current.as_mut().and_then(|task| task.session.take());
        if let Some(session) = session {
            self.deliver(session, Arc::default(), Then::Close);
        }
    }

    /// True for the connection over which another node is fed with slots: no pause concerns it.
    pub(crate) fn is_fed_with_slots(&self, session: SessionId) -> bool {
        self.slot_tasks.current.as_ref().is_some_and(|task| task.session == Some(session))
    }

    /// The node is no primary any more: it has nothing to move.
    pub(super) fn give_up_slots(&mut self) {
        let now_ms = self.store.now_ms();
        if self.slot_tasks.current.is_some() {
            self.slots_failed("Cancelled due to the loss of the role of a primary");
            self.slot_tasks.was_given_up = true;
            self.slot_tasks.end(SlotState::Canceled, now_ms);
            self.go_on_writing();
        }
    }

    /// Ends the task at hand, if it has this name or none is said; how many were ended.
    pub(crate) fn cancel_slots(&mut self, id: Option<&[u8]>) -> usize {
        let now_ms = self.store.now_ms();
        let Some(task) = self.slot_tasks.current.clone() else { return 0 };
        if id.is_some_and(|id| id != task.id.as_bytes()) {
            return 0;
        }
        self.slots_failed("Cancelled due to user request");
        self.slot_tasks.was_given_up = true;
        self.slot_tasks.end(SlotState::Canceled, now_ms);
        if self.cluster.as_deref().is_some_and(|cluster| cluster.me == task.dest) {
            self.drop_imported(&task);
        }
        self.go_on_writing();
        1
    }
}

/// An error reply of this text.
pub(crate) fn refused(text: &str) -> Reply {
    Reply::Error(format!("ERR {text}").into())
}
