//! The randomness of a program: decided by the name of its host during start-up, and by the seed from then on.

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng;

/// A stream of randomness of its own for each use.
pub(crate) fn stream(seed: u64, number: u64) -> ChaCha8Rng {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(number);
    random
}

/// The source of the randomness of the processes.
pub(crate) enum Randomness {
    /// Start-up is the same in each run.
    Name(String),
    Seed(u64),
}

impl Randomness {
    /// The random number generator of a process.
    pub(crate) fn of(&self, process: usize) -> ChaCha8Rng {
        let name = match self {
            Self::Seed(seed) => return stream(*seed, 1 + process as u64),
            Self::Name(name) => name,
        };
        let mut seed = [0u8; 32];
        for (at, byte) in name.bytes().enumerate() {
            seed[at % 32] = byte.wrapping_add(seed[at % 32].wrapping_mul(31));
        }
        ChaCha8Rng::from_seed(seed)
    }
}
