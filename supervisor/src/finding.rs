//! A finding of the environment check.

/// One property of the machine that was checked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The property.
    pub what: &'static str,
    /// True if it is there.
    pub is_there: bool,
    /// True if no program can be started without it.
    pub is_needed: bool,
    /// The observation.
    pub seen: String,
    /// The consequence of its absence.
    pub lost: &'static str,
    /// The remedy.
    pub remedy: &'static str,
}
