//! The mailbox by which one task of a server hands something to another.
//!
//! A connection's task looks into its mailbox each time that it is woken, and finds it empty nearly always: nothing that
//! threads would have to agree on is touched there, since a server's tasks are all on the thread of the run.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};

use super::own_thread::OwnThread;
use super::waiter::Waiter;

/// A mailbox: the end that puts in, and the end that takes out.
#[must_use]
pub fn mailbox<T>() -> (Slot<T>, Mailbox<T>) {
    let content = Content { waiting: VecDeque::new(), closed: false, reader: Waiter::default() };
    let content = Arc::new(OwnThread::new(content));
    (Slot(Arc::clone(&content)), Mailbox(content))
}

struct Content<T> {
    waiting: VecDeque<T>,
    /// True when one of the ends is gone.
    closed: bool,
    /// The task that takes out.
    reader: Waiter,
}

/// Where to put something. The mailbox is closed with it.
pub struct Slot<T>(Arc<OwnThread<Content<T>>>);

impl<T> Slot<T> {
    /// Puts something in; nobody takes it if the task has gone.
    pub fn put(&self, item: T) {
        let mut content = self.0.get();
        if !content.closed {
            content.waiting.push_back(item);
            content.reader.wake();
        }
    }
}

impl<T> Drop for Slot<T> {
    fn drop(&mut self) {
        if let Some(mut content) = self.0.try_get() {
            content.closed = true;
            content.reader.wake();
        }
    }
}

/// Where to take it from, in order.
pub struct Mailbox<T>(Arc<OwnThread<Content<T>>>);

impl<T> Mailbox<T> {
    /// The next item; none when there is nothing left and nothing more will come.
    pub async fn take(&mut self) -> Option<T> {
        poll_fn(|cx| self.poll_take(cx)).await
    }

    fn poll_take(&mut self, cx: &mut Context<'_>) -> Poll<Option<T>> {
        let mut content = self.0.get();
        match content.waiting.pop_front() {
            Some(item) => Poll::Ready(Some(item)),
            None if content.closed => Poll::Ready(None),
            None => {
                content.reader.wait(cx.waker());
                Poll::Pending
            }
        }
    }

    /// The next item, if it is there.
    pub fn take_now(&mut self) -> Option<T> {
        self.0.get().waiting.pop_front()
    }
}

impl<T> Drop for Mailbox<T> {
    fn drop(&mut self) {
        if let Some(mut content) = self.0.try_get() {
            content.closed = true;
            let left = std::mem::take(&mut content.waiting);
            drop(content);
            drop(left);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::mailbox;

    #[test]
    fn all_that_was_put_in_is_taken_out_in_order_and_then_the_end() {
        let (slot, mut mailbox) = mailbox();
        (0..3).for_each(|item| slot.put(item));
        drop(slot);
        assert_eq!(mailbox.take_now(), Some(0));
        let rest = async { [mailbox.take().await, mailbox.take().await, mailbox.take().await] };
        assert_eq!(futures_now(rest), [Some(1), Some(2), None]);
    }

    #[test]
    fn who_waits_is_woken_once_for_all_that_comes_and_at_the_end() {
        use std::sync::Arc;
        use std::sync::atomic::{AtomicUsize, Ordering};
        use std::task::{Context, Poll, Wake};
        struct Counted(AtomicUsize);
        impl Wake for Counted {
            fn wake(self: Arc<Self>) {
                self.0.fetch_add(1, Ordering::Relaxed);
            }
        }
        let counted = Arc::new(Counted(AtomicUsize::new(0)));
        let waker = counted.clone().into();
        let mut context = Context::from_waker(&waker);
        let woken = || counted.0.load(Ordering::Relaxed);
        let (slot, mut mailbox) = mailbox();
        assert_eq!(mailbox.poll_take(&mut context), Poll::Pending);
        slot.put(1);
        slot.put(2);
        assert_eq!(woken(), 1);
        assert_eq!(mailbox.poll_take(&mut context), Poll::Ready(Some(1)));
        assert_eq!(mailbox.poll_take(&mut context), Poll::Ready(Some(2)));
        assert_eq!(mailbox.poll_take(&mut context), Poll::Pending);
        drop(slot);
        assert_eq!(woken(), 2);
        assert_eq!(mailbox.poll_take(&mut context), Poll::Ready(None));
    }

    #[test]
    fn what_nobody_will_take_is_dropped() {
        let (slot, mailbox) = mailbox();
        let item = std::sync::Arc::new(());
        slot.put(item.clone());
        drop(mailbox);
        slot.put(item.clone());
        assert_eq!(std::sync::Arc::strong_count(&item), 1);
    }

    /// Of a future that does not wait.
    fn futures_now<T>(future: impl Future<Output = T>) -> T {
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        match std::pin::pin!(future).poll(&mut context) {
            std::task::Poll::Ready(value) => value,
            std::task::Poll::Pending => panic!("it waits"),
        }
    }
}
