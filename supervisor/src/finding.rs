//! What is found when a machine is looked at.

/// One thing that was looked at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// What was looked at.
    pub what: &'static str,
    /// Whether it is there.
    pub is_there: bool,
    /// Whether no program can be started without it.
    pub is_needed: bool,
    /// What was seen.
    pub seen: String,
    /// What is lost without it.
    pub lost: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}
