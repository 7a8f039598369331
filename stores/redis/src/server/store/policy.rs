//! `maxmemory-policy` (Redis 7.0 `evict.c`).

/// The policy of eviction when memory is short: `maxmemory-policy`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Policy {
    /// Nothing: commands that need memory are refused.
    #[default]
    NoEviction,
    /// The key that was not used for the longest time.
    AllKeysLru,
    /// The key that is used least often.
    AllKeysLfu,
    /// Any key.
    AllKeysRandom,
    /// Of the keys with an expiry, the one that was not used for the longest time.
    VolatileLru,
    /// Of the keys with an expiry, the one that is used least often.
    VolatileLfu,
    /// Any key with an expiry.
    VolatileRandom,
    /// The key that ends first.
    VolatileTtl,
}

const NAMES: [(&str, Policy); 8] = [
    ("volatile-lru", Policy::VolatileLru),
    ("volatile-lfu", Policy::VolatileLfu),
    ("volatile-random", Policy::VolatileRandom),
    ("volatile-ttl", Policy::VolatileTtl),
    ("allkeys-lru", Policy::AllKeysLru),
    ("allkeys-lfu", Policy::AllKeysLfu),
    ("allkeys-random", Policy::AllKeysRandom),
    ("noeviction", Policy::NoEviction),
];

impl Policy {
    /// The policy of a name in any case.
    #[must_use]
    pub fn parse(name: &[u8]) -> Option<Policy> {
        let named = NAMES.iter().find(|(known, _)| name.eq_ignore_ascii_case(known.as_bytes()));
        named.map(|(_, policy)| *policy)
    }

    /// The name of the policy.
    #[must_use]
    pub fn name(self) -> &'static str {
        NAMES.iter().find(|(_, policy)| *policy == self).map_or("noeviction", |(name, _)| name)
    }

    /// True if it counts how often keys are used, instead of when.
    #[must_use]
    pub fn is_lfu(self) -> bool {
        matches!(self, Policy::AllKeysLfu | Policy::VolatileLfu)
    }

    pub(super) fn needs_expiry(self) -> bool {
        matches!(
            self,
            Policy::VolatileLru | Policy::VolatileLfu | Policy::VolatileRandom | Policy::VolatileTtl
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn policies_are_known_by_their_names() {
        for (name, policy) in NAMES {
            assert_eq!((policy.name(), Policy::parse(name.to_uppercase().as_bytes())), (name, Some(policy)));
        }
        assert_eq!(Policy::parse(b"lru"), None);
    }
}
