//! A simulated member of ZooKeeper: nodes and sessions on a replicated log, and the connections of its clients.

mod connection;
mod member;
mod password;
mod serve;
mod state;
mod words;

pub(crate) use serve::serve;
pub use serve::serve_any;
