//! Unmodified programs in virtual time.
#![cfg(all(target_os = "linux", target_arch = "x86_64"))]

mod clients;
mod copies;
mod copies_of_threads;
mod driver;
mod escapes;
mod hostile_programs;
mod machine;
mod postgres;
mod python;
mod servers;
mod shells;
mod sockets;
mod stacks;
mod waiting_calls;
