//! Domains whose values have one type each: a parameter that is declared with one of them is read as that type.

use std::time::Duration;

use super::Param;
use super::domain::{Domain, HOUR};
use super::value::{Share, SpanRange, Value};
use picklock_model::span::Span;

/// A domain whose values have one type.
pub trait Kind {
    /// The type as which a value is read.
    type Value;

    /// Reads a value; `None` if it is one of another kind.
    fn read(value: Value) -> Option<Self::Value>;
}

/// One span of time, bounds included.
#[derive(Clone, Copy, Debug)]
pub struct OneSpan {
    /// The shortest.
    pub min: Duration,
    /// The longest.
    pub max: Duration,
}

/// A span of time or a range to draw it from, both ends within the bounds.
#[derive(Clone, Copy, Debug)]
pub struct Spans {
    /// The shortest.
    pub min: Duration,
    /// The longest.
    pub max: Duration,
}

impl Spans {
    /// Up to an hour.
    pub const UP_TO_HOUR: Spans = Spans { min: Duration::ZERO, max: HOUR };
}

/// As [`Spans`], or a word instead.
#[derive(Clone, Copy, Debug)]
pub struct SpansOr {
    /// The shortest.
    pub min: Duration,
    /// The longest.
    pub max: Duration,
    /// The word.
    pub or: &'static str,
}

/// One whole number, bounds included.
#[derive(Clone, Copy, Debug)]
pub struct Count(pub u64, pub u64);

/// A whole number or a range to draw it from, both ends within the bounds.
#[derive(Clone, Copy, Debug)]
pub struct Counts(pub u64, pub u64);

/// One of these words.
#[derive(Clone, Copy, Debug)]
pub struct Word(pub &'static [&'static str]);

/// Yes or no.
#[derive(Clone, Copy, Debug)]
pub struct YesNo;

/// Yes or no; none of the two if that is to be drawn.
#[derive(Clone, Copy, Debug)]
pub struct YesNoRandom;

/// How many of some hosts.
#[derive(Clone, Copy, Debug)]
pub struct Shares;

/// The type of the values of a kind, their reading, and the entry of its parameters in a table.
macro_rules! kind {
    ($kind:ident is $value:ty, $($checked:pat => $read:expr),+; $it:ident => $domain:expr) => {
        impl Kind for $kind {
            type Value = $value;

            fn read(value: Value) -> Option<$value> {
                match value {
                    $($checked => Some($read),)+
                    _ => None,
                }
            }
        }

        impl Param<$kind> {
            /// The parameter as it stands in a table, beside parameters of other kinds.
            #[must_use]
            pub const fn untyped(self) -> Param {
                let $it = self.domain;
                Param { name: self.name, domain: $domain, default: self.default, doc: self.doc }
            }
        }
    };
}

kind!(OneSpan is Span, Value::Spans(span, _) => span;
      it => Domain::Span { min: it.min, max: it.max });
kind!(Spans is SpanRange, Value::Spans(from, to) => SpanRange { from, to };
      it => Domain::Spans { min: it.min, max: it.max, or: None });
kind!(SpansOr is Option<SpanRange>, Value::Spans(from, to) => Some(SpanRange { from, to }), Value::Word(_) => None;
      it => Domain::Spans { min: it.min, max: it.max, or: Some(it.or) });
kind!(Count is u64, Value::Counts(count, _) => count; it => Domain::Count(it.0, it.1));
kind!(Counts is (u64, u64), Value::Counts(from, to) => (from, to); it => Domain::Counts(it.0, it.1));
kind!(Word is &'static str, Value::Word(word) => word; it => Domain::Word(it.0));
kind!(YesNo is bool, Value::Word("yes") => true, Value::Word("no") => false; _it => Domain::Word(&["no", "yes"]));
kind!(YesNoRandom is Option<bool>,
      Value::Word("yes") => Some(true), Value::Word("no") => Some(false), Value::Word("random") => None;
      _it => Domain::Word(&["yes", "no", "random"]));
kind!(Shares is Share, Value::Share(share) => share; _it => Domain::Share);
