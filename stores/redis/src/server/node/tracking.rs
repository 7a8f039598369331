//! The caches of clients: who is notified that keys are no longer as they were read (Redis 7.0 `tracking.c`).
//!
//! A key that a client has read is remembered for it, and forgotten when the client is notified. In the broadcasting mode the node remembers
//! prefixes instead, and notifies of all keys that changed in a turn of its event loop at once. Databases are not notified apart, as in Redis.

use super::caching::Caching;
use super::ids::SessionId;
use super::state::Node;
use crate::protocol::resp::{Protocol, Reply};

/// The channel on which clients that speak RESP2 are notified.
const CHANNEL: &[u8] = b"__redis__:invalidate";

impl Node {
    /// Notifies a session from now on of changes of what it reads or of what has these prefixes.
    pub(crate) fn track(&mut self, id: SessionId, caching: Caching) {
        self.tracking.used = true;
        self.store.watching = true;
        for prefix in &caching.prefixes {
            self.tracking.prefixes.entry(prefix.clone()).or_default().clients.insert(id);
        }
        self.session_mut(id).caching = Some(Box::new(caching));
    }

    /// Notifies a session of no changes any more.
    pub(crate) fn stop_tracking(&mut self, id: SessionId) {
        let caching = self.session_mut(id).caching.take();
        for prefix in caching.into_iter().flat_map(|caching| caching.prefixes) {
            if let Some(state) = self.tracking.prefixes.get_mut(&prefix) {
                state.clients.remove(&id);
                if state.clients.is_empty() {
                    self.tracking.prefixes.remove(&prefix);
                }
            }
        }
    }

    /// True if what a session reads now is remembered.
    pub(crate) fn remembers(&self, id: SessionId) -> bool {
        let caching = self.sessions.get(&id).and_then(|session| session.caching.as_deref());
        caching.is_some_and(|caching| {
            let left_out = caching.opt_in && !caching.next || caching.opt_out && caching.next;
            !caching.broadcast && !left_out
        })
    }

