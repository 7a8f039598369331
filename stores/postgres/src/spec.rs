//! PostgreSQL as a kind of store: single servers, or a primary with a standby and a controller that promotes it.
//!
//! What a lock sets of a server, it sets in its session. A design may put a pooler before each server; such a server has no standby, as a
//! pooler knows one server.

use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_model::trace::{Role, Vocabulary};
use picklock_sim::lock::BoxFuture;
use picklock_sim::param::Param;
use picklock_sim::store::{
    ConnectionReader, Form, Member, OwnAction, RealServer, STORES, ServerContext, Serving, SimulatedStore,
    Store, StoreAddress, StoreKind, StoreSpec, Topology, Users,
};

use crate::params::{DISK_DELAY, DOWN_AFTER, FSYNC, PARAMS, SYNCHRONOUS_COMMIT};
use crate::pooler::{self, Rules};
use crate::protocol::Conversation;
use crate::server::{ACTIONS, Commits, Config, Keepalive, Pair, Syncs, serve_configured};
use crate::{PORT, controller, protocol, real};

/// PostgreSQL servers.
#[derive(Clone, Copy, Debug, Default)]
pub struct Postgres {
    /// The rules of the pooler before each of them, if there is one.
    pub pooler: Option<Rules>,
    /// When they look whether a silent client is still there.
    pub keepalive: Keepalive,
    /// True if their clocks say when the lease of a row is over, and not those of clients.
    pub leases: bool,
}

/// PostgreSQL in the list of all kinds.
pub const KIND: StoreKind = StoreKind {
    name: "postgres",
    params: PARAMS,
    forms: &[
        Form {
            name: "postgres",
            aliases: &[],
            number: None,
            doc: "one PostgreSQL, which admits each user to each database without a password",
            stores: |_| (Topology::independent(1), Store::simulated(Postgres::default())),
            users: Users::Programs,
            served: &[],
        },
        Form {
            name: "postgres-standby",
            aliases: &[],
            number: None,
            doc: "a PostgreSQL primary, its standby, and the controller that promotes the standby",
            stores: |_| (Topology { stores: 1, replicated: true }, Store::simulated(Postgres::default())),
            users: Users::Programs,
            served: &[],
        },
    ],
    serving: Serving {
        params: PARAMS,
        start: |context, _| Postgres::default().serve(context),
        words: |member| {
            let words = match member.role {
                Role::Follower => "its standby, which takes writes once it is promoted",
                Role::Monitor => "their controller, which no client uses",
                _ => "PostgreSQL: any user, any database, no password",
            };
            words.to_owned()
        },
        down_after: Some(DOWN_AFTER),
        passwords: false,
    },
    real: Some(real::INSTALLED),
};

fn primary(store: u32) -> String {
    format!("node-{store}")
}

fn standby(store: u32) -> String {
    format!("standby-{store}")
}

fn pooler(store: u32) -> String {
    format!("pooler-{store}")
}

impl StoreSpec for Postgres {
    fn name(&self) -> &'static str {
        "postgres"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn replicates(&self) -> bool {
        self.pooler.is_none()
    }

    /// Servers before poolers, primaries before standbys before controllers.
    fn members(&self, topology: Topology, _: &Settings) -> Vec<Member> {
        let stores = || 1..=topology.stores;
        let servers = stores().map(|store| Member::new(primary(store), store, Role::Leader));
        if topology.replicated {
            let standbys = stores().map(|store| Member::new(standby(store), store, Role::Follower));
            let controller = |store| Member::new(format!("controller-{store}"), store, Role::Monitor);
            return servers.chain(standbys).chain(stores().map(controller)).collect();
        }
        let poolers = stores()
            .filter(|_| self.pooler.is_some())
            .map(|store| Member::new(pooler(store), store, Role::Proxy));
        servers.chain(poolers).collect()
    }

    fn address(&self, store: u32, topology: Topology, _: &[Member]) -> StoreAddress {
        match self.pooler {
            _ if topology.replicated => StoreAddress::Among(vec![primary(store), standby(store)]),
            Some(_) => StoreAddress::Host(pooler(store)),
            None => StoreAddress::Host(primary(store)),
        }
    }

