//! Histories of locks recorded elsewhere: their form, and how they are judged.
//!
//! A history is a list of lines in the manner of Jepsen: a process invokes an operation, which ends `ok`, `fail` or, if
//! nobody knows, `info`; beside that stand facts that a store or the guarded resource has noted. Each line bears the time
//! on its host's own clock, and each host says how far that clock may be off. [`of_run`] writes a run down as such lines, [`read`]
//! reads a file of them, [`judge`] says what it violates. What is judged by stores and resources alone is judged by the
//! invariants as they are; what compares the clocks of several hosts has judges of its own here.

mod as_trace;
mod crowds;
mod edn;
mod exclusion;
mod fields;
mod json;
mod judging;
mod line;
mod malformed;
mod of_run;
mod reading;
mod recording;
mod span;
mod tokens;
mod verdict;

pub use edn::to_edn;
pub use json::to_json;
pub use judging::judge;
pub use line::{Ending, Line, Operation};
pub use malformed::Malformed;
pub use of_run::of_run;
pub use reading::{LINE_MAX, LINES_MAX, read};
pub use recording::Recording;
pub use verdict::{Breach, Judgement, Verdict};
