//! The command line, as scripts rely on it: exit codes, files, lines that can be copied and run again.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod allowed_violations;
#[path = "../support/binary.rs"]
mod binary;
mod campaigns;
#[path = "../support/cells.rs"]
mod cells;
mod exit_codes;
mod explore_and_doctor;
mod exports;
mod hints;
mod hostile_input;
#[cfg(unix)]
mod interrupt;
mod judge;
mod list;
#[cfg(target_os = "linux")]
mod museum;
mod output;
mod printed_commands;
mod replay;
mod reports;
mod support;
#[cfg(target_os = "linux")]
mod terminal;
#[cfg(target_os = "linux")]
mod topologies;
