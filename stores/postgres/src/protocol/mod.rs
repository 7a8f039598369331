//! PostgreSQL's protocol 3.0: what clients send, and what a server answers.
//!
//! Source: "Message Formats", PostgreSQL 15 documentation.

mod array;
mod backend;
mod clock;
mod describe;
mod enumeration;
mod error;
mod float;
mod frames;
mod frontend;
mod interval;
mod read;
mod time;
mod types;
mod value;
mod wire;

pub(crate) use backend::Replies;
pub(crate) use describe::{Conversation, of_itself};
pub(crate) use enumeration::Enumeration;
pub(crate) use error::{Severity, SqlError};
pub(crate) use float::Float;
pub(crate) use frames::{Frame, Senseless, frame, frame_of, opening_of};
pub(crate) use frontend::{Bind, Message, Opening, Target, opening, take};
pub(crate) use interval::Interval;
pub(crate) use time::{EPOCH_S, timestamp};
pub(crate) use types::{Element, Type};
pub(crate) use value::Value;
pub(crate) use wire::Format;
