//! The cost of doing without a lock under contention: work that was begun anew, because somebody else was faster.
//!
//! Counted are the reads of the resource that a section makes after its first one: each shows that what it had worked
//! from is no more. Only of designs without a lock; under a lock a section reads once.

use picklock_model::trace::Belief;

use crate::history::{History, OperationKind};

pub(super) fn of(history: &History<'_>) -> u64 {
    if history.trace.belief != Belief::None {
        return 0;
    }
    let mut reads = vec![0_u64; history.sections.len()];
    for operation in history.operations.iter().filter(|operation| operation.kind == OperationKind::Read) {
        if let Some(reads) = operation.section.and_then(|section| reads.get_mut(section)) {
            *reads += 1;
        }
    }
    reads.iter().map(|reads| reads.saturating_sub(1)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::invariants::testing::*;

    #[test]
    fn every_read_after_the_first_of_a_section_is_a_retry_and_only_without_a_lock() {
        let worked = |belief| {
            let script = Script::new().believing(belief).at(0).waits(A1).waits(B1).reads(A1, 0).reads(B1, 0);
            script.at(10).writes(B1, 1).at(20).reads(A1, 1).at(30).writes(A1, 2).trace()
        };
        let retries = |belief| of(&History::of(&worked(belief)));
        assert_eq!((retries(Belief::None), retries(Belief::Naive)), (1, 0));
    }
}
