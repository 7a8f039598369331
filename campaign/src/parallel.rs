//! The same work on several threads.

use std::num::NonZero;

/// Runs the same work on several threads and waits for all. Each run stays on one thread.
pub(crate) fn in_parallel(jobs: NonZero<usize>, work: impl Fn() + Sync) {
    std::thread::scope(|scope| {
        for _ in 1..jobs.get() {
            scope.spawn(&work);
        }
        work();
    });
}
