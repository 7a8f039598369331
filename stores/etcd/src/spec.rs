//! etcd as a kind of store: one store, whose members agree among themselves on who leads.

use std::ops::Range;
use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_model::trace::{LeaseClock, Role, Vocabulary};
use picklock_sim::lock::BoxFuture;
use picklock_sim::param::Param;
use picklock_sim::store::{
    ConnectionReader, Form, Member, Number, OwnAction, RealServer, ServerContext, Serving, SimulatedStore,
    Store, StoreAddress, StoreKind, StoreSpec, Topology, Users,
};

use crate::params::{ELECTION_TIMEOUT, PARAMS, SERVED, shortest_lease};
use crate::version::Version;
use crate::{CLIENT_PORT, protocol, real, server};

/// An etcd of so many members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Etcd {
    /// How many members it has.
    pub members: u32,
    /// The version that its simulated members are of.
    pub version: Version,
}

impl Etcd {
    /// So many members of 3.6.
    #[must_use]
    pub const fn of(members: u32) -> Etcd {
        Etcd { members, version: Version::V36 }
    }
}

/// The time that a new leader adds to an election before it answers: it makes an entry of its term, which a majority has to
/// keep.
const FIRST_ENTRY: Duration = Duration::from_millis(500);

/// etcd in the list of all kinds.
pub const KIND: StoreKind = StoreKind {
    name: "etcd",
    params: PARAMS,
    forms: &[Form {
        name: "etcd",
        aliases: &[],
        number: Some(Number { most: 7 }),
        doc: "an etcd of N members, over gRPC",
        stores: |members| {
            let store = Store::simulated(Etcd::of(members));
            (Topology { stores: 1, replicated: store.spec.replicates() }, store)
        },
        users: Users::Programs,
        served: &[],
    }],
    serving: Serving {
        params: SERVED,
        start: |context, _| Box::pin(server::serve_any(context)),
        words: |_| "etcd: gRPC, no password".to_owned(),
        down_after: None,
        passwords: false,
    },
    real: Some(real::INSTALLED),
};

impl StoreSpec for Etcd {
    fn name(&self) -> &'static str {
        "etcd"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn replicates(&self) -> bool {
        self.members > 1
    }

    /// The first one leads at the start: the others let it be elected.
    fn members(&self, topology: Topology, _: &Settings) -> Vec<Member> {
        Member::electing(self.members, topology.stores)
    }

    /// Whichever member is asked: those that do not lead ask the leader.
    fn address(&self, _: u32, _: Topology, members: &[Member]) -> StoreAddress {
        StoreAddress::Ask(members.iter().map(|member| member.name.clone()).collect())
    }

    /// Until a leader is elected, which may take a second vote, or until a lone member is up again. A new leader gives all
    /// leases their full time once more, and the time of an election on top of it.
    fn recovery_time(&self, _: Topology, settings: &Settings, _: bool) -> Duration {
        4 * settings.get(ELECTION_TIMEOUT) + FIRST_ENTRY + EXPIRY
    }

    /// A leader is there after 0.2 s, and looks for leases twice a second.
    fn start_up(&self) -> Range<Duration> {
        Duration::from_millis(300)..Duration::from_millis(800)
    }

    /// The least that etcd grants with its usual times: one and a half elections, in whole seconds.
    fn smallest_lease(&self) -> Duration {
        Duration::from_secs(2)
    }

    /// Whole seconds, and not below one and a half elections.
    fn granted_lease(&self, asked: Duration, settings: &Settings) -> Duration {
        let seconds = asked.as_nanos().div_ceil(1_000_000_000) as u64;
        Duration::from_secs(seconds.max(shortest_lease(settings)))
    }

    /// The leader counts them by its monotonic clock.
    fn lease_clock(&self) -> LeaseClock {
        LeaseClock::Monotonic
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary { queues: true, ..Vocabulary::ELECTED }
    }

    fn port(&self, _: Role) -> u16 {
        CLIENT_PORT
    }

    fn url(&self, host: &str, port: u16) -> String {
        format!("http://{host}:{port}")
    }

    fn real_server(&self, member: &Member, members: &[Member], settings: &Settings) -> Option<RealServer> {
        Some(real::server(member, members, settings))
    }

    fn reader(&self, _: Role) -> Option<Box<dyn ConnectionReader>> {
        Some(Box::new(protocol::Connection::default()))
    }

    fn actions(&self) -> &'static [OwnAction] {
        server::ACTIONS
    }
}

impl SimulatedStore for Etcd {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        Box::pin(server::serve(context, self.version))
    }
}

/// Leases that ran out are looked for twice a second, and revoked by an entry that a majority keeps.
const EXPIRY: Duration = Duration::from_secs(1);
