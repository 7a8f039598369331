//! What is said of explorations.

use picklock_campaign::explore::Explored;

/// Explorations, and what is said of them.
#[derive(Clone, Debug)]
pub struct Explorations {
    /// One of each design.
    pub pages: Vec<Explored>,
    /// What a command line needs besides design, scenario and site to make the same run.
    pub args: String,
    /// Whether every site that breaks something is named.
    pub verbose: bool,
}
