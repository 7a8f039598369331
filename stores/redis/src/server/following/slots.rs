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
        self.slot_tasks.current = Some(SlotTask::new(id.clone(), slots, source, me, now_ms));
        Ok(id)
    }

    /// True if a task is to be begun, or one was ended that the node works on.
    pub(crate) fn wakes_import(&mut self) -> bool {
        let is_new = self.slot_tasks.current.as_ref().is_some_and(|task| task.state == SlotState::New);
        is_new | std::mem::take(&mut self.slot_tasks.was_given_up)
    }

    /// True while the node works on the task of this name.
    pub(crate) fn imports(&self, id: &str) -> bool {
        let task = self.slot_tasks.current.as_ref();
        task.is_some_and(|task| task.id == id && SlotState::CONNECTED.contains(&task.state))
    }

    /// Has a task begin anew that has failed.
    pub(crate) fn retry_import(&mut self, id: &str) {
        if let Some(task) = self.slot_tasks.current_in(&[SlotState::Failed]).filter(|task| task.id == id) {
            (task.state, task.retries) = (SlotState::New, task.retries + 1);
        }
    }

    /// Begins the task, if there is one.
    pub(crate) fn begin_import(&mut self, now: WallTime) -> (Begun, Effects) {
        self.at(now);
        let begun = self.begin_task();
        let effects = std::mem::take(&mut self.store.effects);
        self.propagate(&effects);
        (begun, effects)
    }

    fn begin_task(&mut self) -> Begun {
        let now_ms = self.store.now_ms();
        let Some(task) = self.slot_tasks.current_in(&[SlotState::New]).cloned() else {
            return Begun::Nothing;
        };
        if self.paused().is_some() {
            return Begun::Later;
        }
        let source = self.source_of(&task.slots);
        let Some(cluster) = self.cluster.as_deref() else { return Begun::Nothing };
        let place =
            source.as_ref().ok().and_then(|source| cluster.peers.get(source)).map(|peer| peer.place.clone());
        match (source, place) {
            (Ok(source), Some(place)) if source != cluster.me => {
                // What an earlier attempt has left here would be in the way.
                self.drop_imported(&task);
                if let Some(task) = self.slot_tasks.current.as_mut() {
                    (task.state, task.source, task.started_ms) = (SlotState::Connecting, source, now_ms);
                }
                Begun::Importing(Importing { id: task.id, slots: task.slots, source: place })
            }
            (source, _) => {
                let why = source.err().unwrap_or_else(|| "slots owned by myself now".to_owned());
                self.slots_failed(&format!("Cancelled due to {why}"));
                self.slot_tasks.end(SlotState::Canceled, now_ms);
                Begun::Nothing
            }
        }
    }

    /// A command of the source of this task: a key, a change, or a word about how far it is.
    pub(crate) fn import_one(&mut self, now: WallTime, id: &str, args: &[&[u8]]) -> (Imported, Effects) {
        self.at(now);
        if !self.imports(id) {
            return (Imported::Over, Effects::default());
        }
        let is = |at: usize, word: &[u8]| args.get(at).is_some_and(|arg| arg.eq_ignore_ascii_case(word));
        let mut imported = Imported::More;
        if is(1, b"SYNCSLOTS") && is(2, b"SNAPSHOT-EOF") {
            if let Some(task) = self.slot_tasks.current_in(&[SlotState::Accumulates]) {
                task.state = SlotState::WaitsForEnd;
                imported = Imported::All;
            }
        } else if is(1, b"SYNCSLOTS") && is(2, b"STREAM-EOF") {
            self.take_slots();
            imported = Imported::Over;
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
    pub(crate) fn import_is_fed(&mut self, id: &str) {
        let task = self.slot_tasks.current_in(&[SlotState::Connecting]);
        if let Some(task) = task.filter(|task| task.id == id) {
            task.state = SlotState::Accumulates;
        }
    }

    /// True while keys of other nodes' slots are here that are not to be touched.
    pub(crate) fn is_importing(&self) -> bool {
        let task = self.slot_tasks.current.as_ref();
        task.is_some_and(|task| matches!(task.state, SlotState::Accumulates | SlotState::WaitsForEnd))
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
    pub(crate) fn import_failed(&mut self, now: WallTime, id: &str, why: &str) -> Effects {
        self.at(now);
        if let Some(task) = self.slot_tasks.current.clone().filter(|_| self.imports(id)) {
            self.slots_failed(why);
            self.drop_imported(&task);
        }
        let effects = std::mem::take(&mut self.store.effects);
        self.propagate(&effects);
        effects
    }

    /// Deletes the keys of the slots of a task that are not this node's.
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

/// What there is to import.
pub(crate) enum Begun {
    Importing(Importing),
    /// Something, but not while nobody may write here.
    Later,
    Nothing,
}

/// How far an import is after a command of the source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Imported {
    /// There is more to come.
    More,
    /// All keys are here.
    All,
    /// The slots are this node's, or they are not imported any more.
    Over,
}
