//! The supervisor, on Linux and x86-64.

mod answers;
mod apart;
mod births;
mod clock_page;
mod close;
mod connections;
mod files;
mod filter;
mod futex;
mod go;
mod group;
mod hearing;
mod memory;
mod mounts;
mod newborn;
mod notify;
mod options;
mod output;
mod paths;
mod plan;
mod pool;
mod readiness;
mod sockets;
mod spawn;
mod startup;
mod steward;
mod surroundings;
mod table;
mod template;
mod time;
mod tracing;
mod unix;
mod waiting;

pub use group::Group;
pub use pool::Pool;
pub(crate) use readiness::findings;