    /// The time of the controller, and that of the promotion. Commits that wait for a standby wait until it follows again, which it does not
    /// after its promotion: then they wait for ever, and that is a block.
    fn recovery_time(&self, topology: Topology, settings: &Settings, _: bool) -> Duration {
        if !topology.replicated {
            return Duration::ZERO;
        }
        let following = if settings.get(SYNCHRONOUS_COMMIT) == "on" { FOLLOWS_AGAIN } else { Duration::ZERO };
        settings.get(DOWN_AFTER) * 3 + following
    }

    fn vocabulary(&self) -> Vocabulary {
        Vocabulary { follower: "standby", ..Vocabulary::default() }
    }

    fn silent_client(&self, _: &Settings) -> Duration {
        self.keepalive.patience()
    }

    fn port(&self, _: Role) -> u16 {
        PORT
    }

    fn url(&self, host: &str, port: u16) -> String {
        format!("postgres://postgres@{host}:{port}/postgres")
    }

    /// The stores of a program: one that takes writes is to be found among the hosts of one URL.
    fn environment(&self, stores: &[StoreAddress]) -> Vec<(&'static str, String)> {
        let url = |store: &StoreAddress| match store {
            StoreAddress::Host(name) => self.url(name, PORT),
            StoreAddress::Ask(names) | StoreAddress::Among(names) => {
                let hosts: Vec<String> = names.iter().map(|name| format!("{name}:{PORT}")).collect();
                format!("postgres://postgres@{}/postgres?target_session_attrs=read-write", hosts.join(","))
            }
        };
        vec![(STORES, stores.iter().map(url).collect::<Vec<_>>().join(","))]
    }

    fn real_server(&self, member: &Member, members: &[Member], settings: &Settings) -> Option<RealServer> {
        // How it is configured beside that is the simulated server's own.
        let is_plain = self.keepalive == Keepalive::default();
        real::server(member, members, settings, self.pooler).filter(|_| is_plain)
    }

    /// PostgreSQL has no failover manager.
    fn has_program(&self, member: &Member) -> bool {
        member.role != Role::Monitor
    }

    fn actions(&self) -> &'static [OwnAction] {
        ACTIONS
    }

    fn of_itself(&self, role: Role, reply: &[u8]) -> u32 {
        if role == Role::Monitor { 0 } else { protocol::of_itself(reply) }
    }

    fn decode(&self, role: Role, _: bool, bytes: &[u8]) -> Option<String> {
        let is_text = role == Role::Monitor;
        std::str::from_utf8(bytes).ok().filter(|_| is_text).map(|text| text.trim_end().to_owned())
    }

    fn reader(&self, role: Role) -> Option<Box<dyn ConnectionReader>> {
        (role != Role::Monitor).then(|| Box::new(Conversation::default()) as Box<dyn ConnectionReader>)
    }
}

impl SimulatedStore for Postgres {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        match self.pooler.filter(|_| context.member.role == Role::Proxy) {
            Some(rules) => Box::pin(pooler::serve(context, rules)),
            None if context.member.role == Role::Monitor => {
                let down_after = context.settings.get(DOWN_AFTER);
                Box::pin(controller::serve(context, down_after))
            }
            None => {
                let config = self.config(&context);
                Box::pin(serve_configured(context, config))
            }
        }
    }
}

/// A standby asks again after 5 s (`wal_retrieve_retry_interval`) when it has lost its primary.
const FOLLOWS_AGAIN: Duration = Duration::from_secs(6);

impl Postgres {
    /// How a server of a store is configured.
    fn config(&self, context: &ServerContext) -> Config {
        let settings = &context.settings;
        Config {
            keepalive: self.keepalive,
            leases: self.leases,
            commits: match settings.get(SYNCHRONOUS_COMMIT) {
                "off" => Commits::Off,
                "on" => Commits::Everywhere,
                _ => Commits::Local,
            },
            syncs: match settings.get(DISK_DELAY) {
                _ if settings.get(FSYNC) == "off" => Syncs::Never,
                Duration::ZERO => Syncs::AtOnce,
                delay => Syncs::Later(delay),
            },
            pair: Pair::of(&context.member, &context.members, settings),
        }
    }
}
