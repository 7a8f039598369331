//! The servers that a Sentinel watches, as it shows them: SENTINEL MASTER and its kin.

use crate::protocol::resp::Reply;
use crate::server::sentinel::ids::InstanceId;
use crate::server::sentinel::instance::{Instance, Reconfiguration, Replica, Role};
use crate::server::sentinel::state::Sentinel;

pub(super) fn primary(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    let id = sentinel.asked(args[2])?;
    Ok(sentinel.shown(id))
}

pub(super) fn primaries(sentinel: &mut Sentinel, _: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(Reply::Array(sentinel.primaries().into_iter().map(|id| sentinel.shown(id)).collect()))
}

pub(super) fn replicas(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    let id = sentinel.asked(args[2])?;
    let announced = sentinel.replicas_of(id).filter(|(_, replica)| replica.is_announced);
    Ok(Reply::Array(announced.map(|(instance, _)| sentinel.shown(instance.id)).collect()))
}

pub(super) fn sentinels(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    let id = sentinel.asked(args[2])?;
    Ok(Reply::Array(sentinel.sentinels_of(id).map(|(instance, _)| sentinel.shown(instance.id)).collect()))
}

/// The last INFO of primaries and their replicas, and how old it is. Names that are not known are skipped.
pub(super) fn info_cache(sentinel: &mut Sentinel, args: &[&[u8]]) -> Result<Reply, Reply> {
    let mut known: Vec<InstanceId> = Vec::new();
    for id in args[2..].iter().filter_map(|name| sentinel.named(name)) {
        if !known.contains(&id) {
            known.push(id);
        }
    }
    let entry = |instance: &Instance| {
        let age = if instance.informed == 0 { 0 } else { sentinel.now - instance.informed };
        let text = instance.info.clone().map_or(Reply::Nil, Reply::Bulk);
        Reply::Array(vec![Reply::Integer(age), text])
    };
    let mut reply = Vec::new();
    for id in known {
        let instance = sentinel.instance(id);
        let replicas = sentinel.replicas_of(id).map(|(instance, _)| entry(instance));
        reply.push(Reply::text(&instance.name));
        reply.push(Reply::Array(std::iter::once(entry(instance)).chain(replicas).collect()));
    }
    Ok(Reply::Array(reply))
}

/// Pairs of a name and a value.
#[derive(Default)]
struct Fields(Vec<(Reply, Reply)>);

impl Fields {
    fn text(&mut self, name: &str, value: &str) {
        self.0.push((Reply::text(name), Reply::text(value)));
    }

    fn number(&mut self, name: &str, value: impl TryInto<i64>) {
        self.text(name, &value.try_into().unwrap_or(i64::MAX).to_string());
    }
}

impl Sentinel {
    /// All that is shown of a server.
    fn shown(&self, id: InstanceId) -> Reply {
        let instance = self.instance(id);
        let wire = &instance.wire;
        let ago = |since: i64| self.now - since;
        let ago_if_ever = |since: i64| if since == 0 { 0 } else { self.now - since };
        let mut fields = Fields::default();
        fields.text("name", &instance.name);
        fields.text("ip", &instance.address.host);
        fields.number("port", instance.address.port);
        fields.text("runid", &instance.run_id);
        fields.text("flags", &self.flags(instance));
        fields.number("link-pending-commands", wire.awaited.len());
        fields.number("link-refcount", 1);
        if instance.is_primary() && self.primary(id).fails_over() {
            fields.text("failover-state", self.primary(id).failover.name());
        }
        fields.number("last-ping-sent", ago_if_ever(wire.waiting_since));
        fields.number("last-ok-ping-reply", ago(wire.available));
        fields.number("last-ping-reply", ago(wire.ponged));
        if instance.is_down {
            fields.number("s-down-time", ago(instance.down_since));
        }
        if instance.is_primary() && self.primary(id).is_down {
            fields.number("o-down-time", ago(self.primary(id).down_since));
        }
        fields.number("down-after-milliseconds", self.primary(instance.primary).watch.down_after_ms);
        if !instance.is_sentinel() {
            fields.number("info-refresh", ago_if_ever(instance.informed));
            fields.text("role-reported", if instance.role == Role::Primary { "master" } else { "slave" });
            fields.number("role-reported-time", ago(instance.role_since));
        }
        if instance.is_primary() {
            self.show_primary(id, &mut fields);
        } else if let Some(replica) = instance.replica() {
            show_replica(replica, &mut fields);
        } else if let Some(peer) = instance.peer() {
            fields.number("last-hello-message", ago(peer.hello));
            fields.text("voted-leader", peer.leader.as_deref().unwrap_or("?"));
            fields.number("voted-leader-epoch", peer.leader_epoch);
        }
        Reply::Map(fields.0)
    }

    fn show_primary(&self, id: InstanceId, fields: &mut Fields) {
        let primary = self.primary(id);
        fields.number("config-epoch", primary.config_epoch);
        fields.number("num-slaves", self.replicas_of(id).count());
        fields.number("num-other-sentinels", self.sentinels_of(id).count());
        fields.number("quorum", primary.watch.quorum);
        fields.number("failover-timeout", primary.watch.failover_timeout_ms);
        fields.number("parallel-syncs", primary.watch.parallel_syncs);
    }

    /// The state in words, with commas between them.
    fn flags(&self, instance: &Instance) -> String {
        let primary = instance.is_primary().then(|| self.primary(instance.id));
        let replica = instance.replica();
        let reconfigured = |state| replica.is_some_and(|replica| replica.reconfiguration == state);
        let flags = [
            ("s_down", instance.is_down),
            ("o_down", primary.is_some_and(|primary| primary.is_down)),
            (instance.kind(), true),
            ("disconnected", instance.wire.is_broken),
            ("master_down", instance.peer().is_some_and(|peer| peer.sees_down)),
            ("failover_in_progress", primary.is_some_and(|primary| primary.fails_over())),
            ("promoted", replica.is_some_and(|replica| replica.is_promoted)),
            ("reconf_sent", reconfigured(Reconfiguration::Sent)),
            ("reconf_inprog", reconfigured(Reconfiguration::InProgress)),
            ("reconf_done", reconfigured(Reconfiguration::Done)),
            ("force_failover", primary.is_some_and(|primary| primary.is_forced)),
            ("script_kill_sent", instance.script_killed),
        ];
        let set: Vec<&str> = flags.iter().filter(|(_, set)| *set).map(|(name, _)| *name).collect();
        set.join(",")
    }
}

fn show_replica(replica: &Replica, fields: &mut Fields) {
    fields.number("master-link-down-time", replica.link_down_ms);
    fields.text("master-link-status", if replica.is_linked { "ok" } else { "err" });
    let follows = replica.follows.as_ref();
    fields.text("master-host", follows.map_or("?", |address| address.host.as_str()));
    fields.number("master-port", follows.map_or(0, |address| address.port));
    fields.number("slave-priority", replica.priority);
    fields.number("slave-repl-offset", replica.offset);
    fields.number("replica-announced", i64::from(replica.is_announced));
}
