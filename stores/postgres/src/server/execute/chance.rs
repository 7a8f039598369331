//! Numbers of `random()` and `gen_random_uuid()`.
//!
//! They come from the server's clock and from how many were drawn, so that a run gives the same ones each time, and two servers that follow each
//! other do not give the same.
//!
//! Source: Steele, Lea and Flood, "Fast Splittable Pseudorandom Number Generators" (2014): the finalizer of SplitMix64.

#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Chance {
    drawn: u64,
}

impl Chance {
    /// The next number at this time.
    pub(super) fn next(&mut self, clock: i64) -> u64 {
        self.drawn = self.drawn.wrapping_add(1);
        let mut bits = clock.cast_unsigned() ^ self.drawn.wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number from 0 to below 1.
    pub(super) fn fraction(&mut self, clock: i64) -> f64 {
        (self.next(clock) >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A `uuid` of version 4.
    pub(super) fn uuid(&mut self, clock: i64) -> u128 {
        let bits = u128::from(self.next(clock)) << 64 | u128::from(self.next(clock));
        bits & !(0xf << 76) & !(0x3 << 62) | 4 << 76 | 2 << 62
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_of_version_four() {
        let mut chance = Chance::default();
        let (one, other) = (chance.uuid(7), chance.uuid(7));
        assert_ne!(one, other);
        assert_eq!((one >> 76 & 0xf, one >> 62 & 3), (4, 2));
        assert_eq!(Chance::default().uuid(7), one);
        assert!((0.0..1.0).contains(&chance.fraction(1)));
    }
}