    /// Remembers keys that a session has read.
    pub(crate) fn remember<'k>(&mut self, id: SessionId, keys: impl IntoIterator<Item = &'k [u8]>) {
        for key in keys {
            self.tracking.keys.entry(key.to_vec()).or_default().insert(id);
        }
    }

    /// Looks at the changes of a command that is not answered yet, of a session or of the script that it runs.
    pub(crate) fn digest_own_changes(&mut self, by_script: bool) {
        (self.tracking.executing, self.tracking.in_script) = (true, by_script);
        self.digest_changes();
        (self.tracking.executing, self.tracking.in_script) = (false, false);
    }

    /// Notifies everybody who has read a key that it was changed, and forgets that they have.
    pub(super) fn invalidate(&mut self, key: &[u8]) {
        let by = self.current.filter(|_| !self.tracking.in_script);
        for (prefix, state) in &mut self.tracking.prefixes {
            if key.starts_with(prefix) {
                state.changed.insert(key.to_vec(), by);
            }
        }
        for id in self.tracking.keys.remove(key).unwrap_or_default() {
            let caching = self.sessions.get(&id).and_then(|session| session.caching.as_deref());
            let Some(caching) = caching.filter(|caching| !caching.broadcast) else { continue };
            let own = self.tracking.turn == Some(id);
            if own && caching.no_loop {
                continue;
            }
            if own && self.tracking.executing {
                self.tracking.pending.push(Some(key.to_vec()));
            } else {
                self.send_invalidation(id, Some(vec![key.to_vec()]));
            }
        }
    }

    /// Notifies everybody who has a cache that all keys are gone.
    pub(super) fn invalidate_all(&mut self) {
        let caches: Vec<SessionId> =
            self.sessions().filter(|session| session.caching.is_some()).map(|session| session.id).collect();
        for id in caches {
            if self.tracking.turn == Some(id) {
                self.tracking.pending.push(None);
            } else {
                self.send_invalidation(id, None);
            }
        }
        self.tracking.keys.clear();
    }

    /// Notifies the session whose command was answered just now of its own changes.
    pub(crate) fn send_pending(&mut self, id: SessionId) {
        if self.is_nested() || self.tracking.pending.is_empty() {
            return;
        }
        for key in std::mem::take(&mut self.tracking.pending) {
            self.send_invalidation(id, key.map(|key| vec![key]));
        }
    }

    /// The end of a turn of the event loop in which this session sent commands; what it is notified of them follows its replies.
    pub(crate) fn end_turn_of(&mut self, id: SessionId, reply: &mut Vec<u8>) {
        self.current = Some(id);
        std::mem::swap(reply, &mut self.out);
        self.end_turn();
        std::mem::swap(reply, &mut self.out);
        self.current = None;
    }

    /// The end of a turn of the event loop: the keys of prefixes are notified of, and no more keys are remembered than may be.
    pub(crate) fn end_turn(&mut self) {
        self.tracking.turn = None;
        if !self.tracking.used {
            return;
        }
        for prefix in self.tracking.prefixes.keys().cloned().collect::<Vec<_>>() {
            let Some(state) = self.tracking.prefixes.get_mut(&prefix) else { continue };
            let (changed, clients) = (std::mem::take(&mut state.changed), state.clients.clone());
            for id in clients {
                let no_loop = self.session(id).caching.as_ref().is_some_and(|caching| caching.no_loop);
                let others = changed.iter().filter(|(_, by)| !(no_loop && **by == Some(id)));
                let keys: Vec<Vec<u8>> = others.map(|(key, _)| key.clone()).collect();
                if !keys.is_empty() {
                    self.send_invalidation(id, Some(keys));
                }
            }
        }
        let most = self.parameter_named("tracking-table-max-keys").parse().unwrap_or(0);
        while most > 0 && self.tracking.keys.len() > most {
            let nth = self.store.random_below(self.tracking.keys.len());
            let Some(key) = self.tracking.keys.keys().nth(nth).cloned() else { return };
            self.invalidate(&key);
        }
    }

    /// CLIENT CACHING holds for one command or transaction.
    pub(crate) fn advance_caching(&mut self, id: SessionId) {
        let session = self.session_mut(id);
        if session.transaction.is_none()
            && let Some(caching) = &mut session.caching
        {
            caching.next = false;
        }
    }

    /// Notifies a session, or the one in its place, of changes of keys; none stands for all keys.
    fn send_invalidation(&mut self, id: SessionId, keys: Option<Vec<Vec<u8>>>) {
        let session = self.session(id);
        let protocol = session.protocol;
        let redirect = session.caching.as_ref().and_then(|caching| caching.redirect);
        if let Some(redirect) = redirect.filter(|redirect| !self.sessions.contains_key(redirect)) {
            if let Some(caching) = &mut self.session_mut(id).caching {
                caching.broken = true;
            }
            if protocol == Protocol::Three {
                let gone = vec![Reply::text("tracking-redir-broken"), Reply::Integer(redirect.number())];
                self.send(id, &encoded(&Reply::Push(gone), protocol));
            }
            return;
        }
        let target = redirect.unwrap_or(id);
        let receiver = self.session(target);
        let mut bytes = match receiver.protocol {
            Protocol::Three => b">2\r\n$10\r\ninvalidate\r\n".to_vec(),
            Protocol::Two if redirect.is_some() && receiver.listens() => [
                b"*3\r\n$7\r\nmessage\r\n",
                encoded(&Reply::Bulk(CHANNEL.to_vec()), Protocol::Two).as_slice(),
            ]
            .concat(),
            Protocol::Two => return,
        };
        let keys = keys.map(|keys| Reply::Array(keys.into_iter().map(Reply::Bulk).collect()));
        // Redis writes the null of the protocol of the client that has the cache, whoever is notified.
        bytes.extend(encoded(&keys.unwrap_or(Reply::Nil), protocol));
        self.send(target, &bytes);
    }
}

fn encoded(reply: &Reply, protocol: Protocol) -> Vec<u8> {
    let mut bytes = Vec::new();
    reply.encode(protocol, &mut bytes);
    bytes
}
