//! The state of a Sentinel, and its timer.
//!
//! A Sentinel is a machine without sockets and clocks: it is given the time, what has come over its connections and when
//! they broke, and says what to do in [`Act`]s. Times are milliseconds of the wall clock, as in Redis, so that a step of
//! the clock puts it into tilt mode.

use std::collections::BTreeMap;

use picklock_model::seed::{Seed, Stream};
use picklock_model::time::WallTime;

use super::ids::{InstanceId, LinkId};
use super::instance::{Address, Awaited, DueMessages, Instance, Part, Peer, Replica, Role, Wire};
use super::primary::{DOWN_AFTER_MS, FAILOVER_TIMEOUT_MS, Failover, Primary, Watch};
use crate::protocol::resp;

/// The next failover of a primary is put off by up to so many milliseconds, differently by each Sentinel.
pub(super) const DESYNC_MAX: u64 = 1_000;

/// Something that a Sentinel wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Connect to a server.
    Connect {
        /// The new name of the connection.
        link: LinkId,
        /// Where to.
        address: Address,
    },
    /// Send something over a connection, as soon as it is there.
    Send {
        /// Which connection.
        link: LinkId,
        /// The bytes.
        bytes: Vec<u8>,
    },
    /// Close a connection.
    Close {
        /// Which one.
        link: LinkId,
    },
    /// Publish an event to subscribed clients.
    Publish {
        /// The channel, which is the kind of event.
        channel: &'static str,
        /// The event, and the server.
        message: String,
    },
    /// Stop at once, as a test has asked for.
    Crash,
}

/// The periods of a Sentinel in milliseconds, which SENTINEL DEBUG shows and sets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Periods {
    /// How often INFO is asked for.
    pub(super) info: i64,
    /// How often a server is pinged at most.
    pub(super) ping: i64,
    /// How often other Sentinels are asked about a primary that is down.
    pub(super) ask: i64,
    /// How often greetings are published.
    pub(super) hello: i64,
    /// After how long a silent server of a primary that is added is down.
    pub(super) down_after: i64,
    /// How long a failover of a primary that is added may take.
    pub(super) failover: i64,
    /// Two clock reads that lie further apart mean that the clock cannot be trusted.
    pub(super) tilt_trigger: i64,
    /// For how long it is not.
    pub(super) tilt: i64,
    /// A replica that does not take its new primary for so long is passed over.
    pub(super) reconfiguration: i64,
    /// No connection is given up as dead when it is younger.
    pub(super) reconnect: i64,
    /// A failover is given up when no leader is elected for so long.
    pub(super) election: i64,
    /// How long a script may run, and how long to wait before it is tried again; no scripts are run.
    pub(super) script: i64,
    pub(super) script_retry: i64,
}

impl Default for Periods {
    fn default() -> Periods {
        Periods {
            info: 10_000,
            ping: 1_000,
            ask: 1_000,
            hello: 2_000,
            down_after: DOWN_AFTER_MS,
            failover: FAILOVER_TIMEOUT_MS,
            tilt_trigger: 2_000,
            tilt: 30_000,
            reconfiguration: 10_000,
            reconnect: 15_000,
            election: 10_000,
            script: 60_000,
            script_retry: 30_000,
        }
    }
}

/// The ends that SENTINEL SIMULATE-FAILURE asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Failures {
    pub(super) after_election: bool,
    pub(super) after_promotion: bool,
}

/// A reading of the wall clock in milliseconds.
pub(super) fn millis(now: WallTime) -> i64 {
    now.as_millis().cast_signed()
}

/// A Sentinel.
#[derive(Debug)]
pub struct Sentinel {
    /// The identifier that it gave itself.
    pub(super) my_id: String,
    /// Where it listens.
    pub(super) address: Address,
    /// Where it says that it listens, if that is another host (not empty) or another port (not 0).
    pub(super) announced: Address,
    pub(super) now: i64,
    pub(super) epoch: u64,
    pub(super) instances: BTreeMap<InstanceId, Instance>,
    /// Whose connections these are.
    pub(super) links: BTreeMap<LinkId, InstanceId>,
    pub(super) acts: Vec<Act>,
    pub(super) tilt_since: Option<i64>,
    pub(super) periods: Periods,
    pub(super) failures: Failures,
    /// The state on disk is out of date.
    dirty: bool,
    previous: i64,
    pub(super) random: Stream,
    last: u64,
}

impl Sentinel {
    /// A Sentinel that watches nothing yet.
    #[must_use]
    pub fn new(my_id: String, address: Address, seed: Seed, now: i64) -> Sentinel {
        Sentinel {
            my_id,
            address,
            announced: Address::new("", 0),
            now,
            epoch: 0,
            instances: BTreeMap::new(),
            links: BTreeMap::new(),
            acts: Vec::new(),
            tilt_since: None,
            periods: Periods::default(),
            failures: Failures::default(),
            dirty: false,
            previous: now,
            random: seed.stream("sentinel"),
            last: 0,
        }
    }

