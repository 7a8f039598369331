//! The formats of a single run that other programs read, one file a format, and its drawing.
//!
//! The text for people is [`timeline::render`](crate::story::timeline::render), and all of it as data
//! [`json::run_json`].

mod edn;
mod history;
pub mod json;
mod mermaid;
mod perfetto;
mod shiviz;

use picklock_campaign::story::Story;

use crate::diagram;
use crate::format::Format;

/// All formats of a single run for other programs, the drawing first.
pub const ALL: &[Format<Story>] =
    &[diagram::FORMAT, history::FORMAT, edn::FORMAT, mermaid::FORMAT, perfetto::FORMAT, shiviz::FORMAT];

/// The format with this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Format<Story>> {
    ALL.iter().find(|format| format.name == name)
}
