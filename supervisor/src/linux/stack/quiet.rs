//! Panics of the crates that read what a program made: caught, and not printed.

use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe, catch_unwind};
use std::sync::Once;

thread_local! {
    static READS: Cell<bool> = const { Cell::new(false) };
}

/// The result of `does`; nothing if it panics. Panics of other threads are printed as before.
pub(super) fn quietly<T>(does: impl FnOnce() -> T) -> Option<T> {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !READS.get() {
                before(info);
            }
        }));
    });
    READS.set(true);
    let done = catch_unwind(AssertUnwindSafe(does));
    READS.set(false);
    done.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_caught_and_the_next_one_of_this_thread_is_not() {
        assert_eq!(quietly(|| 1), Some(1));
        assert_eq!(quietly(|| -> u32 { panic!("not printed") }), None);
        assert!(!READS.get());
    }
}
