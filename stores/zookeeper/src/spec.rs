//! ZooKeeper as a kind of store: one store, whose members agree among themselves on who leads.

use std::ops::Range;
use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_model::trace::{LeaseClock, Role, Vocabulary};
use picklock_sim::lock::BoxFuture;
use picklock_sim::param::Param;
use picklock_sim::store::{
    Form, Member, Number, RealServer, ServerContext, Serving, SimulatedStore, Store, StoreAddress, StoreKind,
    StoreSpec, Topology, Users,
};

use crate::params::{PARAMS, SERVED, TICK_TIME};
use crate::version::Version;
use crate::{CLIENT_PORT, SYNC_LIMIT, protocol, real, server};

/// A ZooKeeper of so many members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ZooKeeper {
    /// How many members it has.
    pub members: u32,
}

/// How long members try to reach each other when they vote.
const VOTE: Duration = Duration::from_secs(5);

/// ZooKeeper in the list of all kinds.
pub const KIND: StoreKind = StoreKind {
    name: "zookeeper",
    params: PARAMS,
    forms: &[Form {
        name: "zookeeper",
        aliases: &[],
        number: Some(Number { most: 7 }),
        doc: "a ZooKeeper of N members",
        stores: |members| {
            let store = Store::simulated(ZooKeeper { members });
            (Topology { stores: 1, replicated: store.spec.replicates() }, store)
        },
        users: Users::Programs,
        served: &[],
    }],
    serving: Serving {
        params: SERVED,
        start: |context, _| Box::pin(server::serve_any(context)),
        words: |_| "ZooKeeper: no password".to_owned(),
        down_after: None,
        passwords: false,
    },
    real: Some(real::INSTALLED),
};

impl StoreSpec for ZooKeeper {
    fn name(&self) -> &'static str {
        "zookeeper"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn replicates(&self) -> bool {
        self.members > 1
    }

    /// The first one leads at the start: of members that have the same data, the one with the highest number is elected.
    fn members(&self, topology: Topology, _: &Settings) -> Vec<Member> {
        Member::electing(self.members, topology.stores)
    }

    /// Whichever member is asked: those that do not lead ask the leader.
    fn address(&self, _: u32, _: Topology, members: &[Member]) -> StoreAddress {
        StoreAddress::Ask(members.iter().map(|member| member.name.clone()).collect())
    }

    /// Until a silent leader is given up and another one is elected, or until a lone member is up again. A new leader gives all
    /// sessions their full time once more, and ends them a tick later.
    fn recovery_time(&self, _: Topology, settings: &Settings, _: bool) -> Duration {
        (SYNC_LIMIT + 3) * settings.get(TICK_TIME) + VOTE
    }

    /// A leader is there after 0.3 s, and looks for sessions at every tick.
    fn start_up(&self) -> Range<Duration> {
        Duration::from_millis(600)..Duration::from_millis(2_600)
    }

    /// Two ticks of the usual length.
    fn smallest_lease(&self) -> Duration {
        Duration::from_secs(4)
    }

    /// Two to twenty ticks (`minSessionTimeout`, `maxSessionTimeout`).
    fn granted_lease(&self, asked: Duration, settings: &Settings) -> Duration {
        let tick = settings.get(TICK_TIME);
        asked.clamp(2 * tick, 20 * tick)
    }

    /// The leader counts sessions by its monotonic clock.
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
        format!("{host}:{port}")
    }

    fn real_server(&self, member: &Member, members: &[Member], settings: &Settings) -> Option<RealServer> {
        Some(real::server(member, members, settings))
    }

    fn decode(&self, _: Role, request: bool, bytes: &[u8]) -> Option<String> {
        if request { protocol::describe_request(bytes) } else { protocol::describe_reply(bytes) }
    }
}

impl SimulatedStore for ZooKeeper {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        Box::pin(server::serve(context, Version::V38))
    }
}
