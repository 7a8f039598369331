//! Random numbers of a process.

use std::time::Duration;

use data_encoding::HEXLOWER;

use super::host::Host;

impl Host {
    /// Random numbers of this process.
    #[must_use]
    pub fn rng(&self) -> HostRng<'_> {
        HostRng { host: self }
    }
}

/// Random numbers of one process, from a stream of its own.
pub struct HostRng<'a> {
    host: &'a Host,
}

impl HostRng<'_> {
    /// A uniform number in `0..bound`.
    ///
    /// # Panics
    /// When `bound` is zero.
    #[must_use]
    pub fn below(&self, bound: u64) -> u64 {
        assert!(bound > 0, "an empty range has no members to draw");
        self.host.world.state().process(self.host.id).rng.below(bound)
    }

    /// A uniform span in `min..=max`.
    #[must_use]
    pub fn span(&self, min: Duration, max: Duration) -> Duration {
        self.host.world.state().process(self.host.id).rng.span(min, max)
    }

    /// A value that no other acquire uses: 20 random bytes in hexadecimal.
    #[must_use]
    pub fn owner_id(&self) -> String {
        let mut state = self.host.world.state();
        let rng = &mut state.process(self.host.id).rng;
        let (a, b, c) = (rng.next_u64(), rng.next_u64(), rng.below(1 << 32) as u32);
        HEXLOWER.encode(&[&a.to_be_bytes()[..], &b.to_be_bytes(), &c.to_be_bytes()].concat())
    }
}
