//! Bugs of real libraries, shown on the real packages: the affected version violates an invariant, the fixed one does not.
//!
//! `museum/NAME/` holds one bug: `bug.toml` says which package it is, in which versions, with which checksums, and how it is found;
//! beside it lies the adapter, and `locked.toml` with the checksum of every package that is fetched. Packages are fetched from their registry
//! by the tools of their language.
//!
//! A folder and a package may be hostile. [`Exhibit::bug`] refuses names, versions, checksums, commands and paths that are none before
//! anything on disk is touched; `docs/decisions/0046-every-package-of-the-museum-is-locked.md` has the reasons.
//!
//! To add one: write its folder, lock it, add its line to [`EXHIBITS`].

mod bug;
mod cache;
mod check;
mod checksum;
mod command;
mod error;
mod exhibit;
mod explore;
mod fetch;
mod field;
mod lock;
mod locked;
mod outcome;
mod page;
mod read;
mod registry;
mod request;
mod run;
mod search;
mod seeds;
mod strategy;
mod tools;
mod watch;

#[cfg(test)]
mod tests;

pub use bug::{Bug, BugError, Control};
pub use error::FetchError;
pub use exhibit::{EXHIBITS, Exhibit, File, named};
pub use fetch::{Version, fetch};
pub use field::Refused;
pub use lock::{lock, write_locked};
pub use outcome::{Found, Observed, Outcome, RunError};
pub use page::{Row, json, list, listed, listed_json, markdown, summary, text};
pub use registry::Pin;
pub use request::Request;
pub use run::reproduce;
pub use strategy::Strategy;
