//! A simulated member of etcd: keys and leases on a replicated log, and the services that clients call.

mod actions;
mod keys_only;
mod local;
mod lock;
mod member;
mod serve;
mod services;
mod state;

pub(crate) use actions::ACTIONS;
pub use local::Local;
pub(crate) use serve::serve;
pub use serve::serve_any;
pub use state::HolderOf;
