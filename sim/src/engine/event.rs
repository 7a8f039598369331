//! The event engine: one queue of tasks that want to run, one agenda of things that are due, nothing in between.
//!
//! All hosts share one thread. Tasks are polled in the order in which they were woken; when none is left, true time
//! jumps to the next entry of the agenda. What code under test spawns past its host belongs to the host that is being polled
//! (see [`Runtimes`]).

use std::collections::VecDeque;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

use super::boot::Boot;
use super::guard::Guard;
use super::runtimes::Runtimes;
use crate::base::future::BoxFuture;
use crate::base::ids::HostId;
use crate::base::own_thread::OwnThread;
use crate::host::sockets::Directory;
use crate::host::{Host, Spawner};
use crate::trace::Role;
use crate::world::{Progress, Turnover, World};

/// Runs a world to its end.
pub(crate) fn run(world: &Arc<World>, boots: &[Boot]) {
    let runtimes = Runtimes::new(world.hosts().iter().map(|host| host.role));
    Executor::new(world, boots, Some(runtimes)).run();
}

pub(super) struct Executor<'a> {
    world: &'a Arc<World>,
    boots: &'a [Boot],
    queue: Arc<Queue>,
    tasks: Vec<Option<Entry>>,
    /// Slots of `tasks` that are free.
    free: Vec<usize>,
    /// How many tasks there have been.
    made: u64,
    /// The runtimes of the hosts; `None` in a served world, which runs within the real one.
    runtimes: Option<Runtimes>,
    /// Polls since true time last moved.
    polls: u32,
}

/// A task that keeps waking itself without waiting for anything would hang the run: a lock that retries without a
/// delay. More polls than this in one instant are taken for that.
const POLLS_IN_AN_INSTANT: u32 = 1_000_000;

struct Entry {
    guard: Guard,
    waker: Waker,
    token: Arc<Token>,
}

/// What wakers and spawners reach: tasks that want to run, and tasks that are new. All of it belongs to the thread of the run.
struct Queue {
    world: Arc<World>,
    ready: OwnThread<VecDeque<Ready>>,
    new: OwnThread<Vec<NewTask>>,
    /// Tasks that code under test has woken from a thread of its own, which nothing keeps it from.
    strays: Mutex<Vec<Ready>>,
    has_strays: AtomicBool,
}

type NewTask = (HostId, u32, BoxFuture<'static, ()>);

impl Queue {
    fn new(world: &Arc<World>) -> Queue {
        Queue {
            world: Arc::clone(world),
            ready: OwnThread::new(VecDeque::new()),
            new: OwnThread::new(Vec::new()),
            strays: Mutex::default(),
            has_strays: AtomicBool::new(false),
        }
    }

    fn push(&self, task: Ready) {
        if let Some(mut ready) = self.ready.try_get() {
            ready.push_back(task);
            return;
        }
        self.strays.lock().unwrap_or_else(PoisonError::into_inner).push(task);
        self.has_strays.store(true, Ordering::Release);
    }

    /// True if there were any.
    fn take_strays(&self) -> bool {
        if !self.has_strays.load(Ordering::Relaxed) {
            return false;
        }
        self.has_strays.store(false, Ordering::Relaxed);
        let strays = std::mem::take(&mut *self.strays.lock().unwrap_or_else(PoisonError::into_inner));
        self.ready.get().extend(strays);
        true
    }
}

impl Spawner for Queue {
    fn spawn(&self, host: HostId, task: u32, future: BoxFuture<'static, ()>) {
        self.new.get().push((host, task, future));
    }

    fn sockets(&self) -> Option<Arc<Directory>> {
        None
    }
}

/// A task that wants to run. Slots are used again: the number says whether the task is still the one that was woken.
#[derive(Clone, Copy)]
struct Ready {
    slot: usize,
    made: u64,
}

/// The waker of one task.
struct Token {
    task: Ready,
    queued: AtomicBool,
    queue: Arc<Queue>,
}

impl Wake for Token {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        // Two threads that both find it not queued have it polled once too often, which does no harm.
        if !self.queued.load(Ordering::Relaxed) {
            self.queued.store(true, Ordering::Relaxed);
            self.queue.push(self.task);
        }
    }
}

