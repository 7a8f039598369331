//! A store of one's own, written as a service would have it, a lock on it, and picklock's tests of both in `tests/`.

pub mod lock;
pub mod store;
