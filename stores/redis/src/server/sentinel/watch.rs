//! Watching servers: connections, pings, INFO and greetings in their periods, and when a server counts as down.
//!
//! Source: `sentinelReconnectInstance`, `sentinelSendPeriodicCommands`, `sentinelCheckSubjectivelyDown`,
//! `sentinelCheckObjectivelyDown` and `sentinelAskMasterStateToOtherSentinels` of `sentinel.c`.

use super::ids::{InstanceId, LinkId};
use super::instance::{Awaited, DueMessages, Instance, Role};
use super::primary::Primary;
use super::state::{Act, Sentinel};
use crate::protocol::resp::Reply;

/// Nothing more is sent to a server that owes so many answers.
const AWAITED_MAX: usize = 100;

/// The channel of greetings.
pub(super) const HELLO: &[u8] = b"__sentinel__:hello";

/// The condition of a server by the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Condition {
    /// The connection for commands is dead.
    stuck: bool,
    /// The connection for messages is dead.
    deaf: bool,
    /// It counts as down.
    is_down: bool,
}

impl Sentinel {
    /// Connects to a server where a connection is missing, at most once a second.
    pub(super) fn reconnect(&mut self, id: InstanceId) {
        let (now, ping) = (self.now, self.periods.ping);
        let instance = self.instance_mut(id);
        let listens = !instance.is_sentinel();
        if !instance.wire.is_broken || instance.address.port == 0 || now - instance.wire.reconnected < ping {
            return;
        }
        instance.wire.reconnected = now;
        let (commands, messages) = (instance.wire.commands, instance.wire.messages);
        if commands.is_none() {
            let link = self.connect(id);
            let wire = &mut self.instance_mut(id).wire;
            wire.commands = Some(link);
            wire.commands_since = now;
            wire.awaited.clear();
            for greeting in self.introduction(id, "cmd") {
                let words: Vec<&[u8]> = greeting.iter().map(String::as_bytes).collect();
                self.command(id, &words, Awaited::Order);
            }
            self.ping(id);
        }
        if listens && messages.is_none() {
            let link = self.connect(id);
            let wire = &mut self.instance_mut(id).wire;
            wire.messages = Some(link);
            wire.messages_since = now;
            wire.last_message = now;
            for greeting in self.introduction(id, "pubsub") {
                let words: Vec<&[u8]> = greeting.iter().map(String::as_bytes).collect();
                self.send(id, link, &words);
            }
            self.send(id, link, &[b"SUBSCRIBE", HELLO]);
        }
        self.instance_mut(id).wire.is_broken = false;
    }

    /// The first commands on a new connection: the password if there is one, and a name by which it is known there.
    fn introduction(&self, id: InstanceId, purpose: &str) -> Vec<Vec<String>> {
        let instance = self.instance(id);
        let watch = &self.primary(instance.primary).watch;
        let mut words = Vec::new();
        if !watch.password.is_empty() && !instance.is_sentinel() {
            let user = Some(watch.user.clone()).filter(|user| !user.is_empty());
            let auth = ["AUTH".to_owned()].into_iter().chain(user).chain([watch.password.clone()]);
            words.push(auth.collect());
        }
        let short: String = self.my_id.chars().take(8).collect();
        words.push(vec!["CLIENT".to_owned(), "SETNAME".to_owned(), format!("sentinel-{short}-{purpose}")]);
        words
    }

    fn connect(&mut self, id: InstanceId) -> LinkId {
        let link = self.next_link(id);
        let address = self.instance(id).address.clone();
        self.acts.push(Act::Connect { link, address });
        link
    }

    /// A connection could not be made, or has broken.
    pub fn lost(&mut self, now: i64, link: LinkId) {
        self.now = now;
        let Some(id) = self.links.remove(&link) else { return };
        let wire = &mut self.instance_mut(id).wire;
        wire.is_broken = true;
        if wire.commands == Some(link) {
            wire.commands = None;
            wire.awaited.clear();
        } else {
            wire.messages = None;
        }
    }

    pub(super) fn close_commands(&mut self, id: InstanceId) {
        let wire = &mut self.instance_mut(id).wire;
        wire.is_broken = true;
        wire.awaited.clear();
        if let Some(link) = wire.commands.take() {
            self.close(link);
        }
    }

