//! Unmodified programs as processes of simulated hosts.
//!
//! [`picklock_supervisor`] runs a program in virtual time and owns nothing of the world around it; here it becomes the process of a
//! [`Host`](picklock_sim::host::Host): its connections are streams of the simulated network, its clocks those of the host, its
//! system calls protocol points at which an action can hit. A pause does not let its threads go on, a crash kills it, a restart
//! starts it anew.
//!
//! On top of that stands a lock in any language: [`Program`] names a command, and its design asks the command for a lock by
//! lines on its standard input and reads its answers ([`answer`] says which). Or it is a worker that does everything by itself
//! and says when it holds the lock.
//!
//! Everything goes through the host, as for a lock in Rust, so that scenarios, shrinking, exploration and stories serve
//! unchanged, and processes and clients in Rust can be mixed.

pub mod answer;
mod connections;
mod driver;
mod ensemble;
mod error;
mod event;
mod lock;
mod network;
mod program;
pub mod servers;
mod shim;
mod spelling;
mod watch;
mod within;
mod worker;
mod wrapper;

pub use ensemble::Ensemble;
pub use error::ProgramError;
pub use picklock_supervisor::{Instruction, ready};
pub use program::Program;
pub use wrapper::is_shell_script;
