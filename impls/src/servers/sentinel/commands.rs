//! What a Sentinel answers: SENTINEL and its subcommands, and the few other commands that it has.
//!
//! Source: `sentinelCommand`, `sentinelInfoCommand` and `sentinelPublishCommand` of `sentinel.c`.
//!
//! Left out on purpose: scripts, authentication, SENTINEL SET, CONFIG, DEBUG and SIMULATE-FAILURE.

use std::fmt::Write as _;

use super::instance::{Address, Instance, InstanceId, Part, Reconfiguration, Role};
use super::primary::{Failover, Watch};
use super::state::Sentinel;
use super::watch::HELLO;
use crate::servers::redis::resp::{self, Reply};
use crate::servers::redis::{fits, unknown, wrong_arity};

/// The reply about a primary that is not watched.
const NO_SUCH_PRIMARY: Reply = Reply::error("ERR No such master with that name");

impl Sentinel {
    /// Executes a command of a client when the wall clock shows `now`; subscriptions are the server's business.
    pub fn execute(&mut self, now: i64, args: &[&[u8]]) -> Reply {
        self.now = now;
        self.dispatch(args).unwrap_or_else(|error| error)
    }

    fn dispatch(&mut self, args: &[&[u8]]) -> Result<Reply, Reply> {
        let name = args[0].to_ascii_lowercase();
        match (name.as_slice(), args.len()) {
            (b"ping", 1) => Ok(Reply::Status("PONG".into())),
            (b"ping", 2) => Ok(Reply::Bulk(args[1].to_vec())),
            (b"ping", _) => Err(wrong_arity("ping")),
            (b"sentinel", 1) => Err(wrong_arity("sentinel")),
            (b"sentinel", _) => self.sentinel(args),
            (b"info", _) => Ok(Reply::text(&self.info())),
            (b"role", 1) => {
                let names = self.primaries().into_iter().map(|id| Reply::text(&self.instance(id).name));
                Ok(Reply::Array(vec![Reply::text("sentinel"), Reply::Array(names.collect())]))
            }
            (b"role", _) => Err(wrong_arity("role")),
            (b"publish", 3) => {
                if args[1] != HELLO {
                    return Err(Reply::error("ERR Only HELLO messages are accepted by Sentinel instances."));
                }
                self.hear_greeting(&String::from_utf8_lossy(args[2]));
                Ok(Reply::Integer(1))
            }
            (b"publish", _) => Err(wrong_arity("publish")),
            (b"client", 3..) if is(args[1], "setname") || is(args[1], "setinfo") => Ok(Reply::OK),
            _ => Err(unknown(args)),
        }
    }

