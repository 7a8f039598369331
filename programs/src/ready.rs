//! What this machine offers for programs in virtual time, and what is lost without it.

/// One thing that is looked at.
#[derive(Clone, Debug)]
pub struct Finding {
    /// What was looked at.
    pub what: &'static str,
    /// Whether it is there.
    pub is_there: bool,
    /// What was seen.
    pub seen: String,
    /// What is lost without it.
    pub lost: &'static str,
    /// What to do about it.
    pub remedy: &'static str,
}
