//! The events of processes: phases, halts, deaths and restarts, deadlines.

use std::task::Waker;
use std::time::Duration;

use crate::base::deadline::Deadline;
use crate::base::waiter::Waiter;
use crate::world::file::File;
use crate::world::process::*;
use crate::world::queue::Pending;
use crate::world::state::LifecycleChange;
use crate::world::state::State;
use picklock_model::ids::Origin;
use picklock_model::ids::{EventId, GrantId, HostId, Key};
use picklock_model::plan::{Access, Phase};
use picklock_model::points::PointsToRecord;
use picklock_model::time::TrueTime;
use picklock_model::trace::{Broken, Halt, Role, What};

impl State {
    /// True if the host's process exists and nothing keeps it from running. A stall stops its critical section only.
    pub(crate) fn runs(&self, host: HostId) -> bool {
        let process = &self.processes[usize::from(host.0)];
        process.life == Life::Alive && process.halted.is_none()
    }

    /// True if the host's process has died: what is left of the step in which it did does not happen.
    pub(crate) fn is_dead(&self, host: HostId) -> bool {
        self.processes[usize::from(host.0)].life == Life::Dead
    }

    /// A task of the host is about to be polled. `critical`: it is the critical section's task, not a background one.
    #[inline]
    pub(crate) fn admit(&mut self, host: HostId, critical: bool, lane: u32, waker: &Waker) -> Admission {
        let probing = self.points_to_record != PointsToRecord::Nothing;
        let process = self.process(host);
        process.turn_to(lane);
        // So it is nearly always: nothing stops the process, and nothing waits for it to pass here.
        if process.runs() && process.armed.is_empty() && !probing {
            process.in_critical = critical;
            return Admission::Run;
        }
        self.admit_past_points(host, critical, waker)
    }

    fn admit_past_points(&mut self, host: HostId, critical: bool, waker: &Waker) -> Admission {
        let process = self.process(host);
        if process.life == Life::Dead {
            return Admission::Wait;
        }
        process.in_critical = critical;
        if self.gate(host, waker) == Admission::Wait {
            return Admission::Wait;
        }
        self.before(host, Access::Poll, None);
        if self.gate(host, waker) == Admission::Wait {
            return Admission::Wait;
        }
        self.after(host, Access::Poll, None);
        Admission::Run
    }

    /// The task that is polled on this host goes on as this one of its client's; returns which it was before.
    pub(crate) fn turn_to(&mut self, host: HostId, lane: u32) -> u32 {
        let process = self.process(host);
        let before = process.lane;
        process.turn_to(lane);
        before
    }

    /// Which of the client's tasks is being polled on this host.
    pub(crate) fn lane(&self, host: HostId) -> u32 {
        self.processes[usize::from(host.0)].lane
    }

    /// The call of a lock that the task is in is to be cancelled.
    pub(in crate::world) fn cancel(&mut self, host: HostId, injection: u32) {
        let process = self.process(host);
        if matches!(process.phase, Phase::Acquire | Phase::Release) {
            process.cancelled = Some(injection);
            process.caller.wake();
        }
    }

    /// True once the call that the task is in was cancelled; it is woken then.
    pub(crate) fn is_cancelled(&mut self, host: HostId, waker: &Waker) -> bool {
        let process = self.process(host);
        match process.cancelled.take() {
            Some(injection) => {
                self.hit_host(injection, host);
                true
            }
            None => {
                process.caller.wait(waker);
                false
            }
        }
    }

    /// The poll of a task is over.
    pub(crate) fn polled(&mut self, host: HostId) {
        self.process(host).in_critical = false;
    }

    /// May the step that a task is executing have effects outside its process now? If not, the task is woken later.
    #[inline]
    pub(crate) fn gate(&mut self, host: HostId, waker: &Waker) -> Admission {
        if self.process(host).runs() { Admission::Run } else { self.gate_of_halted(host, waker) }
    }

    fn gate_of_halted(&mut self, host: HostId, waker: &Waker) -> Admission {
        let process = self.process(host);
        if process.life == Life::Dead {
            return Admission::Wait;
        }
        match process.park(waker) {
            None => Admission::Run,
            Some(injection) => {
                self.hit_host(injection, host);
                Admission::Wait
            }
        }
    }

