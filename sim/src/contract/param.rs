//! Parameters as data: name, domain, default and a line of explanation.
//!
//! World, workload, every fault and every kind of store declare theirs in this form, so that one reader serves scenario files and `--set`,
//! one message explains a bad value, and `picklock list faults` prints what exists. A value has one text form
//! everywhere; a range is `from..to`, in a file also `["from", "to"]`.

use std::fmt;
use std::time::Duration;

use super::span::{Span, SpanError};

/// One parameter.
#[derive(Clone, Copy, Debug)]
pub struct Param {
    /// Its name.
    pub name: &'static str,
    /// The values it takes.
    pub domain: Domain,
    /// Its value when not given.
    pub default: &'static str,
    /// What it does, in one line.
    pub doc: &'static str,
}

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

/// The words for a yes-or-no choice.
pub const YES_NO_RANDOM: Domain = Domain::Word(&["yes", "no", "random"]);

/// More hosts than any run has.
const MANY: u64 = 1_000;

impl Domain {
    /// A span or a range of spans, up to an hour.
    #[must_use]
    pub const fn spans() -> Domain {
        Domain::Spans { min: Duration::ZERO, max: HOUR, or: None }
    }

    /// Reads a value.
    ///
    /// # Errors
    /// When the text has the wrong form or lies outside the domain. Bounds of spans are checked by [`Args::check`],
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

    /// Whether the domain has ranges.
    #[must_use]
    pub const fn takes_ranges(self) -> bool {
        matches!(self, Domain::Spans { .. } | Domain::Counts(..))
    }
}

fn ends(text: &str) -> (&str, &str) {
    // A span may begin with a point (`.5s`), so a range is cut where two points stand together.
    text.split_once("..").unwrap_or((text, text))
}

fn count(text: &str, min: u64, max: u64) -> Option<u64> {
    text.trim().parse().ok().filter(|number| (min..=max).contains(number))
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
    fn parse(text: &str) -> Option<Share> {
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

/// Why a parameter cannot have a value; a fragment that follows the parameter's name.
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
        /// What is taken.
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

/// Values for a list of parameters: each has one.
#[derive(Clone, Debug)]
pub struct Args {
    params: &'static [Param],
    values: Vec<Value>,
}

impl Args {
    /// Every parameter at its default.
    ///
    /// # Panics
    /// When a declared default lies outside its own domain.
    #[must_use]
    pub fn defaults(params: &'static [Param]) -> Args {
        let default =
            |param: &Param| param.domain.parse(param.default).expect("a default lies in its domain");
        Args { params, values: params.iter().map(default).collect() }
    }

    /// The parameters and their values, in order of declaration.
    pub fn iter(&self) -> impl Iterator<Item = (&'static Param, Value)> + '_ {
        self.params.iter().zip(self.values.iter().copied())
    }

    /// The parameter of this name, if it is declared.
    #[must_use]
    pub fn param(&self, name: &str) -> Option<&'static Param> {
        self.params.iter().find(|param| param.name == name)
    }

    /// Gives a declared parameter another value.
    ///
    /// # Panics
    /// When no parameter of this name is declared.
    pub fn put(&mut self, name: &str, value: Value) {
        let at = self.index(name);
        self.values[at] = value;
    }

    /// Checks what depends on the lease time: the bounds and the order of spans.
    ///
    /// # Errors
    /// The first parameter that cannot have its value, and why.
    pub fn check(&self, ttl: Duration) -> Result<(), (&'static str, ValueError)> {
        self.iter()
            .try_for_each(|(param, value)| spans_fit(param, value, ttl).map_err(|why| (param.name, why)))
    }

    fn index(&self, name: &str) -> usize {
        let at = self.params.iter().position(|param| param.name == name);
        at.expect("only declared parameters are asked for")
    }

    fn get(&self, name: &str) -> Value {
        self.values[self.index(name)]
    }

    /// The bounds of a span parameter when a lease lasts `ttl`; `None` if a word stands instead.
    ///
    /// # Panics
    /// When no span parameter of this name is declared; so for the methods below and their kinds.
    #[must_use]
    pub fn spans(&self, name: &str, ttl: Duration) -> Option<(Duration, Duration)> {
        match self.get(name) {
            Value::Spans(from, to) => Some((from.resolve(ttl), to.resolve(ttl))),
            Value::Word(_) => None,
            other => unreachable!("`{name}` is declared as a span and has the value {other}"),
        }
    }

    /// The value of a single span.
    #[must_use]
    pub fn span(&self, name: &str, ttl: Duration) -> Duration {
        self.spans(name, ttl).map_or(Duration::ZERO, |(from, _)| from)
    }

    /// The bounds of a number.
    #[must_use]
    pub fn counts(&self, name: &str) -> (u64, u64) {
        match self.get(name) {
            Value::Counts(from, to) => (from, to),
            other => unreachable!("`{name}` is declared as a number and has the value {other}"),
        }
    }

    /// The value of a single number.
    #[must_use]
    pub fn count(&self, name: &str) -> u64 {
        self.counts(name).0
    }

    /// The value of a word.
    #[must_use]
    pub fn word(&self, name: &str) -> &'static str {
        match self.get(name) {
            Value::Word(word) => word,
            other => unreachable!("`{name}` is declared as a word and has the value {other}"),
        }
    }

    /// The value of a share.
    #[must_use]
    pub fn share(&self, name: &str) -> Share {
        match self.get(name) {
            Value::Share(share) => share,
            other => unreachable!("`{name}` is declared as a share and has the value {other}"),
        }
    }
}

fn spans_fit(param: &Param, value: Value, ttl: Duration) -> Result<(), ValueError> {
    let (Domain::Span { min, max } | Domain::Spans { min, max, .. }) = param.domain else { return Ok(()) };
    let Value::Spans(from, to) = value else { return Ok(()) };
    let (shortest, longest) = (from.resolve(ttl), to.resolve(ttl));
    if shortest > longest {
        return Err(ValueError::Reversed { value: value.to_string() });
    }
    if shortest < min || longest > max {
        return Err(ValueError::Outside { value: value.to_string(), domain: param.domain });
    }
    Ok(())
}