    fn sentinel(&mut self, args: &[&[u8]]) -> Result<Reply, Reply> {
        let sub = String::from_utf8_lossy(args[1]).to_ascii_lowercase();
        let wrong = || wrong_arity(&format!("sentinel|{sub}"));
        let count = |count: usize| if args.len() == count { Ok(()) } else { Err(wrong()) };
        match sub.as_str() {
            "masters" => {
                count(2)?;
                Ok(Reply::Array(self.primaries().into_iter().map(|id| self.shown(id)).collect()))
            }
            "master" => {
                count(3)?;
                Ok(self.shown(self.known(args[2])?))
            }
            "replicas" | "slaves" => {
                count(3)?;
                let id = self.known(args[2])?;
                let all = self.replicas_of(id).filter(|(_, replica)| replica.is_announced);
                Ok(Reply::Array(all.map(|(instance, _)| self.shown(instance.id)).collect()))
            }
            "sentinels" => {
                count(3)?;
                let id = self.known(args[2])?;
                Ok(Reply::Array(self.sentinels_of(id).map(|(instance, _)| self.shown(instance.id)).collect()))
            }
            "myid" => {
                count(2)?;
                Ok(Reply::text(&self.my_id))
            }
            "get-master-addr-by-name" => {
                count(3)?;
                let Some(id) = self.named(args[2]) else { return Ok(Reply::NilArray) };
                let Address { host, port } = self.current_address(id);
                Ok(Reply::Array(vec![Reply::text(host), Reply::text(&port.to_string())]))
            }
            "is-master-down-by-addr" => {
                count(6)?;
                self.is_down_by_address(args)
            }
            "ckquorum" => {
                count(3)?;
                self.check_quorum(self.known(args[2])?)
            }
            "failover" => {
                count(3)?;
                self.failover_by_order(self.known(args[2])?)
            }
            "reset" => {
                count(3)?;
                let pattern = args[2];
                let matching = |id: &InstanceId| fits(pattern, self.instance(*id).name.as_bytes());
                let ids: Vec<InstanceId> = self.primaries().into_iter().filter(matching).collect();
                for id in &ids {
                    self.reset(*id, true);
                    self.event("+reset-master", *id, "");
                }
                self.save();
                Ok(Reply::Integer(ids.len() as i64))
            }
            "flushconfig" => {
                count(2)?;
                self.save();
                Ok(Reply::OK)
            }
            "pending-scripts" => {
                count(2)?;
                Ok(Reply::Array(Vec::new()))
            }
            "monitor" => {
                count(6)?;
                self.monitor_by_order(args)
            }
            "remove" => {
                count(3)?;
                let id = self.known(args[2])?;
                self.event("-monitor", id, "");
                for other in self.of(id).into_iter().chain([id]) {
                    self.remove(other);
                }
                self.save();
                Ok(Reply::OK)
            }
            _ => {
                let sub = String::from_utf8_lossy(&args[1][..args[1].len().min(128)]).into_owned();
                Err(Reply::Error(format!("ERR unknown subcommand '{sub}'. Try SENTINEL HELP.").into()))
            }
        }
    }

    fn known(&self, name: &[u8]) -> Result<InstanceId, Reply> {
        self.named(name).ok_or(NO_SUCH_PRIMARY)
    }

    fn is_down_by_address(&mut self, args: &[&[u8]]) -> Result<Reply, Reply> {
        let number =
            |arg| resp::integer(arg).ok_or(Reply::error("ERR value is not an integer or out of range"));
        let port = u16::try_from(number(args[3])?).unwrap_or(0);
        let epoch = u64::try_from(number(args[4])?).unwrap_or(0);
        let address = Address::new(String::from_utf8_lossy(args[2]), port);
        let asked = self.primaries().into_iter().find(|id| self.instance(*id).address == address);
        let is_down = self.tilt_since.is_none() && asked.is_some_and(|id| self.instance(id).is_down);
        let candidate = String::from_utf8_lossy(args[5]).into_owned();
        let (leader, leader_epoch) = match asked {
            Some(id) if candidate != "*" => self.vote(id, epoch, &candidate),
            _ => (None, 0),
        };
        Ok(Reply::Array(vec![
            Reply::Integer(i64::from(is_down)),
            Reply::text(leader.as_deref().unwrap_or("*")),
            Reply::Integer(leader_epoch.cast_signed()),
        ]))
    }

    fn check_quorum(&self, id: InstanceId) -> Result<Reply, Reply> {
        let voters = 1 + self.sentinels_of(id).count();
        let usable = 1 + self.sentinels_of(id).filter(|(instance, _)| !instance.is_down).count();
        let (no_quorum, no_majority) = (usable < self.primary(id).watch.quorum, usable < voters / 2 + 1);
        if !no_quorum && !no_majority {
            let text =
                format!("OK {usable} usable Sentinels. Quorum and failover authorization can be reached");
            return Ok(Reply::Status(text.into()));
        }
        let mut text = format!("NOQUORUM {usable} usable Sentinels. ");
        if no_quorum {
            text.push_str("Not enough available Sentinels to reach the specified quorum for this master");
        }
        if no_majority {
            text.push_str(if no_quorum { ". " } else { "" });
            text.push_str("Not enough available Sentinels to reach the majority and authorize a failover");
        }
        Err(Reply::Error(text.into()))
    }

