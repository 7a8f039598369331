//! Slots: the part of a cluster that a key belongs to (Redis 7.0 `keyHashSlot`), and sets of them.

use crc::{CRC_16_XMODEM, Crc};

/// How many slots a cluster has.
pub(crate) const SLOTS: u16 = 16384;

const CRC16: Crc<u16> = Crc::<u16>::new(&CRC_16_XMODEM);

/// The slot of a key. If it has a part between braces that is not empty, that part alone counts.
#[must_use]
pub fn slot_of(key: &[u8]) -> u16 {
    CRC16.checksum(tag(key)) % SLOTS
}

/// The part of a key that decides on its slot: up to the first closing brace behind the first opening one.
fn tag(key: &[u8]) -> &[u8] {
    let Some(open) = memchr::memchr(b'{', key) else { return key };
    let rest = &key[open + 1..];
    match memchr::memchr(b'}', rest) {
        None | Some(0) => key,
        Some(close) => &rest[..close],
    }
}

/// How many words a set of slots has.
pub(super) const WORDS: usize = SLOTS as usize / 64;

/// A set of slots.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Slots(Box<[u64; WORDS]>);

impl Default for Slots {
    fn default() -> Slots {
        Slots(Box::new([0; WORDS]))
    }
}

impl Slots {
    /// The share of the nth of so many shards, from 0: as evenly as `redis-cli --cluster create` gives them out.
    pub(crate) fn share(nth: u32, of: u32) -> Slots {
        let end = |nth: u32| {
            // Half a slot is a slot, as the tool rounds.
            let end = (2 * u64::from(nth) * u64::from(SLOTS) + u64::from(of)) / (2 * u64::from(of));
            u16::try_from(end).unwrap_or(SLOTS)
        };
        let mut slots = Slots::default();
        (end(nth)..end(nth + 1)).for_each(|slot| slots.insert(slot));
        slots
    }

    /// The words of the set, a bit for each slot, the lowest first.
    pub(super) fn words(&self) -> &[u64; WORDS] {
        &self.0
    }

    pub(super) fn words_mut(&mut self) -> &mut [u64; WORDS] {
        &mut self.0
    }

    pub(crate) fn contains(&self, slot: u16) -> bool {
        self.0[usize::from(slot) / 64] >> (slot % 64) & 1 == 1
    }

    pub(crate) fn insert(&mut self, slot: u16) {
        self.0[usize::from(slot) / 64] |= 1 << (slot % 64);
    }

    pub(crate) fn remove(&mut self, slot: u16) {
        self.0[usize::from(slot) / 64] &= !(1 << (slot % 64));
    }

    pub(crate) fn len(&self) -> usize {
        self.0.iter().map(|word| word.count_ones() as usize).sum()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    /// True if all slots are in it.
    pub(crate) fn is_full(&self) -> bool {
        self.0.iter().all(|word| *word == u64::MAX)
    }

    /// Adds those of another set.
    pub(crate) fn extend(&mut self, other: &Slots) {
        for (word, more) in self.0.iter_mut().zip(other.0.iter()) {
            *word |= more;
        }
    }

    /// The slots in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u16> {
        (0..SLOTS).filter(|slot| self.contains(*slot))
    }

    /// The first and the last slot of each run.
    pub(crate) fn ranges(&self) -> Vec<(u16, u16)> {
        let mut ranges: Vec<(u16, u16)> = Vec::new();
        let mut slot = 0;
        while slot < SLOTS {
            let word = self.0[usize::from(slot) / 64];
            if slot % 64 == 0 && word == 0 {
                slot += 64;
                continue;
            }
            if self.contains(slot) {
                match ranges.last_mut() {
                    Some((_, last)) if *last + 1 == slot => *last = slot,
                    _ => ranges.push((slot, slot)),
                }
            }
            slot += 1;
        }
        ranges
    }
}

impl std::fmt::Debug for Slots {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_list().entries(self.ranges()).finish()
    }
}

impl FromIterator<u16> for Slots {
    fn from_iter<T: IntoIterator<Item = u16>>(slots: T) -> Slots {
        let mut set = Slots::default();
        slots.into_iter().for_each(|slot| set.insert(slot));
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_have_the_slots_of_the_specification() {
        // The check value of the specification, and slots that a redis-server 7.0.15 has named.
        assert_eq!(CRC16.checksum(b"123456789"), 0x31c3);
        for (key, slot) in [
            ("lock:1", 3430),
            ("lock:2", 15621),
            ("lock:3", 11556),
            ("foo", 12182),
            ("", 0),
            ("{user1000}.following", 3443),
            ("foo{}{bar}", 8363),
            ("foo{{bar}}zap", 4015),
            ("foo{bar}{zap}", 5061),
            ("}foo{bar}", 5061),
            ("foo{bar", 15278),
        ] {
            assert_eq!(slot_of(key.as_bytes()), slot, "{key}");
        }
    }

    #[test]
    fn only_what_stands_in_the_first_braces_counts() {
        let same = |a: &str, b: &str| slot_of(a.as_bytes()) == slot_of(b.as_bytes());
        assert!(same("{user1000}.following", "user1000"));
        assert!(same("{lock:1}:token", "lock:1"));
        assert!(same("foo{bar}{zap}", "bar"));
        assert!(same("foo{{bar}}zap", "{bar"));
        assert_eq!(tag(b"foo{}{bar}"), b"foo{}{bar}");
        assert_eq!(tag(b"foo{bar"), b"foo{bar");
        assert_eq!(tag(b"}foo{bar}"), b"bar");
    }

    #[test]
    fn three_shards_have_the_ranges_of_the_tool() {
        let ranges: Vec<_> = (0..3).map(|nth| Slots::share(nth, 3).ranges()).collect();
        assert_eq!(ranges, [vec![(0, 5460)], vec![(5461, 10922)], vec![(10923, 16383)]]);
        let all = (0..7).map(|nth| Slots::share(nth, 7).len()).sum::<usize>();
        assert_eq!(all, usize::from(SLOTS));
    }

    #[test]
    fn a_set_has_what_was_put_in_and_not_taken_out() {
        let mut slots: Slots = [0, 1, 2, 63, 64, 16383].into_iter().collect();
        slots.remove(1);
        assert_eq!(slots.ranges(), [(0, 0), (2, 2), (63, 64), (16383, 16383)]);
        assert_eq!(slots.len(), slots.iter().count());
        assert!(!slots.contains(1) && slots.contains(64));
    }
}
