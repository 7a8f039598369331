//! The values that parameters have.

use std::fmt;
use std::time::Duration;

use picklock_model::span::Span;

/// A checked value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// From one span to another; both are the same if one was given.
    Spans(Span, Span),
    /// From one number to another; both are the same if one was given.
    Counts(u64, u64),
    /// A word.
    Word(&'static str),
    /// So many of some hosts.
    Share(Share),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Spans(from, to) if from == to => write!(f, "{from}"),
            Value::Spans(from, to) => write!(f, "{from}..{to}"),
            Value::Counts(from, to) if from == to => write!(f, "{from}"),
            Value::Counts(from, to) => write!(f, "{from}..{to}"),
            Value::Word(word) => f.write_str(word),
            Value::Share(share) => write!(f, "{share}"),
        }
    }
}

/// A span of time or a range to draw it from: both ends are the same if one span was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpanRange {
    /// The shorter end.
    pub from: Span,
    /// The longer end.
    pub to: Span,
}

impl SpanRange {
    /// The ends when a lease lasts `ttl`.
    #[must_use]
    pub fn resolve(self, ttl: Duration) -> (Duration, Duration) {
        (self.from.resolve(ttl), self.to.resolve(ttl))
    }
}

/// How many of some hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Share {
    /// So many.
    Exactly(u64),
    /// All of them.
    All,
    /// A majority.
    Quorum,
    /// As many as the majority can do without.
    Minority,
    /// From one to all, drawn uniformly.
    Random,
}

impl Share {
    pub(super) fn parse(text: &str) -> Option<Share> {
        match text {
            "all" => Some(Share::All),
            "quorum" => Some(Share::Quorum),
            "minority" => Some(Share::Minority),
            "random" => Some(Share::Random),
            number => count(number, 0, MANY).map(Share::Exactly),
        }
    }
}

impl fmt::Display for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Share::Exactly(number) => write!(f, "{number}"),
            Share::All => f.write_str("all"),
            Share::Quorum => f.write_str("quorum"),
            Share::Minority => f.write_str("minority"),
            Share::Random => f.write_str("random"),
        }
    }
}

/// More hosts than any run has.
pub(super) const MANY: u64 = 1_000;

/// A whole number within these bounds.
pub(super) fn count(text: &str, min: u64, max: u64) -> Option<u64> {
    text.trim().parse().ok().filter(|number| (min..=max).contains(number))
}
