//! The INFO of a server, as a Sentinel reads it: its replicas, its role, its primary; and the effects of a change of role.
//!
//! Source: `sentinelRefreshInstanceInfo` of `sentinel.c`.

use bstr::ByteSlice as _;
use memchr::memmem;

use super::ids::InstanceId;
use super::instance::{Address, Reconfiguration, Role};
use super::primary::Failover;
use super::state::Sentinel;

/// The facts of one INFO.
#[derive(Default)]
struct ServerInfo {
    run_id: Option<String>,
    role: Option<Role>,
    replicas: Vec<Address>,
    host: Option<String>,
    port: u16,
    is_linked: bool,
    link_down_ms: i64,
    priority: Option<u64>,
    offset: Option<u64>,
    is_hidden: bool,
}

impl ServerInfo {
    /// Sentinels ask often, and most lines of the answers are of no use to them.
    fn of(text: &[u8]) -> ServerInfo {
        let mut info = ServerInfo::default();
        for line in parts(text).into_iter().flat_map(lines).filter(|line| may_matter(line)) {
            let Some(colon) = memchr::memchr(b':', line) else { continue };
            let (name, value) = (&line[..colon], &line[colon + 1..]);
            let value = || value.to_str_lossy();
            match name {
                b"run_id" => info.run_id = value().get(..40).map(str::to_owned),
                b"role" => {
                    info.role = match &*value() {
                        "master" => Some(Role::Primary),
                        "slave" => Some(Role::Replica),
                        _ => info.role,
                    }
                }
                b"master_host" => info.host = Some(value().into_owned()),
                b"master_port" => info.port = value().parse().unwrap_or(0),
                b"master_link_status" => info.is_linked = value() == "up",
                b"master_link_down_since_seconds" => {
                    info.link_down_ms = value().parse::<i64>().unwrap_or(0).saturating_mul(1_000);
                }
                b"slave_priority" => info.priority = value().parse().ok(),
                b"slave_repl_offset" => info.offset = value().parse().ok(),
                b"replica_announced" => info.is_hidden = value() == "0",
                name if is_replica_line(name) => info.replicas.extend(replica_address(&value())),
                _ => {}
            }
        }
        info
    }
}

/// The sections of which something is read: in most texts two of a dozen. All of a text that does not have both.
fn parts(text: &[u8]) -> [&[u8]; 2] {
    let section = |title: &[u8]| {
        let section = &text[memmem::find(text, title)?..];
        let end = memmem::find(section, b"\r\n\r\n").unwrap_or(section.len());
        Some(&section[..end])
    };
    match (section(b"# Server\r\n"), section(b"# Replication\r\n")) {
        (Some(server), Some(replication)) => [server, replication],
        _ => [text, &[]],
    }
}

/// The lines of a text, without what ends them.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut from = 0;
    memchr::memchr_iter(b'\n', text).chain([text.len()]).map(move |end| {
        let line = &text[from.min(end)..end];
        from = end + 1;
        line.strip_suffix(b"\r").unwrap_or(line)
    })
}

/// True if a line begins as those do that a Sentinel reads: a tenth of them.
fn may_matter(line: &[u8]) -> bool {
    matches!(line, [b'r', b'u' | b'o' | b'e', ..] | [b'm', b'a', ..] | [b's', b'l', ..])
}

/// True for `slave0` and its like.
fn is_replica_line(name: &[u8]) -> bool {
    name.strip_prefix(b"slave")
        .is_some_and(|digits| !digits.is_empty() && digits.iter().all(u8::is_ascii_digit))
}

fn replica_address(value: &str) -> Option<Address> {
    let field = |name: &str| value.split(',').find_map(|field| field.strip_prefix(name)?.strip_prefix('='));
    Address::parse(field("ip")?.as_bytes(), field("port")?.as_bytes())
}

impl Sentinel {
    /// A primary or a replica has answered INFO.
    pub(super) fn inform(&mut self, id: InstanceId, text: &[u8]) {
        let info = ServerInfo::of(text);
        let now = self.now;
        if let Some(run_id) = info.run_id {
            let instance = self.instance_mut(id);
            if instance.run_id != run_id {
                let is_known = !instance.run_id.is_empty();
                instance.run_id = run_id;
                if is_known {
                    self.event("+reboot", id, "");
                    let instance = self.instance(id);
                    if instance.is_primary() && self.primary(id).watch.reboot_down_after_ms != 0 {
                        self.instance_mut(id).rebooted = Some(now);
                    }
                }
            }
        }
        if self.instance(id).is_primary() {
            for address in info.replicas {
                if !self.replicas_of(id).any(|(instance, _)| instance.address == address) {
                    let replica = self.add_replica(id, address);
                    self.event("+slave", replica, "");
                    self.save();
                }
            }
        }
        let instance = self.instance_mut(id);
        instance.informed = now;
        if let Some(replica) = instance.replica_mut() {
            replica.link_down_ms = info.link_down_ms;
            if info.role == Some(Role::Replica) {
                let follows = info.host.map(|host| Address::new(host, info.port));
                if follows.is_some() && follows != replica.follows {
                    replica.follows = follows;
                    replica.follows_since = now;
                }
                replica.is_linked = info.is_linked;
                replica.priority = info.priority.unwrap_or(replica.priority);
                replica.offset = info.offset.unwrap_or(replica.offset);
                replica.is_announced = !info.is_hidden;
            }
        }
        if let Some(role) = info.role {
            self.note_role(id, role);
            if self.tilt_since.is_none() {
                self.act_on_role(id, role);
            }
        }
    }

