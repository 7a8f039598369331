//! A page that people look at, send to each other and cite: one file that asks for nothing else.
//!
//! First which designs protect the data (`designs`), how that stands against availability and cost (`plot`), and the matrix
//! (`matrix`). Each cell and each design leads to a part of its own (`cell`), and each failure is shown there (`story`) with the
//! diagram of its run. These parts are in the page from the start, and what is shown is the one that the address names, so that links,
//! the back button and printing work without the script; the script moves diagrams, picks out events, and copies.
//! [0020](https://github.com/picklock/picklock/blob/main/docs/decisions/0020-a-diagram-is-drawn-once.md) says why.

mod about;
mod cell;
mod designs;
mod frame;
mod matrix;
mod overview;
mod parts;
mod plot;
mod results_dir;
mod story;

use picklock_campaign::about::About;
use picklock_campaign::story::Story;
use picklock_campaign::summary::Summary;

use crate::compare::comparison::Comparison;
use crate::compare::differences;
use crate::format::{Format, ReportError};
use crate::page::paint::Style;

pub use self::results_dir::{Going, INDEX_MARK, Row, ended, index, under_way};

const FILE: &str = "report.html";
const DOC: &str =
    "a page to look at: which designs protect the data, the matrix, each failure with its diagram";

/// The results of a campaign as a page.
pub const FORMAT: Format = Format { name: "html", file: FILE, doc: DOC, render: campaign };

/// A comparison as a page.
pub(crate) const COMPARISON: Format<Comparison> =
    Format { name: "html", file: FILE, doc: DOC, render: comparison };

fn campaign(summary: &Summary, _style: &Style) -> Result<String, ReportError> {
    Ok(overview::page(summary, "", &[]))
}

fn comparison(comparison: &Comparison, _style: &Style) -> Result<String, ReportError> {
    Ok(overview::page(&comparison.summary, &comparison.pairing(), &differences::all(comparison)))
}

/// One run as a page: what it violates, and how that came about. What its design and scenario are is said as far as it is known.
#[must_use]
pub fn run(story: &Story, about: &About) -> String {
    let title = format!("{} under {}, seed {}", story.design, story.scenario, story.plan.seed.0);
    frame::page(&title, &story::alone(story, about, &title))
}
