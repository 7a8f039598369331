//! Redis as a kind of store: primaries, replicas, and three Sentinels for each store that has replicas.

use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_model::trace::Role;
use picklock_sim::lock::BoxFuture;
use picklock_sim::param::Param;
use picklock_sim::store::{
    Form, Member, Number, OwnAction, RealServer, STORES, ServerContext, Serving, SimulatedStore, Store,
    StoreAddress, StoreKind, StoreSpec, Topology, Users,
};

use crate::params::{DOWN_AFTER, PARAMS, PERSISTENCE, REPLICAS, VERSION};
use crate::server::version::Version;
use crate::server::{ACTIONS, Own, sentinel, serve_as, serve_own};
use crate::{PORT, protocol, real};

/// Redis stores of one version.
#[derive(Clone, Copy, Debug, Default)]
pub struct Redis {
    /// The version that the nodes are of; the one that the settings name if it is the default.
    pub version: Version,
    /// The replicas of its stores.
    pub replicas: Replicas,
}

/// The replicas of Redis stores.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replicas {
    /// A store may have them, and then Sentinels, which promote one when the primary is lost.
    #[default]
    Watched,
    /// A store may have them, and nothing promotes one.
    Unwatched,
    /// No store has any: clients know a server, and cannot ask for another one.
    Never,
}

/// Redis in the list of all kinds.
pub const KIND: StoreKind = StoreKind {
    name: "redis",
    params: PARAMS,
    forms: &[
        Form {
            name: "single",
            aliases: &[],
            number: None,
            doc: "one Redis",
            stores: |_| independent(1),
            users: Users::Programs,
            served: &[],
        },
        Form {
            name: "sentinel",
            aliases: &[],
            number: None,
            doc: "a Redis primary, its replicas, and three Sentinels that watch them as `mymaster`",
            stores: |_| replicated(Replicas::Watched),
            users: Users::Programs,
            served: &[("replicas", "2")],
        },
        Form {
            name: "replicated",
            aliases: &[],
            number: None,
            doc: "a Redis primary and its replica without Sentinels",
            stores: |_| replicated(Replicas::Unwatched),
            users: Users::ServeAlone {
                instead: "use `sentinel`, which promotes the replica when the primary is lost",
            },
            served: &[],
        },
        Form {
            name: "redlock",
            aliases: &[],
            number: Some(Number { most: 99 }),
            doc: "N independent Redis primaries",
            stores: independent,
            users: Users::Programs,
            served: &[],
        },
    ],
    serving: Serving {
        params: PARAMS,
        start: |context, process| {
            let version = version(&context);
            Box::pin(serve_own(context, Own::served(version, process)))
        },
        words: |member| match member.role {
            Role::Monitor => format!("Sentinel of node-{}, as {}", member.store, sentinel::PRIMARY_NAME),
            Role::Follower => format!("replica of node-{}", member.store),
            _ => "primary".to_owned(),
        },
        down_after: Some(DOWN_AFTER),
        passwords: true,
    },
    real: Some(real::INSTALLED),
};

fn independent(stores: u32) -> (Topology, Store) {
    let redis = Redis { replicas: Replicas::Never, ..Redis::default() };
    (Topology::independent(stores), Store::simulated(redis))
}

fn replicated(replicas: Replicas) -> (Topology, Store) {
    let redis = Redis { replicas, ..Redis::default() };
    (Topology { stores: 1, replicated: true }, Store::simulated(redis))
}

/// The version that the settings name.
pub(crate) fn version(context: &ServerContext) -> Version {
    Version::named(context.settings.get(VERSION)).unwrap_or_default()
}

/// How many Sentinels watch a replicated store: the least number that outlives the loss of one.
const SENTINELS: u32 = 3;

/// How long Sentinels take over a failover besides the time that they wait for the primary: about 1.3 s if all goes
/// well; up to two seconds more until all of them know of it.
const FAILOVER_TIME: Duration = Duration::from_secs(4);

/// How long Sentinels wait before they make a primary that has come back a replica, and what it then takes to copy the
/// data; until then the new primary may have no replica at all.
const DEMOTION_TIME: Duration = Duration::from_secs(12);

