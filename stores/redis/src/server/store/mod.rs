//! The dataset of a node: databases of keys, values, and when they end.
//!
//! Expiry is in milliseconds of the node's wall clock; a key is dead when `now > when`. A primary deletes a dead key
//! when it is touched, or in the active cycle; a replica answers as if it were gone and waits for its primary to say so.
//!
//! A **record** is a key that stands for a lock: a string written by SET with NX or with an expiry, a string that gets its
//! expiry afterwards, from that moment on, or a hash. Records are reported by neutral store events; other keys (counters and
//! plain values that do not end) are not.
//!
//! A command says what it did in two ways: [`Store::propagate`] for replicas and the append-only file, and
//! [`Store::changed`] for clients that watch keys, wait for them, or listen to keyspace notifications.
//!
//! Left out on purpose: Redis samples volatile keys to expire them, here all are looked at, since a simulated dataset
//! is small.

mod clock;
mod dataset;
mod effects;
mod entry;
mod evict;
mod expiry;
mod fields;
mod notices;
mod policy;
mod random;
mod snapshot;
mod value;

pub(crate) use dataset::database;
pub use dataset::{Access, Counts, DATABASES, Store, WRONG_TYPE};
pub use effects::{Change, Effects, Part, Touch};
pub use entry::{Entry, Kind};
pub use evict::BASE_MEMORY;
pub use fields::Fields;
pub use policy::Policy;
pub use value::{List, Members, SortedSet, Value};
