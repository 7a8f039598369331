//! Timers of the hosts' monotonic clocks. A change of a clock moves the true times of all timers that follow it.

use std::task::Waker;

use super::{Due, State};
use crate::base::ids::HostId;
use crate::base::time::Monotonic;

/// A registered timer, by slot; the generation tells a slot's present user from its former ones.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TimerKey {
    slot: u32,
    generation: u32,
}

#[derive(Default)]
pub(super) struct Timers {
    slots: Vec<Slot>,
    free: Vec<u32>,
}

struct Slot {
    host: HostId,
    deadline: Monotonic,
    generation: u32,
    /// Present while the timer is registered.
    waker: Option<Waker>,
}

impl State {
    /// Registers a timer that wakes at the first true time at which the host's monotonic clock shows `deadline`.
    pub(crate) fn set_timer(&mut self, host: HostId, deadline: Monotonic, waker: Waker) -> TimerKey {
        let slot = match self.timers.free.pop() {
            Some(slot) => slot,
            None => {
                self.timers.slots.push(Slot { host, deadline, generation: 0, waker: None });
                self.timers.slots.len() as u32 - 1
            }
        };
        let entry = &mut self.timers.slots[slot as usize];
        entry.host = host;
        entry.deadline = deadline;
        entry.generation += 1;
        entry.waker = Some(waker);
        let key = TimerKey { slot, generation: entry.generation };
        self.schedule_timer(slot);
        key
    }

    /// Lets a registered timer wake another task; false if it has fired.
    pub(crate) fn renew_timer(&mut self, key: TimerKey, waker: &Waker) -> bool {
        let entry = &mut self.timers.slots[key.slot as usize];
        if entry.generation != key.generation {
            return false;
        }
        match &mut entry.waker {
            Some(present) => present.clone_from(waker),
            None => return false,
        }
        true
    }

    /// Unregisters a timer; nothing happens if it has fired.
    pub(crate) fn clear_timer(&mut self, key: TimerKey) {
        let entry = &mut self.timers.slots[key.slot as usize];
        if entry.generation == key.generation && entry.waker.take().is_some() {
            entry.generation += 1;
            self.timers.free.push(key.slot);
        }
    }

    pub(super) fn timer_due(&mut self, slot: u32, generation: u32) {
        let entry = &mut self.timers.slots[slot as usize];
        if entry.generation != generation {
            return;
        }
        entry.generation += 1;
        if let Some(waker) = entry.waker.take() {
            self.timers.free.push(slot);
            waker.wake();
        }
    }

    /// Reschedules a host's timers and its holder's deadline after its clock has changed.
    pub(super) fn reschedule(&mut self, host: HostId) {
        for slot in 0..self.timers.slots.len() as u32 {
            let entry = &self.timers.slots[slot as usize];
            if entry.host == host && entry.waker.is_some() {
                self.schedule_timer(slot);
            }
        }
        self.schedule_deadline(host);
    }

    /// Puts a timer on the agenda. An older entry for an earlier time may stand there too; the sleeper looks at its
    /// clock when it wakes, and registers again.
    fn schedule_timer(&mut self, slot: u32) {
        let entry = &self.timers.slots[slot as usize];
        let due = self.processes[usize::from(entry.host.0)].clock.true_time_of(entry.deadline);
        self.agenda.push(due.max(self.now), Due::Timer { slot, generation: entry.generation });
    }
}
