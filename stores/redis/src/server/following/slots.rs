//! Atomic slot migration, at the destination: it gets keys and changes of slots as a replica does, and then takes the slots without
//! asking anybody (Redis 8.4 `cluster_asm.c`). The source's part is in [`replication`](crate::server::replication).

use picklock_model::time::WallTime;
use picklock_model::trace::What;

use crate::protocol::resp::Reply;
use crate::server::cluster::Place;
use crate::server::execution::TABLE;
use crate::server::node::{Node, SlotRanges, SlotState, SlotTask};
use crate::server::replication::refused;
use crate::server::store::{Access, Effects};

/// Something that the destination needs to import slots.
pub(crate) struct Importing {
    pub(crate) id: String,
    pub(crate) slots: SlotRanges,
    /// Where the node is that has them.
    pub(crate) source: Place,
}

impl Node {
    /// Makes a task that imports slots; its name.
    ///
    /// # Errors
    /// The reply to give when they cannot be imported.
    pub(crate) fn import_slots(&mut self, slots: SlotRanges) -> Result<String, Reply> {
        let now_ms = self.store.now_ms();
        let source = self.source_of(&slots).map_err(|text| refused(&text))?;
        let me = self.cluster.as_ref().map_or(source, |cluster| cluster.me);
        if source == me {
            return Err(Reply::error("ERR this node is already the owner of the slot range"));
        }
        match self.slot_tasks.current.as_ref().map(|task| task.state) {
            None => {}
            Some(SlotState::Failed) => self.slot_tasks.end(SlotState::Canceled, now_ms),
            Some(_) => return Err(Reply::error("ERR another ASM task is already in progress")),
        }
        let id = self.replication.new_name().to_string();
        self.slot_tasks.current = Some(SlotTask {
            id: id.clone(),
            slots,
            source,
            dest: me,
            state: SlotState::New,
            error: String::new(),
            retries: 0,
            created_ms: now_ms,
            started_ms: -1,
            ended_ms: -1,
            paused_ms: None,
            session: None,
        });
        Ok(id)
    }

    /// True if a task is to be begun.
    pub(crate) fn wants_import(&self) -> bool {
        let task = self.slot_tasks.current.as_ref();
        task.is_some_and(|task| task.state == SlotState::New)
    }

    /// True if there is a task that has failed, and is to be begun anew.
    pub(crate) fn retries_import(&mut self) -> bool {
        let Some(task) =
            self.slot_tasks.current_in(&[SlotState::Failed]).filter(|task| task.session.is_none())
        else {
            return false;
        };
        (task.state, task.retries) = (SlotState::New, task.retries + 1);
        true
    }

    /// Begins the task; none if there is nothing to import any more.
    pub(crate) fn begin_import(&mut self, now: WallTime) -> Option<Importing> {
        self.at(now);
        let now_ms = self.store.now_ms();
        let slots = self.slot_tasks.current_in(&[SlotState::New])?.slots.clone();
        let source = self.source_of(&slots);
        let cluster = self.cluster.as_deref()?;
        let place =
            source.as_ref().ok().and_then(|source| cluster.peers.get(source)).map(|peer| peer.place.clone());
        let task = self.slot_tasks.current.as_mut()?;
        match (source, place) {
            (Ok(source), Some(place)) if source != cluster.me => {
                (task.state, task.source, task.started_ms) = (SlotState::Connecting, source, now_ms);
                Some(Importing { id: task.id.clone(), slots, source: place })
            }
            (source, _) => {
                let why = source.err().unwrap_or_else(|| "slots owned by myself now".to_owned());
                task.error = format!("Cancelled due to {why}");
                self.slot_tasks.end(SlotState::Canceled, now_ms);
                None
            }
        }
    }

    /// A command of the source: a key, a change, or a word about how far it is. True once the slots are this node's.
    pub(crate) fn import_one(&mut self, now: WallTime, args: &[&[u8]]) -> (Imported, Effects) {
        self.at(now);
        let is = |at: usize, word: &[u8]| args.get(at).is_some_and(|arg| arg.eq_ignore_ascii_case(word));
        let mut imported = Imported::More;
        if is(1, b"SYNCSLOTS") && is(2, b"SNAPSHOT-EOF") {
            if let Some(task) = self.slot_tasks.current_in(&[SlotState::Accumulates]) {
                task.state = SlotState::WaitsForEnd;
                imported = Imported::All;
            }
        } else if is(1, b"SYNCSLOTS") && is(2, b"STREAM-EOF") {
            self.take_slots();
            imported = Imported::Taken;
        } else if let Some(command) = TABLE.named(args) {
            self.store.selected = 0;
            self.store.access = Access::Stream;
            command.apply(&mut self.store, args);
            self.digest_changes();
        }
        let effects = std::mem::take(&mut self.store.effects);
        self.propagate(&effects);
        (imported, effects)
    }

    /// The source answers: it sends keys now.
    pub(crate) fn import_is_fed(&mut self) {
        if let Some(task) = self.slot_tasks.current_in(&[SlotState::Connecting]) {
            task.state = SlotState::Accumulates;
        }
    }

    /// Takes the slots, whatever the others think by now.
    fn take_slots(&mut self) {
        let now_ms = self.store.now_ms();
        let Some(task) = self.slot_tasks.current_in(&[SlotState::WaitsForEnd]).cloned() else { return };
        if let Some(cluster) = self.cluster.as_deref_mut() {
            cluster.take_slots(task.each_slot());
        }
        self.slot_tasks.end(SlotState::Completed, now_ms);
        let text = format!("Taking over slots {}", task.ranges());
        self.store.effects.events.push(What::Noticed { text });
        self.settle_cluster();
    }

    /// An import has failed: what it has brought so far is deleted.
    pub(crate) fn import_failed(&mut self, now: WallTime, why: &str) -> Effects {
        self.at(now);
        if let Some(task) = self.slot_tasks.current_in(&SlotState::CONNECTED).cloned() {
            self.slots_failed(why);
            self.drop_imported(&task);
        }
        let effects = std::mem::take(&mut self.store.effects);
        self.propagate(&effects);
        effects
    }

    pub(crate) fn drop_imported(&mut self, task: &SlotTask) {
        let mine = |node: &Node, slot| {
            node.cluster.as_deref().is_some_and(|cluster| cluster.myself().slots.contains(slot))
        };
        for slot in task.each_slot() {
            if !mine(self, slot) {
                self.drop_keys(slot);
            }
        }
    }
}

/// How far an import is after a command of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Imported {
    /// There is more to come.
    More,
    /// All keys are here.
    All,
    /// The slots are this node's.
    Taken,
}