    /// Sets the time.
    pub(super) fn set_now(&mut self, now: i64) {
        self.now = now;
    }

    /// Watches a primary.
    pub fn monitor(&mut self, name: &str, address: Address, watch: Watch) -> InstanceId {
        let part = Part::Primary(Box::new(Primary::new(watch)));
        self.add(name.to_owned(), address, part, None)
    }

    /// Says which primaries it watches, as it does when it starts.
    pub fn introduce(&mut self) {
        for id in self.primaries() {
            self.event_of_monitoring(id);
        }
    }

    pub(super) fn event_of_monitoring(&mut self, id: InstanceId) {
        let quorum = self.primary(id).watch.quorum;
        self.event("+monitor", id, &format!(" quorum {quorum}"));
    }

    /// The acts that it asks for since the last call, in order.
    pub fn take_acts(&mut self) -> Vec<Act> {
        std::mem::take(&mut self.acts)
    }

    /// True if the state on disk is out of date; from now on it counts as up to date.
    pub fn take_dirty(&mut self) -> bool {
        std::mem::take(&mut self.dirty)
    }

    /// How long to wait until the next [`Sentinel::tick`], in milliseconds. It varies, so that Sentinels that have
    /// started together do not act together.
    pub fn pause_ms(&mut self) -> u64 {
        1_000 / (10 + self.random.below(10))
    }

    /// Does what is due when the wall clock shows `now`.
    pub fn tick(&mut self, now: i64) {
        self.now = now;
        let passed = now - self.previous;
        self.previous = now;
        if !(0..=self.periods.tilt_trigger).contains(&passed) {
            self.tilt_since = Some(now);
            self.publish("+tilt", "#tilt mode entered".to_owned());
        }
        for primary in self.primaries() {
            self.look_at(primary);
            for id in self.of(primary) {
                self.look_at(id);
            }
            if self.primary(primary).failover == Failover::UpdateConfig {
                self.switch_to_promoted(primary);
            }
        }
    }

    fn look_at(&mut self, id: InstanceId) {
        if self.instance(id).wire.is_broken {
            self.reconnect(id);
        }
        let instance = self.instance(id);
        let is_primary = instance.is_primary();
        let watched = self.primary(instance.primary);
        // What is sent now has no part in the condition: nobody is late with an answer to it yet.
        let (due, condition) = (self.due(instance, watched), self.condition(instance, watched));
        if due != DueMessages::default() {
            self.send_due(id, due);
        }
        if let Some(since) = self.tilt_since {
            if self.now - since < self.periods.tilt {
                return;
            }
            self.tilt_since = None;
            self.publish("-tilt", "#tilt mode exited".to_owned());
        }
        self.check_subjectively_down(id, condition);
        if is_primary {
            self.check_objectively_down(id);
            if self.start_failover_if_needed(id) {
                self.ask_others(id, true);
            }
            self.continue_failover(id);
            self.ask_others(id, false);
        }
    }

    /// A new server.
    pub(super) fn add(
        &mut self,
        name: String,
        address: Address,
        part: Part,
        primary: Option<InstanceId>,
    ) -> InstanceId {
        self.last += 1;
        let id = InstanceId(self.last);
        let role = if matches!(part, Part::Replica(_)) { Role::Replica } else { Role::Primary };
        let now = self.now;
        self.instances.insert(
            id,
            Instance {
                id,
                name,
                address,
                run_id: String::new(),
                part,
                primary: primary.unwrap_or(id),
                wire: Wire::new(now),
                is_down: false,
                down_since: 0,
                informed: 0,
                info: None,
                rebooted: None,
                script_killed: false,
                role,
                role_since: now,
                greeted: now,
            },
        );
        id
    }

    pub(super) fn add_replica(&mut self, primary: InstanceId, address: Address) -> InstanceId {
        let name = if address.host.contains(':') {
            format!("[{}]:{}", address.host, address.port)
        } else {
            format!("{}:{}", address.host, address.port)
        };
        let replica = Replica { follows_since: self.now, ..Replica::default() };
        self.add(name, address, Part::Replica(replica), Some(primary))
    }

    pub(super) fn add_sentinel(&mut self, primary: InstanceId, address: Address, run_id: &str) -> InstanceId {
        let peer = Peer { answered: self.now, hello: self.now, ..Peer::default() };
        let id = self.add(run_id.to_owned(), address, Part::Sentinel(peer), Some(primary));
        run_id.clone_into(&mut self.instance_mut(id).run_id);
        id
    }

    /// Forgets a server and closes its connections.
    pub(super) fn remove(&mut self, id: InstanceId) {
        self.close_commands(id);
        self.close_messages(id);
        self.instances.remove(&id);
    }

