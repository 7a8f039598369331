//! How a Redis server is set up: what the context of a member says, in Redis's words.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use picklock_model::plan::Settings;
use picklock_model::trace::Role;
use picklock_sim::host::Host;
use picklock_sim::store::{Member, Process, ServerContext};

use crate::params::{DOWN_AFTER, MAX_LAG, MIN_REPLICAS, NODE_TIMEOUT, PERSISTENCE};
use crate::server::version::Version;

/// The values that a server has for itself, however it is set up.
#[derive(Clone, Debug, Default)]
pub struct Own {
    /// The version of Redis that the nodes behave like.
    pub version: Version,
    /// A value that no other process has, for servers of real clients: identifiers are drawn from it as well as from the
    /// seed, since those of two processes meet. In a run they come from the seed and the host alone.
    pub salt: Option<u64>,
    /// The password of all servers; none if empty.
    pub password: String,
    /// Set when all is to end: a script that real clients wait for is stopped then.
    pub ending: Arc<AtomicBool>,
}

impl Own {
    /// The one of a server that this process serves.
    pub(crate) fn served(version: Version, process: Process) -> Own {
        let Process { salt, password, ending } = process;
        Own { version, salt: Some(salt), password, ending }
    }
}

/// All that a server is started with.
#[derive(Clone, Debug)]
pub(crate) struct Setup {
    /// Its host.
    pub(crate) host: Host,
    /// The role of the server.
    pub(crate) role: ServerRole,
    /// The data that it keeps over a restart.
    pub(crate) persistence: Persistence,
    /// For a Sentinel: how long a primary may be silent.
    pub(crate) down_after: Duration,
    /// For a store with replicas: how many it must hear from to take writes.
    pub(crate) min_replicas: MinReplicas,
    /// The address by which the others know it, if that is not its host's name.
    pub(crate) announce: Option<(String, u16)>,
    /// True for a Sentinel that only has to answer: nothing fails, and nobody looks at what it sees.
    pub(crate) passive: bool,
    /// The cluster that it is a node of, if it is.
    pub(crate) cluster: Option<ClusterSetup>,
    /// The values that it has for itself.
    pub(crate) own: Own,
}

/// A cluster as each of its nodes is started with it.
#[derive(Clone, Debug)]
pub(crate) struct ClusterSetup {
    /// The nodes: the primaries before the replicas.
    pub(crate) members: Vec<Member>,
    /// How long a node may be silent until it is suspected.
    pub(crate) node_timeout: Duration,
}

/// Where a Sentinel is found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SentinelPlace {
    /// The host that it runs on.
    pub(crate) host: String,
    /// Where others reach it, as `host` or `host:port`.
    pub(crate) address: String,
}

/// The role of a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ServerRole {
    /// An independent store, or the first primary of a replicated one.
    Store,
    /// A replica.
    Replica {
        /// Where the first primary is, as `host` or `host:port`; so are all others here.
        primary: String,
    },
    /// One of the Sentinels of a replicated store. It begins with what it would know after running for a while.
    Sentinel {
        /// The first primary.
        primary: String,
        /// The replicas.
        replicas: Vec<String>,
        /// All Sentinels of the store, this one included, with the hosts that they run on.
        sentinels: Vec<SentinelPlace>,
    },
}

/// The data that a store keeps over a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Persistence {
    /// Nothing.
    #[default]
    None,
    /// Every acknowledged write (append-only file, fsync always).
    Always,
    /// The data of a second ago (append-only file, fsync every second); a process that is killed loses nothing.
    EverySec,
    /// The data of the last snapshot, a second or two ago.
    Rdb,
}

/// A store takes writes only while this many replicas have acknowledged its stream lately: `min-replicas-to-write` and
/// `min-replicas-max-lag`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MinReplicas {
    /// How many; 0: a store takes writes with none.
    pub(crate) count: u32,
    /// How long ago they may have done so. Redis counts whole seconds; a part of one is counted as one.
    pub(crate) max_lag: Duration,
}

impl Setup {
    /// The setup of a member.
    pub(crate) fn of(context: ServerContext, own: Own) -> Setup {
        let settings = &context.settings;
        Setup {
            role: ServerRole::of(&context),
            persistence: Persistence::of(settings),
            down_after: settings.get(DOWN_AFTER),
            min_replicas: MinReplicas {
                count: u32::try_from(settings.get(MIN_REPLICAS)).unwrap_or(u32::MAX),
                max_lag: settings.get(MAX_LAG),
            },
            announce: context.member.door,
            passive: context.passive,
            cluster: None,
            host: context.host,
            own,
        }
    }

    /// The setup of a node of a cluster.
    pub(crate) fn in_cluster(context: ServerContext, own: Own) -> Setup {
        let settings = &context.settings;
        let cluster = ClusterSetup { members: context.members, node_timeout: settings.get(NODE_TIMEOUT) };
        Setup {
            // Whom it follows, its part in the cluster says.
            role: ServerRole::Store,
            persistence: Persistence::of(settings),
            down_after: Duration::ZERO,
            min_replicas: MinReplicas { count: 0, max_lag: Duration::ZERO },
            announce: context.member.door,
            passive: false,
            cluster: Some(cluster),
            host: context.host,
            own,
        }
    }
}

impl Persistence {
    fn of(settings: &Settings) -> Persistence {
        match settings.get(PERSISTENCE) {
            "always" => Persistence::Always,
            "everysec" => Persistence::EverySec,
            "rdb" => Persistence::Rdb,
            _ => Persistence::None,
        }
    }
}

impl ServerRole {
    fn of(context: &ServerContext) -> ServerRole {
        let primary = || context.of_role(Role::Leader).next().map(Member::address).unwrap_or_default();
        match context.member.role {
            Role::Follower => ServerRole::Replica { primary: primary() },
            Role::Monitor => ServerRole::Sentinel {
                primary: primary(),
                replicas: context.of_role(Role::Follower).map(Member::address).collect(),
                sentinels: (context.of_role(Role::Monitor))
                    .map(|member| SentinelPlace { host: member.name.clone(), address: member.address() })
                    .collect(),
            },
            _ => ServerRole::Store,
        }
    }
}
