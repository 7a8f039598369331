//! The description of a report format.

use picklock_campaign::summary::Summary;

use crate::page::paint::Style;

/// One way to write down results: those of a campaign, if nothing else is said.
#[derive(Clone, Copy, Debug)]
pub struct Format<Results = Summary> {
    /// Its name on the command line.
    pub name: &'static str,
    /// The file it is written to in the output directory.
    pub file: &'static str,
    /// Its purpose, in one line.
    pub doc: &'static str,
    /// Writes the results down.
    pub render: fn(&Results, &Style) -> Result<String, ReportError>,
}

/// An error that keeps results from being written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The results do not go into JSON.
    #[error("failed to write JSON: {0}")]
    Json(#[from] serde_json::Error),
    /// The results do not go into JUnit's XML.
    #[error("failed to write JUnit XML: {0}")]
    Junit(#[from] quick_junit::SerializeError),
}
