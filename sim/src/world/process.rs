//! A host's process: whether it runs, where in its section it is, what its clocks show.
//!
//! A pause that hits between polls keeps the tasks from being polled. One that hits inside a poll (at a write, a
//! read, a clock) cannot stop the poll, so it is *deferred*: until it ends, writes and reads of the process
//! are pending, its clocks show the time of resumption, and what it records carries that time.
//!
//! A stall is not deferred: what the critical section hands to its process's background tasks in the rest of a poll they
//! carry out at once, so the section must have done it before it stalled. It stands still from its next write or its
//! next await point on.

use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;

use super::choices::Chooser;
use super::file::File;
use super::points::{AccessCounts, Armed};
use crate::base::deadline::Deadline;
use crate::base::waiter::Waiter;
use picklock_model::clock::Clock;
use picklock_model::ids::{EventId, GrantId, HostId, Key};
use picklock_model::plan::{ChoiceKind, Phase};
use picklock_model::seed::{Seed, Stream};
use picklock_model::time::{Monotonic, TrueTime};

/// The state of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    Alive,
    Dead,
}

/// May a task run now?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// Go ahead.
    Run,
    /// The process is halted; the task is woken when it resumes.
    Wait,
}

/// A fault action of its own kind that a member's program has got.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppliedAction {
    /// Its name.
    pub name: String,
    /// How often it is to hit.
    pub count: u32,
    /// The injection that asked for it.
    pub(crate) injection: u32,
}

pub(crate) struct Process {
    /// Actions of its own kind that its program has not looked at.
    pub(crate) applied: VecDeque<AppliedAction>,
    pub(crate) action_waiter: Option<Waker>,
    pub(crate) life: Life,
    /// It is dead and will be started anew.
    pub(super) restarting: bool,
    pub(crate) finished: bool,
    /// It is a client that has done its sections and stands by as a background client.
    pub(super) standing_by: bool,
    /// Its host has no power: it answers nothing, not even with a reset.
    pub(super) dark: bool,
    pub(crate) clock: Clock,
    pub(crate) rng: Stream,
    pub(crate) disk: BTreeMap<String, File>,
    /// The event that the process last learned of or decided on: the default cause of what it does.
    pub(super) context: Option<EventId>,
    /// The ordinal of the section that it is in, 0 before the first.
    pub(super) section: u32,
    pub(super) phase: Phase,
    pub(super) accesses: AccessCounts,
    pub(super) armed: Vec<Armed>,
    pub(super) this: HostId,
    /// Everything stands still until then.
    pub(super) halted: Option<Halted>,
    /// The critical section stands still until then.
    pub(super) stalled: Option<Halted>,
    /// True while the task being polled is the critical section's.
    pub(super) in_critical: bool,
    pub(super) deadline: Option<(GrantId, Key, Deadline)>,
    pub(super) deadline_generation: u32,
    /// The call of its lock that the section is in is to be cancelled, by this injection.
    pub(super) cancelled: Option<u32>,
    /// The task that is woken when it is.
    pub(super) caller: Waiter,
    /// Which of the client's tasks the fields above speak of: the one that is being polled, or was last.
    pub(super) lane: u32,
    /// The same for the others.
    pub(super) lanes: BTreeMap<u32, Lane>,
}

/// The values of each of the tasks with which a client carries its sections out.
#[derive(Default)]
pub(super) struct Lane {
    section: u32,
    phase: Phase,
    accesses: AccessCounts,
    deadline: Option<(GrantId, Key, Deadline)>,
    deadline_generation: u32,
    cancelled: Option<u32>,
    caller: Waiter,
}

pub(super) struct Halted {
    pub(super) until: TrueTime,
    pub(super) injection: u32,
    /// Tasks that wanted to run meanwhile.
    pub(super) parked: Vec<Waker>,
}

impl Process {
    pub(super) fn new(seed: Seed, this: HostId, name: &str, chooser: &mut Chooser) -> Process {
        let mut draws = seed.stream(&format!("host/{name}/clock"));
        // Hosts start at different times and keep their wall clocks within a few milliseconds (NTP in one data centre).
        let mut choose = |options| chooser.choose(ChoiceKind::Clock, options, draws.below(options));
        let zero = Monotonic(choose(1_000_000_000_000));
        let offset_ns = choose(4_000_000).cast_signed() - 2_000_000;
        Process {
            applied: VecDeque::new(),
            action_waiter: None,
            life: Life::Alive,
            restarting: false,
            finished: false,
            standing_by: false,
            dark: false,
            clock: Clock::new(zero, offset_ns, 0),
            rng: seed.stream(&format!("host/{name}")),
            disk: BTreeMap::new(),
            context: None,
            section: 0,
            phase: Phase::Idle,
            accesses: AccessCounts::default(),
            armed: Vec::new(),
            this,
            halted: None,
            stalled: None,
            in_critical: false,
            deadline: None,
            deadline_generation: 0,
            cancelled: None,
            caller: Waiter::default(),
            lane: 0,
            lanes: BTreeMap::new(),
        }
    }

