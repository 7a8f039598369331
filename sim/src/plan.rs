//! Everything that will be injected into a run, and all choices of its workload, as data.
//!
//! A plan can be printed, saved in a [`Capsule`](crate::capsule::Capsule), replayed and shrunk. Nothing else but the
//! design decides what happens in a run: same design and same plan, same trace.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::clock::DRIFT_PPM_MAX;
use crate::ids::Key;
use crate::seed::Seed;
use crate::time::{TrueTime, serde_ns};

/// One run, as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The seed of the hosts' own randomness (owner values, retry delays, wake order).
    pub seed: Seed,
    /// The seed of message latencies; the same as `seed` unless a violation is being confirmed under other networks.
    pub network_seed: Seed,
    /// The fixed parameters of the world.
    pub world: WorldSpec,
    /// The workload's name.
    pub workload: String,
    /// What each client does.
    pub clients: Vec<ClientPlan>,
    /// What goes wrong, in no particular order.
    pub injections: Vec<Injection>,
}

/// The fixed parameters of a world.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WorldSpec {
    /// The lease time that clients ask for.
    #[serde(rename = "ttl_ns", with = "serde_ns")]
    pub ttl: Duration,
    /// How long a section waits for the lock before it gives up, on the client's clock.
    #[serde(rename = "wait_ns", with = "serde_ns")]
    pub wait: Duration,
    /// The run ends here at the latest, in true time.
    #[serde(rename = "horizon_ns", with = "serde_ns")]
    pub horizon: Duration,
    /// One-way message latency.
    pub latency: Latency,
    /// An unacknowledged segment breaks its connection after this long (`TCP_USER_TIMEOUT`).
    #[serde(rename = "tcp_timeout_ns", with = "serde_ns")]
    pub tcp_timeout: Duration,
    /// Replicas of each store that has replicas at all.
    pub replicas: u32,
    /// What a store keeps over a restart.
    pub persistence: Persistence,
    /// A Sentinel holds a primary for down that does not answer it for this long.
    #[serde(rename = "down_after_ns", with = "serde_ns")]
    pub down_after: Duration,
    /// How many replicas a store must hear from to take writes.
    #[serde(default, skip_serializing_if = "MinReplicas::is_default")]
    pub min_replicas: MinReplicas,
    /// The stock that the guarded resource starts with.
    pub stock: i64,
}

/// A store takes writes only while this many replicas have acknowledged its stream lately: `min-replicas-to-write` and
/// `min-replicas-max-lag`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MinReplicas {
    /// How many; 0: a store takes writes with none.
    pub count: u32,
    /// How long ago they may have done so. Redis counts whole seconds; a part of one is counted as one.
    #[serde(rename = "max_lag_ns", with = "serde_ns")]
    pub max_lag: Duration,
}

impl Default for MinReplicas {
    /// As in `redis.conf`.
    fn default() -> MinReplicas {
        MinReplicas { count: 0, max_lag: Duration::from_secs(10) }
    }
}

impl MinReplicas {
    fn is_default(&self) -> bool {
        *self == MinReplicas::default()
    }
}

/// One-way latency of a message: between `min` and `max`, half of the messages in the fastest eighth of that range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Latency {
    /// The fastest message.
    #[serde(rename = "min_ns", with = "serde_ns")]
    pub min: Duration,
    /// The slowest message.
    #[serde(rename = "max_ns", with = "serde_ns")]
    pub max: Duration,
}

/// What a store keeps over a restart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Persistence {
    /// Nothing.
    #[default]
    None,
    /// Every acknowledged write (append-only file, fsync always).
    Always,
    /// What was written a second ago (append-only file, fsync every second); a process that is killed loses nothing.
    #[serde(rename = "everysec")]
    EverySec,
    /// What was there when the last snapshot was made, a second or two ago.
    Rdb,
}

/// What one client does: its sections, one after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientPlan {
    /// The client's host name.
    pub name: String,
    /// Its sections in order.
    pub sections: Vec<SectionPlan>,
}

/// One critical section.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SectionPlan {
    /// Its ordinal, from 1: kept when other sections are removed.
    pub ordinal: u32,
    /// The key it locks and the register it changes.
    pub key: Key,
    /// How long the client waits before it asks for the lock.
    #[serde(rename = "think_ns", with = "serde_ns")]
    pub think: Duration,
    /// How long it works between reading and writing the resource.
    #[serde(rename = "work_ns", with = "serde_ns")]
    pub work: Duration,
}

/// One lever, pulled once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Injection {
    /// The name of the fault that scheduled it; injections of one fault are counted together.
    pub fault: String,
    /// When it is pulled.
    pub when: When,
    /// Which hosts it works on.
    pub target: Target,
    /// What it does.
    pub lever: Lever,
}