    pub(super) fn close_messages(&mut self, id: InstanceId) {
        let wire = &mut self.instance_mut(id).wire;
        wire.is_broken = true;
        if let Some(link) = wire.messages.take() {
            self.close(link);
        }
    }

    fn close(&mut self, link: LinkId) {
        self.links.remove(&link);
        self.acts.push(Act::Close { link });
    }

    /// The messages that a server of this primary is to be sent now.
    pub(super) fn due(&self, instance: &Instance, primary: &Primary) -> DueMessages {
        let (now, wire) = (self.now, &instance.wire);
        if wire.is_broken || wire.awaited.len() >= AWAITED_MAX {
            return DueMessages::default();
        }
        let ping_period = primary.watch.down_after_ms.min(self.periods.ping);
        // A replica whose primary fails, or that has lost it, is watched more closely.
        let closely = instance
            .replica()
            .is_some_and(|replica| primary.is_down || primary.fails_over() || replica.link_down_ms != 0);
        let info_period = if closely { 1_000 } else { self.periods.info };
        DueMessages {
            info: !instance.is_sentinel()
                && (instance.informed == 0 || now - instance.informed > info_period),
            ping: now - wire.ponged > ping_period && now - wire.pinged > ping_period / 2,
            greeting: now - instance.greeted > self.periods.hello,
        }
    }

    pub(super) fn send_due(&mut self, id: InstanceId, due: DueMessages) {
        if due.info {
            self.command(id, &[b"INFO"], Awaited::Info);
        }
        if due.ping {
            self.ping(id);
        }
        if due.greeting {
            self.greet(id);
        }
    }

    fn ping(&mut self, id: InstanceId) {
        if self.command(id, &[b"PING"], Awaited::Ping) {
            let now = self.now;
            let wire = &mut self.instance_mut(id).wire;
            wire.pinged = now;
            if wire.waiting_since == 0 {
                wire.waiting_since = now;
            }
        }
    }

    /// A server has answered something.
    pub fn answered(&mut self, now: i64, link: LinkId, reply: Reply) {
        self.now = now;
        let Some(id) = self.links.get(&link).copied() else { return };
        let instance = self.instance_mut(id);
        if instance.wire.messages == Some(link) {
            instance.wire.last_message = now;
            self.hear(&reply);
            return;
        }
        match instance.wire.awaited.pop_front() {
            Some(Awaited::Ping) => {
                let alive = match &reply {
                    Reply::Status(text) => text.starts_with("PONG"),
                    Reply::Error(text) => text.starts_with("LOADING") || text.starts_with("MASTERDOWN"),
                    _ => false,
                };
                instance.wire.ponged = now;
                if alive {
                    instance.wire.available = now;
                    instance.wire.waiting_since = 0;
                    if matches!(reply, Reply::Status(_)) {
                        instance.rebooted = None;
                    }
                } else if matches!(&reply, Reply::Error(text) if text.starts_with("BUSY"))
                    && instance.is_down
                    && !std::mem::replace(&mut instance.script_killed, true)
                {
                    self.command(id, &[b"SCRIPT", b"KILL"], Awaited::Order);
                }
            }
            Some(Awaited::Info) => {
                if let Reply::Bulk(text) = reply {
                    self.inform(id, &text);
                    if let Some(instance) = self.instances.get_mut(&id) {
                        instance.info = Some(text);
                    }
                }
            }
            Some(Awaited::Greeting) => {
                if !matches!(reply, Reply::Error(_)) {
                    instance.greeted = now;
                }
            }
            Some(Awaited::Question) => self.hear_answer(id, &reply),
            Some(Awaited::Order) | None => {}
        }
    }

