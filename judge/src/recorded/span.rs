//! A hold as a recorded history shows it: from when until when, and how far its clock may be off.

/// A span of time in which a process held a lock, by its clock.
#[cfg_attr(test, derive(Debug))]
pub(super) struct Span {
    pub(super) section: usize,
    pub(super) key: usize,
    /// The clock that its instants are read on.
    pub(super) clock: usize,
    /// Two of one process do not exclude each other.
    pub(super) process: usize,
    pub(super) shared: bool,
    pub(super) from: i128,
    /// It held until then for sure.
    pub(super) until: i128,
    /// It may have held until then.
    pub(super) at_most: i128,
    pub(super) uncertainty: i128,
}

impl Span {
    /// It had begun by then, whatever its clock showed.
    pub(super) fn latest(&self) -> i128 {
        self.from + self.uncertainty
    }

    /// It lasted until then, whatever its clock showed.
    pub(super) fn earliest(&self) -> i128 {
        self.until - self.uncertainty
    }
}