    fn note_role(&mut self, id: InstanceId, role: Role) {
        let now = self.now;
        let instance = self.instance_mut(id);
        if instance.role == role {
            return;
        }
        instance.role = role;
        instance.role_since = now;
        let expected = instance.is_primary() == (role == Role::Primary);
        if let Some(replica) = instance.replica_mut().filter(|_| role == Role::Replica) {
            replica.follows_since = now;
        }
        let name = if role == Role::Primary { "master" } else { "slave" };
        let channel = if expected { "+role-change" } else { "-role-change" };
        self.event(channel, id, &format!(" new reported role is {name}"));
    }

    fn act_on_role(&mut self, id: InstanceId, role: Role) {
        let now = self.now;
        let instance = self.instance(id);
        let Some(replica) = instance.replica() else { return };
        let primary_id = instance.primary;
        let address = self.instance(primary_id).address.clone();
        let primary = self.primary(primary_id);
        match role {
            Role::Primary => {
                let awaited = primary.failover == Failover::WaitPromotion;
                if replica.is_promoted && awaited {
                    self.promotion_seen(primary_id, id);
                    return;
                }
                // A replica that has made itself a primary, or an old primary that has come back. It may know something
                // that this Sentinel is about to learn: so not at once.
                let wait = 4 * self.periods.hello;
                if !replica.is_promoted
                    && self.looks_sane(primary_id)
                    && self.was_not_down_for(id, wait)
                    && now - instance.role_since > wait
                    && self.order(id, Some(&address))
                {
                    self.event("+convert-to-slave", id, "");
                }
            }
            Role::Replica => {
                let wait = primary.watch.failover_timeout_ms;
                let strays = replica.follows.as_ref().is_some_and(|follows| *follows != address);
                if strays
                    && self.looks_sane(primary_id)
                    && self.was_not_down_for(id, wait)
                    && now - replica.follows_since > wait
                    && self.order(id, Some(&address))
                {
                    self.event("+fix-slave-config", id, "");
                }
                self.note_reconfiguration(id, primary_id);
            }
        }
    }

    /// A replica that was ordered to follow the new primary does so, and then is in step with it.
    fn note_reconfiguration(&mut self, id: InstanceId, primary: InstanceId) {
        let promoted = self.primary(primary).promoted.map(|promoted| self.instance(promoted).address.clone());
        let Some(replica) = self.instance_mut(id).replica_mut() else { return };
        if replica.reconfiguration == Reconfiguration::Sent
            && promoted.is_some()
            && replica.follows == promoted
        {
            replica.reconfiguration = Reconfiguration::InProgress;
            self.event("+slave-reconf-inprog", id, "");
        }
        let Some(replica) = self.instance_mut(id).replica_mut() else { return };
        if replica.reconfiguration == Reconfiguration::InProgress && replica.is_linked {
            replica.reconfiguration = Reconfiguration::Done;
            self.event("+slave-reconf-done", id, "");
        }
    }

    /// True if a primary is one by its own account, is up, and was heard of lately.
    fn looks_sane(&self, id: InstanceId) -> bool {
        let instance = self.instance(id);
        instance.role == Role::Primary
            && !instance.is_down
            && !self.primary(id).is_down
            && self.now - instance.informed < 2 * self.periods.info
    }

    fn was_not_down_for(&self, id: InstanceId, span: i64) -> bool {
        let since = self.instance(id).down_since;
        since == 0 || self.now - since > span
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_that_means_something_is_read_among_all_others() {
        let text = b"# Server\r\nredis_version:7.0.15\r\nrun_id:0123456789012345678901234567890123456789\r\n\
            mem_allocator:none\r\nrole:slave\r\nmaster_host:node-1\r\nmaster_port:6379\r\nmaster_link_status:up\r\n\
            master_link_down_since_seconds:3\r\nslave_priority:7\r\nslave_repl_offset:42\r\nreplica_announced:0\r\n\
            slave0:ip=node-2,port=6380,state=online,offset=1,lag=0\r\nsync_full:1\r\n";
        let in_sections = text.replace("role:", "\r\n# Stats\r\nrole:master\r\n\r\n# Replication\r\nrole:");
        for text in [&text[..], &in_sections] {
            let info = ServerInfo::of(text);
            assert_eq!(info.run_id.as_deref(), Some("0123456789012345678901234567890123456789"));
            assert_eq!(info.role, Some(Role::Replica));
            assert_eq!((info.host.as_deref(), info.port), (Some("node-1"), 6379));
            assert_eq!((info.is_linked, info.link_down_ms), (true, 3_000));
            assert_eq!((info.priority, info.offset, info.is_hidden), (Some(7), Some(42), true));
            assert_eq!(info.replicas, [Address::new("node-2", 6380)]);
        }
    }
}
