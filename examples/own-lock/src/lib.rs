//! Two locks on one Redis, written with the redis crate as a service would have them, and tested by picklock in
//! `tests/`.
//!
//! They differ in their release alone: [`lease`] deletes its key only while it is its own, in one script;
//! [`hasty`] looks first and deletes then.

pub mod hasty;
pub mod lease;
pub mod majority;