    fn failover_by_order(&mut self, id: InstanceId) -> Result<Reply, Reply> {
        if self.primary(id).fails_over() {
            return Err(Reply::error("INPROG Failover already in progress"));
        }
        if self.best_replica(id).is_none() {
            return Err(Reply::error("NOGOODSLAVE No suitable replica to promote"));
        }
        self.start_failover(id);
        self.primary_mut(id).is_forced = true;
        Ok(Reply::OK)
    }

    fn monitor_by_order(&mut self, args: &[&[u8]]) -> Result<Reply, Reply> {
        let quorum = resp::integer(args[5]).ok_or(Reply::error("ERR Invalid quorum"))?;
        let address = Address::parse(args[3], args[4]).ok_or(Reply::error("ERR Invalid port"))?;
        let quorum = usize::try_from(quorum).ok().filter(|quorum| *quorum > 0);
        let quorum = quorum.ok_or(Reply::error("ERR Quorum must be 1 or greater."))?;
        if self.named(args[2]).is_some() {
            return Err(Reply::error("ERR Duplicated master name"));
        }
        let watch = Watch { quorum, ..Watch::default() };
        self.monitor(&String::from_utf8_lossy(args[2]), address, watch);
        self.save();
        Ok(Reply::OK)
    }

    fn info(&self) -> String {
        let primaries = self.primaries();
        let mut text = format!(
            "# Server\r\nredis_version:7.0.15\r\nredis_mode:sentinel\r\nrun_id:{}\r\ntcp_port:{}\r\n\r\n# Sentinel\r\nsentinel_masters:{}\r\nsentinel_tilt:{}\r\nsentinel_tilt_since_seconds:{}\r\nsentinel_running_scripts:0\r\nsentinel_scripts_queue_length:0\r\nsentinel_simulate_failure_flags:0\r\n",
            self.my_id,
            self.address.port,
            primaries.len(),
            u8::from(self.tilt_since.is_some()),
            self.tilt_since.map_or(-1, |since| (self.now - since) / 1_000),
        );
        for (at, id) in primaries.into_iter().enumerate() {
            let instance = self.instance(id);
            let status = match (self.primary(id).is_down, instance.is_down) {
                (true, _) => "odown",
                (false, true) => "sdown",
                (false, false) => "ok",
            };
            let Address { host, port } = self.current_address(id);
            let (replicas, sentinels) = (self.replicas_of(id).count(), 1 + self.sentinels_of(id).count());
            // A string takes all that is written to it.
            let _ = write!(
                text,
                "master{at}:name={},status={status},address={host}:{port},slaves={replicas},sentinels={sentinels}\r\n",
                instance.name,
            );
        }
        text
    }

