//! Failover: the election of a leader among the Sentinels, and what the leader does.
//!
//! Source: `sentinelVoteLeader`, `sentinelGetLeader`, `sentinelSelectSlave` and `sentinelFailoverStateMachine` of
//! `sentinel.c`.

use std::collections::BTreeMap;

use super::ids::InstanceId;
use super::instance::{Address, Awaited, Instance, Reconfiguration, Replica, Role, Wire};
use super::primary::Failover;
use super::state::{Act, DESYNC_MAX, Sentinel};

impl Sentinel {
    /// Starts a failover of a primary that is down, unless there is one or was one lately.
    pub(super) fn start_failover_if_needed(&mut self, id: InstanceId) -> bool {
        let primary = self.primary(id);
        let too_early = self.now - primary.failover_started < 2 * primary.watch.failover_timeout_ms;
        if !primary.is_down || primary.fails_over() || too_early {
            return false;
        }
        self.start_failover(id);
        true
    }

    pub(super) fn start_failover(&mut self, id: InstanceId) {
        self.epoch += 1;
        let epoch = self.epoch;
        let (now, desync) = (self.now, self.desync());
        let primary = self.primary_mut(id);
        primary.failover = Failover::WaitStart;
        primary.failover_epoch = epoch;
        primary.failover_started = now + desync;
        primary.failover_changed = now;
        self.publish("+new-epoch", epoch.to_string());
        self.event("+try-failover", id, "");
    }

    fn desync(&mut self) -> i64 {
        self.random.below(DESYNC_MAX).cast_signed()
    }

    /// Takes over a higher epoch.
    pub(super) fn learn_epoch(&mut self, epoch: u64) {
        if epoch > self.epoch {
            self.epoch = epoch;
            self.save();
            self.publish("+new-epoch", epoch.to_string());
        }
    }

    /// Votes for a leader, once in an epoch: the first who asks. Whom it has voted for, and in which epoch.
    pub(super) fn vote(&mut self, id: InstanceId, epoch: u64, candidate: &str) -> (Option<String>, u64) {
        self.learn_epoch(epoch);
        let current = self.epoch;
        let primary = self.primary_mut(id);
        if primary.leader_epoch < epoch && current <= epoch {
            primary.leader = Some(candidate.to_owned());
            primary.leader_epoch = current;
            self.save();
            self.publish("+vote-for-leader", format!("{candidate} {current}"));
            if candidate != self.my_id {
                // Who has voted for another gives that one time before it tries itself.
                let started = self.now + self.desync();
                self.primary_mut(id).failover_started = started;
            }
        }
        let primary = self.primary(id);
        (primary.leader.clone(), primary.leader_epoch)
    }

    /// The leader elected in an epoch, if most of the Sentinels and as many as the quorum voted for it.
    fn leader(&mut self, id: InstanceId, epoch: u64) -> Option<String> {
        let current = self.epoch;
        let mut votes: BTreeMap<String, usize> = BTreeMap::new();
        let mut voters = 1;
        for (_, peer) in self.sentinels_of(id) {
            voters += 1;
            if let Some(leader) = peer.leader.as_ref().filter(|_| peer.leader_epoch == current) {
                *votes.entry(leader.clone()).or_default() += 1;
            }
        }
        let most = |votes: &BTreeMap<String, usize>| {
            votes.iter().max_by_key(|(_, count)| **count).map(|(name, count)| (name.clone(), *count))
        };
        let favourite = most(&votes).map_or_else(|| self.my_id.clone(), |(name, _)| name);
        if let (Some(mine), voted) = self.vote(id, epoch, &favourite)
            && voted == epoch
        {
            *votes.entry(mine).or_default() += 1;
        }
        let needed = (voters / 2 + 1).max(self.primary(id).watch.quorum);
        most(&votes).filter(|(_, count)| *count >= needed).map(|(name, _)| name)
    }

    /// Takes the failover of a primary as far as it goes now.
    pub(super) fn continue_failover(&mut self, id: InstanceId) {
        match self.primary(id).failover {
            Failover::None | Failover::UpdateConfig => {}
            Failover::WaitStart => self.wait_for_election(id),
            Failover::SelectReplica => self.select(id),
            Failover::SendPromotion => self.promote(id),
            Failover::WaitPromotion => {
                if self.has_timed_out(id) {
                    self.event("-failover-abort-slave-timeout", id, "");
                    self.abort_failover(id);
                }
            }
            Failover::ReconfigureReplicas => self.reconfigure(id),
        }
    }

    fn set_failover(&mut self, id: InstanceId, state: Failover) {
        let now = self.now;
        let primary = self.primary_mut(id);
        primary.failover = state;
        primary.failover_changed = now;
    }

    fn has_timed_out(&self, id: InstanceId) -> bool {
        let primary = self.primary(id);
        self.now - primary.failover_changed > primary.watch.failover_timeout_ms
    }

