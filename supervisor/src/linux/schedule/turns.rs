//! The thread that runs next: the current one while it makes system calls, at most 400 in a row.

use rand_chacha::ChaCha8Rng;
use rand_core::Rng;

use crate::linux::state::randomness::{Randomness, stream};

/// System calls that a thread makes in a row before another one gets its turn.
const MAX_CALLS_IN_A_ROW: u32 = 400;

/// The turns of a group's threads.
pub(crate) struct Turns {
    rng: ChaCha8Rng,
    current: usize,
    streak: u32,
}

impl Turns {
    /// Those of a start-up, which are the same in each run of a host.
    pub(crate) fn of_start_up(host: &str) -> Self {
        Self { rng: Randomness::Name(host.to_owned()).of(0), current: 0, streak: 0 }
    }

    /// Draws by the seed when start-up ends.
    pub(crate) fn seed(&mut self, seed: u64) {
        (self.rng, self.streak) = (stream(seed, 0), 0);
    }

    /// The thread that went on last.
    pub(crate) fn current(&self) -> usize {
        self.current
    }

    /// Makes this thread the current one.
    pub(crate) fn set_current(&mut self, thread: usize) {
        self.current = thread;
    }

    /// The current thread, if it waits at a system call and has turns left.
    pub(crate) fn continue_current(&mut self, has_called: impl Fn(usize) -> bool) -> Option<usize> {
        if self.streak >= MAX_CALLS_IN_A_ROW || !has_called(self.current) {
            return None;
        }
        self.streak += 1;
        Some(self.current)
    }

    /// One of the threads that can continue, at random; not the current one after its last turn, if there are others.
    pub(crate) fn draw(&mut self, mut able: Vec<usize>) -> Option<usize> {
        if self.streak >= MAX_CALLS_IN_A_ROW && able.len() > 1 {
            able.retain(|&thread| thread != self.current);
        }
        self.streak = 0;
        match able.len() {
            0 => None,
            1 => Some(able[0]),
            n => Some(able[self.rng.next_u64() as usize % n]),
        }
    }
}
