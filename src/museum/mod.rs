//! Bugs of real libraries, shown on the real packages: the affected version violates an invariant, the fixed one does not.
//!
//! `museum/NAME/` holds one bug: `bug.toml` says which package it is, in which versions, with which checksums, and how it is found;
//! beside it lies the adapter. Packages are fetched from their registry by the tools of their language.
//!
//! To add one: write its folder, add its line to [`EXHIBITS`].

mod bug;
mod checksum;
mod error;
mod exhibit;
mod explore;
mod fetch;
mod outcome;
mod page;
mod registry;
mod request;
mod run;
mod search;
mod seeds;
mod strategy;
mod watch;

#[cfg(test)]
mod tests;

pub use bug::{Bug, BugError, Control};
pub use error::FetchError;
pub use exhibit::{EXHIBITS, Exhibit, File, named};
pub use fetch::{Version, fetch};
pub use outcome::{Found, Observed, Outcome, RunError};
pub use page::{Row, json, list, listed, listed_json, markdown, summary, text};
pub use request::Request;
pub use run::reproduce;
pub use strategy::Strategy;
