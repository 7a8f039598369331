//! The values that a parameter takes, and how a text is read as one of them.

use std::fmt;
use std::time::Duration;

use super::value::{MANY, Share, Value, count};
use picklock_model::span::{Span, SpanError};

/// The values that a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// One span of time, bounds included.
    Span {
        /// The shortest.
        min: Duration,
        /// The longest.
        max: Duration,
    },
    /// A span of time or a range to draw it from, both ends within the bounds.
    Spans {
        /// The shortest.
        min: Duration,
        /// The longest.
        max: Duration,
        /// A word that may stand instead, if there is one.
        or: Option<&'static str>,
    },
    /// One whole number, bounds included.
    Count(u64, u64),
    /// A whole number or a range to draw it from, both ends within the bounds.
    Counts(u64, u64),
    /// One of these words.
    Word(&'static [&'static str]),
    /// How many of some hosts: a number, or a word that depends on how many there are.
    Share,
}

/// The longest span that any parameter takes.
pub const HOUR: Duration = Duration::from_secs(3_600);

impl Domain {
    /// Reads a value.
    ///
    /// # Errors
    /// When the text has the wrong form or lies outside the domain. Bounds of spans are checked by [`Args::check`](super::Args::check),
    /// because a multiple of the lease time has no length before that is known.
    pub fn parse(self, text: &str) -> Result<Value, ValueError> {
        let text = text.trim();
        let outside = || ValueError::Outside { value: clip(text), domain: self };
        match self {
            Domain::Span { .. } if text.contains("..") => Err(outside()),
            Domain::Span { .. } => {
                let span: Span = text.parse()?;
                Ok(Value::Spans(span, span))
            }
            Domain::Spans { or: Some(word), .. } if text == word => Ok(Value::Word(word)),
            Domain::Spans { .. } => {
                let (from, to) = ends(text);
                Ok(Value::Spans(from.parse()?, to.parse()?))
            }
            Domain::Count(min, max) => {
                let count = count(text, min, max).ok_or_else(outside)?;
                Ok(Value::Counts(count, count))
            }
            Domain::Counts(min, max) => {
                let (from, to) = ends(text);
                let from = count(from, min, max).ok_or_else(outside)?;
                let to = count(to, min, max).ok_or_else(outside)?;
                if from > to {
                    return Err(ValueError::Reversed { value: clip(text) });
                }
                Ok(Value::Counts(from, to))
            }
            Domain::Word(words) => {
                words.iter().find(|word| **word == text).map(|word| Value::Word(word)).ok_or_else(outside)
            }
            Domain::Share => Share::parse(text).map(Value::Share).ok_or_else(outside),
        }
    }
}

fn ends(text: &str) -> (&str, &str) {
    // A span may begin with a point (`.5s`), so a range is cut where two points stand together.
    text.split_once("..").unwrap_or((text, text))
}

/// Enough of a text to recognise it in a message.
#[must_use]
pub fn clip(text: &str) -> String {
    let short: String = text.chars().take(60).collect();
    if short.len() < text.len() { format!("{short}...") } else { short }
}

impl fmt::Display for Domain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Domain::Span { min, max } => {
                write!(f, "a span of time from {} to {}", Span::Fixed(*min), Span::Fixed(*max))
            }
            Domain::Spans { min, max, or } => {
                let (min, max) = (Span::Fixed(*min), Span::Fixed(*max));
                write!(f, "a span of time or a range of spans, from {min} to {max}")?;
                or.map_or(Ok(()), |word| write!(f, ", or {word}"))
            }
            Domain::Count(min, max) => write!(f, "a whole number from {min} to {max}"),
            Domain::Counts(min, max) => write!(f, "a whole number or a range of them, from {min} to {max}"),
            Domain::Word(words) => write!(f, "one of {}", words.join(", ")),
            Domain::Share => {
                write!(f, "a whole number from 0 to {MANY}, or one of all, quorum, minority, random")
            }
        }
    }
}

/// The reason why a parameter cannot have a value; a fragment that follows the parameter's name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ValueError {
    /// It is not a span of time.
    #[error(transparent)]
    Span(#[from] SpanError),
    /// It lies outside the domain.
    #[error("`{value}` is not {domain}")]
    Outside {
        /// The value given.
        value: String,
        /// The values that are taken.
        domain: Domain,
    },
    /// Its range ends before it begins.
    #[error("the range `{value}` is reversed: put the smaller end first")]
    Reversed {
        /// The range given.
        value: String,
    },
    /// The lease time cannot be a multiple of itself.
    #[error("`{value}` is a multiple of ttl, which cannot be given in terms of itself: write it like `10s`")]
    Circular {
        /// The value given.
        value: String,
    },
}
