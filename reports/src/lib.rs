//! The report formats of picklock: pure functions from results to text, one file a format.
//!
//! A report never runs anything and never reads a clock, a terminal or an environment variable: the same results
//! and the same [`Style`] give the same bytes. The caller that prints decides if there is colour and how wide a page is.
//!
//! **Entry point:** [`ALL`], the formats of a campaign, each a [`Format`] with a function from a
//! [`Summary`](picklock_campaign::summary::Summary) to text; [`find`] finds one by name.
//!
//! # Where things are
//!
//! - [`formats`]: the formats of a campaign (`text`, `json`, `junit`, `markdown`, `csv`, `github`, `picture`), and [`brief`](formats::brief), the page
//!   of one screen. [`Format`] is the description of a format.
//! - `matrix`: the one model of the matrix that all formats draw: `mark` (the sign of a cell), `verdict` (its numbers in words), `finding` (the
//!   sentences above it), `folded` (on a narrow screen), `legend`, `statistics` (bounds and intervals).
//! - [`compare`]: the same results as a comparison of designs ([`COMPARISONS`]): `ranking`, `rates`, `differences` (paired by seed), `measures`,
//!   `since` (against a baseline), and a file for each format.
//! - [`html`]: the page of a campaign: `overview` with `designs`, `plot` and `matrix`, and the parts that it leads to, `cell` and `story`;
//!   [`index`](html::index) is the page over a results directory.
//! - [`story`]: one run for people: `relevance` chooses its events, `rows`, `lines` and `words` write them, `cause` and `explanation` say why;
//!   [`timeline::render`](story::timeline::render) puts the page together.
//! - [`diagram`]: one run as a drawing, from the same lines. [`run`](mod@run): one run for other programs ([`run::ALL`]).
//! - [`explored`]: the results of explorations. [`judged`]: the verdicts on a history that was recorded elsewhere. [`nondeterminism`]: the report of
//!   the determinism check. [`alike`]: two runs of one plan on different servers.
//! - [`manifest`]: the facts of a saved run that an index needs.
//! - [`page`]: the parts of every page: `layout`, `numbers`, `paint` (colours and [`Style`]), `markdown`, `axis`, `svg`.
//!
//! To add a format takes a file and a line in the list of its kind.
//!
//! # What is not here
//!
//! No run, no verdict on a run, no file and no terminal: `picklock_campaign` makes results, `picklock_judge` judges runs, and the command line
//! decides where a report goes.
//!
//! # Example
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
