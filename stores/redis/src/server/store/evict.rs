//! Eviction: when keys were used, how much memory they take, and which one goes first when memory is short (Redis 7.0 `evict.c`).
//!
//! Redis looks at a few random keys and evicts the best of them; here the best of all goes. How much memory a node uses
//! is an estimate: it grows and shrinks with the dataset as in Redis, but not byte for byte.

use picklock_model::trace::What;

use super::dataset::Store;
use super::entry::Entry;
use super::policy::Policy;

/// The use counter of a new key under an LFU policy.
const LFU_FIRST: u32 = 5;
/// `lfu-log-factor`: how much slower a counter grows the higher it is.
const LFU_FACTOR: usize = 10;

/// The size of a node without data, in bytes.
pub const BASE_MEMORY: u64 = 876_144;

impl Store {
    /// About how many bytes of memory all keys take.
    #[must_use]
    pub fn memory(&self) -> usize {
        self.entries().map(|(key, entry)| key.len() + entry.memory()).sum()
    }

    /// About how many bytes of memory a node with this dataset uses.
    #[must_use]
    pub fn used_memory(&self) -> u64 {
        BASE_MEMORY + self.memory() as u64
    }

    /// Evicts a key as the policy says, and notifies replicas and listeners. False if there is none to evict.
    pub fn evict(&mut self) -> bool {
        let Some((database, key)) = self.candidate() else { return false };
        self.evict_key(database, &key);
        true
    }

    fn evict_key(&mut self, database: usize, key: &[u8]) {
        let selected = std::mem::replace(&mut self.selected, database);
        self.delete(key);
        self.counts.evicted += 1;
        self.propagate(&[b"DEL", key]);
        self.changed(b'e', "evicted", key);
        self.selected = selected;
    }

    /// Drops the first live keys that have a lease, at most so many, as if memory were short: no client asked for it. How
    /// many there were.
    pub fn drop_leased(&mut self, most: usize) -> usize {
        let now = self.now_ms();
        let leased = self.all().filter(|(_, _, entry)| entry.expires.is_some() && !entry.is_dead(now));
        let leased: Vec<(usize, Vec<u8>)> =
            leased.map(|(database, key, _)| (database, key.to_vec())).take(most).collect();
        for (database, key) in &leased {
            let before = self.effects.events.len();
            self.evict_key(*database, key);
            for event in &mut self.effects.events[before..] {
                if let What::Deleted { key } = event {
                    *event = What::Lost { key: key.clone() };
                }
            }
        }
        leased.len()
    }

    /// The key that goes first.
    fn candidate(&mut self) -> Option<(usize, Vec<u8>)> {
        let policy = self.policy;
        let fits = |entry: &Entry| !policy.needs_expiry() || entry.expires.is_some();
        let fitting = self.all().filter(|(_, _, entry)| fits(entry));
        let chosen = match policy {
            Policy::NoEviction => None,
            Policy::AllKeysRandom | Policy::VolatileRandom => {
                let count = fitting.count();
                let at = self.random_below(count);
                self.all().filter(|(_, _, entry)| fits(entry)).nth(at)
            }
            Policy::VolatileTtl => fitting.min_by_key(|(_, _, entry)| entry.expires),
            Policy::AllKeysLru | Policy::VolatileLru => fitting.min_by_key(|(_, _, entry)| entry.used),
            Policy::AllKeysLfu | Policy::VolatileLfu => {
                fitting.min_by_key(|(_, _, entry)| self.frequency_of(entry))
            }
        };
        chosen.map(|(database, key, _)| (database, key.to_vec()))
    }

    /// How often a key was used lately, as a logarithmic counter up to 255.
    #[must_use]
    pub fn frequency_of(&self, entry: &Entry) -> u32 {
        // `lfu-decay-time` is a minute: the counter loses one for each that passed.
        let passed = (self.seconds() / 60).wrapping_sub(entry.used >> 8) & 0xFFFF;
        (entry.used & 0xFF).saturating_sub(passed)
    }

