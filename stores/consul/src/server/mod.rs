//! The simulated server.

mod journal;
mod serve;
mod services;
mod state;

pub(crate) use serve::serve;
