//! A flag that is set once, and the wait for it: how a background task notifies holders that their lock is lost.

use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

/// See the [module](self).
#[derive(Debug, Default)]
pub(crate) struct Flag {
    is_set: AtomicBool,
    changed: Notify,
}

impl Flag {
    /// Sets it, and wakes all tasks that wait for it.
    pub(crate) fn set(&self) {
        self.is_set.store(true, Ordering::Relaxed);
        self.changed.notify_waiters();
    }

    /// True once it is set.
    pub(crate) fn is_set(&self) -> bool {
        self.is_set.load(Ordering::Relaxed)
    }

    /// Waits until it is set.
    pub(crate) async fn wait(&self) {
        // A wake-up between the look and the wait counts: it reaches each `notified` that was made before.
        let changed = self.changed.notified();
        if !self.is_set() {
            changed.await;
        }
    }
}
