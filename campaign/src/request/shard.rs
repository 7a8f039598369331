//! One of several parts of a campaign, each made by a process of its own.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// Shard `index` of `of`, counted from 1, as in `2/8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Shard {
    index: u64,
    of: u64,
}

impl Shard {
    /// The shard of this number, from 1 on.
    ///
    /// # Errors
    /// When there is no such shard, in words.
    pub fn new(index: u64, of: u64) -> Result<Shard, String> {
        if (1..=of).contains(&index) {
            Ok(Shard { index, of })
        } else {
            Err(format!("there is no shard {index} of {of}: they are counted from 1/{of} to {of}/{of}"))
        }
    }

    /// All shards of so many.
    pub fn all(of: u64) -> impl Iterator<Item = Shard> {
        (1..=of).map(move |index| Shard { index, of })
    }

    /// Into how many the campaign is cut.
    pub(crate) fn of(self) -> u64 {
        self.of
    }

    /// True if a block is its to run. Blocks are of one design after another; each shard gets some of every design, since
    /// designs cost more and less.
    pub(crate) fn has(self, block: u64, designs: u64) -> bool {
        let (round, design) = (block / designs.max(1), block % designs.max(1));
        (round % self.of + design % self.of) % self.of == self.index - 1
    }

    /// How many of so many rounds of so many designs are its.
    pub(crate) fn share(self, rounds: u64, designs: u64) -> u64 {
        let first = |design: u64| (self.index - 1 + self.of - design % self.of) % self.of;
        (0..designs).map(|design| rounds.saturating_sub(first(design)).div_ceil(self.of)).sum()
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.index, self.of)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        let numbers =
            text.split_once('/').and_then(|(index, of)| Some((index.parse().ok()?, of.parse().ok()?)));
        let (index, of) =
            numbers.ok_or_else(|| format!("a shard is spelled I/N, as in 2/8, not `{text}`"))?;
        Shard::new(index, of)
    }
}

impl TryFrom<String> for Shard {
    type Error = String;

    fn try_from(text: String) -> Result<Shard, String> {
        text.parse()
    }
}

impl From<Shard> for String {
    fn from(shard: Shard) -> String {
        shard.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn every_block_is_of_exactly_one_shard(block: u64, designs in 1..60_u64, of in 1..100_u64) {
            let owners = Shard::all(of).filter(|shard| shard.has(block, designs)).count();
            prop_assert_eq!(owners, 1);
        }

        #[test]
        fn a_share_is_as_many_blocks_as_are_its(rounds in 0..50_u64, designs in 1..20_u64, of in 1..30_u64) {
            for shard in Shard::all(of) {
                let blocks = (0..rounds * designs).filter(|block| shard.has(*block, designs)).count();
                prop_assert_eq!(shard.share(rounds, designs), blocks as u64);
            }
        }

        #[test]
        fn a_shard_is_read_as_it_is_spelled(index in 1..1_000_u64, more in 0..1_000_u64) {
            let shard = Shard::new(index, index + more).unwrap();
            prop_assert_eq!(shard.to_string().parse(), Ok(shard));
        }
    }

    #[test]
    fn a_shard_that_is_not_there_is_refused() {
        for (text, because) in [
            ("0/8", "there is no shard 0 of 8"),
            ("9/8", "there is no shard 9 of 8"),
            ("1/0", "there is no shard 1 of 0"),
            ("2", "spelled I/N"),
            ("a/b", "spelled I/N"),
        ] {
            let error = text.parse::<Shard>().unwrap_err();
            assert!(error.contains(because), "{text}: {error}");
        }
    }
}
