//! Values that belong to the thread of a run.
//!
//! A run takes place on one thread, and asks for its state several times in each step: behind a lock, each time would cost
//! two operations that all processors agree on. What the tasks of a server share belongs to it as well. Hosts and wakers may
//! all the same be carried to other threads by code under test; there they find nothing.

use std::cell::{RefCell, RefMut};

use fragile::Fragile;

/// A value that only the thread that made it can reach.
pub struct OwnThread<T>(Option<Fragile<RefCell<T>>>);

impl<T> OwnThread<T> {
    /// Makes it the present thread's.
    pub fn new(value: T) -> OwnThread<T> {
        OwnThread(Some(Fragile::new(RefCell::new(value))))
    }

    /// The value, if this is its thread.
    ///
    /// # Panics
    /// When it is in use already.
    #[inline]
    pub fn try_get(&self) -> Option<RefMut<'_, T>> {
        Some(self.0.as_ref()?.try_get().ok()?.borrow_mut())
    }

    /// The value.
    ///
    /// # Panics
    /// On any other thread: what it did would come at another time in each run. And when the value is in use already.
    #[inline]
    pub fn get(&self) -> RefMut<'_, T> {
        self.try_get().expect("a host is used on the thread of its run, and on no other")
    }
}

impl<T> Drop for OwnThread<T> {
    /// A thread that outlives the run of which it has kept a host lets go of it last: then the value is left behind.
    fn drop(&mut self) {
        if let Some(value) = self.0.take().filter(|value| !value.is_valid()) {
            std::mem::forget(value);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::OwnThread;

    #[test]
    fn another_thread_finds_nothing_and_may_be_the_last_to_let_go() {
        let value = Arc::new(OwnThread::new(vec![1]));
        let carried = Arc::clone(&value);
        value.get().push(2);
        assert_eq!(*value.get(), [1, 2]);
        drop(value);
        let there = std::thread::scope(|scope| scope.spawn(move || carried.try_get().is_none()).join());
        assert!(there.expect("letting go of it elsewhere is no failure"));
    }
}