    fn wait_for_election(&mut self, id: InstanceId) {
        let epoch = self.primary(id).failover_epoch;
        let elected = self.leader(id, epoch).is_some_and(|leader| leader == self.my_id);
        let primary = self.primary(id);
        if !elected && !primary.is_forced {
            let patience = self.periods.election.min(primary.watch.failover_timeout_ms);
            if self.now - primary.failover_started > patience {
                self.event("-failover-abort-not-elected", id, "");
                self.abort_failover(id);
            }
            return;
        }
        self.event("+elected-leader", id, "");
        if self.failures.after_election {
            self.acts.push(Act::Crash);
        }
        self.set_failover(id, Failover::SelectReplica);
        self.event("+failover-state-select-slave", id, "");
    }

    fn select(&mut self, id: InstanceId) {
        let Some(chosen) = self.best_replica(id) else {
            self.event("-failover-abort-no-good-slave", id, "");
            self.abort_failover(id);
            return;
        };
        self.event("+selected-slave", chosen, "");
        if let Some(replica) = self.instance_mut(chosen).replica_mut() {
            replica.is_promoted = true;
        }
        self.primary_mut(id).promoted = Some(chosen);
        self.set_failover(id, Failover::SendPromotion);
        self.event("+failover-state-send-slaveof-noone", chosen, "");
    }

    /// The replica to promote: one that is there and was not without its primary for long; of those the one of the lowest
    /// priority, then with most of the data, then with the first identifier.
    pub(super) fn best_replica(&self, id: InstanceId) -> Option<InstanceId> {
        let now = self.now;
        let primary = self.instance(id);
        let down_for = if primary.is_down { now - primary.down_since } else { 0 };
        let link_down_max = down_for + 10 * self.primary(id).watch.down_after_ms;
        let fresh = if primary.is_down { 5 * self.periods.ping } else { 3 * self.periods.info };
        let fit = self.replicas_of(id).filter(|(instance, replica)| {
            !instance.is_down
                && !instance.wire.is_broken
                && now - instance.wire.available <= 5 * self.periods.ping
                && replica.priority > 0
                && now - instance.informed <= fresh
                && replica.link_down_ms <= link_down_max
        });
        let best = fit.min_by(|(a, left), (b, right)| {
            let by_priority = left.priority.cmp(&right.priority);
            let by_offset = right.offset.cmp(&left.offset);
            // One without an identifier comes last.
            let by_id = (a.run_id.is_empty(), &a.run_id).cmp(&(b.run_id.is_empty(), &b.run_id));
            by_priority.then(by_offset).then(by_id)
        });
        best.map(|(instance, _)| instance.id)
    }

    fn promote(&mut self, id: InstanceId) {
        let Some(promoted) = self.primary(id).promoted else { return };
        if self.instance(promoted).wire.is_broken {
            if self.has_timed_out(id) {
                self.event("-failover-abort-slave-timeout", id, "");
                self.abort_failover(id);
            }
            return;
        }
        if self.order(promoted, None) {
            self.event("+failover-state-wait-promotion", promoted, "");
            self.set_failover(id, Failover::WaitPromotion);
        }
    }

    /// Orders a server to follow another, or none, and to keep that over restarts; its clients have to connect anew.
    pub(super) fn order(&mut self, id: InstanceId, primary: Option<&Address>) -> bool {
        let port = primary.map_or_else(|| "ONE".to_owned(), |address| address.port.to_string());
        let host = primary.map_or("NO", |address| address.host.as_str());
        let orders: [&[&[u8]]; 6] = [
            &[b"MULTI"],
            &[b"SLAVEOF", host.as_bytes(), port.as_bytes()],
            &[b"CONFIG", b"REWRITE"],
            &[b"CLIENT", b"KILL", b"TYPE", b"normal"],
            &[b"CLIENT", b"KILL", b"TYPE", b"pubsub"],
            &[b"EXEC"],
        ];
        orders.iter().all(|order| self.command(id, order, Awaited::Order))
    }

    /// The promoted replica says that it is a primary now.
    pub(super) fn promotion_seen(&mut self, id: InstanceId, promoted: InstanceId) {
        let epoch = self.primary(id).failover_epoch;
        self.primary_mut(id).config_epoch = epoch;
        self.set_failover(id, Failover::ReconfigureReplicas);
        self.save();
        self.event("+promoted-slave", promoted, "");
        if self.failures.after_promotion {
            self.acts.push(Act::Crash);
        }
        self.event("+failover-state-reconf-slaves", id, "");
        self.greet_soon(id);
    }