    pub(in crate::world) fn halt(&mut self, host: HostId, kind: Halt, lasts: Duration, injection: u32) {
        let now = self.now;
        let until = self.local_now(host) + lasts;
        let process = self.process(host);
        if process.life == Life::Dead {
            return;
        }
        let place = if kind == Halt::Stall { &mut process.stalled } else { &mut process.halted };
        let halted = place.get_or_insert_with(|| Halted { until, injection, parked: Vec::new() });
        halted.until = halted.until.max(until);
        halted.injection = injection;
        if kind == Halt::Suspend {
            process.clock.suspend(now, until.since(now));
            self.reschedule(host);
        }
        self.record_act(host, None, What::Paused { kind, until });
        self.unhealed.push(injection);
        self.breaks(injection, Broken::Halted(host, kind));
        self.queue.push(until, Pending::Resume { host, injection });
    }

    /// Wakes what was parked, in an order that is a choice: after a stop the kernel owes nobody a turn.
    pub(in crate::world) fn resume(&mut self, host: HostId, injection: u32) {
        let now = self.now;
        let process = &mut self.processes[usize::from(host.0)];
        let mut woken = Vec::new();
        let mut resumed = false;
        for place in [&mut process.halted, &mut process.stalled] {
            if place.as_ref().is_some_and(|halt| halt.until <= now)
                && let Some(halt) = place.take()
            {
                woken.extend(halt.parked);
                resumed = true;
            }
        }
        if resumed {
            self.chooser.order_of_waking(&mut woken, &mut process.rng);
        }
        let alive = process.life == Life::Alive;
        // Over in any case: another halt may go on where this one ends, or the process have died meanwhile.
        self.unhealed.retain(|other| *other != injection);
        self.mends(|outage| outage.injection == injection && outage.is_halt_of(host));
        if resumed && alive {
            self.record_act(host, None, What::Resumed);
            self.record_act(host, None, What::Healed { injection });
            self.oracle_resume(host);
        }
        woken.into_iter().for_each(Waker::wake);
    }

    pub(in crate::world) fn crash(
        &mut self,
        host: HostId,
        power_loss: bool,
        restart_after: Option<Duration>,
        injection: u32,
    ) {
        let now = self.now;
        let owns_records = self.keeps_records(host);
        let client = self.role(host) == Role::Client;
        let process = self.process(host);
        if process.life == Life::Dead || process.finished {
            return;
        }
        let at_stake = if client { process.at_stake() } else { self.served_by(host) };
        let process = self.process(host);
        process.life = Life::Dead;
        process.applied.clear();
        process.restarting = restart_after.is_some();
        process.halted = None;
        process.stalled = None;
        for lane in process.all_lanes() {
            process.turn_to(lane);
            process.deadline = None;
            process.phase = Phase::Idle;
            process.cancelled = None;
            process.caller = Waiter::default();
        }
        process.turn_to(0);
        if power_loss {
            process.disk.values_mut().for_each(File::lose_power);
        }
        let grant = self.grant_of(host);
        self.push(now, host, None, None, grant, What::Crashed { power_loss });
        self.note_lifecycle_change(LifecycleChange::Died(host));
        self.cut_off(host, power_loss);
        self.oracle_bury(host);
        self.mends(|outage| outage.is_halt_of(host));
        // For a client that is not started anew there is nothing to wait for.
        if !client || restart_after.is_some() {
            self.breaks(injection, Broken::Dead(host));
        }
        if owns_records {
            self.mark_effect(injection, host, None);
        }
        at_stake.into_iter().for_each(|grant| self.mark_effect(injection, host, Some(grant)));
        if let Some(after) = restart_after {
            self.unhealed.push(injection);
            self.queue.push(now + after, Pending::Restart { host, injection });
        }
    }

    /// The sections of clients that a server without records of locks is connected with: a queue keeps their requests.
    fn served_by(&self, host: HostId) -> Vec<GrantId> {
        if self.records.contains_key(&host) || self.silent[usize::from(host.0)] {
            return Vec::new();
        }
        let peers = self.sides_of(host).into_iter().map(|side| self.network.peer(side));
        let mut clients: Vec<HostId> = peers.filter(|peer| self.role(*peer) == Role::Client).collect();
        clients.sort_unstable();
        clients.dedup();
        clients.iter().flat_map(|client| self.processes[usize::from(client.0)].at_stake()).collect()
    }

