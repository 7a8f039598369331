//! A made-up kind of store for tests: it has what the built-in scenarios speak of, and nothing ever runs on it.

use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_model::trace::Role;
use picklock_sim::lock::BoxFuture;
use picklock_sim::param::{Count, HOUR, OneSpan, Param, Word};
use picklock_sim::params;
use picklock_sim::store::{
    Member, OwnAction, ServerContext, SimulatedStore, StoreParams, StoreSpec, Topology,
};

pub struct MadeUp;

const REPLICAS: Param<Count> = Param { name: "replicas", domain: Count(1, 8), default: "1", doc: "replicas" };

const PERSISTENCE: Param<Word> =
    Param { name: "persistence", domain: Word(&["none", "always"]), default: "none", doc: "what is kept" };

const DOWN_AFTER: Param<OneSpan> = Param {
    name: "down_after",
    domain: OneSpan { min: Duration::from_millis(1), max: HOUR },
    default: "0.2 x ttl",
    doc: "how long it may be silent",
};

const PARAMS: &[Param] = params![REPLICAS, PERSISTENCE, DOWN_AFTER];

const DISK: Param<Word> = Param {
    name: "disk",
    domain: Word(&["kept", "torn", "lost"]),
    default: "kept",
    doc: "what a disk keeps",
};

const DISK_DELAY: Param<OneSpan> = Param {
    name: "disk_delay",
    domain: OneSpan { min: Duration::ZERO, max: HOUR },
    default: "0s",
    doc: "how late a disk syncs",
};

const NODE_TIMEOUT: Param<OneSpan> = Param {
    name: "node_timeout",
    domain: OneSpan { min: Duration::from_millis(1), max: HOUR },
    default: "0.2 x ttl",
    doc: "how long a node of a cluster may be silent",
};

const VERSION: Param<Word> =
    Param { name: "version", domain: Word(&["7.0", "8.4"]), default: "7.0", doc: "what it behaves like" };

/// The kinds of stores that the built-in scenarios speak of.
pub const STORES: &[StoreParams] = &[
    StoreParams { kind: "made-up", params: PARAMS },
    StoreParams { kind: "redis-cluster", params: params![NODE_TIMEOUT, VERSION] },
    StoreParams { kind: "etcd", params: params![DISK] },
    StoreParams { kind: "zookeeper", params: params![DISK] },
    StoreParams { kind: "postgres", params: params![DISK_DELAY] },
];

impl StoreSpec for MadeUp {
    fn name(&self) -> &'static str {
        "made-up"
    }

    fn params(&self) -> &'static [Param] {
        PARAMS
    }

    fn replicates(&self) -> bool {
        true
    }

    fn members(&self, topology: Topology, settings: &Settings) -> Vec<Member> {
        let copies = if topology.replicated { settings.get(REPLICAS) } else { 0 };
        let monitors = if topology.replicated { 3 } else { 0 };
        let stores = || 1..=topology.stores;
        let first = stores().map(|store| Member::new(format!("node-{store}"), store, Role::Leader));
        let of = |name: &'static str, count: u64, role| {
            stores().flat_map(move |store| {
                (1..=count).map(move |nth| Member::new(format!("{name}-{store}-{nth}"), store, role))
            })
        };
        first
            .chain(of("replica", copies, Role::Follower))
            .chain(of("sentinel", monitors, Role::Monitor))
            .collect()
    }

    fn port(&self, _: Role) -> u16 {
        1
    }

    fn actions(&self) -> &'static [OwnAction] {
        const MADE_UP: OwnAction = OwnAction { name: "error-reply", doc: "made up" };
        const {
            &[
                MADE_UP,
                OwnAction { name: "evict", ..MADE_UP },
                OwnAction { name: "end-session", ..MADE_UP },
                OwnAction { name: "remove-member", ..MADE_UP },
                OwnAction { name: "move-slot", ..MADE_UP },
            ]
        }
    }
}

impl SimulatedStore for MadeUp {
    fn serve(&self, _: ServerContext) -> BoxFuture<'static, ()> {
        Box::pin(async {})
    }
}