impl<'a> Executor<'a> {
    pub(super) fn new(world: &'a Arc<World>, boots: &'a [Boot], runtimes: Option<Runtimes>) -> Executor<'a> {
        let queue = Arc::new(Queue::new(world));
        Executor { world, boots, queue, tasks: Vec::new(), free: Vec::new(), made: 0, runtimes, polls: 0 }
    }

    fn run(&mut self) {
        self.boot_all();
        loop {
            self.run_ready();
            let mut state = self.world.state();
            match state.settled() {
                Progress::Over => return,
                Progress::LetIn => continue,
                Progress::Busy => {}
            }
            let horizon = state.ending.horizon;
            if !state.step(horizon, None) {
                state.advance(horizon);
                return;
            }
            drop(state);
            self.time_moved();
        }
    }

    pub(super) fn boot_all(&mut self) {
        for index in 0..self.boots.len() {
            self.boot(HostId(index as u16));
        }
    }

    fn boot(&mut self, host: HostId) {
        let worker = self.world.hosts()[usize::from(host.0)].role == Role::Client;
        let entered = self.runtimes.as_ref().and_then(|runtimes| runtimes.enter(host));
        let program = (self.boots[usize::from(host.0)])(self.host(host));
        drop(entered);
        self.add(host, worker, 0, program);
    }

    pub(super) fn host(&self, id: HostId) -> Host {
        let spawner: Arc<dyn Spawner> = Arc::<Queue>::clone(&self.queue);
        Host { id, world: Arc::clone(self.world), spawner }
    }

    /// True time has moved, so polls are counted anew.
    pub(super) fn time_moved(&mut self) {
        self.polls = 0;
        self.turn_over();
    }

    fn add(&mut self, host: HostId, worker: bool, lane: u32, future: BoxFuture<'static, ()>) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.tasks.push(None);
            self.tasks.len() - 1
        });
        let task = Ready { slot, made: self.made };
        self.made += 1;
        let token = Arc::new(Token { task, queued: AtomicBool::new(true), queue: Arc::clone(&self.queue) });
        let waker = Waker::from(Arc::clone(&token));
        let guard = Guard::new(Arc::clone(&self.queue.world), host, worker, lane, future);
        self.tasks[slot] = Some(Entry { guard, waker, token });
        self.queue.ready.get().push_back(task);
    }

    /// Polls tasks until none wants to run.
    pub(super) fn run_ready(&mut self) {
        loop {
            self.add_new();
            let next = self.queue.ready.get().pop_front();
            match next {
                Some(task) => self.poll(task),
                None if self.queue.take_strays() || self.run_spawned() => {}
                None => return,
            }
        }
    }

    /// Gives what was spawned past the hosts a turn; true if tasks of the hosts want to run then.
    fn run_spawned(&mut self) -> bool {
        let Some(runtimes) = self.runtimes.as_mut().filter(|runtimes| !runtimes.are_idle()) else {
            return false;
        };
        let world = self.world;
        runtimes.take_turns(|host| world.state().runs(host));
        self.turn_over();
        !self.queue.ready.get().is_empty() || !self.queue.new.get().is_empty()
    }

    fn add_new(&mut self) {
        let new = std::mem::take(&mut *self.queue.new.get());
        for (host, task, future) in new {
            self.add(host, false, task, future);
        }
    }

    fn poll(&mut self, task: Ready) {
        let entry = self.tasks[task.slot].as_mut().filter(|entry| entry.token.task.made == task.made);
        let Some(entry) = entry else { return };
        entry.token.queued.store(false, Ordering::Relaxed);
        self.polls += 1;
        assert!(
            self.polls < POLLS_IN_AN_INSTANT,
            "the lock spins: it is polled again and again without any time passing"
        );
        let host = entry.guard.host;
        let entered = self.runtimes.as_ref().and_then(|runtimes| runtimes.enter(host));
        let mut context = Context::from_waker(&entry.waker);
        if Pin::new(&mut entry.guard).poll(&mut context).is_ready() {
            self.tasks[task.slot] = None;
            self.free.push(task.slot);
        }
        drop(entered);
        if let Some(runtimes) = &mut self.runtimes {
            runtimes.look_at(host);
        }
        self.turn_over();
    }

    /// Drops the tasks of hosts that died and starts the programs of those that were started anew.
    fn turn_over(&mut self) {
        if !self.world.has_turned_over() {
            return;
        }
        for change in self.world.take_turnover() {
            match change {
                Turnover::Died(host) => self.bury(host),
                Turnover::Started(host) => self.boot(host),
            }
        }
    }

    fn bury(&mut self, host: HostId) {
        let new = std::mem::take(&mut *self.queue.new.get());
        let (unborn, others): (Vec<_>, Vec<_>) = new.into_iter().partition(|(owner, _, _)| *owner == host);
        *self.queue.new.get() = others;
        let tasks = self.tasks.iter().flatten();
        let mut dead: Vec<Ready> =
            tasks.filter(|entry| entry.guard.host == host).map(|entry| entry.token.task).collect();
        // In the order in which they were made: their sockets close as they go.
        dead.sort_unstable_by_key(|task| task.made);
        let entered = self.runtimes.as_ref().and_then(|runtimes| runtimes.enter(host));
        drop(unborn);
        for task in dead {
            self.tasks[task.slot] = None;
            self.free.push(task.slot);
        }
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
        for entry in self.tasks.drain(..).flatten() {
            let _entered = runtimes.enter(entry.guard.host);
            drop(entry);
        }
    }
}
