//! PostgreSQL's protocol 3.0: what clients send, and what a server answers.
//!
//! Source: "Message Formats", PostgreSQL 15 documentation.

mod backend;
mod frontend;
mod tell;

pub(crate) use backend::Replies;
pub(crate) use frontend::{Bind, Message, Opening, Target, opening, take};
pub(crate) use tell::{tell_replies, tell_request};
