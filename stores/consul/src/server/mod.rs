//! The simulated server.

mod journal;
mod leader;
mod serve;
mod services;
mod state;

pub(crate) use serve::serve;