    /// A server as SENTINEL MASTER and its like show it.
    fn shown(&self, id: InstanceId) -> Reply {
        let instance = self.instance(id);
        let (now, wire) = (self.now, &instance.wire);
        let watch = &self.primary(instance.primary).watch;
        let mut pairs: Vec<(&str, String)> = vec![
            ("name", instance.name.clone()),
            ("ip", instance.address.host.clone()),
            ("port", instance.address.port.to_string()),
            ("runid", instance.run_id.clone()),
            ("flags", self.flags(instance)),
            ("link-pending-commands", wire.awaited.len().to_string()),
            ("link-refcount", "1".to_owned()),
        ];
        if let Part::Primary(primary) = &instance.part
            && primary.fails_over()
        {
            pairs.push(("failover-state", primary.failover.name().to_owned()));
        }
        let pinged = if wire.waiting_since == 0 { 0 } else { now - wire.waiting_since };
        pairs.push(("last-ping-sent", pinged.to_string()));
        pairs.push(("last-ok-ping-reply", (now - wire.available).to_string()));
        pairs.push(("last-ping-reply", (now - wire.ponged).to_string()));
        if instance.is_down {
            pairs.push(("s-down-time", (now - instance.down_since).to_string()));
        }
        if let Part::Primary(primary) = &instance.part
            && primary.is_down
        {
            pairs.push(("o-down-time", (now - primary.down_since).to_string()));
        }
        pairs.push(("down-after-milliseconds", watch.down_after_ms.to_string()));
        if !instance.is_sentinel() {
            let role = if instance.role == Role::Primary { "master" } else { "slave" };
            let informed = if instance.informed == 0 { 0 } else { now - instance.informed };
            pairs.push(("info-refresh", informed.to_string()));
            pairs.push(("role-reported", role.to_owned()));
            pairs.push(("role-reported-time", (now - instance.role_since).to_string()));
        }
        match &instance.part {
            Part::Primary(primary) => {
                pairs.push(("config-epoch", primary.config_epoch.to_string()));
                pairs.push(("num-slaves", self.replicas_of(id).count().to_string()));
                pairs.push(("num-other-sentinels", self.sentinels_of(id).count().to_string()));
                pairs.push(("quorum", watch.quorum.to_string()));
                pairs.push(("failover-timeout", watch.failover_timeout_ms.to_string()));
                pairs.push(("parallel-syncs", watch.parallel_syncs.to_string()));
            }
            Part::Replica(replica) => {
                let (host, port) = replica
                    .follows
                    .as_ref()
                    .map_or(("?", 0), |follows| (follows.host.as_str(), follows.port));
                let status = if replica.is_linked { "ok" } else { "err" };
                pairs.push(("master-link-down-time", replica.link_down_ms.to_string()));
                pairs.push(("master-link-status", status.to_owned()));
                pairs.push(("master-host", host.to_owned()));
                pairs.push(("master-port", port.to_string()));
                pairs.push(("slave-priority", replica.priority.to_string()));
                pairs.push(("slave-repl-offset", replica.offset.to_string()));
                pairs.push(("replica-announced", u8::from(replica.is_announced).to_string()));
            }
            Part::Sentinel(peer) => {
                pairs.push(("last-hello-message", (now - peer.hello).to_string()));
                pairs.push(("voted-leader", peer.leader.clone().unwrap_or_else(|| "?".to_owned())));
                pairs.push(("voted-leader-epoch", peer.leader_epoch.to_string()));
            }
        }
        Reply::Map(pairs.into_iter().map(|(name, value)| (Reply::text(name), Reply::text(&value))).collect())
    }

    fn flags(&self, instance: &Instance) -> String {
        let mut flags = Vec::new();
        let mut add = |set: bool, name: &'static str| flags.extend(set.then_some(name));
        add(instance.is_down, "s_down");
        if let Part::Primary(primary) = &instance.part {
            add(primary.is_down, "o_down");
        }
        add(instance.is_primary(), "master");
        add(instance.replica().is_some(), "slave");
        add(instance.is_sentinel(), "sentinel");
        add(instance.wire.is_broken, "disconnected");
        add(instance.peer().is_some_and(|peer| peer.sees_down), "master_down");
        if let Part::Primary(primary) = &instance.part {
            add(primary.failover != Failover::None, "failover_in_progress");
            add(primary.is_forced, "force_failover");
        }
        if let Some(replica) = instance.replica() {
            add(replica.is_promoted, "promoted");
            add(replica.reconfiguration == Reconfiguration::Sent, "reconf_sent");
            add(replica.reconfiguration == Reconfiguration::InProgress, "reconf_inprog");
            add(replica.reconfiguration == Reconfiguration::Done, "reconf_done");
        }
        flags.join(",")
    }
}

fn is(arg: &[u8], word: &str) -> bool {
    arg.eq_ignore_ascii_case(word.as_bytes())
}
