//! A node's changes of role.

use picklock_model::trace::What;

use crate::server::node::{Node, Upstream};

impl Node {
    /// Becomes a primary. False if it is one. Its history goes on under a new name, so that the old primary's can part
    /// from it.
    pub(crate) fn promote(&mut self) -> bool {
        if self.replication.upstream.take().is_none() {
            return false;
        }
        self.replication.role_changed = true;
        self.store.effects.events.push(What::BecameLeader);
        let name = self.replication.new_name();
        self.replication.history.shift(name);
        self.cut_replicas();
        true
    }

    /// Becomes a replica of another node.
    pub(crate) fn follow(&mut self, host: String, port: u16) {
        let old = self.replication.upstream.take();
        // A primary asks its successor whether that knows its history; a replica continues with what it has.
        let resumable = old.as_ref().is_none_or(|old| old.resumable);
        let mut upstream = Upstream::new(host, port, resumable);
        if old.is_none() {
            self.store.effects.events.push(What::StoppedLeading);
            self.replication.history.resume(None);
            self.unblock_all();
        } else {
            upstream.down_since_s = Some(self.now_s());
        }
        self.replication.upstream = Some(upstream);
        self.replication.role_changed = true;
    }
}