    /// From now on the fields speak of this task.
    #[inline]
    pub(crate) fn turn_to(&mut self, lane: u32) {
        if self.lane != lane {
            self.swap_lanes(lane);
        }
    }

    fn swap_lanes(&mut self, lane: u32) {
        let mut next = self.lanes.remove(&lane).unwrap_or_default();
        std::mem::swap(&mut self.section, &mut next.section);
        std::mem::swap(&mut self.phase, &mut next.phase);
        std::mem::swap(&mut self.accesses, &mut next.accesses);
        std::mem::swap(&mut self.deadline, &mut next.deadline);
        std::mem::swap(&mut self.deadline_generation, &mut next.deadline_generation);
        std::mem::swap(&mut self.cancelled, &mut next.cancelled);
        std::mem::swap(&mut self.caller, &mut next.caller);
        self.lanes.insert(std::mem::replace(&mut self.lane, lane), next);
    }

    /// The tasks that the process is known to have.
    pub(super) fn all_lanes(&self) -> Vec<u32> {
        std::iter::once(self.lane).chain(self.lanes.keys().copied()).collect()
    }

    /// The grants of all sections that the process is in, or asks for.
    pub(super) fn at_stake(&self) -> Vec<GrantId> {
        let here = (self.phase, self.section, self.lane);
        let others = self.lanes.iter().map(|(task, lane)| (lane.phase, lane.section, *task));
        let all = std::iter::once(here)
            .chain(others)
            .filter(|(phase, section, _)| *phase != Phase::Idle && *section > 0);
        all.map(|(_, section, task)| GrantId { client: self.this, section, task }).collect()
    }

    /// True if a section of any task asks for its lock.
    pub(super) fn asks(&self) -> bool {
        self.phase == Phase::Acquire || self.lanes.values().any(|lane| lane.phase == Phase::Acquire)
    }

    /// When the step that it is executing really happens: `now`, or the end of the halt that hit inside it.
    pub(super) fn resumes_at(&self, now: TrueTime) -> TrueTime {
        self.halted.as_ref().map_or(now, |halt| halt.until.max(now))
    }

    /// The section that it is in, as the name of the grant that it asks for or holds.
    pub(super) fn grant(&self) -> Option<GrantId> {
        (self.section > 0).then_some(GrantId { client: self.this, section: self.section, task: self.lane })
    }

    /// True if it has begun a later section than this. Of one that carries out several at once that says nothing.
    pub(super) fn is_past(&self, section: u32) -> bool {
        self.section > section && self.lanes.is_empty()
    }

    /// True between the moment it asks for the lock and the moment it has given it back.
    pub(super) fn in_section(&self) -> bool {
        self.phase != Phase::Idle || self.lanes.values().any(|lane| lane.phase != Phase::Idle)
    }

    /// True between the moment it has the lock and the moment it has given it back.
    pub(super) fn holds(&self) -> bool {
        self.phase > Phase::Acquire || self.lanes.values().any(|lane| lane.phase > Phase::Acquire)
    }

    /// True if the process believes, on its own clock, that a deadline lies ahead.
    pub(super) fn has_deadline(&self) -> bool {
        self.deadline.is_some() || self.lanes.values().any(|lane| lane.deadline.is_some())
    }

    /// True if nothing keeps it from running.
    pub(super) fn runs(&self) -> bool {
        self.life == Life::Alive && self.halted.is_none() && self.stalled.is_none()
    }

    /// Forgets the tasks that wait for the process to resume.
    pub(super) fn dissolve(&mut self) {
        self.halted = None;
        self.stalled = None;
        self.action_waiter = None;
        self.caller = Waiter::default();
        self.lanes.clear();
    }

    pub(super) fn park(&mut self, waker: &Waker) -> Option<u32> {
        let stalled = if self.in_critical { self.stalled.as_mut() } else { None };
        let halt = self.halted.as_mut().or(stalled)?;
        if !halt.parked.iter().any(|parked| parked.will_wake(waker)) {
            halt.parked.push(waker.clone());
        }
        Some(halt.injection)
    }
}
