//! The version of Redis that a node behaves like, where versions differ.

/// A version of Redis.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 7.0.15: what a script reads of the clock goes on while it runs.
    #[default]
    V7_0,
    /// 7.2: time stands still for a whole script.
    V7_2,
}

impl Version {
    /// The version as `INFO` and `HELLO` give it.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Version::V7_0 => "7.0.15",
            Version::V7_2 => "7.2.4",
        }
    }

    /// The version as a number with a byte for each part.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Version::V7_0 => 0x0007_000f,
            Version::V7_2 => 0x0007_0204,
        }
    }
}
