//! Random numbers for scripts.

/// Redis's own random numbers for scripts (`rand.c`): the generator of drand48. Its sequence goes on from script to
/// script, and starts at the same place on every node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Random(u64);

impl Default for Random {
    fn default() -> Random {
        Random(0x1234_ABCD_330E)
    }
}

impl Random {
    pub(crate) fn seed(&mut self, seed: i32) {
        self.0 = u64::from(seed.cast_unsigned()) << 16 | 0x330E;
    }

    /// A number from 0.0 to, but not including, 1.0.
    pub(crate) fn draw(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(0x0005_DEEC_E66D).wrapping_add(0xB) & 0xFFFF_FFFF_FFFF;
        let max = i32::MAX as u64;
        ((self.0 >> 17) % max) as f64 / max as f64
    }
}
