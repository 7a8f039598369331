//! The version of Redis, or of Valkey, that a node behaves like, where versions differ.
//!
//! A version has what all before it have. Sources: `since` and `history` in `src/commands/*.json` of Redis 7.4 (HEXPIRE and its kin), 8.0 (HGETEX, HSETEX,
//! HGETDEL), 8.4 (DELEX, DIGEST; SET with IFEQ, IFNE, IFDEQ, IFDNE) and of Valkey 8.1 (SET with IFEQ, valkey-io/valkey#1324) and 9.0 (DELIFEQ);
//! Valkey's `src/version.h` for what it says of itself.

/// A version of Redis, or of Valkey, which began as Redis 7.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Version {
    /// 7.0.15: what a script reads of the clock goes on while it runs.
    #[default]
    V7_0,
    /// 7.2: time stands still for a whole script.
    V7_2,
    /// 7.4.
    V7_4,
    /// 8.0.
    V8_0,
    /// 8.4: a key is set and deleted on the condition that it has a value.
    V8_4,
    /// Valkey 8.1: a key is set on the condition that it has a value.
    Valkey8_1,
    /// Valkey 9.0: a key is deleted on that condition.
    Valkey9_0,
}

impl Version {
    /// All of them by the names that a user gives them.
    pub const NAMED: [(&'static str, Version); 7] = [
        ("7.0", Version::V7_0),
        ("7.2", Version::V7_2),
        ("7.4", Version::V7_4),
        ("8.0", Version::V8_0),
        ("8.4", Version::V8_4),
        ("valkey-8.1", Version::Valkey8_1),
        ("valkey-9.0", Version::Valkey9_0),
    ];

    /// The version of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Version> {
        Version::NAMED.iter().find(|(known, _)| *known == name).map(|(_, version)| *version)
    }

    /// Its name among [`NAMED`](Version::NAMED).
    #[must_use]
    pub fn name(self) -> &'static str {
        let named = Version::NAMED.iter().find(|(_, version)| *version == self);
        named.expect("each version has a name").0
    }

    /// The version of Redis as `INFO` and scripts give it. Valkey says that of the Redis that it is compatible with.
    #[must_use]
    pub fn text(self) -> &'static str {
        match self {
            Version::V7_0 => "7.0.15",
            Version::V7_2 | Version::Valkey8_1 | Version::Valkey9_0 => "7.2.4",
            Version::V7_4 => "7.4.0",
            Version::V8_0 => "8.0.0",
            Version::V8_4 => "8.4.0",
        }
    }

    /// The version of Valkey; none of Redis.
    #[must_use]
    pub fn of_valkey(self) -> Option<&'static str> {
        match self {
            Version::Valkey8_1 => Some("8.1.0"),
            Version::Valkey9_0 => Some("9.0.0"),
            _ => None,
        }
    }

    /// The version of Redis as a number with a byte for each part.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            Version::V7_0 => 0x0007_000f,
            Version::V7_2 | Version::Valkey8_1 | Version::Valkey9_0 => 0x0007_0204,
            Version::V7_4 => 0x0007_0400,
            Version::V8_0 => 0x0008_0000,
            Version::V8_4 => 0x0008_0400,
        }
    }

    /// True if slots move with all their keys at once (CLUSTER MIGRATION).
    #[must_use]
    pub fn moves_slots_at_once(self) -> bool {
        self == Version::V8_4
    }

    /// True if SET takes IFEQ.
    #[must_use]
    pub fn sets_if_equal(self) -> bool {
        self >= Version::V8_4
    }

    /// True if fields of hashes can end (HEXPIRE and its kin), which is not modelled.
    #[must_use]
    pub fn has_field_ends(self) -> bool {
        matches!(self, Version::V7_4 | Version::V8_0 | Version::V8_4)
    }

    /// True if it has HGETEX, HSETEX and HGETDEL, which are not modelled.
    #[must_use]
    pub fn reads_and_ends_fields(self) -> bool {
        matches!(self, Version::V8_0 | Version::V8_4)
    }

    /// True if SET takes IFNE, IFDEQ and IFDNE.
    #[must_use]
    pub fn compares_digests(self) -> bool {
        self == Version::V8_4
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_version_has_all_later_ones_have() {
        assert!(Version::NAMED.is_sorted_by_key(|(_, version)| *version));
        assert_eq!(Version::named("valkey-8.1"), Some(Version::Valkey8_1));
        assert_eq!(Version::named("6.2"), None);
        let taking = Version::NAMED.map(|(_, version)| version.sets_if_equal());
        assert_eq!(taking, [false, false, false, false, true, true, true]);
    }
}