    /// The condition of a server of this primary by the clock.
    pub(super) fn condition(&self, instance: &Instance, primary: &Primary) -> Condition {
        let (now, wire) = (self.now, &instance.wire);
        let (down_after, patience) = (primary.watch.down_after_ms, primary.watch.reboot_down_after_ms);
        let silent = match wire.waiting_since {
            0 if wire.is_broken => now - wire.available,
            0 => 0,
            since => now - since,
        };
        let deposed = instance.is_primary()
            && instance.role == Role::Replica
            && now - instance.role_since > down_after + 2 * self.periods.info;
        let mute = instance.rebooted.is_some_and(|since| now - since > patience);
        Condition {
            stuck: wire.commands.is_some()
                && now - wire.commands_since > self.periods.reconnect
                && wire.waiting_since != 0
                && now - wire.waiting_since > down_after / 2
                && now - wire.ponged > down_after / 2,
            deaf: wire.messages.is_some()
                && now - wire.messages_since > self.periods.reconnect
                && now - wire.last_message > 3 * self.periods.hello,
            is_down: silent > down_after || deposed || mute,
        }
    }

    /// Finds a server down that has been silent for too long, or that has ceased to be a primary.
    pub(super) fn check_subjectively_down(&mut self, id: InstanceId, condition: Condition) {
        let Condition { stuck, deaf, is_down } = condition;
        if stuck {
            self.close_commands(id);
        }
        if deaf {
            self.close_messages(id);
        }
        let now = self.now;
        let instance = self.instance_mut(id);
        if is_down && !instance.is_down {
            instance.is_down = true;
            instance.down_since = now;
            self.event("+sdown", id, "");
        } else if !is_down && instance.is_down {
            instance.is_down = false;
            instance.script_killed = false;
            self.event("-sdown", id, "");
        }
    }

    /// Finds a primary down when enough Sentinels do.
    pub(super) fn check_objectively_down(&mut self, id: InstanceId) {
        let agreeing = 1 + self.sentinels_of(id).filter(|(_, peer)| peer.sees_down).count();
        let now = self.now;
        let quorum = self.primary(id).watch.quorum;
        let is_down = self.instance(id).is_down && agreeing >= quorum;
        let primary = self.primary_mut(id);
        if is_down && !primary.is_down {
            primary.is_down = true;
            primary.down_since = now;
            self.event("+odown", id, &format!(" #quorum {agreeing}/{quorum}"));
        } else if !is_down && primary.is_down {
            primary.is_down = false;
            self.event("-odown", id, "");
        }
    }

    /// Asks the other Sentinels whether they find a primary down, and for their votes once this one fails over.
    pub(super) fn ask_others(&mut self, id: InstanceId, at_once: bool) {
        let (now, ask) = (self.now, self.periods.ask);
        let is_down = self.instance(id).is_down;
        for peer in self.instances.values_mut().filter(|instance| instance.primary == id) {
            if let Some(peer) = peer.peer_mut().filter(|peer| now - peer.answered > 5 * ask) {
                // What it said is too old to count.
                peer.sees_down = false;
                peer.leader = None;
            }
        }
        if !is_down {
            return;
        }
        let me = if self.primary(id).fails_over() { self.my_id.clone() } else { "*".to_owned() };
        let address = self.instance(id).address.clone();
        let (port, epoch) = (address.port.to_string(), self.epoch.to_string());
        let due = self
            .sentinels_of(id)
            .filter(|(instance, peer)| !instance.wire.is_broken && (at_once || now - peer.answered >= ask));
        let due: Vec<InstanceId> = due.map(|(instance, _)| instance.id).collect();
        for other in due {
            let question: [&[u8]; 6] = [
                b"SENTINEL",
                b"is-master-down-by-addr",
                address.host.as_bytes(),
                port.as_bytes(),
                epoch.as_bytes(),
                me.as_bytes(),
            ];
            self.command(other, &question, Awaited::Question);
        }
    }

    /// Another Sentinel says whether it finds the primary down, and whom it voted for.
    fn hear_answer(&mut self, id: InstanceId, reply: &Reply) {
        let now = self.now;
        let Reply::Array(parts) = reply else { return };
        let [Reply::Integer(down), Reply::Bulk(leader), Reply::Integer(epoch)] = &parts[..] else { return };
        let Some(peer) = self.instance_mut(id).peer_mut() else { return };
        peer.answered = now;
        peer.sees_down = *down == 1;
        if leader != b"*" {
            peer.leader = Some(String::from_utf8_lossy(leader).into_owned());
            peer.leader_epoch = u64::try_from(*epoch).unwrap_or(0);
        }
    }
}
