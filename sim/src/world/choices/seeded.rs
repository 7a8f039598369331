//! The strategy of an ordinary run: every choice is the seed's.

use super::strategy::{Choices, Open};

/// Takes what the seed proposes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Seeded;

impl Choices for Seeded {
    #[inline]
    fn choose(&mut self, open: Open) -> u64 {
        open.proposed
    }
}
