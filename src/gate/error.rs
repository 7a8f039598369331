//! The errors of a gate, said so that the author of the test knows what to do.

use std::io;
use std::path::PathBuf;

use picklock_campaign::check::CheckError;
use picklock_campaign::counterexamples::CounterexampleError;
use picklock_model::repro::ReproError;
use picklock_scenarios::scenario::{Problem, ScenarioError};
use picklock_sim::run::Panicked;

use super::panics::{self, Seen};

/// An error that leaves a gate without a verdict.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GateError {
    /// There is no scenario of this name.
    #[error(
        "there is no scenario `{name}`{}; there are {}, and a file is named with its ending .toml",
        hint(.nearest), .known.join(", ")
    )]
    NoScenario {
        /// The name that was asked for.
        name: String,
        /// The most similar name, if one is near.
        nearest: Option<String>,
        /// The names of the built-in suite.
        known: Vec<String>,
    },
    /// A scenario file or a setting is wrong.
    #[error("{}", setting(.0))]
    Scenario(#[from] ScenarioError),
    /// There is no kind of fault of this name.
    #[error("`{name}` cannot be explored{}; there are {}", hint(.nearest), .known.join(", "))]
    NoFault {
        /// The name that was asked for.
        name: String,
        /// The most similar name, if one is near.
        nearest: Option<String>,
        /// The names of all.
        known: Vec<String>,
    },
    /// An allowed violation names something that there is not.
    #[error("{call}: {problem}")]
    AllowedViolation {
        /// The call that names it.
        call: String,
        /// The problem.
        problem: Box<Problem>,
    },
    /// Exploring needs a fault-free run under `calm`, and the scenario does not apply to the design.
    #[error("`{design}` cannot be explored: scenario `calm` does not apply to it: {why}")]
    Unexplored {
        /// The design's name.
        design: String,
        /// The reason.
        why: String,
    },
    /// The range of seeds is empty.
    #[error("there are no seeds in {from}..{until}: nothing would be run")]
    NoSeeds {
        /// The start of the range.
        from: u64,
        /// Its end.
        until: u64,
    },
    /// The code of the lock panicked.
    #[error("the lock `{design}` panicked under scenario `{scenario}`, seed {seed}{}{}\n{remedy}", said(.message, .remedy), at(.place))]
    Panicked {
        /// The design's name.
        design: String,
        /// The scenario's name.
        scenario: String,
        /// The seed.
        seed: u64,
        /// Its message.
        message: String,
        /// The place in its own code, if it is known: file, line and column.
        place: Option<Box<str>>,
        /// Its act and the remedy, or where to look.
        remedy: &'static str,
    },
    /// The same seed gave two different runs.
    #[error(
        "the lock `{design}` is not a function of its seed: scenario `{scenario}`, seed {seed}, was run twice and \
         gave two different runs.\n{difference}{STRAY}"
    )]
    Stray {
        /// The design's name.
        design: String,
        /// The scenario's name.
        scenario: String,
        /// The seed.
        seed: u64,
        /// Where the two runs part, in lines.
        difference: String,
    },
    /// A file cannot be read or is no repro file.
    #[error("{}: {why}{}", path.display(), mend(.why))]
    File {
        /// The file.
        path: PathBuf,
        /// The problem with it.
        why: FileError,
    },
    /// A violation could not be reported.
    #[error(transparent)]
    Counterexample(#[from] CounterexampleError),
}

/// The error of a file.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be read.
    #[error("cannot be read: {0}")]
    Read(#[from] io::Error),
    /// It is not a repro file.
    #[error(transparent)]
    ReproFile(#[from] ReproError),
    /// One of its fields is wrong.
    #[error("its field `{field}`, in line {line}, column {column}: {message}")]
    Field {
        /// The field, as the repro file spells it.
        field: String,
        /// Counted from 1.
        line: usize,
        /// Counted from 1.
        column: usize,
        /// The problem.
        message: String,
    },
    /// It is larger than any repro file.
    #[error("{bytes} bytes are too many: a repro file has at most {limit}")]
    TooLarge {
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// It holds a run of another design.
    #[error("it holds a run of `{kept}`, not of `{given}`")]
    OtherDesign {
        /// The design in the file.
        kept: String,
        /// The design given.
        given: String,
    },
    /// It names something that this picklock does not have.
    #[error("{0}")]
    Unknown(String),
}

const STRAY: &str = "Something reached it past its Host: a clock of the machine (std::time), randomness (rand, Uuid), the \
                     order of a HashMap, a thread, or state that outlives a run (a static, or something that its connect \
                     function shares). Take time from Host::monotonic and Host::wall, waiting from Host::sleep and \
                     Host::timeout, randomness from Host::rng, tasks from Host::spawn, and keep state in the client.";

/// The remedy for a panic that picklock does not know.
const LOOK: &str =
    "What it said, and from where with RUST_BACKTRACE=1, stands in the output of the test, above this.";

impl GateError {
    /// An error of a run of `scenario`, with its panic as it was seen; if absent, this thread has made the run.
    pub(super) fn of(error: CheckError, design: &str, scenario: &str, seen: Option<Seen>) -> GateError {
        match error {
            CheckError::Panicked(Panicked { seed, message, .. }) => {
                let Seen { place, kind } = seen.unwrap_or_else(|| panics::last(&message));
                let (place, remedy) =
                    (place.map(String::into_boxed_str), kind.map_or(LOOK, |kind| kind.remedy));
                let (design, scenario) = (design.to_owned(), scenario.to_owned());
                GateError::Panicked { design, scenario, seed, message, place, remedy }
            }
            source => GateError::Counterexample(CounterexampleError::Check {
                design: design.to_owned(),
                scenario: scenario.to_owned(),
                source,
            }),
        }
    }
}

fn hint(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|name| format!(" (did you mean `{name}`?)")).unwrap_or_default()
}

/// A test has no `--set`.
fn setting(error: &ScenarioError) -> String {
    match error {
        ScenarioError::Set { setting, scenario, problem } => {
            format!("setting `{setting}` of scenario `{scenario}`: {problem}")
        }
        error => error.to_string(),
    }
}

/// The message of a panic, unless picklock knows better: tokio's advice is to enable what has no place here.
fn said(message: &str, remedy: &str) -> String {
    if remedy == LOOK { format!(": {message}") } else { ".".to_owned() }
}

fn at(place: &Option<Box<str>>) -> String {
    place.as_ref().map(|place| format!("\nThat was at {place}.")).unwrap_or_default()
}

/// The remedy for a file that cannot be used as a repro file.
fn mend(why: &FileError) -> &'static str {
    match why {
        FileError::ReproFile(_) | FileError::Field { .. } | FileError::TooLarge { .. } => {
            "; copy it anew from where the gate wrote it, or from your version control, or delete it"
        }
        FileError::Read(_) | FileError::OtherDesign { .. } | FileError::Unknown(_) => "",
    }
}
