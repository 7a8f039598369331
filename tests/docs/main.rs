//! The statements of the documentation are checked: commands of the guide, schemas, experiments, recorders of histories.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

#[path = "../support/binary.rs"]
mod binary;
mod decisions;
mod experiments;
mod guide;
mod history_recorders;
mod page;
mod schema;
mod schemas;
mod translated_from;
mod translation;
mod words;
