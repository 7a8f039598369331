//! The story of one run: the findings, how they came about, and which parts of the run matter.
//!
//! [`timeline`] lays the page out. `paragraph` is its paragraph, `cause` the chain of causes, `explanation` what became of the data and what
//! the violation needs. `relevance` chooses the events that are shown, and `rows` puts them into lines. `exchanges`, `spans` and
//! `reentries` read the trace, `words` says an event in words, and `place` where a program was in its source.

pub(crate) mod cause;
pub(crate) mod exchanges;
pub(crate) mod explanation;
mod lines;
pub(crate) mod paragraph;
pub(crate) mod place;
mod reentries;
pub(crate) mod relevance;
pub(crate) mod rows;
pub(crate) mod spans;
pub mod timeline;
pub(crate) mod words;
pub(crate) mod writer;
