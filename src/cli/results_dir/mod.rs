//! The results directory, which `--out` names: a folder for each saved run, none of which is ever written over.
//!
//! ```text
//! DIR/2026-11-22T223000Z-run/    the reports of a run, and its manifest.json
//! DIR/latest                     the newest run that has results
//! DIR/report.html                the same name in it; so for each file there
//! DIR/journal.jsonl              the journal that was begun last
//! DIR/index.html                 a page over all runs
//! ```
//!
//! While a process is at work on a run it holds a lock on manifest.json. See
//! [0021](https://github.com/picklock/picklock/blob/main/docs/decisions/0021-out-is-a-results-directory.md).

mod error;
mod found;
mod index;
mod journals;
mod links;
mod live;
mod name;
mod run;

pub(crate) use self::journals::{journalled, parts};
pub(crate) use self::live::{Live, Progress};
pub(crate) use self::name::Kind;
pub(crate) use self::run::{Asked, Run};
