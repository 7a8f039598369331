//! The losses that a program reports by itself: `lost KEY`, at any time, by a program whose library notices that a grant is lost.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

use picklock_model::ids::Key;
use tokio::sync::Notify;

/// The keys whose loss was reported since they were asked for.
#[derive(Debug, Default)]
pub(crate) struct Losses {
    keys: Mutex<BTreeSet<Key>>,
    changed: Notify,
}

/// The key of a line that reports a loss. An answer to `renew` is `lost` alone.
pub(crate) fn read(line: &str) -> Option<Key> {
    let key = line.trim().strip_prefix("lost")?;
    let key = key.strip_prefix(char::is_whitespace)?.trim_start();
    (!key.contains(char::is_whitespace)).then(|| Key::new(key))
}

impl Losses {
    /// The key is lost.
    pub(crate) fn report(&self, key: Key) {
        self.keys().insert(key);
        self.changed.notify_waiters();
    }

    /// The key is asked for: what was reported of it before is over.
    pub(crate) fn forget(&self, key: &Key) {
        self.keys().remove(key);
    }

    /// Waits until the loss of the key is reported.
    pub(crate) async fn of(&self, key: &Key) {
        loop {
            // A report between the look and the wait counts: it reaches each `notified` that was made before.
            let changed = self.changed.notified();
            if self.keys().contains(key) {
                return;
            }
            changed.await;
        }
    }

    fn keys(&self) -> MutexGuard<'_, BTreeSet<Key>> {
        self.keys.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_names_a_key_and_an_answer_does_not() {
        assert_eq!(read("lost lock:1"), Some(Key::new("lock:1")));
        assert_eq!(read(" lost  lock:1 "), Some(Key::new("lock:1")));
        for line in ["lost", "lost ", "lostlock:1", "lost a b", "renewed"] {
            assert_eq!(read(line), None, "{line}");
        }
    }
}