/// When a lever is pulled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum When {
    /// At an instant of true time.
    At {
        /// The instant.
        at_ns: TrueTime,
    },
    /// When a client comes to a point of its protocol.
    Point {
        /// The point.
        point: Point,
        /// True time to let pass after it; zero means right there, inside the step.
        #[serde(rename = "after_ns", with = "serde_ns")]
        after: Duration,
    },
}

/// A protocol point: a place in a client's life that has meaning on every engine and under every network.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Point {
    /// The client's host name.
    pub host: String,
    /// The ordinal of its section.
    pub section: u32,
    /// Where in the section.
    pub phase: Phase,
    /// What the process does there.
    pub access: Access,
    /// The host it talks to, for reads and writes; empty otherwise.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub peer: String,
    /// Which one of several, from 0.
    pub nth: u32,
    /// Before or after it.
    pub edge: Edge,
}

/// The steps of a section, as the client's process goes through them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Between sections.
    #[default]
    Idle,
    /// Inside the acquire call.
    Acquire,
    /// Reading the resource.
    Read,
    /// Working.
    Work,
    /// Writing the resource.
    Write,
    /// Inside the release call.
    Release,
}

/// What a process does at a protocol point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Access {
    /// It enters the phase.
    Enter,
    /// It writes to a stream.
    Write,
    /// Bytes of a stream are handed to it.
    Read,
    /// It reads a clock.
    Clock,
    /// One of its tasks is polled.
    Poll,
}

/// Before or after the access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Edge {
    /// The access has not happened yet.
    Before,
    /// The access has happened; the process has not acted on it.
    After,
}

/// Which hosts a lever works on, resolved when it is pulled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Target {
    /// These hosts, by name.
    Hosts(Vec<String>),
    /// The client that holds the lock now; no host if nobody does.
    Holder,
    /// The store that takes writes now, of those that are replicated.
    Primary,
}

impl Target {
    /// One host by name.
    #[must_use]
    pub fn host(name: impl Into<String>) -> Target {
        Target::Hosts(vec![name.into()])
    }
}

/// A physical act. The set is small and closed; faults are schedules of these.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Lever {
    /// No task of the target runs; its sockets buffer, its clocks go on.
    Pause {
        /// How long.
        #[serde(rename = "lasts_ns", with = "serde_ns")]
        lasts: Duration,
    },
    /// As a pause, and the target's monotonic clock stands still.
    Suspend {
        /// How long.
        #[serde(rename = "lasts_ns", with = "serde_ns")]
        lasts: Duration,
    },
    /// Only the target's critical section stands still.
    Stall {
        /// How long.
        #[serde(rename = "lasts_ns", with = "serde_ns")]
        lasts: Duration,
    },
    /// The target's process dies.
    Crash {
        /// True: its connections are not closed, and its unsynced disk writes are lost.
        power_loss: bool,
        /// It is started anew after this long; never if absent.
        #[serde(
            rename = "restart_after_ns",
            with = "optional_ns",
            default,
            skip_serializing_if = "Option::is_none"
        )]
        restart_after: Option<Duration>,
    },
    /// No message passes from the target to `to`; segments wait for the end of the cut as TCP's do.
    Cut {
        /// The other side.
        to: Target,
        /// True: nor back.
        both: bool,
        /// How long.
        #[serde(rename = "lasts_ns", with = "serde_ns")]
        lasts: Duration,
    },
    /// Messages that the target sends to `to` take longer.
    Delay {
        /// The receivers.
        to: Target,
        /// How much longer.
        #[serde(rename = "by_ns", with = "serde_ns")]
        by: Duration,
        /// For how long messages sent are delayed.
        #[serde(rename = "lasts_ns", with = "serde_ns")]
        lasts: Duration,
        /// At most so many messages; all of them if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        messages: Option<u32>,
    },
    /// The target's wall clock is moved.
    StepClock {
        /// By how many nanoseconds, forwards if positive.
        by_ns: i64,
    },
    /// The rate of the target's clocks is changed.
    SetDrift {
        /// Parts per million fast (positive) or slow.
        ppm: i64,
    },
    /// The connections between the target and `to` die at once, at both ends.
    DropConnections {
        /// The other end.
        to: Target,
    },
    /// The next reply that `from` sends to the target is lost, and its connection with it: the request is executed.
    LoseReply {
        /// The replier.
        from: Target,
    },
}

mod optional_ns {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serializer};

    use crate::time::nanos;

    #[expect(clippy::ref_option, reason = "serde's `with` hands over a reference to the field")]
    pub(super) fn serialize<S: Serializer>(span: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match span {
            Some(span) => to.serialize_some(&nanos(*span)),
            None => to.serialize_none(),
        }
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(from)?.map(Duration::from_nanos))
    }
}

