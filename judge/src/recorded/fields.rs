//! A line as names and values, which JSON and EDN have in common.

use std::borrow::Cow;

/// A value of a field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Value<'a> {
    /// `null` or `nil`: as if the field were not there.
    Nothing,
    Bool(bool),
    Int(i128),
    Text(Cow<'a, str>),
    /// Something that no field takes, by its kind.
    Other(&'static str),
}

impl Value<'_> {
    /// Its kind, for a message.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Value::Nothing => "nothing",
            Value::Bool(_) => "true or false",
            Value::Int(_) => "a number",
            Value::Text(_) => "a text",
            Value::Other(kind) => kind,
        }
    }
}

/// A name and a value, in the order of the line.
pub(super) type Fields<'a> = Vec<(Cow<'a, str>, Value<'a>)>;
