//! The gate as the author of a lock uses it in a test of the lock.

#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]

mod allowed_violations;
mod assertions;
