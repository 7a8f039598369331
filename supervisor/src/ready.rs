//! The environment check for programs in virtual time: what this machine offers, and what is lost without it.

pub use crate::finding::Finding;

/// ClockReads at all of it; the last one starts a program.
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