    /// Orders the other replicas, a few at a time, to follow the new primary.
    fn reconfigure(&mut self, id: InstanceId) {
        let now = self.now;
        let Some(promoted) = self.primary(id).promoted else { return };
        let target = self.instance(promoted).address.clone();
        let timeout = self.periods.reconfiguration;
        let at_a_time = self.primary(id).watch.parallel_syncs;
        let busy = |state| matches!(state, Reconfiguration::Sent | Reconfiguration::InProgress);
        let mut in_progress =
            self.replicas_of(id).filter(|(_, replica)| busy(replica.reconfiguration)).count();
        for other in self.of(id) {
            let is_broken = self.instance(other).wire.is_broken;
            if in_progress >= at_a_time {
                break;
            }
            let Some(replica) = self.instance_mut(other).replica_mut() else { continue };
            if replica.is_promoted || replica.reconfiguration == Reconfiguration::Done {
                continue;
            }
            let sent = replica.reconfiguration == Reconfiguration::Sent;
            if sent && now - replica.reconfigured_at > timeout {
                // It counts as done; that it is not will be noticed and mended later.
                replica.reconfiguration = Reconfiguration::Done;
                self.event("-slave-reconf-sent-timeout", other, "");
                continue;
            }
            if busy(replica.reconfiguration) || is_broken {
                continue;
            }
            if self.order(other, Some(&target)) {
                if let Some(replica) = self.instance_mut(other).replica_mut() {
                    replica.reconfiguration = Reconfiguration::Sent;
                    replica.reconfigured_at = now;
                }
                self.event("+slave-reconf-sent", other, "");
                in_progress += 1;
            }
        }
        self.detect_end(id, promoted, &target);
    }

    fn detect_end(&mut self, id: InstanceId, promoted: InstanceId, target: &Address) {
        if self.instance(promoted).is_down {
            return;
        }
        let is_left = |(instance, replica): &(&Instance, &Replica)| {
            !replica.is_promoted && replica.reconfiguration != Reconfiguration::Done && !instance.is_down
        };
        let timed_out = self.has_timed_out(id);
        if self.replicas_of(id).any(|replica| is_left(&replica)) && !timed_out {
            return;
        }
        if timed_out {
            self.event("+failover-end-for-timeout", id, "");
        }
        self.event("+failover-end", id, "");
        self.set_failover(id, Failover::UpdateConfig);
        if timed_out {
            self.order_the_rest(id, target);
        }
    }

    /// A last attempt at those that have no order yet.
    fn order_the_rest(&mut self, id: InstanceId, target: &Address) {
        let others = self.replicas_of(id).filter(|(instance, replica)| {
            !replica.is_promoted
                && replica.reconfiguration == Reconfiguration::None
                && !instance.wire.is_broken
        });
        let others: Vec<InstanceId> = others.map(|(instance, _)| instance.id).collect();
        for other in others {
            if self.order(other, Some(target)) {
                self.event("+slave-reconf-sent-be", other, "");
                if let Some(replica) = self.instance_mut(other).replica_mut() {
                    replica.reconfiguration = Reconfiguration::Sent;
                }
            }
        }
    }

    /// From now on the promoted replica is the primary, and the old primary a replica.
    pub(super) fn switch_to_promoted(&mut self, id: InstanceId) {
        let Some(promoted) = self.primary(id).promoted else { return };
        let address = self.instance(promoted).address.clone();
        self.switch(id, address);
    }

    /// Takes another address for the primary's, and says so.
    pub(super) fn switch(&mut self, id: InstanceId, to: Address) {
        let instance = self.instance(id);
        let Address { host, port } = &instance.address;
        let message = format!("{} {host} {port} {} {}", instance.name, to.host, to.port);
        self.publish("+switch-master", message);
        self.reset_to(id, to);
    }

    fn reset_to(&mut self, id: InstanceId, to: Address) {
        let old = self.instance(id).address.clone();
        let mut addresses: Vec<Address> =
            self.replicas_of(id).map(|(instance, _)| instance.address.clone()).collect();
        addresses.push(old);
        addresses.retain(|address| *address != to);
        self.reset(id, false);
        let instance = self.instance_mut(id);
        instance.address = to;
        instance.down_since = 0;
        self.primary_mut(id).down_since = 0;
        for address in addresses {
            let replica = self.add_replica(id, address);
            self.event("+slave", replica, "");
        }
        self.save();
    }

    /// Forgets all about a primary but its address, and the other Sentinels if asked to.
    pub(super) fn reset(&mut self, id: InstanceId, sentinels: bool) {
        for other in self.of(id) {
            if sentinels || !self.instance(other).is_sentinel() {
                self.remove(other);
            }
        }
        self.close_commands(id);
        self.close_messages(id);
        let now = self.now;
        let primary = self.primary_mut(id);
        primary.is_down = false;
        primary.leader = None;
        primary.failover = Failover::None;
        primary.failover_changed = 0;
        primary.failover_started = 0;
        primary.is_forced = false;
        primary.promoted = None;
        let instance = self.instance_mut(id);
        instance.is_down = false;
        instance.rebooted = None;
        instance.script_killed = false;
        instance.run_id.clear();
        // A new primary is connected to at once: with a short `down-after` it would else seem down before it was asked.
        instance.wire = Wire::new(now);
        instance.role = Role::Primary;
        instance.role_since = now;
    }

    fn abort_failover(&mut self, id: InstanceId) {
        self.set_failover(id, Failover::None);
        let primary = self.primary_mut(id);
        primary.is_forced = false;
        if let Some(promoted) = primary.promoted.take()
            && let Some(replica) = self.instance_mut(promoted).replica_mut()
        {
            replica.is_promoted = false;
        }
    }
}