fn sentinel(store: u32, nth: u32) -> String {
    format!("sentinel-{store}-{nth}")
}

impl StoreSpec for Redis {
    fn name(&self) -> &'static str {
        "redis"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn replicates(&self) -> bool {
        self.replicas != Replicas::Never
    }

    /// Stores before replicas before Sentinels.
    fn members(&self, topology: Topology, settings: &Settings) -> Vec<Member> {
        let replicas = if topology.replicated { settings.get(REPLICAS) as u32 } else { 0 };
        let is_watched = topology.replicated && self.replicas == Replicas::Watched;
        let sentinels = if is_watched { SENTINELS } else { 0 };
        let stores = || 1..=topology.stores;
        let primaries = stores().map(|store| Member::new(format!("node-{store}"), store, Role::Leader));
        let replicas = stores().flat_map(|store| {
            (1..=replicas)
                .map(move |nth| Member::new(format!("replica-{store}-{nth}"), store, Role::Follower))
        });
        let sentinels = stores().flat_map(|store| {
            (1..=sentinels).map(move |nth| Member::new(sentinel(store, nth), store, Role::Monitor))
        });
        primaries.chain(replicas).chain(sentinels).collect()
    }

    fn address(&self, store: u32, topology: Topology, _: &[Member]) -> StoreAddress {
        match topology.replicated && self.replicas == Replicas::Watched {
            true => StoreAddress::Ask((1..=SENTINELS).map(|nth| sentinel(store, nth)).collect()),
            false => StoreAddress::Host(format!("node-{store}")),
        }
    }

    fn keep_everything(&self, settings: &mut Settings) {
        settings.set(PERSISTENCE, "always");
    }

    fn required(&self) -> Settings {
        let mut required = Settings::default();
        if self.version != Version::default() {
            required.set(VERSION, self.version.name());
        }
        required
    }

    fn recovery_time(&self, topology: Topology, settings: &Settings, whole: bool) -> Duration {
        if !topology.replicated {
            return Duration::ZERO;
        }
        let demotion = if whole { DEMOTION_TIME } else { Duration::ZERO };
        settings.get(DOWN_AFTER) + FAILOVER_TIME + demotion
    }

    fn port(&self, role: Role) -> u16 {
        if role == Role::Monitor { sentinel::PORT } else { PORT }
    }

    fn url(&self, host: &str, port: u16) -> String {
        format!("redis://{host}:{port}")
    }

    /// Where its stores are, or the Sentinels who know it.
    fn environment(&self, stores: &[StoreAddress]) -> Vec<(&'static str, String)> {
        let (mut urls, mut sentinels) = (Vec::new(), Vec::new());
        for store in stores {
            match store {
                StoreAddress::Host(name) => urls.push(self.url(name, self.port(Role::Leader))),
                StoreAddress::Ask(names) | StoreAddress::Among(names) => {
                    let port = self.port(Role::Monitor);
                    sentinels.extend(names.iter().map(|name| format!("{name}:{port}")));
                }
            }
        }
        let mut environment = vec![(STORES, urls.join(","))];
        if !sentinels.is_empty() {
            environment.push(("PICKLOCK_SENTINELS", sentinels.join(",")));
            environment.push(("PICKLOCK_PRIMARY", sentinel::PRIMARY_NAME.to_owned()));
        }
        environment
    }

    fn real_server(&self, member: &Member, members: &[Member], settings: &Settings) -> Option<RealServer> {
        // Which version is installed, nobody chooses.
        let is_chosen = self.version != Version::default() || settings.get(VERSION) != VERSION.default;
        (!is_chosen).then(|| real::server(member, members, settings))
    }

    fn decode(&self, _: Role, request: bool, bytes: &[u8]) -> Option<String> {
        if request { protocol::describe_requests(bytes) } else { protocol::describe_replies(bytes) }
    }

    fn actions(&self) -> &'static [OwnAction] {
        ACTIONS
    }
}

impl SimulatedStore for Redis {
    fn serve(&self, context: ServerContext) -> BoxFuture<'static, ()> {
        let is_set = self.version == Version::default();
        let version = if is_set { version(&context) } else { self.version };
        Box::pin(serve_as(context, version))
    }
}
