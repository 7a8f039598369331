//! The declaration of a kind of store, apart from its servers: which hosts it has and what each is for, which parameters a
//! scenario may set, how a client finds it, how long its failover may take, how its protocol reads, and how the real server is
//! started and found. The world knows none of this: it runs the programs of hosts.

use std::ops::Range;
use std::time::Duration;

use super::member::{Member, StoreAddress, Topology};
use super::reader::ConnectionReader;
use super::real::RealServer;
use crate::contract::param::Param;
use picklock_model::plan::Settings;
use picklock_model::trace::{LeaseClock, Role, Vocabulary};

/// The variable that holds the addresses of a program's stores.
pub const STORES: &str = "PICKLOCK_STORES";

/// The declaration of a kind of store, whoever serves it.
pub trait StoreSpec: Send + Sync + 'static {
    /// Its name, such as it stands in a scenario file: `[name]` holds its parameters.
    fn name(&self) -> &'static str;

    /// Its own parameters, which a scenario sets by name.
    fn params(&self) -> &'static [Param] {
        &[]
    }

    /// True if a store of it can consist of several members that keep the same data.
    fn replicates(&self) -> bool {
        false
    }

    /// The hosts of so many stores, in the order in which they are started.
    fn members(&self, topology: Topology, settings: &Settings) -> Vec<Member> {
        let _ = settings;
        (1..=topology.stores).map(|store| Member::new(format!("node-{store}"), store, Role::Leader)).collect()
    }

    /// Where clients find a store, counted from 1.
    fn address(&self, store: u32, topology: Topology, members: &[Member]) -> StoreAddress {
        let _ = topology;
        let first = members.iter().find(|member| member.store == store && member.role == Role::Leader);
        StoreAddress::Host(first.map(|member| member.name.clone()).unwrap_or_default())
    }

    /// Changes the settings so that every acknowledged write survives a restart, for designs that claim no more than
    /// that.
    fn keep_everything(&self, settings: &mut Settings) {
        let _ = settings;
    }

    /// How long the lock may be out of everybody's reach after a fault beside the leases that must run out: until another
    /// member stands in for one that took writes, until a server that was started anew answers. With `whole`, until the
    /// lost member is back at its place as well, for designs that need an acknowledgement of it.
    fn recovery_time(&self, topology: Topology, settings: &Settings, whole: bool) -> Duration {
        let _ = (topology, settings, whole);
        Duration::ZERO
    }

    /// How long after the start of real members clients may come, if it matters: not before they have a leader, and then at any moment of the period
    /// in which they look for what has run out. Simulated members are as those that have run for long.
    fn start_up(&self) -> Range<Duration> {
        Duration::ZERO..Duration::ZERO
    }

    /// How long a member keeps the connection of a client that is gone without a word, because its host lost its power: until
    /// then nothing shows the member that nobody is there. Zero where no grant depends on a connection.
    fn silent_client(&self, settings: &Settings) -> Duration {
        let _ = settings;
        Duration::ZERO
    }

    /// The settings that hold whatever a plan gives, because its clients need them, such as a version that has a command of theirs.
    fn required(&self) -> Settings {
        Settings::default()
    }

    /// The shortest lease that it grants with its usual settings.
    fn smallest_lease(&self) -> Duration {
        Duration::from_millis(1)
    }

    /// The lease that it grants to a client that asks for `asked`: the shortest one, if that is longer. All that a scenario gives in
    /// leases is in granted ones.
    fn granted_lease(&self, asked: Duration, settings: &Settings) -> Duration {
        let _ = settings;
        asked.max(self.smallest_lease())
    }

    /// The clock of its members by which leases run out.
    fn lease_clock(&self) -> LeaseClock {
        LeaseClock::Wall
    }

    /// The product's words for its members and for the records of locks.
    fn vocabulary(&self) -> Vocabulary {
        Vocabulary::default()
    }

    /// The port that a member listens on.
    fn port(&self, role: Role) -> u16;

    /// The address of a member as a client outside is given it: a URL, with the scheme that its clients read.
    fn url(&self, host: &str, port: u16) -> String {
        format!("tcp://{host}:{port}")
    }

    /// The addresses of its stores in the environment of a program: a variable and its value each.
    fn environment(&self, stores: &[StoreAddress]) -> Vec<(&'static str, String)> {
        let names = stores.iter().flat_map(|store| match store {
            StoreAddress::Host(name) => std::slice::from_ref(name),
            StoreAddress::Ask(names) | StoreAddress::Among(names) => names,
        });
        let urls: Vec<String> = names.map(|name| self.url(name, self.port(Role::Leader))).collect();
        vec![(STORES, urls.join(","))]
    }

    /// How the real server is run as this one of its store's members. `None` if there is none, or it cannot keep these
    /// settings.
    fn real_server(&self, member: &Member, members: &[Member], settings: &Settings) -> Option<RealServer> {
        let _ = (member, members, settings);
        None
    }

    /// True if the product has a program for this member. One for which it has none is simulated beside the real servers.
    fn has_program(&self, member: &Member) -> bool {
        let _ = member;
        true
    }

    /// The content of a segment to a member (`request`), or of one from it, in the words of its protocol, as a story shows it.
    /// `None` if it cannot be read alone.
    fn decode(&self, role: Role, request: bool, bytes: &[u8]) -> Option<String> {
        let _ = (role, request, bytes);
        None
    }

    /// How many bytes of a reply of a member are about the server itself, such as a place in its source: what another server that answers the same
    /// need not say.
    fn of_itself(&self, role: Role, reply: &[u8]) -> u32 {
        let _ = (role, reply);
        0
    }

    /// The reader of one connection to a member of this role, for a protocol whose segments cannot be read alone. `None` if
    /// [`decode`](StoreSpec::decode) reads each of them.
    fn reader(&self, role: Role) -> Option<Box<dyn ConnectionReader>> {
        let _ = role;
        None
    }

    /// Actions that only this kind has, such as a reply that is an error. A member gets one from
    /// [`Host::next_action`](crate::host::Host::next_action).
    fn actions(&self) -> &'static [OwnAction] {
        &[]
    }
}

/// A fault action of a kind of store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnAction {
    /// Its name in a plan.
    pub name: &'static str,
    /// The effect of the action, in one line.
    pub doc: &'static str,
}
