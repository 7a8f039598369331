//! The mark of a thread that makes a run.

use std::cell::Cell;

thread_local! {
    static UNDER_WAY: Cell<bool> = const { Cell::new(false) };
}

/// True while this thread makes a run: a panic then is one of the code under test, or of the world around it.
#[must_use]
pub fn is_under_way() -> bool {
    UNDER_WAY.get()
}

/// Does the work of a run.
pub(super) fn marked<T>(work: impl FnOnce() -> T) -> T {
    UNDER_WAY.set(true);
    let done = work();
    UNDER_WAY.set(false);
    done
}
