//! The place of a node just now: its role, its memory, a pause.

use super::ids::SessionId;
use super::replication::{FedReplica, LinkState, Upstream};
use super::slot_task::SlotState;
use super::state::{Node, Pause};
use crate::server::store::Policy;

impl Node {
    /// The primary that it follows; `None` for a primary.
    pub(crate) fn upstream(&self) -> Option<&Upstream> {
        self.replication.upstream.as_ref()
    }

    /// True if it follows a primary.
    #[must_use]
    pub fn is_replica(&self) -> bool {
        self.replication.upstream.is_some()
    }

    /// How many bytes the stream of effects has so far.
    #[must_use]
    pub fn offset(&self) -> u64 {
        self.replication.history.offset()
    }

    /// True if a rule about replicas forbids to take a write now.
    pub(crate) fn lacks_replicas(&self) -> bool {
        let (needed, max_lag_s) = (self.config.min_replicas, self.config.min_replicas_max_lag);
        needed > 0 && max_lag_s > 0 && !self.is_replica() && self.replication.good_replicas < needed
    }

    /// How many replicas have acknowledged the stream up to `offset`.
    #[must_use]
    pub fn acknowledged(&self, offset: u64) -> usize {
        let has = |replica: &&FedReplica| replica.has_copy() && replica.acked >= offset;
        self.replication.replicas.iter().filter(has).count()
    }

    /// True if a session is a replica's link.
    pub(crate) fn is_fed(&self, session: SessionId) -> bool {
        self.replication.replicas.iter().any(|replica| replica.session == session)
    }

    /// The wall clock of the command at hand, in whole seconds.
    pub(crate) fn now_s(&self) -> i64 {
        self.store.now_ms() / 1000
    }

    /// The pause that is in force: that of CLIENT PAUSE, and while a failover is planned or slots are handed over, of all writes without
    /// end.
    pub(crate) fn paused(&self) -> Option<Pause> {
        let hands_over = self.replication.failover.is_some()
            || self.slot_tasks.current.as_ref().is_some_and(|task| task.state == SlotState::HandedOff);
        match hands_over {
            false => self.pause,
            true => Some(Pause { until_ms: i64::MAX, all: self.pause.is_some_and(|pause| pause.all) }),
        }
    }

    /// True if it is a replica that has lost its primary and must not answer with what it had then.
    pub(crate) fn is_stale(&self) -> bool {
        !self.config.replica_serve_stale_data
            && self.upstream().is_some_and(|upstream| upstream.link != LinkState::Up)
    }

    /// True if it takes writes from its primary only.
    pub(crate) fn is_read_only(&self) -> bool {
        self.is_replica() && self.config.replica_read_only
    }

    /// True if there was too little memory when the command that runs the script began.
    pub(crate) fn lacks_memory(&self) -> bool {
        self.config.maxmemory > 0 && self.short_of_memory
    }

    /// Evicts until the dataset takes no more memory than it may. True if it does.
    pub(crate) fn make_room(&mut self) -> bool {
        let evicts =
            self.config.policy != Policy::NoEviction && !self.is_replica() && self.paused().is_none();
        while self.store.used_memory() > self.config.maxmemory {
            if !evicts || !self.store.evict() {
                return false;
            }
        }
        true
    }
}