    pub(super) fn instance(&self, id: InstanceId) -> &Instance {
        self.instances.get(&id).expect("instances are only asked for while they are known")
    }

    pub(super) fn instance_mut(&mut self, id: InstanceId) -> &mut Instance {
        self.instances.get_mut(&id).expect("instances are only asked for while they are known")
    }

    /// The state of a primary.
    pub(super) fn primary(&self, id: InstanceId) -> &Primary {
        match &self.instance(id).part {
            Part::Primary(primary) => primary,
            Part::Replica(_) | Part::Sentinel(_) => {
                unreachable!("only primaries have replicas and failovers")
            }
        }
    }

    pub(super) fn primary_mut(&mut self, id: InstanceId) -> &mut Primary {
        match &mut self.instance_mut(id).part {
            Part::Primary(primary) => primary,
            Part::Replica(_) | Part::Sentinel(_) => {
                unreachable!("only primaries have replicas and failovers")
            }
        }
    }

    /// The primaries, in the order in which they became known.
    pub(super) fn primaries(&self) -> Vec<InstanceId> {
        self.instances.values().filter(|instance| instance.is_primary()).map(|instance| instance.id).collect()
    }

    /// The replicas of a primary, then the other Sentinels that watch it.
    pub(super) fn of(&self, primary: InstanceId) -> Vec<InstanceId> {
        let replicas = self.replicas_of(primary).map(|(instance, _)| instance.id);
        replicas.chain(self.sentinels_of(primary).map(|(instance, _)| instance.id)).collect()
    }

    pub(super) fn replicas_of(&self, primary: InstanceId) -> impl Iterator<Item = (&Instance, &Replica)> {
        let all = self.instances.values().filter(move |instance| instance.primary == primary);
        all.filter_map(|instance| Some((instance, instance.replica()?)))
    }

    pub(super) fn sentinels_of(&self, primary: InstanceId) -> impl Iterator<Item = (&Instance, &Peer)> {
        let all = self.instances.values().filter(move |instance| instance.primary == primary);
        all.filter_map(|instance| Some((instance, instance.peer()?)))
    }

    /// The primary of a name.
    pub(super) fn named(&self, name: &[u8]) -> Option<InstanceId> {
        let mut primaries = self.instances.values().filter(|instance| instance.is_primary());
        primaries.find(|instance| instance.name.as_bytes() == name).map(|instance| instance.id)
    }

    /// Where clients find the primary: at the promoted replica as soon as that is the primary.
    pub(super) fn current_address(&self, id: InstanceId) -> &Address {
        let primary = self.primary(id);
        match primary.promoted {
            Some(promoted) if primary.failover >= Failover::ReconfigureReplicas => {
                &self.instance(promoted).address
            }
            _ => &self.instance(id).address,
        }
    }

    /// Sends a command to a server and remembers what the answer will be to. False if there is no connection.
    pub(super) fn command(&mut self, id: InstanceId, args: &[&[u8]], awaited: Awaited) -> bool {
        let instance = self.instance_mut(id);
        let Some(link) = instance.wire.commands else { return false };
        instance.wire.awaited.push_back(awaited);
        self.send(id, link, args);
        true
    }

    /// Sends a command over a connection, under the name that it has there.
    pub(super) fn send(&mut self, id: InstanceId, link: LinkId, args: &[&[u8]]) {
        let instance = self.instance(id);
        let renamed = &self.primary(instance.primary).watch.renamed;
        let mut bytes = Vec::new();
        let renamed = if renamed.is_empty() { None } else { renamed.get(&args[0].to_ascii_lowercase()) };
        match renamed {
            Some(name) if !instance.is_sentinel() => {
                let args: Vec<&[u8]> =
                    std::iter::once(name.as_slice()).chain(args[1..].iter().copied()).collect();
                resp::request(&mut bytes, &args);
            }
            _ => resp::request(&mut bytes, args),
        }
        self.acts.push(Act::Send { link, bytes });
    }

    /// Publishes what happened to a server.
    pub(super) fn event(&mut self, channel: &'static str, id: InstanceId, more: &str) {
        let instance = self.instance(id);
        let Address { host, port } = &instance.address;
        let mut message = format!("{} {} {host} {port}", instance.kind(), instance.name);
        if instance.primary != id {
            let primary = self.instance(instance.primary);
            let Address { host, port } = &primary.address;
            message.push_str(&format!(" @ {} {host} {port}", primary.name));
        }
        message.push_str(more);
        self.publish(channel, message);
    }

    pub(super) fn publish(&mut self, channel: &'static str, message: String) {
        self.acts.push(Act::Publish { channel, message });
    }

    pub(super) fn save(&mut self) {
        self.dirty = true;
    }

    pub(super) fn next_link(&mut self, id: InstanceId) -> LinkId {
        self.last += 1;
        let link = LinkId(self.last);
        self.links.insert(link, id);
        link
    }
}
