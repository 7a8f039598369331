//! Two engines behind one [`Host`](crate::host::Host), with one network model, one set of clocks and one set of fault actions.

pub(crate) mod event;
mod guard;
mod kind;
pub(crate) mod pace;
pub(crate) mod program;
mod runtimes;
mod tasks;
pub(crate) mod turmoil;

pub use kind::Engine;
