//! The fixed parameters of a world.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::settings::Settings;
use crate::time::serde_ns;

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
    /// Past its horizon a run goes on for so long at most, while somebody waits for a key that nobody holds: until that is decided.
    #[serde(rename = "decide_ns", default, skip_serializing_if = "Duration::is_zero", with = "serde_ns")]
    pub decide: Duration,
    /// One-way message latency.
    pub latency: Latency,
    /// An unacknowledged segment breaks its connection after this long (`TCP_USER_TIMEOUT`).
    #[serde(rename = "tcp_timeout_ns", with = "serde_ns")]
    pub tcp_timeout: Duration,
    /// The stock that the guarded resource starts with.
    pub stock: i64,
    /// The policy of clients: what their sections do with the answers of their lock.
    #[serde(default, skip_serializing_if = "ClientPolicy::is_usual", alias = "habits")]
    pub policy: ClientPolicy,
    /// True if a fresh client asks for every key once all others are done and all faults have healed.
    #[serde(default, skip_serializing_if = "is_false", alias = "latecomer")]
    pub final_client: bool,
    /// The order in which tasks that are ready are polled.
    #[serde(default, skip_serializing_if = "ReadyOrder::is_usual")]
    pub ready_order: ReadyOrder,
    /// The parameters of the stores, as their kind declares them.
    #[serde(default, skip_serializing_if = "Settings::is_empty")]
    pub store: Settings,
}

/// The order in which tasks that are ready at one instant are polled by the event engine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReadyOrder {
    /// The task that was woken first is polled next.
    #[default]
    Woken,
    /// The seed draws which of them is polled next.
    Drawn,
}

impl ReadyOrder {
    fn is_usual(&self) -> bool {
        *self == ReadyOrder::default()
    }
}

/// The policy of clients: what their sections do with the answers of their lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClientPolicy {
    /// True if a section goes on when it learns that its grant is lost: by a deadline that passed, or a renewal refused.
    #[serde(default, skip_serializing_if = "is_false", alias = "heedless")]
    pub ignores_loss: bool,
    /// How often a release is tried until it succeeds.
    #[serde(default = "once")]
    pub releases: u32,
}

fn once() -> u32 {
    1
}

impl Default for ClientPolicy {
    /// It gives up what is lost, and releases once.
    fn default() -> ClientPolicy {
        ClientPolicy { ignores_loss: false, releases: once() }
    }
}

impl ClientPolicy {
    fn is_usual(&self) -> bool {
        *self == ClientPolicy::default()
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference to the field")]
pub(super) fn is_false(given: &bool) -> bool {
    !given
}
