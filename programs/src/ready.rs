//! What this machine offers for programs in virtual time, and what is lost without it.

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

/// Looks at all of it; the last one starts a program.
#[must_use]
pub fn findings() -> Vec<Finding> {
    #[cfg(all(target_os = "linux", target_arch = "x86_64"))]
    return crate::linux::findings();
    #[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
    vec![Finding {
        what: "Linux on x86-64",
        is_there: false,
        is_needed: true,
        seen: format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH),
        lost: "programs in virtual time",
        remedy: "use a Linux machine, or a virtual one",
    }]
}
