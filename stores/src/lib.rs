//! The kinds of stores that come with picklock: the one place beside their own folders that names them.
//!
//! A kind is a folder here with a crate of its own, and a line in [`KINDS`]. Scenarios may speak of each, programs may ask for
//! each, and the environment check looks for the real server of each.

use picklock_sim::store::{StoreKind, StoreParams};

/// All kinds; a program that names none gets the first.
pub static KINDS: &[&StoreKind] =
    &[&picklock_redis::KIND, &picklock_postgres::KIND, &picklock_etcd::KIND, &picklock_zookeeper::KIND];

/// The kinds as scenarios may speak of them.
#[must_use]
pub fn params() -> Vec<StoreParams> {
    KINDS.iter().map(|kind| StoreParams { kind: kind.name, params: kind.params }).collect()
}
