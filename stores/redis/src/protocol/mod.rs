//! Redis's protocol: its bytes, and the words that a story has for them.

mod describe;
pub mod resp;

pub(crate) use describe::{describe_replies, describe_requests};
