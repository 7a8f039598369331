//! Full copies for replicas: with their length, as from a file, or straight over the socket between two marks.
//!
//! A copy over the socket (`repl-diskless-sync`) is made for all replicas that come within `repl-diskless-sync-delay`
//! seconds of the first. Only the replica knows when it has all of it, so the stream is kept until it says so. Until this
//! is asked for by CONFIG SET, copies have a length and are sent at once.
//!
//! Source: `startBgsaveForReplication` and `replicationCron` of `replication.c`.

use std::sync::Arc;

use crate::server::node::{FedReplica, Feeding, Introduced, Node, SessionId, Then};
use crate::server::snapshot;
use crate::server::stream::ReplicationId;

impl Node {
    /// Makes a session the link of a replica that needs everything.
    pub(super) fn feed_anew(&mut self, session: SessionId, introduced: Introduced) {
        self.begin_history();
        if !(self.replication.settings.diskless && introduced.eof) {
            let copy = snapshot::of_node(self, false);
            let head = format!("{}${}\r\n", self.place(), copy.len());
            self.send(session, &[head.as_bytes(), &copy].concat());
            self.add_replica(session, introduced, Feeding::Sent);
            return self.has_sent_copy(session, copy.len());
        }
        let since_s = self.now_s();
        self.add_replica(session, introduced, Feeding::InTheCopy { since_s });
        if self.replication.settings.diskless_delay_s == 0 {
            self.copy_to_all();
        }
    }

    /// Prepares the history for a copy of what is here.
    pub(super) fn begin_history(&mut self) {
        let name = self.replication.new_name();
        // A replica's replicas follow the history of its primary, which it has.
        self.replication.history.begin_copy(|| name);
    }

    /// Where in the history a copy of what is here stands.
    fn place(&self) -> String {
        let history = &self.replication.history;
        format!("+FULLRESYNC {} {}\r\n", history.id(), history.offset())
    }

    /// Makes a copy for those who wait for one, if enough do or the first has waited long enough; else they are sent a sign
    /// that this node is alive.
    pub(super) fn copy_when_due(&mut self) {
        let (now_s, settings) = (self.now_s(), &self.replication.settings);
        let waiting: Vec<(SessionId, i64)> = (self.replication.replicas.iter())
            .filter_map(|replica| match replica.feeding {
                Feeding::InTheCopy { since_s } => Some((replica.session, now_s - since_s)),
                _ => None,
            })
            .collect();
        let Some(longest) = waiting.iter().map(|(_, waited)| *waited).max() else { return };
        let enough = settings.diskless_enough > 0 && waiting.len() >= settings.diskless_enough;
        if enough || longest >= settings.diskless_delay_s {
            self.copy_to_all();
        } else {
            let alive: Arc<[u8]> = b"\n".as_slice().into();
            for (session, _) in waiting {
                self.deliver(session, Arc::clone(&alive), Then::Same);
            }
        }
    }

    /// Sends a copy to all who wait for one.
    fn copy_to_all(&mut self) {
        self.begin_history();
        let (mark, now_s): (ReplicationId, i64) = (self.replication.new_name(), self.now_s());
        let copy = snapshot::of_node(self, false);
        let head = format!("{}$EOF:{mark}\r\n", self.place());
        let bytes: Arc<[u8]> = [head.as_bytes(), &copy, mark.as_bytes()].concat().into();
        let waits = |replica: &&mut FedReplica| !replica.has_copy();
        let mut begun = Vec::new();
        for replica in self.replication.replicas.iter_mut().filter(waits) {
            replica.feeding = Feeding::KeptCommand(Vec::new());
            replica.acked_s = now_s;
            begun.push(replica.session);
        }
        for session in begun {
            self.has_sent_copy(session, bytes.len());
            self.deliver(session, Arc::clone(&bytes), Then::Same);
        }
    }
}
