//! Randomness, always derived by name or by address, never by order of use.
//!
//! A *stream* is a `ChaCha8` generator for one purpose, derived from the seed and the purpose's name, so that a new
//! consumer never shifts another's draws. An *addressed* draw is a pure function of the seed and of coordinates
//! (link, direction, connection, segment), so that removing one event from a plan leaves every other draw alone.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64_with_seed;

use super::time::nanos;

/// The seed of a run: with the design and the scenario it determines everything.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Seed(pub u64);

impl Seed {
    /// The stream of random numbers for one purpose.
    #[must_use]
    pub fn stream(self, purpose: &str) -> Stream {
        Stream(ChaCha8Rng::seed_from_u64(xxh3_64_with_seed(purpose.as_bytes(), self.0)))
    }

    /// One 64-bit draw at the given coordinates; the same coordinates give the same draw, in any order of asking.
    #[must_use]
    pub fn at(self, [a, b, c, d]: [u64; 4]) -> u64 {
        self.along([a, b, c]).at(d)
    }

    /// The draws that have their first three coordinates in common.
    #[must_use]
    pub fn along(self, coordinates: [u64; 3]) -> Line {
        Line(coordinates.into_iter().fold(mix(self.0), |state, part| mix(state ^ mix(part))))
    }
}

/// Draws at all coordinates of which three are fixed: see [`Seed::along`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Line(u64);

impl Line {
    /// The draw at the last coordinate, as [`Seed::at`] gives it at all four.
    #[must_use]
    pub fn at(self, last: u64) -> u64 {
        mix(self.0 ^ mix(last))
    }
}

/// The finaliser of `SplitMix64` (Steele, Lea, Flood 2014), a bijection with good avalanche.
const fn mix(value: u64) -> u64 {
    let value = value.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let value = (value ^ (value >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    value ^ (value >> 31)
}

/// A generator for one purpose.
#[derive(Clone, Debug)]
pub struct Stream(ChaCha8Rng);

impl Stream {
    /// A uniform 64-bit number.
    pub fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A uniform number in `0..bound`.
    ///
    /// # Panics
    /// When `bound` is zero.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "an empty range has no members to draw");
        scale(self.next_u64(), bound)
    }

    /// A uniform span in `min..=max`, to the nanosecond; `min` if the bounds are reversed.
    pub fn span(&mut self, min: Duration, max: Duration) -> Duration {
        let width = nanos(max).saturating_sub(nanos(min));
        min + Duration::from_nanos(self.below(width.saturating_add(1).max(1)))
    }

    /// One member of a slice, uniformly; `None` if it is empty.
    pub fn pick<'a, T>(&mut self, from: &'a [T]) -> Option<&'a T> {
        if from.is_empty() { None } else { from.get(self.below(from.len() as u64) as usize) }
    }

    /// True with a probability of `percent` in a hundred.
    pub fn percent(&mut self, percent: u64) -> bool {
        self.below(100) < percent
    }

    /// Puts a slice into a uniformly drawn order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// Maps a uniform 64-bit draw onto `0..bound` by multiplication, without a float and without a division.
#[must_use]
pub fn scale(draw: u64, bound: u64) -> u64 {
    ((u128::from(draw) * u128::from(bound)) >> 64) as u64
}
