//! The algorithm: what a member does at a tick and with a message. It has no clock, no disk and no network: what is to be kept, sent and
//! applied is in its [`Outcome`], and is kept before it is sent.

mod election;
mod member;
mod progress;
mod reading;
mod reads;
mod replication;
mod silence;

pub use member::{Draw, NoLeader, Node, Outcome, Role, Rules, Silence};
