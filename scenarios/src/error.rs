//! The errors of a scenario or expectation file, each with its place and its remedy.

use std::fmt;
use std::io;
use std::ops::Range;

use picklock_model::text::nearest;

use picklock_model::span::Span;
use picklock_sim::param::ValueError;

/// The reason why a scenario, or a setting of one, was not understood.
#[derive(Debug, thiserror::Error)]
pub enum ScenarioError {
    /// The file could not be read.
    #[error("{file}: cannot be read: {source}")]
    Read {
        /// The file.
        file: String,
        /// Why not.
        source: io::Error,
    },
    /// The file as a whole is not usable.
    #[error("{file}: {problem}")]
    Whole {
        /// The file.
        file: String,
        /// The mistake.
        problem: Box<Problem>,
    },
    /// Something at one place of the file is wrong.
    #[error("{place}: {problem}")]
    At {
        /// Where.
        place: Place,
        /// The mistake.
        problem: Box<Problem>,
    },
    /// A setting from outside is wrong.
    #[error("`--set {setting}` on scenario `{scenario}`: {problem}")]
    Set {
        /// The setting given.
        setting: String,
        /// The scenario it was given to.
        scenario: String,
        /// The mistake.
        problem: Box<Problem>,
    },
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file, as it was named.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}:{}", self.file, self.line, self.column)
    }
}

/// A problem, and how to mend it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// The text is not TOML.
    #[error("not valid TOML: {0}")]
    Syntax(String),
    /// The text holds no figures of explorations.
    #[error("this is not what an exploration writes: {0}; write it with `picklock explore --format figures`")]
    NoFigures(String),
    /// The file is larger than any scenario is.
    #[error("{bytes} bytes are too many: the limit is {limit}")]
    TooLarge {
        /// The size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The text is not UTF-8.
    #[error("not a text in UTF-8")]
    NotText,
    /// The file's name cannot name a scenario.
    #[error("`{0}` cannot name a scenario: name the file with letters, digits, `-` and `_`")]
    Name(String),
    /// Nothing of this name is known here.
    #[error("there is no {kind} `{name}`{}; known: {known}", meant(.nearest))]
    Unknown {
        /// The kind of thing that was looked for.
        kind: &'static str,
        /// The name given.
        name: String,
        /// The name that was probably meant.
        nearest: Option<String>,
        /// The names known.
        known: String,
    },
    /// A value has the wrong type.
    #[error("`{key}` is {found}; write {wanted}")]
    Type {
        /// The key.
        key: String,
        /// The type found, with its article.
        found: &'static str,
        /// The type or the form that is needed.
        wanted: String,
    },
    /// A parameter cannot have this value.
    #[error("`{param}`: {error}")]
    Value {
        /// The parameter.
        param: String,
        /// Why not.
        error: ValueError,
    },
    /// The run would end before a fault could: nothing that it does afterwards would be seen.
    #[error(
        "`horizon` is {horizon}, and `{fault}.{param}` is at least {least}: the run ends before the fault can; set \
         `horizon` to more than {least}, or `{fault}.{param}` to less than {horizon}"
    )]
    HorizonTooShort {
        /// When the run ends.
        horizon: Span,
        /// The fault.
        fault: &'static str,
        /// Its parameter that says how long it lasts.
        param: &'static str,
        /// The shortest time that this can be.
        least: Span,
    },
    /// A key is missing.
    #[error("`{0}` is missing: add a line `{0} = ...`")]
    Missing(&'static str),
    /// A text is longer than it may be.
    #[error("`{key}` has {found} characters: shorten it to {limit}")]
    TooLong {
        /// The key.
        key: &'static str,
        /// How many characters it has.
        found: usize,
        /// How many it may have.
        limit: usize,
    },
    /// There are more faults than a scenario may have.
    #[error("{found} faults are too many: a scenario has at most {limit}")]
    TooManyFaults {
        /// How many there are.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
    /// The same thing is named twice.
    #[error("`{0}` is named twice: remove one of them")]
    Twice(String),
    /// A setting is not of the form `name=value`.
    #[error("not of the form `name=value`, such as `ttl=2s` or `pause.for=1s..2s`")]
    SettingForm,
}

impl Problem {
    /// An unknown name, with the one that was probably meant.
    pub fn unknown(kind: &'static str, name: &str, known: &[&str]) -> Problem {
        Problem::Unknown {
            kind,
            name: picklock_sim::param::clip(name),
            nearest: nearest(name, known.iter().copied()).map(str::to_owned),
            known: known.join(", "),
        }
    }
}

fn meant(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// A problem and the bytes of the text that it is about.
pub struct Spot {
    /// The bytes.
    pub span: Range<usize>,
    /// The mistake there.
    pub problem: Box<Problem>,
}

impl Spot {
    /// This problem at these bytes.
    #[must_use]
    pub fn new(span: Range<usize>, problem: Problem) -> Spot {
        Spot { span, problem: Box::new(problem) }
    }

    /// The problem as an error that names the place as people count it.
    pub fn in_file(self, file: &str, text: &str) -> ScenarioError {
        ScenarioError::At { place: place(file, text, self.span.start), problem: self.problem }
    }
}

fn place(file: &str, text: &str, offset: usize) -> Place {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |at| at + 1);
    Place {
        file: file.to_owned(),
        line: before.matches('\n').count() + 1,
        column: before[line_start..].chars().count() + 1,
    }
}
