//! The versions of ZooKeeper that a simulated member can be of.

/// A version of ZooKeeper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Version {
    /// 3.8.0, as Debian 12 has it.
    #[default]
    V38,
    /// 3.9.5: watches of several modes stand side by side on a node, and each is found and removed by its mode; an event says which transaction has
    /// brought it about; whether a node exists is a question for those who may read it; among several operations the second form of a creation
    /// is answered as it is by itself, and one whose flags cannot be makes all of them unreadable. None of this matters to a lock.
    V39,
}

impl Version {
    /// The words for it in a parameter.
    pub(crate) const NAMES: &[&str] = &["3.8", "3.9"];

    /// The version of this name; that of Debian for any other.
    pub(crate) fn named(name: &str) -> Version {
        if name == "3.9" { Version::V39 } else { Version::V38 }
    }

    /// What a member says that it is.
    pub(crate) fn full(self) -> &'static str {
        match self {
            Version::V38 => "3.8.0-${mvngit.commit.id}, built on 2022-02-25 08:49 UTC",
            Version::V39 => "3.9.5-${mvngit.commit.id}, built on 2026-03-02 09:04 UTC",
        }
    }
}
