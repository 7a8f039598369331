//! The values of keys.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, VecDeque};

use super::fields::Fields;

/// The elements of a list, from its head.
pub type List = VecDeque<Vec<u8>>;
/// The members of a set.
pub type Members = BTreeSet<Vec<u8>>;

/// The value of a key.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// A string of bytes.
    String(Vec<u8>),
    /// Elements in order.
    List(List),
    /// Members without order.
    Set(Members),
    /// Members by score.
    SortedSet(SortedSet),
    /// Fields and their values.
    Hash(Fields),
}

/// Members with scores, in the order of their scores, equal scores in the order of their bytes. No score is NaN.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SortedSet {
    scores: BTreeMap<Vec<u8>, f64>,
    order: BTreeSet<Ranked>,
}

#[derive(Clone, Debug, PartialEq)]
struct Ranked {
    score: f64,
    member: Vec<u8>,
}

impl Eq for Ranked {}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Ranked) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ranked {
    /// Zero and minus zero are one score.
    fn cmp(&self, other: &Ranked) -> Ordering {
        let scores = self.score.partial_cmp(&other.score).unwrap_or(Ordering::Equal);
        scores.then_with(|| self.member.cmp(&other.member))
    }
}

impl SortedSet {
    /// The number of members.
    #[must_use]
    pub fn len(&self) -> usize {
        self.scores.len()
    }

    /// True without members.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.scores.is_empty()
    }

    /// A member's score.
    #[must_use]
    pub fn score(&self, member: &[u8]) -> Option<f64> {
        self.scores.get(member).copied()
    }

    /// Sets a member's score, which is not NaN; returns the one that it had.
    pub fn insert(&mut self, member: &[u8], score: f64) -> Option<f64> {
        // A minus zero is kept as zero, as in a set that is small.
        let score = score + 0.0;
        let old = self.scores.insert(member.to_vec(), score);
        if let Some(old) = old {
            self.order.remove(&Ranked { score: old, member: member.to_vec() });
        }
        self.order.insert(Ranked { score, member: member.to_vec() });
        old
    }

    /// Takes a member out; returns the score that it had.
    pub fn remove(&mut self, member: &[u8]) -> Option<f64> {
        let old = self.scores.remove(member)?;
        self.order.remove(&Ranked { score: old, member: member.to_vec() });
        Some(old)
    }

    /// The members and their scores, in order.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = (&[u8], f64)> + ExactSizeIterator {
        self.order.iter().map(|ranked| (ranked.member.as_slice(), ranked.score))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_sorted_set_keeps_each_member_once_and_in_order(
            steps in prop::collection::vec(("[a-e]{1,2}", prop::option::of(-3_i8..3)), 0..60),
        ) {
            let mut set = SortedSet::default();
            let mut plain: BTreeMap<Vec<u8>, f64> = BTreeMap::new();
            for (member, score) in steps {
                let member = member.into_bytes();
                match score.map(f64::from) {
                    Some(score) => prop_assert_eq!(set.insert(&member, score), plain.insert(member, score)),
                    None => prop_assert_eq!(set.remove(&member), plain.remove(&member)),
                }
            }
            let mut sorted: Vec<(Vec<u8>, f64)> = plain.into_iter().collect();
            sorted.sort_by(|a, b| a.1.total_cmp(&b.1).then_with(|| a.0.cmp(&b.0)));
            let members: Vec<(Vec<u8>, f64)> = set.iter().map(|(member, score)| (member.to_vec(), score)).collect();
            prop_assert_eq!(set.len(), sorted.len());
            prop_assert_eq!(members, sorted);
        }
    }
}
