//! Whose turn it is: a thread goes on as long as it makes calls, and after many of them another one does.

use rand_chacha::ChaCha8Rng;
use rand_core::Rng;

use super::randomness::stream;

/// Calls that a thread makes in a row before another one gets its turn.
const STREAK: u32 = 400;

/// The turns of a group's threads.
pub(crate) struct Turns {
    order: ChaCha8Rng,
    current: usize,
    streak: u32,
}

impl Turns {
    pub(crate) fn new(seed: u64) -> Self {
        Self { order: stream(seed, 0), current: 0, streak: 0 }
    }

    /// Start-up is over.
    pub(crate) fn take_up(&mut self) {
        self.streak = 0;
    }

    /// It is this thread's turn.
    pub(crate) fn begin(&mut self, thread: usize) {
        self.current = thread;
    }

    /// The thread whose turn it is, if it has called and has not had it for long.
    pub(crate) fn stay(&mut self, has_called: impl Fn(usize) -> bool) -> Option<usize> {
        if self.streak >= STREAK || !has_called(self.current) {
            return None;
        }
        self.streak += 1;
        Some(self.current)
    }

    /// One of the threads that can go on, by lot; not the one that had its turn for long, if there are others.
    pub(crate) fn draw(&mut self, mut able: Vec<usize>) -> Option<usize> {
        if self.streak >= STREAK && able.len() > 1 {
            able.retain(|&thread| thread != self.current);
        }
        self.streak = 0;
        match able.len() {
            0 => None,
            1 => Some(able[0]),
            n => Some(able[self.order.next_u64() as usize % n]),
        }
    }
}
