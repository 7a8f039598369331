//! The common parts of the arguments of several commands: values, colours and the groups of options in the help.

use std::num::NonZero;
use std::ops::Range;
use std::time::Duration;

use clap::{Args, ValueEnum};
use picklock_model::span::{Span, SpanError};
use picklock_sim::engine::Engine;

/// The groups of options in the help.
pub(super) const WHAT: &str = "What is run";
pub(super) const HOW_MANY: &str = "How many runs";
pub(super) const SITES: &str = "Which faults, and where";
pub(super) const EXPECTED: &str = "What is expected";
pub(super) const CONFIRMING: &str = "Shrinking and confirming";
pub(super) const REPORT: &str = "Report";
pub(super) const IN_PARTS: &str = "A campaign in parts";

/// How things are printed.
#[derive(Args, Clone, Copy)]
pub(crate) struct ColourOptions {
    /// Colours: auto means on a terminal, unless NO_COLOR is set
    #[arg(long, value_enum, default_value_t = Colour::Auto, value_name = "WHEN", help_heading = REPORT)]
    pub(crate) color: Colour,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Colour {
    Auto,
    Always,
    Never,
}

/// For how long violations are reduced and confirmed if nothing else is said.
pub(super) const SHRINK_BUDGET: &str = "60s";

pub(super) fn seeds(text: &str) -> Result<Range<u64>, String> {
    let number =
        |part: &str| part.parse::<u64>().map_err(|_| format!("`{part}` is not a whole number from 0 up"));
    let range = match text.split_once("..") {
        None => 0..number(text)?,
        Some((from, until)) => number(from)?..number(until)?,
    };
    if range.is_empty() { Err(format!("`{text}` holds no seed; A..B needs A below B")) } else { Ok(range) }
}

pub(super) fn time(text: &str) -> Result<Duration, String> {
    match text.parse::<Span>() {
        Ok(Span::Fixed(time)) => Ok(time),
        Ok(Span::Leases { .. }) => Err("there is no lease here: write a time like 60s or 5m".to_owned()),
        Err(SpanError::NoUnit(number)) => {
            Err(format!("`{number}` has no unit: write `{number}ms` or `{number}s`"))
        }
        Err(error) => Err(error.to_string()),
    }
}

/// A time in which at least one run can begin.
pub(super) fn budget(text: &str) -> Result<Duration, String> {
    match time(text)? {
        Duration::ZERO => Err("no run can begin in no time: write a time above 0, like 60s".to_owned()),
        time => Ok(time),
    }
}

pub(super) fn engine(text: &str) -> Result<Engine, String> {
    text.parse()
}

/// A number of threads.
pub(super) fn jobs(text: &str) -> Result<NonZero<usize>, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number of threads: write a whole number from 1 up"))
}
