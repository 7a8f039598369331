//! Unmodified programs as clients and servers of a run.
//!
//! A test is skipped, with a message, where a program that it needs is not installed, or where the machine runs no programs in virtual
//! time.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod adapters;
mod archives;
mod autonomous_clients;
#[path = "../support/binary.rs"]
mod binary;
mod burdens;
mod can_run;
mod clients_and_servers;
mod databases;
mod ensemble;
mod etcd;
mod interpreter;
mod lines_of_code;
mod made_up;
#[path = "../support/nightly.rs"]
mod nightly;
mod records;
mod refusals;
mod seeded_bugs;
mod stories;
#[path = "../suite/story_causes.rs"]
mod story_causes;
mod zookeeper;
