//! The report formats of picklock: pure functions from results to text, one file a format.
//!
//! A report never runs anything and never reads a clock, a terminal or an environment variable: the same results
//! and the same [`Style`] give the same bytes. Whoever prints decides whether there is colour and how wide it is.
//!
//! - [`ALL`] are the formats of a campaign, a [`Summary`](picklock_campaign::summary::Summary); [`COMPARISONS`] lay the same results out as a comparison.
//! - [`formats::brief::page`] shows them on one screen.
//! - [`manifest::Manifest`] holds the facts of a saved run that an index needs, [`html::index`] is the page over all of them.
//! - [`judged::ALL`] say what a history that was recorded elsewhere violates.
//! - [`run::ALL`] write one run down for other programs; [`story::timeline::render`] shows one run as a story, [`html::run`] as a
//!   page, [`diagram::file`] as a drawing, [`run::json::run_json`] gives it as data.
//!
//! ```
//! use picklock_reports::{Style, find};
//! use picklock_campaign::summary::{Cell, SCHEMA, Summary};
//!
//! let cell = Cell { design: "single".into(), scenario: "calm".into(), runs: 200, hit_lock: 200, ..Cell::default() };
//! let summary =
//!     Summary { schema: SCHEMA, command: "picklock run".into(), cells: vec![cell], ..Summary::default() };
//! let text = find("text").expect("the text format exists");
//! let page = (text.render)(&summary, &Style::default())?;
//! assert!(page.contains("0 in 200 runs, below 1.5% at 95%"));
//! # Ok::<(), picklock_reports::ReportError>(())
//! ```

pub mod alike;
pub mod compare;
pub mod diagram;
pub mod explored;
mod format;
pub mod formats;
pub mod html;
pub mod judged;
pub mod manifest;
mod matrix;
pub mod nondeterminism;
pub mod page;
pub mod run;
pub mod story;

pub use format::{Format, ReportError};
pub use page::paint::Style;

/// All formats of a campaign, the one for people first.
pub const ALL: &[Format] = &[
    formats::text::FORMAT,
    formats::json::FORMAT,
    formats::junit::FORMAT,
    formats::markdown::FORMAT,
    html::FORMAT,
    formats::picture::FORMAT,
    formats::csv::FORMAT,
    formats::github::FORMAT,
];

/// All formats of a comparison, the one for people first.
pub const COMPARISONS: &[Format<compare::Comparison>] =
    &[compare::TEXT, compare::JSON, compare::MARKDOWN, html::COMPARISON];

/// The format of a campaign with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Format> {
    ALL.iter().find(|format| format.name == name)
}
