//! The plan of one run.

use serde::{Deserialize, Serialize};

use super::client::ClientPlan;
use super::lever::{Lever, Target};
use super::point::When;
use super::world::WorldSpec;
use crate::base::seed::Seed;

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
