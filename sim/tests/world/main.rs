//! Small locks and small stores in a world.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod choices;
mod engines;
mod request_origins;
mod segment_contents;
mod store_kinds;
mod user_timeouts;
