//! Designs on Consul: a key that a session holds, and a delay before the next one can have it.

pub(crate) mod delayed;
mod session;
