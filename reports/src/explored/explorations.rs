//! Explorations as data for reports.

use picklock_campaign::explore::Explored;

/// Explorations, and what is said of them.
#[derive(Clone, Debug)]
pub struct Explorations {
    /// One of each design.
    pub pages: Vec<Explored>,
    /// The arguments that a command line needs besides design, scenario and site to make the same run.
    pub args: String,
    /// True if every site that breaks something is named.
    pub verbose: bool,
}
