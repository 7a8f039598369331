//! Background tasks of a process.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

use super::host::Host;

impl Host {
    /// Runs a background task of this process: it pauses and dies with it.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Task {
        Task::spawn(self, future)
    }
}

impl Host {
    /// Runs a future as this one of the client's tasks, from 0: what it does, and what it spawns, is in the service of that
    /// task's section.
    pub async fn in_task<T>(&self, task: u32, future: impl Future<Output = T>) -> T {
        let mut future = pin!(future);
        poll_fn(|cx| {
            let before = self.world.state().turn_to(self.id, task);
            let outcome = future.as_mut().poll(cx);
            self.world.state().turn_to(self.id, before);
            outcome
        })
        .await
    }

    /// Which of its client's tasks this is, from 0.
    #[must_use]
    pub fn task(&self) -> u32 {
        self.world.state().lane(self.id)
    }

    /// Runs a call of a lock until it returns or a fault action cancels it: then its future is dropped, and there is no outcome.
    pub async fn unless_cancelled<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        let mut call = pin!(call);
        poll_fn(|cx| {
            if self.world.state().is_cancelled(self.id, cx.waker()) {
                return Poll::Ready(None);
            }
            match call.as_mut().poll(cx) {
                Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
                // A fault action that hits a point within the call takes effect at the end of its step.
                Poll::Pending if self.world.state().is_cancelled(self.id, cx.waker()) => Poll::Ready(None),
                Poll::Pending => Poll::Pending,
            }
        })
        .await
    }
}

/// A handle of a spawned task. Dropping it leaves the task running.
pub struct Task {
    abort: Arc<Abort>,
}

/// Shared by a task and its handle.
#[derive(Default)]
struct Abort {
    asked: AtomicBool,
    waker: Mutex<Option<Waker>>,
}

impl Task {
    pub(crate) fn spawn(host: &Host, future: impl Future<Output = ()> + Send + 'static) -> Task {
        let abort = Arc::new(Abort::default());
        let task = abortable(Arc::clone(&abort), future);
        let lane = host.world.state().lane(host.id());
        host.spawner.spawn(host.id(), lane, Box::pin(task));
        Task { abort }
    }

    /// Drops the task's future before its next poll.
    pub fn abort(&self) {
        self.abort.asked.store(true, Ordering::Relaxed);
        let waker = self.abort.waker.lock().expect("nothing panics while it holds this lock").take();
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Runs a future until it is ready or its handle aborts it.
async fn abortable(abort: Arc<Abort>, future: impl Future<Output = ()>) {
    let mut future = pin!(future);
    let mut known: Option<Waker> = None;
    poll_fn(|cx| {
        // A task has the same waker all its life.
        if !known.as_ref().is_some_and(|known| known.will_wake(cx.waker())) {
            known = Some(cx.waker().clone());
            abort.waker.lock().expect("nothing panics while it holds this lock").clone_from(&known);
        }
        if abort.asked.load(Ordering::Relaxed) {
            return Poll::Ready(());
        }
        future.as_mut().poll(cx)
    })
    .await;
}
