//! Unmodified programs as the processes of simulated hosts: a lock in any language, or a real server.
//!
//! [`picklock_supervisor`] runs a program in virtual time and owns nothing of the world around it. Here it becomes the process of a
//! [`Host`](picklock_sim::host::Host): its connections are streams of the simulated network, its clocks those of the host, its system calls
//! injection points. A pause does not let its threads go on, a crash kills it, a restart starts it again.
//!
//! **Entry point:** [`Program`] names a command and is a design; [`servers`] serves a store by its real servers.
//!
//! # Where things are
//!
//! - *The design*: `program` (command, stores, options) and `spelling` (`program{stores=5}:python3 lock.py`); `recorded` reads
//!   those of early repro files.
//! - *A program that is asked*: `lock` sends it requests, [`answer`] has the lines in both directions.
//! - *An autonomous client*: `autonomous` runs it, `watch` follows the lines that it prints.
//! - *Starts*: `beginning` (as it is, as a copy, or to be copied); `warm_up` lets a program acquire and release once in a world of its own, before it is copied; `archive` keeps what a JVM has
//!   loaded there.
//! - *Real servers*: [`servers`] puts a design on them, `real` starts one for each member.
//! - *The loop*: `driver` steps a program and answers it; `connections` and `network` join its sockets to the host, `within` has its connections to itself;
//!   `event` is what the world hands to it.
//! - *Commands*: `wrapper` and `shim` recognise shell scripts and version managers that start the real program; `sources` has the directories of
//!   which a story shows lines; `error`.
//!
//! Everything goes through the host, as for a lock in Rust, so scenarios, shrinking, exploration and reports need no change, and programs
//! and clients in Rust can be mixed.
//!
//! # What is not here
//!
//! No unsafe code and no system call (`picklock_supervisor` has them), no knowledge of a product beyond its name (`picklock_stores` has it).

pub mod answer;
mod archive;
mod autonomous;
mod beginning;
mod cache;
mod connections;
mod driver;
mod error;
mod event;
mod lock;
mod losses;
mod network;
mod program;
mod real;
mod recorded;
pub mod servers;
mod shim;
mod sources;
mod spelling;
mod warm_up;
mod watch;
mod within;
mod wrapper;

pub use driver::start_anew;
pub use error::ProgramError;
pub use picklock_supervisor::{Instruction, ready};
pub use program::Program;
pub use recorded::recorded;
pub use sources::show_sources;
pub use wrapper::is_shell_script;
