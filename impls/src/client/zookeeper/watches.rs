//! The watches of a client: who waits until which node changes. Each fires once; they outlast connections, and end with the session.
//!
//! Only watches that a read of a node's data leaves are here: the recipes for locks need no others.
//!
//! *Source:* `ZKWatchManager.java` of ZooKeeper 3.8.

use std::collections::BTreeMap;

use picklock_zookeeper::messages::{SetWatches, WatchEvent, event};
use tokio::sync::oneshot;

/// Gets notified at the event.
pub(super) type Waiter = oneshot::Sender<()>;

/// All of a client, by the path of the node.
#[derive(Default)]
pub(super) struct Watches(BTreeMap<String, Vec<Waiter>>);

impl Watches {
    pub(super) fn add(&mut self, path: String, waiter: Waiter) {
        self.0.entry(path).or_default().push(waiter);
    }

    /// Notifies those that wait for this.
    pub(super) fn fire(&mut self, happened: &WatchEvent) {
        if !matches!(happened.kind, event::CREATED | event::DELETED | event::DATA_CHANGED) {
            return;
        }
        for waiter in self.0.remove(&happened.path).into_iter().flatten() {
            // Whoever waited may have given up.
            let _ = waiter.send(());
        }
    }

    /// Nobody is notified any more: whoever waits notices that.
    pub(super) fn end(&mut self) {
        self.0.clear();
    }

    /// What the next member is to watch; none if there is nothing.
    pub(super) fn again(&self, relative_zxid: i64) -> Option<SetWatches> {
        let data = self.0.keys().cloned().collect();
        (!self.0.is_empty()).then_some(SetWatches { relative_zxid, data, ..SetWatches::default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn happened(kind: i32, path: &str) -> WatchEvent {
        WatchEvent { kind, state: event::SYNC_CONNECTED, path: path.to_owned() }
    }

    #[test]
    fn a_watch_fires_once_for_its_own_node() {
        let mut watches = Watches::default();
        let ((one, mut first), (two, mut second)) = (oneshot::channel(), oneshot::channel());
        watches.add("/a".to_owned(), one);
        watches.add("/b".to_owned(), two);
        let data = vec!["/a".to_owned(), "/b".to_owned()];
        let again = SetWatches { relative_zxid: 7, data, ..SetWatches::default() };
        assert_eq!(watches.again(7), Some(again));
        watches.fire(&happened(event::CHILDREN_CHANGED, "/a"));
        assert!(first.try_recv().is_err());
        watches.fire(&happened(event::DELETED, "/a"));
        assert!(first.try_recv().is_ok());
        assert!(second.try_recv().is_err());
        watches.fire(&happened(event::DATA_CHANGED, "/b"));
        assert!(second.try_recv().is_ok());
        assert_eq!(watches.again(7), None);
    }
}
