//! The effects of changes of keys: transactions that watch them fail, clients that wait for them are served,
//! clients that have read them are notified, listeners are notified (Redis 7.0 `multi.c`, `blocked.c`, `tracking.c`, `notify.c`).

use super::ids::SessionId;
use super::session::{Transaction, Watched};
use super::state::Node;
use crate::server::store::Touch;

impl Node {
    /// Watches a key for a session.
    pub(crate) fn watch(&mut self, id: SessionId, key: &[u8]) {
        let database = self.session(id).database;
        if self.session(id).watched.iter().any(|watched| watched.database == database && watched.key == key) {
            return;
        }
        let was_dead = self.store.is_dead(database, key) == Some(true);
        let place = (database, key.to_vec());
        self.watched_keys.entry(place).or_default().push(id);
        self.session_mut(id).watched.push(Watched { database, key: key.to_vec(), was_dead });
        self.store.watching = true;
    }

    /// Watches no key any more.
    pub(crate) fn unwatch(&mut self, id: SessionId) {
        let session = self.session_mut(id);
        session.overtaken = false;
        for Watched { database, key, .. } in std::mem::take(&mut session.watched) {
            let place = (database, key);
            if let Some(sessions) = self.watched_keys.get_mut(&place) {
                sessions.retain(|other| *other != id);
                if sessions.is_empty() {
                    self.watched_keys.remove(&place);
                }
            }
        }
        self.look_away();
    }

    /// Forgets what a session has queued and what it watches.
    pub(crate) fn discard(&mut self, id: SessionId) -> Option<Box<Transaction>> {
        self.unwatch(id);
        self.session_mut(id).transaction.take()
    }

    /// True if a key that the session watches was changed, or has died since.
    pub(crate) fn is_overtaken(&self, id: SessionId) -> bool {
        let session = self.session(id);
        let dead = |watched: &Watched| {
            !watched.was_dead && self.store.is_dead(watched.database, &watched.key) == Some(true)
        };
        session.overtaken || session.watched.iter().any(dead)
    }

    /// The dataset need not say what happens to keys if nobody wants to know.
    pub(crate) fn look_away(&mut self) {
        self.store.watching = !self.watched_keys.is_empty()
            || !self.queues.keys.is_empty()
            || self.config.notifications != 0
            || self.tracking.used;
    }

    /// Notifies everybody concerned of changes of keys.
    pub(crate) fn digest_changes(&mut self) {
        for change in std::mem::take(&mut self.store.changes) {
            if change.touch == Touch::Flushed {
                self.invalidate_all();
                continue;
            }
            // A database that is emptied or swapped is not announced key by key.
            if self.tracking.used && change.touch != Touch::Same && change.event.is_some() {
                self.invalidate(&change.key);
            }
            if let Some((class, event)) = change.event {
                self.notify(class, event, &change.key, change.database);
            }
            if change.touch == Touch::Same {
                continue;
            }
            let place = (change.database, change.key);
            if let Some(sessions) = self.watched_keys.get(&place) {
                for id in sessions.clone() {
                    self.overtake(id, &place, change.touch);
                }
            }
            let wakes = change.touch != Touch::Replaced;
            if wakes && self.queues.keys.contains_key(&place) && !self.queues.ready.contains(&place) {
                self.queues.ready.push(place);
            }
        }
    }

    /// A key that was dead already when it was watched may be deleted or stay dead, and one that was not there may come
    /// dead: that is no change.
    fn overtake(&mut self, id: SessionId, place: &(usize, Vec<u8>), touch: Touch) {
        let dead = self.store.is_dead(place.0, &place.1);
        let session = self.session_mut(id);
        let same = |watched: &&mut Watched| watched.database == place.0 && watched.key == place.1;
        match session.watched.iter_mut().find(same) {
            Some(watched) if watched.was_dead && dead != Some(false) => watched.was_dead = dead.is_some(),
            Some(watched) if touch == Touch::CameDead => watched.was_dead = true,
            _ => session.overtaken = true,
        }
    }
}
