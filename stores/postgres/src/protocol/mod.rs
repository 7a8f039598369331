//! PostgreSQL's protocol 3.0: what clients send, and what a server answers.
//!
//! Source: "Message Formats", PostgreSQL 15 documentation.

mod array;
mod backend;
mod describe;
mod error;
mod frames;
mod frontend;
mod json;
mod time;
mod value;

pub(crate) use array::Element;
pub(crate) use backend::Replies;
pub(crate) use describe::{describe_replies, describe_request, of_itself};
pub(crate) use error::{Severity, SqlError};
pub(crate) use frames::{Frame, Senseless, frame, frame_of, opening_of};
pub(crate) use frontend::{Bind, Message, Opening, Target, opening, take};
pub(crate) use json::joined as joined_json;
pub(crate) use time::{Interval, timestamp};
pub(crate) use value::{Format, Type, Value};
