//! Timers are set, moved with their clocks, and due.

use std::task::Waker;

use crate::world::queue::Pending;
use crate::world::state::State;
use crate::world::timers::*;
use picklock_model::ids::HostId;
use picklock_model::time::Monotonic;

impl State {
    /// Registers a timer that wakes at the first true time at which the host's monotonic clock shows `deadline`.
    pub(crate) fn set_timer(&mut self, host: HostId, deadline: Monotonic, waker: &Waker) -> TimerKey {
        let due = self.timer_turn(host, deadline);
        let slot = match self.timers.free.pop() {
            Some(slot) => slot,
            None => {
                let waker = waker.clone();
                let slot = Slot { host, deadline, generation: 0, set: false, waker, due, entry: None };
                self.timers.slots.push(slot);
                self.timers.slots.len() as u32 - 1
            }
        };
        let timer = &mut self.timers.slots[slot as usize];
        timer.host = host;
        timer.deadline = deadline;
        timer.generation += 1;
        timer.set = true;
        timer.waker.clone_from(waker);
        timer.due = due;
        let key = TimerKey { slot, generation: timer.generation };
        self.enter_timer(slot);
        key
    }

    /// Lets a registered timer wake another task; false if it has fired.
    pub(crate) fn renew_timer(&mut self, key: TimerKey, waker: &Waker) -> bool {
        let timer = &mut self.timers.slots[key.slot as usize];
        let set = timer.generation == key.generation && timer.set;
        if set {
            timer.waker.clone_from(waker);
        }
        set
    }

    /// Unregisters a timer; nothing happens if it has fired.
    pub(crate) fn clear_timer(&mut self, key: TimerKey) {
        let timer = &mut self.timers.slots[key.slot as usize];
        if timer.generation == key.generation && timer.set {
            timer.set = false;
            timer.generation += 1;
            self.timers.free.push(key.slot);
        }
    }

    /// An entry of a timer has come up. False if no timer is due by it.
    pub(in crate::world) fn timer_due(&mut self, slot: u32, entry: Turn) -> bool {
        let timer = &mut self.timers.slots[slot as usize];
        if timer.entry != Some(entry) {
            // Another one has taken its place.
            return false;
        }
        timer.entry = None;
        if !timer.set {
            return false;
        }
        if timer.due > entry {
            self.enter_timer(slot);
            return false;
        }
        timer.set = false;
        timer.generation += 1;
        timer.waker.wake_by_ref();
        self.timers.free.push(slot);
        true
    }

    /// Reschedules a host's timers and its holder's deadline after its clock has changed. A timer that is due later now
    /// wakes at the earlier time all the same; the sleeper reads its clock and registers again.
    pub(in crate::world) fn reschedule(&mut self, host: HostId) {
        for slot in 0..self.timers.slots.len() as u32 {
            let timer = &self.timers.slots[slot as usize];
            if timer.host == host && timer.set {
                let due = self.timer_turn(host, timer.deadline);
                let timer = &mut self.timers.slots[slot as usize];
                timer.due = timer.due.min(due);
                self.enter_timer(slot);
            }
        }
        self.schedule_deadlines(host);
    }

    /// The turn of a timer that is registered now.
    fn timer_turn(&mut self, host: HostId, deadline: Monotonic) -> Turn {
        let due = self.processes[usize::from(host.0)].clock.true_time_of(deadline);
        (due.max(self.now), self.queue.number())
    }

    /// Puts a timer on the queue, unless an entry of its slot comes up before it is due.
    fn enter_timer(&mut self, slot: u32) {
        let timer = &mut self.timers.slots[slot as usize];
        if timer.entry.is_none_or(|entry| entry > timer.due) {
            let (at, nth) = timer.due;
            timer.entry = Some(timer.due);
            self.queue.insert(at, nth, Pending::Timer { slot });
        }
    }
}
