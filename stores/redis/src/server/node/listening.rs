//! Pub/Sub: who listens to what, and how a message gets there (Redis 7.0 `pubsub.c`, `notify.c`).
//!
//! A message reaches who listens at that moment, and nobody later. Listeners of a channel get it in the order in which
//! they subscribed; patterns come after channels, in the order of their bytes.

use std::sync::Arc;

use super::channels::Kind;
use super::delivery::Then;
use super::ids::SessionId;
use super::state::Node;
use crate::protocol::resp::{Protocol, Reply};
use crate::server::cluster::slot_of;
use crate::server::glob;

/// A message in the form of each protocol, made when it is first needed.
struct Message {
    parts: Vec<Reply>,
    forms: [Option<Arc<[u8]>>; 2],
}

impl Message {
    fn new(parts: &[&[u8]]) -> Message {
        Message { parts: parts.iter().map(|part| Reply::Bulk(part.to_vec())).collect(), forms: [None, None] }
    }

    fn form(&mut self, protocol: Protocol) -> Arc<[u8]> {
        let at = usize::from(protocol == Protocol::Three);
        let made = self.forms[at].get_or_insert_with(|| {
            let mut bytes = Vec::new();
            Reply::Push(self.parts.clone()).encode(protocol, &mut bytes);
            bytes.into()
        });
        Arc::clone(made)
    }
}

impl Node {
    /// Listens. True if the session did not before.
    pub(crate) fn listen(&mut self, id: SessionId, kind: Kind, name: &[u8]) -> bool {
        let new = self.session_mut(id).heard.get_or_insert_default().of(kind).insert(name.to_vec());
        if new {
            self.channels.of_mut(kind).entry(name.to_vec()).or_default().push(id);
        }
        new
    }

    /// Listens no longer. True if the session did.
    pub(crate) fn unlisten(&mut self, id: SessionId, kind: Kind, name: &[u8]) -> bool {
        let Some(heard) = &mut self.session_mut(id).heard else { return false };
        if !heard.of(kind).remove(name) {
            return false;
        }
        let listeners = self.channels.of_mut(kind);
        if let Some(ids) = listeners.get_mut(name) {
            ids.retain(|other| *other != id);
            if ids.is_empty() {
                listeners.remove(name);
            }
        }
        true
    }

    /// The channels or patterns that a session listens to.
    pub(crate) fn heard(&mut self, id: SessionId, kind: Kind) -> Vec<Vec<u8>> {
        let heard = self.session_mut(id).heard.as_mut();
        heard.map_or_else(Vec::new, |heard| heard.of(kind).iter().cloned().collect())
    }

    /// Listens to nothing any more, without a word about it.
    pub(crate) fn unlisten_all(&mut self, id: SessionId) {
        for kind in [Kind::Channel, Kind::Pattern, Kind::Shard] {
            for name in self.heard(id, kind) {
                self.unlisten(id, kind, &name);
            }
        }
        self.session_mut(id).heard = None;
    }

    /// Sends a message to those who listen; how many got it.
    pub(crate) fn spread(&mut self, channel: &[u8], message: &[u8], sharded: bool) -> usize {
        if sharded {
            let ids = self.channels.shards.get(channel).cloned().unwrap_or_default();
            return self.hand_out(&ids, &[b"smessage", channel, message]);
        }
        let ids = self.channels.channels.get(channel).cloned().unwrap_or_default();
        let mut count = self.hand_out(&ids, &[b"message", channel, message]);
        if self.channels.patterns.is_empty() {
            return count;
        }
        let matching = |(pattern, _): &(&Vec<u8>, &Vec<SessionId>)| glob::fits(pattern, channel);
        let patterns: Vec<(Vec<u8>, Vec<SessionId>)> = self
            .channels
            .patterns
            .iter()
            .filter(matching)
            .map(|(pattern, ids)| (pattern.clone(), ids.clone()))
            .collect();
        for (pattern, ids) in patterns {
            count += self.hand_out(&ids, &[b"pmessage", &pattern, channel, message]);
        }
        count
    }

    /// Has those who listen to sharded channels of a slot do so elsewhere: they are notified.
    pub(crate) fn drop_channels(&mut self, slot: u16) {
        let of_slot = |name: &&Vec<u8>| slot_of(name) == slot;
        let names: Vec<Vec<u8>> = self.channels.shards.keys().filter(of_slot).cloned().collect();
        for name in names {
            for id in self.channels.shards.get(&name).cloned().unwrap_or_default() {
                self.unlisten(id, Kind::Shard, &name);
                let left = self.session(id).heard.as_ref().map_or(0, |heard| heard.shards.len());
                let left = Reply::Integer(i64::try_from(left).unwrap_or(i64::MAX));
                let push = Reply::Push(vec![Reply::text("sunsubscribe"), Reply::Bulk(name.clone()), left]);
                let mut bytes = Vec::new();
                push.encode(self.session(id).protocol, &mut bytes);
                self.send(id, &bytes);
            }
        }
    }

    fn hand_out(&mut self, ids: &[SessionId], parts: &[&[u8]]) -> usize {
        if ids.is_empty() {
            return 0;
        }
        let mut message = Message::new(parts);
        for id in ids {
            let form = message.form(self.session(*id).protocol);
            if self.current == Some(*id) {
                self.out.extend_from_slice(&form);
            } else {
                self.deliver(*id, form, Then::Same);
            }
        }
        ids.len()
    }

    /// Notifies those who listen to what happens to keys.
    pub(crate) fn notify(&mut self, class: u8, event: &str, key: &[u8], database: usize) {
        let Some(wants) = self.config.notifies(class) else { return };
        if wants.keyspace {
            let channel = [format!("__keyspace@{database}__:").as_bytes(), key].concat();
            self.spread(&channel, event.as_bytes(), false);
        }
        if wants.keyevent {
            let channel = format!("__keyevent@{database}__:{event}");
            self.spread(channel.as_bytes(), key, false);
        }
    }
}
