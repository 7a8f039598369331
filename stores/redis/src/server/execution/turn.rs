//! A node's turns: a connection comes or goes, a command comes, some time has passed.

use picklock_model::time::WallTime;

use crate::protocol::resp::Reply;
use crate::server::node::{Migration, Next, Node, Outcome, Session, SessionId};
use crate::server::store::Effects;

/// True for a command that may find any number of dead keys: their deletions belong to no transaction.
fn comes_upon_keys(args: &[&[u8]]) -> bool {
    let is = |word: &[u8]| args.first().is_some_and(|name| name.eq_ignore_ascii_case(word));
    is(b"SCAN") || is(b"RANDOMKEY")
}

impl Node {
    /// A new connection from this host.
    pub fn connect(&mut self, peer: &str) -> SessionId {
        self.last_session += 1;
        let id = SessionId(self.last_session);
        let now = self.store.now_ms();
        let session = Session {
            id,
            peer: peer.to_owned(),
            authenticated: self.config.password.is_empty(),
            since_ms: now,
            active_ms: now,
            last: "NULL",
            ..Session::default()
        };
        self.sessions.insert(id, session);
        self.stats.connections += 1;
        self.stats.started_ms.get_or_insert(now);
        id
    }

    /// The end of a connection.
    pub fn disconnect(&mut self, id: SessionId) {
        if !self.sessions.contains_key(&id) {
            return;
        }
        self.stop_waiting(id);
        self.unwatch(id);
        self.unlisten_all(id);
        self.monitors.retain(|other| *other != id);
        self.stop_tracking(id);
        self.sessions.remove(&id);
        self.lose_replica(id);
        self.slots_lost(id);
    }

    /// Executes a command of a connection when the wall clock shows `now`, and appends the reply to `reply`. What others
    /// get is taken with [`Node::take_deliveries`].
    ///
    /// # Panics
    /// When there is no such connection.
    pub fn execute(&mut self, now: WallTime, id: SessionId, args: &[&[u8]], reply: &mut Vec<u8>) -> Outcome {
        self.at(now);
        self.current = Some(id);
        std::mem::swap(reply, &mut self.out);
        let mut next = self.process(id, args);
        std::mem::swap(reply, &mut self.out);
        self.current = None;
        if !comes_upon_keys(args) {
            self.seal(0);
        }
        let elapsed_ms = self.store.settle();
        if self.cluster.is_some() {
            self.settle_cluster();
        }
        self.serve_ready();
        let effects = self.take_effects();
        self.session_mut(id).wrote = self.offset();
        self.ask_for_acks();
        if elapsed_ms > 0 && matches!(next, Next::Continue | Next::Stall(_)) {
            next = Next::Stall(elapsed_ms);
        }
        if self.session(id).leaving {
            next = Next::Close;
        }
        Outcome { effects, next }
    }

    /// The regular work of a node when the wall clock shows `now`: it deletes the keys that are dead, unless it is a
    /// replica or imports some, and answers those who have waited long enough.
    pub fn tick(&mut self, now: WallTime) -> Effects {
        self.at(now);
        self.tend_failover();
        if !self.is_replica() && self.paused().is_none() && !self.expires_lazily && !self.is_importing() {
            self.store.expire_dead();
            self.digest_changes();
        }
        self.end_overdue();
        self.serve_ready();
        self.end_turn();
        self.take_effects()
    }

    /// Drops the first live keys that have a lease, at most so many, when the wall clock shows `now`; how many there
    /// were. A replica drops nothing: as in Redis, it leaves that to its primary.
    pub fn drop_leased(&mut self, now: WallTime, most: usize) -> (usize, Effects) {
        self.at(now);
        let dropped = if self.is_replica() { 0 } else { self.store.drop_leased(most) };
        self.digest_changes();
        self.serve_ready();
        self.end_turn();
        (dropped, self.take_effects())
    }

    /// Ends a MIGRATE when the wall clock shows `now`: what the other node has answered.
    pub(crate) fn finish_migration(
        &mut self,
        now: WallTime,
        migration: &Migration,
        replies: &[Reply],
    ) -> (Reply, Effects) {
        self.at(now);
        let reply = self.end_migration(migration, replies);
        self.end_turn();
        (reply, self.take_effects())
    }

    /// True while it has something to look at every so often.
    #[must_use]
    pub fn needs_ticks(&self) -> bool {
        self.paused().is_some() || self.has_deadlines() || !self.is_replica() && self.store.has_volatile()
    }

    /// The effects since the last call; they are in the stream now.
    fn take_effects(&mut self) -> Effects {
        let effects = std::mem::take(&mut self.store.effects);
        self.stats.changes += effects.parts.len() as u64;
        self.propagate(&effects);
        effects
    }
}
