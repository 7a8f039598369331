//! Background tasks of a process.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use super::host::Host;

impl Host {
    /// Runs a background task of this process: it pauses and dies with it.
    pub fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Task {
        Task::spawn(self, future)
    }
}

/// A handle of a spawned task. Dropping it leaves the task running.
pub struct Task {
    abort: Arc<Abort>,
}

/// Shared by a task and its handle.
#[derive(Default)]
struct Abort {
    state: Mutex<(bool, Option<Waker>)>,
}

impl Task {
    pub(crate) fn spawn(host: &Host, future: impl Future<Output = ()> + Send + 'static) -> Task {
        let abort = Arc::new(Abort::default());
        let task = Abortable { abort: Arc::clone(&abort), future: Some(Box::pin(future)) };
        host.spawner.spawn(host.id(), false, Box::pin(task));
        Task { abort }
    }

    /// Drops the task's future before its next poll.
    pub fn abort(&self) {
        let mut state = self.abort.state.lock().expect("nothing panics while it holds this lock");
        state.0 = true;
        if let Some(waker) = state.1.take() {
            waker.wake();
        }
    }
}

struct Abortable<F> {
    abort: Arc<Abort>,
    future: Option<Pin<Box<F>>>,
}

impl<F: Future<Output = ()>> Future for Abortable<F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        {
            let mut state = self.abort.state.lock().expect("nothing panics while it holds this lock");
            if state.0 {
                drop(state);
                self.future = None;
                return Poll::Ready(());
            }
            match &mut state.1 {
                Some(waker) => waker.clone_from(cx.waker()),
                None => state.1 = Some(cx.waker().clone()),
            }
        }
        match &mut self.future {
            Some(future) => future.as_mut().poll(cx),
            None => Poll::Ready(()),
        }
    }
}
