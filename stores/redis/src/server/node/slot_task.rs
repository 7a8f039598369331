//! Tasks of atomic slot migration: slots that move with all their keys at once (Redis 8.4 `cluster_asm.c`).

use super::ids::SessionId;
use crate::server::cluster::NodeId;

/// First and last slots of ranges.
pub(crate) type SlotRanges = Vec<(u16, u16)>;

/// One task, as one of the two nodes has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SlotTask {
    /// Its name: 40 hexadecimal digits.
    pub(crate) id: String,
    pub(crate) slots: SlotRanges,
    /// The node that has the slots, and the one that gets them.
    pub(crate) source: NodeId,
    pub(crate) dest: NodeId,
    pub(crate) state: SlotState,
    /// Why it failed last.
    pub(crate) error: String,
    /// How often it was begun anew.
    pub(crate) retries: i64,
    /// When it was made, begun and ended, in milliseconds of the wall clock; -1 if it was not.
    pub(crate) created_ms: i64,
    pub(crate) started_ms: i64,
    pub(crate) ended_ms: i64,
    /// Since when the source lets nobody write.
    pub(crate) paused_ms: Option<i64>,
    /// On the source: the connection over which the other node gets keys and changes.
    pub(crate) session: Option<SessionId>,
}

/// How far a task is. Redis has more states, for steps that take no time here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SlotState {
    /// It has not begun.
    New,
    /// The destination connects.
    Connecting,
    /// The destination gets the keys.
    Accumulates,
    /// The destination gets what is changed meanwhile.
    WaitsForEnd,
    /// The source sends keys and changes.
    Sends,
    /// The source lets nobody write, has sent all, and waits for the destination to take the slots.
    HandedOff,
    Completed,
    Failed,
    Canceled,
}

impl SlotState {
    /// The states of a task that fails when its connection breaks.
    pub(crate) const CONNECTED: [SlotState; 4] =
        [SlotState::Connecting, SlotState::Accumulates, SlotState::WaitsForEnd, SlotState::Sends];

    /// Its name in CLUSTER MIGRATION STATUS.
    pub(crate) fn name(self) -> &'static str {
        match self {
            SlotState::New => "none",
            SlotState::Connecting => "connecting",
            SlotState::Accumulates => "accumulate-buffer",
            SlotState::WaitsForEnd => "wait-stream-eof",
            SlotState::Sends => "send-bulk-and-stream",
            SlotState::HandedOff => "stream-eof",
            SlotState::Completed => "completed",
            SlotState::Failed => "failed",
            SlotState::Canceled => "canceled",
        }
    }
}

impl SlotTask {
    /// A task that has not begun.
    pub(crate) fn new(id: String, slots: SlotRanges, source: NodeId, dest: NodeId, now_ms: i64) -> SlotTask {
        SlotTask {
            id,
            slots,
            source,
            dest,
            state: SlotState::New,
            error: String::new(),
            retries: 0,
            created_ms: now_ms,
            started_ms: -1,
            ended_ms: -1,
            paused_ms: None,
            session: None,
        }
    }

    /// True if one of its ranges has this slot.
    pub(crate) fn has(&self, slot: u16) -> bool {
        self.slots.iter().any(|(first, last)| (*first..=*last).contains(&slot))
    }

    /// Its ranges as a text.
    pub(crate) fn ranges(&self) -> String {
        let ranges: Vec<String> = self.slots.iter().map(|(first, last)| format!("{first}-{last}")).collect();
        ranges.join(" ")
    }

    /// Its slots in order.
    pub(crate) fn each_slot(&self) -> impl Iterator<Item = u16> {
        self.slots.clone().into_iter().flat_map(|(first, last)| first..=last)
    }
}

/// The tasks of a node: one at a time.
#[derive(Clone, Debug, Default)]
pub(crate) struct SlotTasks {
    /// The task at hand.
    pub(crate) current: Option<SlotTask>,
    /// Those that have ended, the last one first.
    pub(crate) ended: Vec<SlotTask>,
    /// True if a task was ended from outside since this was last asked.
    pub(crate) was_given_up: bool,
}

impl SlotTasks {
    /// The task at hand in one of these states.
    pub(crate) fn current_in(&mut self, states: &[SlotState]) -> Option<&mut SlotTask> {
        self.current.as_mut().filter(|task| states.contains(&task.state))
    }

    /// Puts the task at hand among those that have ended.
    pub(crate) fn end(&mut self, state: SlotState, now_ms: i64) {
        if let Some(task) = self.current.take() {
            self.ended.insert(0, SlotTask { state, ended_ms: now_ms, session: None, ..task });
            self.ended.truncate(ENDED_MAX);
        }
    }
}

/// How many tasks that have ended are kept (`cluster-slot-migration-max-archived-tasks`).
const ENDED_MAX: usize = 32;