    pub(in crate::world) fn restart(&mut self, host: HostId, injection: u32) {
        let process = self.process(host);
        if process.life == Life::Alive {
            return;
        }
        process.life = Life::Alive;
        process.restarting = false;
        process.standing_by = false;
        process.context = None;
        self.mends(|outage| outage.what == Broken::Dead(host));
        self.unhealed.retain(|other| *other != injection);
        self.record_act(host, None, What::Restarted);
        self.record_act(host, None, What::Healed { injection });
        self.note_lifecycle_change(LifecycleChange::Started(host));
        self.network_up(host);
    }

    /// The process begins a section; it has not asked for anything yet.
    pub(crate) fn begin_section(&mut self, host: HostId, section: u32) {
        self.process(host).section = section;
    }

    /// The section that the process is in begins another attempt to acquire.
    pub(crate) fn begin_attempt(&mut self, host: HostId) {
        let at = self.local_now(host);
        if let Some(grant) = self.grant_of(host) {
            self.attempts.entry(grant).or_default().push(at);
        }
    }

    /// The process goes into another phase of a section.
    pub(crate) fn enter_phase(&mut self, host: HostId, section: u32, phase: Phase) {
        let process = self.process(host);
        process.section = section;
        process.phase = phase;
        process.cancelled = None;
        process.accesses.clear();
        process.armed.retain(|armed| armed.section != section || armed.phase >= phase);
        self.before(host, Access::Enter, None);
        self.after(host, Access::Enter, None);
    }

    /// Records what the process did in its section; from now on it acts because of that.
    pub(crate) fn decide(&mut self, host: HostId, what: What) -> EventId {
        self.note_turn(&what);
        let id = self.record(host, Origin::default(), what);
        self.process(host).context = Some(id);
        id
    }

    pub(crate) fn learn(&mut self, host: HostId, event: EventId) {
        self.process(host).context = Some(event);
    }

    /// The holder relies on its grant until this deadline of its own clock; the world notes when that passes.
    pub(crate) fn watch_deadline(&mut self, host: HostId, key: Key, deadline: Deadline) {
        let process = self.process(host);
        let Some(grant) = process.grant() else { return };
        process.deadline = Some((grant, key, deadline));
        self.schedule_deadline(host);
    }

    /// The belief is over. A process with a deferred pause gives its grant up only when it resumes: what passes until then
    /// still passes.
    pub(crate) fn forget_deadline(&mut self, host: HostId) {
        if self.local_now(host) == self.now {
            self.process(host).deadline = None;
        }
    }

    /// A deadline of the host's clocks in true time, as they run now.
    pub(crate) fn true_deadline(&self, host: HostId, deadline: Deadline) -> TrueTime {
        let clock = &self.processes[usize::from(host.0)].clock;
        match deadline {
            Deadline::Monotonic(at) => clock.true_time_of(at),
            Deadline::Wall(at) => clock.true_time_of_wall(at),
        }
    }

    /// Those of all its tasks, anew: its clocks have changed.
    pub(in crate::world) fn schedule_deadlines(&mut self, host: HostId) {
        let lane = self.process(host).lane;
        for other in self.process(host).all_lanes() {
            self.process(host).turn_to(other);
            self.schedule_deadline(host);
        }
        self.process(host).turn_to(lane);
    }

    fn schedule_deadline(&mut self, host: HostId) {
        let process = self.process(host);
        let Some((_, _, deadline)) = process.deadline else { return };
        process.deadline_generation += 1;
        let (generation, task) = (process.deadline_generation, process.lane);
        let at = self.true_deadline(host, deadline).max(self.now);
        self.queue.push(at, Pending::Deadline { host, generation, task });
    }

    pub(in crate::world) fn deadline_due(&mut self, host: HostId, generation: u32, task: u32) {
        let now = self.now;
        let process = self.process(host);
        process.turn_to(task);
        if process.deadline_generation != generation {
            return;
        }
        if let Some((grant, key, _)) = process.deadline.take() {
            self.log.push(now, host, None, None, Some(grant), What::DeadlinePassed { key });
        }
    }
}
