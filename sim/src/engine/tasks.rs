//! The tasks of a run and the order in which they want to run: that in which they were woken, unless the order is a choice.

use std::collections::VecDeque;
use std::future::Future as _;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Wake, Waker};

use super::guard::Guard;
use crate::base::future::BoxFuture;
use crate::base::own_thread::OwnThread;
use crate::host::Spawner;
use crate::host::sockets::Directory;
use crate::world::World;
use picklock_model::ids::HostId;

/// The tasks of a run.
pub(super) struct Tasks {
    queue: Arc<Queue>,
    entries: Vec<Option<Entry>>,
    /// Slots of `entries` that are free.
    free: Vec<usize>,
    /// How many tasks there have been.
    made: u64,
    /// True if the task that is polled next is a choice.
    chooses: bool,
    /// The first of the tasks that want to run, once it was chosen.
    chosen: Option<Ready>,
}

struct Entry {
    guard: Guard,
    waker: Waker,
    token: Arc<Token>,
}

/// The queue of ready tasks, which wakers and spawners reach.
struct Queue {
    world: Arc<World>,
    /// The part that belongs to the thread of the run.
    own: OwnThread<Own>,
    /// Tasks that code under test has woken from a thread of its own, which nothing keeps it from.
    strays: Mutex<Vec<Ready>>,
    has_strays: AtomicBool,
}

#[derive(Default)]
struct Own {
    /// Tasks that want to run.
    ready: VecDeque<Ready>,
    /// Tasks that were spawned: of which host, in the service of which of a client's tasks.
    new: Vec<(HostId, u32, BoxFuture<'static, ()>)>,
}

impl Queue {
    fn push(&self, task: Ready) {
        if let Some(mut own) = self.own.try_get() {
            own.ready.push_back(task);
            return;
        }
        self.strays.lock().unwrap_or_else(PoisonError::into_inner).push(task);
        self.has_strays.store(true, Ordering::Release);
    }
}

impl Spawner for Queue {
    fn spawn(&self, host: HostId, task: u32, future: BoxFuture<'static, ()>) {
        self.own.get().new.push((host, task, future));
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

impl Tasks {
    pub(super) fn new(world: &Arc<World>) -> Tasks {
        let queue = Arc::new(Queue {
            world: Arc::clone(world),
            own: OwnThread::new(Own::default()),
            strays: Mutex::default(),
            has_strays: AtomicBool::new(false),
        });
        let chooses = world.state().chooser.orders_ready_tasks();
        Tasks { queue, entries: Vec::new(), free: Vec::new(), made: 0, chooses, chosen: None }
    }

    /// The spawner, which takes on new tasks.
    pub(super) fn spawner(&self) -> Arc<dyn Spawner> {
        Arc::<Queue>::clone(&self.queue)
    }

    /// A task more, which wants to run.
    pub(super) fn add(&mut self, host: HostId, critical: bool, lane: u32, future: BoxFuture<'static, ()>) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.entries.push(None);
            self.entries.len() - 1
        });
        let task = Ready { slot, made: self.made };
        self.made += 1;
        let token = Arc::new(Token { task, queued: AtomicBool::new(true), queue: Arc::clone(&self.queue) });
        let waker = Waker::from(Arc::clone(&token));
        let guard = Guard::new(Arc::clone(&self.queue.world), host, critical, lane, future);
        self.entries[slot] = Some(Entry { guard, waker, token });
        self.queue.own.get().ready.push_back(task);
    }

    /// Takes in what was woken from other threads; true if there was anything.
    pub(super) fn take_strays(&mut self) -> bool {
        if !self.queue.has_strays.load(Ordering::Relaxed) {
            return false;
        }
        self.queue.has_strays.store(false, Ordering::Relaxed);
        let strays = std::mem::take(&mut *self.queue.strays.lock().unwrap_or_else(PoisonError::into_inner));
        self.queue.own.get().ready.extend(strays);
        true
    }

    /// The host of the task that is to run next, if one wants to run: of those that were woken, and then of those that were
    /// spawned meanwhile.
    pub(super) fn next_host(&mut self) -> Option<HostId> {
        let mut own = self.queue.own.get();
        if !own.new.is_empty() {
            let mut new = std::mem::take(&mut own.new);
            drop(own);
            new.drain(..).for_each(|(host, lane, future)| self.add(host, false, lane, future));
            own = self.queue.own.get();
            // Its room is of use again.
            own.new = new;
        }
        if self.chooses {
            self.chosen = choose(&self.entries, &mut own.ready, self.chosen, &self.queue.world);
        }
        loop {
            let task = own.ready.front()?;
            match live(&self.entries, *task) {
                Some(entry) => return Some(entry.guard.host),
                // It is over.
                None => _ = own.ready.pop_front(),
            }
        }
    }

    /// Polls the task that is to run next.
    pub(super) fn poll_next(&mut self) {
        let Some(task) = self.queue.own.get().ready.pop_front() else { return };
        self.chosen = None;
        let Some(entry) = &mut self.entries[task.slot] else { return };
        entry.token.queued.store(false, Ordering::Relaxed);
        let mut context = Context::from_waker(&entry.waker);
        if Pin::new(&mut entry.guard).poll(&mut context).is_ready() {
            self.remove(task);
        }
    }

    /// Drops the tasks of a host that died, those first that have not begun, and the others in the order in which they were
    /// made: their sockets close as they go.
    pub(super) fn bury(&mut self, host: HostId) {
        let new = std::mem::take(&mut self.queue.own.get().new);
        let (unborn, others): (Vec<_>, Vec<_>) = new.into_iter().partition(|(owner, _, _)| *owner == host);
        self.queue.own.get().new = others;
        let of_host = self.entries.iter().flatten().filter(|entry| entry.guard.host == host);
        let mut dead: Vec<Ready> = of_host.map(|entry| entry.token.task).collect();
        dead.sort_unstable_by_key(|task| task.made);
        drop(unborn);
        dead.into_iter().for_each(|task| self.remove(task));
    }

    fn remove(&mut self, task: Ready) {
        self.entries[task.slot] = None;
        self.free.push(task.slot);
    }

    /// Hands all tasks over, one by one, for their hosts to drop them.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = (HostId, impl Sized)> {
        self.entries.drain(..).flatten().map(|entry| (entry.guard.host, entry))
    }
}

/// The entry of a task, unless the task is over.
fn live(entries: &[Option<Entry>], task: Ready) -> Option<&Entry> {
    entries[task.slot].as_ref().filter(|entry| entry.token.task.made == task.made)
}

/// Puts the task that is chosen in front of the others, unless one that was chosen before still stands there.
fn choose(
    entries: &[Option<Entry>],
    ready: &mut VecDeque<Ready>,
    before: Option<Ready>,
    world: &World,
) -> Option<Ready> {
    if let Some(task) = before.filter(|task| live(entries, *task).is_some()) {
        return Some(task);
    }
    ready.retain(|task| live(entries, *task).is_some());
    if ready.len() > 1 {
        let at = world.state().next_task(ready.len());
        let task = ready.remove(at)?;
        ready.push_front(task);
    }
    ready.front().copied()
}
