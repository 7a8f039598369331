//! The supervisor, on Linux and x86-64.

mod births;
mod clock_page;
mod connections;
mod files;
mod filter;
mod futex;
mod go;
mod group;
mod hearing;
mod memory;
mod notify;
mod output;
mod readiness;
mod sockets;
mod spawn;
mod startup;
mod surroundings;
mod table;
mod time;
mod waiting;

pub use group::Group;
pub(crate) use readiness::findings;