/// Why a plan cannot be run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{field}` is {value}, and must be {must}")]
pub struct PlanError {
    /// The field, as the capsule spells it.
    pub field: &'static str,
    /// What it says.
    pub value: String,
    /// What it must be.
    pub must: &'static str,
}

impl Plan {
    /// Checks the bounds within which a run ends in reasonable time: a plan may come from a hostile file.
    ///
    /// # Errors
    /// When a field is out of its bounds.
    pub fn validate(&self) -> Result<(), PlanError> {
        let world = &self.world;
        span("ttl_ns", world.ttl, MILLISECOND, HOUR, "from 1 ms to 1 h")?;
        span("wait_ns", world.wait, Duration::ZERO, HOUR, "at most 1 h")?;
        span("horizon_ns", world.horizon, MILLISECOND, HOUR, "from 1 ms to 1 h")?;
        span("latency.min_ns", world.latency.min, MICROSECOND, HOUR, "from 1 us to 1 h")?;
        span("latency.max_ns", world.latency.max, world.latency.min, HOUR, "from the minimum to 1 h")?;
        span("tcp_timeout_ns", world.tcp_timeout, MILLISECOND, HOUR, "from 1 ms to 1 h")?;
        span("down_after_ns", world.down_after, MILLISECOND, HOUR, "from 1 ms to 1 h")?;
        count("replicas", world.replicas as usize, 9, "at most 9")?;
        count("min_replicas.count", world.min_replicas.count as usize, 9, "at most 9")?;
        span("max_lag_ns", world.min_replicas.max_lag, SECOND, HOUR, "from 1 s to 1 h")?;
        count("clients", self.clients.len(), 1_000, "at most 1000")?;
        count("injections", self.injections.len(), 10_000, "at most 10000")?;
        for (at, client) in self.clients.iter().enumerate() {
            let number = client.name.strip_prefix("client-").and_then(|number| number.parse::<u32>().ok());
            let earlier = self.clients[..at].iter().any(|other| other.name == client.name);
            if number.is_none_or(|number| client.name != format!("client-{number}")) || earlier {
                let value = client.name.chars().take(40).collect();
                return Err(PlanError { field: "name", value, must: "client-1, client-2, ..., each once" });
            }
            count("sections", client.sections.len(), 10_000, "at most 10000 for each client")?;
            for section in &client.sections {
                span("think_ns", section.think, Duration::ZERO, HOUR, "at most 1 h")?;
                span("work_ns", section.work, Duration::ZERO, HOUR, "at most 1 h")?;
            }
        }
        self.injections.iter().try_for_each(Injection::validate)
    }
}

impl Injection {
    fn validate(&self) -> Result<(), PlanError> {
        let bounded = |field, value| span(field, value, Duration::ZERO, HOUR, "at most 1 h");
        match &self.when {
            When::At { at_ns } => bounded("at_ns", Duration::from_nanos(at_ns.0))?,
            When::Point { after, .. } => bounded("after_ns", *after)?,
        }
        match &self.lever {
            Lever::Pause { lasts }
            | Lever::Suspend { lasts }
            | Lever::Stall { lasts }
            | Lever::Cut { lasts, .. } => bounded("lasts_ns", *lasts),
            Lever::Crash { restart_after, .. } => {
                bounded("restart_after_ns", restart_after.unwrap_or_default())
            }
            Lever::Delay { by, lasts, .. } => bounded("by_ns", *by).and(bounded("lasts_ns", *lasts)),
            Lever::SetDrift { ppm } if !(-DRIFT_PPM_MAX..=DRIFT_PPM_MAX).contains(ppm) => {
                Err(PlanError { field: "ppm", value: ppm.to_string(), must: "from -500000 to 500000" })
            }
            Lever::StepClock { .. }
            | Lever::SetDrift { .. }
            | Lever::DropConnections { .. }
            | Lever::LoseReply { .. } => Ok(()),
        }
    }
}

const MICROSECOND: Duration = Duration::from_micros(1);
const MILLISECOND: Duration = Duration::from_millis(1);
const SECOND: Duration = Duration::from_secs(1);
const HOUR: Duration = Duration::from_secs(3_600);

fn span(
    field: &'static str,
    span: Duration,
    min: Duration,
    max: Duration,
    must: &'static str,
) -> Result<(), PlanError> {
    if (min..=max).contains(&span) {
        Ok(())
    } else {
        Err(PlanError { field, value: format!("{span:?}"), must })
    }
}

fn count(field: &'static str, count: usize, max: usize, must: &'static str) -> Result<(), PlanError> {
    if count <= max { Ok(()) } else { Err(PlanError { field, value: count.to_string(), must }) }
}
