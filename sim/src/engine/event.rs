//! The event engine: a queue of tasks that want to run, and the event queue of what is due.
//!
//! All hosts share one thread. Tasks are polled in the order in which they were woken; when none is left, true time
//! jumps to the next entry of the event queue. A task that code under test spawns with `tokio::spawn` instead of `Host::spawn` belongs to
//! the host that is being polled (see [`Runtimes`]).

use std::sync::Arc;

use super::program::HostProgram;
use super::runtimes::Runtimes;
use super::tasks::Tasks;
use crate::host::Host;
use crate::world::{LifecycleChange, Progress, World};
use picklock_model::ids::HostId;
use picklock_model::trace::Role;

/// Runs a world to its end.
pub(crate) fn run(world: &Arc<World>, programs: &[HostProgram]) {
    let runtimes = Runtimes::new(world.hosts().iter().map(|host| host.role));
    Executor::new(world, programs, Some(runtimes)).run();
}

pub(super) struct Executor<'a> {
    world: &'a Arc<World>,
    programs: &'a [HostProgram],
    tasks: Tasks,
    /// The runtimes of the hosts; `None` in a served world, which uses the runtime of its caller.
    runtimes: Option<Runtimes>,
    /// Polls since true time last moved.
    polls: u32,
}

/// A task that keeps waking itself without waiting for anything would hang the run: a lock that retries without a
/// delay. More polls than this in one instant are taken for that.
const POLLS_IN_AN_INSTANT: u32 = 1_000_000;

impl<'a> Executor<'a> {
    pub(super) fn new(
        world: &'a Arc<World>,
        programs: &'a [HostProgram],
        runtimes: Option<Runtimes>,
    ) -> Executor<'a> {
        Executor { world, programs, tasks: Tasks::new(world), runtimes, polls: 0 }
    }

    fn run(&mut self) {
        self.start_all();
        loop {
            self.run_ready();
            let mut state = self.world.state();
            match state.settled(self.world.hosts()) {
                Progress::Over => return,
                Progress::LetIn => continue,
                Progress::Busy => {}
            }
            let horizon = state.ending.horizon;
            if !state.step(horizon, None) {
                match state.at_horizon(self.world.hosts()) {
                    Progress::LetIn => continue,
                    Progress::Busy | Progress::Over => return,
                }
            }
            drop(state);
            self.time_moved();
        }
    }

    pub(super) fn start_all(&mut self) {
        for index in 0..self.programs.len() {
            self.start(HostId(index as u16));
        }
    }

    fn start(&mut self, host: HostId) {
        let stalls = self.world.hosts()[usize::from(host.0)].role == Role::Client;
        let entered = self.runtimes.as_ref().and_then(|runtimes| runtimes.enter(host));
        let program = (self.programs[usize::from(host.0)])(self.host(host));
        drop(entered);
        self.tasks.add(host, stalls, 0, program);
    }

    pub(super) fn host(&self, id: HostId) -> Host {
        Host { id, world: Arc::clone(self.world), spawner: self.tasks.spawner() }
    }

    /// True time has moved, so polls are counted anew.
    pub(super) fn time_moved(&mut self) {
        self.polls = 0;
        self.apply_lifecycle_changes();
    }

    /// Polls tasks until none wants to run.
    pub(super) fn run_ready(&mut self) {
        let mut next = self.tasks.next_host();
        loop {
            next = match next {
                Some(host) => self.run_host(host),
                None if self.tasks.take_strays() || self.run_spawned() => self.tasks.next_host(),
                None => return,
            };
        }
    }

    /// Polls the next task within the runtime of its host, and those behind it as long as they are of the same host: mostly
    /// one of them has woken the other. Returns whose task is next then.
    fn run_host(&mut self, host: HostId) -> Option<HostId> {
        let entered = self.runtimes.as_ref().and_then(|runtimes| runtimes.enter(host));
        let mut next = Some(host);
        while next == Some(host) && !self.world.has_lifecycle_changes() {
            self.polls += 1;
            assert!(
                self.polls < POLLS_IN_AN_INSTANT,
                "the lock spins: it is polled again and again without any time passing"
            );
            self.tasks.poll_next();
            next = self.tasks.next_host();
        }
        drop(entered);
        if let Some(runtimes) = &mut self.runtimes {
            runtimes.look_at(host);
        }
        if self.world.has_lifecycle_changes() {
            self.apply_lifecycle_changes();
            next = self.tasks.next_host();
        }
        next
    }

    /// Gives what was spawned past the hosts a turn; true if tasks of the hosts want to run then.
    fn run_spawned(&mut self) -> bool {
        let Some(runtimes) = self.runtimes.as_mut().filter(|runtimes| !runtimes.are_idle()) else {
            return false;
        };
        let world = self.world;
        runtimes.take_turns(|host| world.state().runs(host));
        self.apply_lifecycle_changes();
        self.tasks.next_host().is_some()
    }

    /// Drops the tasks of hosts that died and starts the programs of those that were started anew.
    fn apply_lifecycle_changes(&mut self) {
        if !self.world.has_lifecycle_changes() {
            return;
        }
        for change in self.world.take_lifecycle_changes() {
            match change {
                LifecycleChange::Died(host) => self.bury(host),
                LifecycleChange::Started(host) => self.start(host),
            }
        }
    }

    fn bury(&mut self, host: HostId) {
        let entered = self.runtimes.as_ref().and_then(|runtimes| runtimes.enter(host));
        self.tasks.bury(host);
        drop(entered);
        if let Some(runtimes) = &mut self.runtimes {
            runtimes.bury(host);
        }
    }
}

impl Drop for Executor<'_> {
    /// Code under test may spawn as it is dropped, too.
    fn drop(&mut self) {
        let Some(runtimes) = &self.runtimes else { return };
        for (host, task) in self.tasks.take_all() {
            let _entered = runtimes.enter(host);
            drop(task);
        }
    }
}
