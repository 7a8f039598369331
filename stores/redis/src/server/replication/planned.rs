//! A planned failover, FAILOVER: the primary takes no writes until a replica has all of them, becomes that one's replica,
//! and asks it with PSYNC to take over. Nothing is lost, since nothing was written that the new primary does not have.
//!
//! Like Redis, the primary does not ask its replicas how far they are meanwhile, since the question would be one more thing
//! for them to have: it waits for what they say by themselves once a second.
//!
//! Source: `failoverCommand` and `updateFailoverStatus` of `replication.c`.

use crate::server::node::{Failover, FedReplica, LinkState, Node, Stage};

impl Failover {
    /// True if this replica is meant, or any is.
    fn means(&self, replica: &FedReplica) -> bool {
        self.target.as_ref().is_none_or(|(host, port)| replica.is_at(host, *port))
    }
}

impl FedReplica {
    /// True if this is its address.
    pub(crate) fn is_at(&self, host: &str, port: u16) -> bool {
        self.port == port && self.address.eq_ignore_ascii_case(host)
    }
}

impl Node {
    /// Begins a planned failover: from now on writes are kept.
    pub(crate) fn begin_failover(&mut self, failover: Failover) {
        self.replication.failover = Some(failover);
    }

    /// Hands over to a replica that has everything, or gives up, or hands over nevertheless, if it is time.
    pub(crate) fn tend_failover(&mut self) {
        let now_ms = self.store.now_ms();
        let offset = self.offset();
        let Some(failover) = &self.replication.failover else { return };
        if failover.stage != Stage::WaitingForSync {
            return;
        }
        let overdue = failover.deadline_ms.is_some_and(|deadline| deadline <= now_ms);
        if overdue && !failover.force {
            return self.abort_failover();
        }
        let in_step = |replica: &&FedReplica| failover.means(replica) && replica.acked == offset;
        let found = self.replication.replicas.iter().find(in_step);
        let place = match &failover.target {
            Some(target) if overdue || found.is_some() => Some(target.clone()),
            _ => found.map(|replica| (replica.address.clone(), replica.port)),
        };
        if let Some((host, port)) = place {
            self.hand_over(host, port);
        }
    }

    fn hand_over(&mut self, host: String, port: u16) {
        if let Some(failover) = &mut self.replication.failover {
            failover.target = Some((host.clone(), port));
            failover.stage = Stage::HandingOver { asked: false };
            self.follow(host, port);
        }
    }

    /// Gives a planned failover up. A primary that has already stepped back is one again, with a history of its own.
    pub(crate) fn abort_failover(&mut self) {
        let Some(failover) = self.replication.failover.take() else { return };
        if failover.stage != Stage::WaitingForSync {
            self.promote();
        }
        self.end_failover();
    }

    /// The target has taken over, and this node goes on as its replica. What was kept is answered now.
    pub(crate) fn failed_over(&mut self) {
        if self.is_handing_over() {
            self.end_failover();
        }
    }

    fn end_failover(&mut self) {
        self.replication.failover = None;
        self.at(self.store.now);
        if self.paused().is_none() {
            self.end_pause();
        }
    }

    /// True while this node wants the primary that it follows to take over.
    pub(crate) fn is_handing_over(&self) -> bool {
        let failover = self.replication.failover.as_ref();
        failover.is_some_and(|failover| failover.stage != Stage::WaitingForSync)
    }

    /// The target is being asked: from now on a link that breaks is a refusal.
    pub(crate) fn asks_to_take_over(&mut self) {
        if let Some(Failover { stage: Stage::HandingOver { asked }, .. }) = &mut self.replication.failover {
            *asked = true;
        }
    }

    /// The link to the target is down.
    pub(crate) fn link_to_target_is(&mut self, state: LinkState) {
        let stage = self.replication.failover.as_ref().map(|failover| failover.stage);
        if state == LinkState::Down && stage == Some(Stage::HandingOver { asked: true }) {
            self.abort_failover();
        }
    }
}