    fn seconds(&self) -> u32 {
        u32::try_from(self.now.as_nanos() / 1_000_000_000).unwrap_or(u32::MAX)
    }

    fn used_now(&self, counter: u32) -> u32 {
        if self.policy.is_lfu() { ((self.seconds() / 60) & 0xFFFF) << 8 | counter } else { self.seconds() }
    }

    /// The use of a new key.
    pub(super) fn first_use(&self) -> u32 {
        self.used_now(LFU_FIRST)
    }

    /// Sets how a key was used elsewhere: how many seconds ago, or how often. What the policy does not look at is lost.
    pub fn set_use(&mut self, key: &[u8], idle_s: Option<i64>, frequency: Option<i64>) {
        let used = if self.policy.is_lfu() {
            frequency
                .and_then(|counter| u32::try_from(counter).ok())
                .map(|counter| self.used_now(counter & 0xFF))
        } else {
            idle_s.map(|idle| self.seconds().saturating_sub(u32::try_from(idle).unwrap_or(u32::MAX)))
        };
        if let (Some(used), Some(entry)) = (used, self.current_mut().get_mut(key)) {
            entry.used = used;
        }
    }

    /// Notes that a key is used, if there is such a key.
    pub(super) fn use_key(&mut self, key: &[u8]) -> Option<&Entry> {
        let used = if self.policy.is_lfu() {
            let mut counter = self.frequency_of(self.current().get(key)?);
            let above = usize::try_from(counter.saturating_sub(LFU_FIRST)).unwrap_or(0);
            if counter < 255 && self.random_below(above * LFU_FACTOR + 1) == 0 {
                counter += 1;
            }
            self.used_now(counter)
        } else {
            self.seconds()
        };
        let entry = self.current_mut().get_mut(key)?;
        entry.used = used;
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use picklock_model::time::WallTime;

    use super::*;

    fn store(policy: Policy) -> Store {
        let mut store = Store { policy, now: WallTime(1_000_000_000_000), ..Store::default() };
        store.set(b"a", b"1".to_vec(), Some(3_000_000), false);
        store.now = WallTime(1_001_000_000_000);
        store.set(b"b", b"1".to_vec(), None, false);
        store.now = WallTime(1_002_000_000_000);
        store.set(b"c", b"1".to_vec(), Some(2_000_000), false);
        store
    }

    fn evicted(store: &mut Store) -> Vec<String> {
        std::iter::from_fn(|| {
            let before: Vec<Vec<u8>> = store.entries().map(|(key, _)| key.to_vec()).collect();
            store.evict().then(|| {
                let gone = before.into_iter().find(|key| store.current().get(key).is_none());
                String::from_utf8(gone.unwrap()).unwrap()
            })
        })
        .collect()
    }

    #[test]
    fn each_policy_evicts_what_it_names() {
        assert_eq!(evicted(&mut store(Policy::NoEviction)), [""; 0]);
        assert_eq!(evicted(&mut store(Policy::AllKeysLru)), ["a", "b", "c"]);
        assert_eq!(evicted(&mut store(Policy::VolatileLru)), ["a", "c"]);
        assert_eq!(evicted(&mut store(Policy::VolatileTtl)), ["c", "a"]);
        assert_eq!(evicted(&mut store(Policy::VolatileRandom)).len(), 2);
        assert_eq!(evicted(&mut store(Policy::AllKeysRandom)).len(), 3);
    }

    #[test]
    fn use_saves_a_key_from_eviction() {
        let mut lru = store(Policy::AllKeysLru);
        lru.now = WallTime(1_003_000_000_000);
        lru.get(b"a");
        assert_eq!(evicted(&mut lru), ["b", "c", "a"]);
        let mut lfu = store(Policy::AllKeysLfu);
        lfu.get(b"a");
        lfu.get(b"c");
        assert_eq!(evicted(&mut lfu)[0], "b");
    }
}
