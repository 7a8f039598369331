//! Waiting by a host's monotonic clock.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::host::Host;
use crate::base::ids::HostId;
use crate::base::time::Monotonic;
use crate::world::{Admission, TimerKey, World};

impl Host {
    /// Waits until `span` has passed on the monotonic clock.
    #[must_use]
    pub fn sleep(&self, span: Duration) -> Sleep {
        let deadline = self.world.state().monotonic(self.id) + span;
        self.sleep_until(deadline)
    }

    /// Waits until the monotonic clock shows `deadline`.
    #[must_use]
    pub fn sleep_until(&self, deadline: Monotonic) -> Sleep {
        Sleep::new(self, deadline)
    }

    /// Runs `future` until it is ready or `span` has passed on the monotonic clock. If both have happened when the
    /// process looks (after a pause, say), the future wins.
    ///
    /// # Errors
    /// [`Elapsed`] when the span has passed first.
    pub fn timeout<F: Future>(&self, span: Duration, future: F) -> Timeout<F> {
        self.timeout_boxed(span, Box::pin(future))
    }

    /// As [`timeout`](Host::timeout) for a future that is in a box already: a large one is then moved but once.
    ///
    /// # Errors
    /// [`Elapsed`] when the span has passed first.
    pub fn timeout_boxed<F: Future>(&self, span: Duration, future: Pin<Box<F>>) -> Timeout<F> {
        Timeout::new(self.sleep(span), future)
    }
}

/// Waits until a host's monotonic clock shows a deadline; made by [`Host::sleep`].
pub struct Sleep {
    world: Arc<World>,
    host: HostId,
    deadline: Monotonic,
    timer: Option<TimerKey>,
}

impl Sleep {
    pub(crate) fn new(host: &Host, deadline: Monotonic) -> Sleep {
        Sleep { world: Arc::clone(&host.world), host: host.id(), deadline, timer: None }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let this = self.get_mut();
        let mut state = this.world.state();
        // Who was stopped in this very poll, at a write beside this timer, does nothing until the pause is over.
        if state.gate(this.host, cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        if state.monotonic(this.host) >= this.deadline {
            if let Some(timer) = this.timer.take() {
                state.clear_timer(timer);
            }
            return Poll::Ready(());
        }
        let registered = this.timer.is_some_and(|timer| state.renew_timer(timer, cx.waker()));
        if !registered {
            this.timer = Some(state.set_timer(this.host, this.deadline, cx.waker()));
        }
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(timer) = self.timer.take() {
            self.world.tidy(|state| state.clear_timer(timer));
        }
    }
}

/// A span ran out before the future was ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the timeout of the host's clock ran out")]
pub struct Elapsed;

/// A future with a time limit; made by [`Host::timeout`].
pub struct Timeout<F> {
    sleep: Sleep,
    future: Pin<Box<F>>,
}

impl<F: Future> Timeout<F> {
    pub(crate) fn new(sleep: Sleep, future: Pin<Box<F>>) -> Timeout<F> {
        Timeout { sleep, future }
    }
}

impl<F: Future> Future for Timeout<F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        if let Poll::Ready(output) = self.future.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        Pin::new(&mut self.sleep).poll(cx).map(|()| Err(Elapsed))
    }
}
