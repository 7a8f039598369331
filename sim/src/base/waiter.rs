//! A task that may wait for something.

use std::task::Waker;

/// A task that may wait for something. It stays known when it has been woken: mostly it is the next to wait too, and need not
/// be made known anew.
#[derive(Debug, Default)]
pub struct Waiter {
    waker: Option<Waker>,
    waits: bool,
}

impl Waiter {
    /// The task of this waker waits from now on; whoever waited before does not any more.
    pub fn wait(&mut self, waker: &Waker) {
        match &mut self.waker {
            Some(known) => known.clone_from(waker),
            None => self.waker = Some(waker.clone()),
        }
        self.waits = true;
    }

    /// Wakes the task that waits, if one does.
    pub fn wake(&mut self) {
        if std::mem::take(&mut self.waits)
            && let Some(waker) = &self.waker
        {
            waker.wake_by_ref();
        }
    }
}
