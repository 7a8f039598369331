//! Simulated stores as their clients see them: beside a real server, and served to this machine.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod conformance;
mod served;
#[cfg(target_os = "linux")]
mod served_hostile;
mod served_standby;
