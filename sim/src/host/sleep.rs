//! Waiting by a host's monotonic clock.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use super::host::Host;
use crate::world::{Admission, TimerKey, World};
use picklock_model::ids::HostId;
use picklock_model::time::Monotonic;

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
    pub fn timeout<F: Future>(&self, span: Duration, future: F) -> Timeout<'_, F> {
        self.timeout_boxed(span, Box::pin(future))
    }

    /// As [`timeout`](Host::timeout) for a future that is in a box already: a large one is then moved but once.
    ///
    /// # Errors
    /// [`Elapsed`] when the span has passed first.
    pub fn timeout_boxed<F: Future>(&self, span: Duration, future: Pin<Box<F>>) -> Timeout<'_, F> {
        let deadline = self.world.state().monotonic(self.id) + span;
        Timeout { world: &self.world, alarm: Alarm::new(self, deadline), future }
    }
}

/// A place on a host's monotonic clock that somebody waits for.
struct Alarm {
    host: HostId,
    deadline: Monotonic,
    timer: Option<TimerKey>,
}

impl Alarm {
    fn new(host: &Host, deadline: Monotonic) -> Alarm {
        Alarm { host: host.id(), deadline, timer: None }
    }

    fn poll(&mut self, world: &World, cx: &mut Context<'_>) -> Poll<()> {
        let mut state = world.state();
        // A process that was stopped in this very poll, at a write beside this timer, does nothing until the pause is over.
        if state.gate(self.host, cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        if state.monotonic(self.host) >= self.deadline {
            if let Some(timer) = self.timer.take() {
                state.clear_timer(timer);
            }
            return Poll::Ready(());
        }
        let registered = self.timer.is_some_and(|timer| state.renew_timer(timer, cx.waker()));
        if !registered {
            self.timer = Some(state.set_timer(self.host, self.deadline, cx.waker()));
        }
        Poll::Pending
    }

    /// Nobody waits any more.
    fn put_away(&mut self, world: &World) {
        if let Some(timer) = self.timer.take() {
            world.tidy(|state| state.clear_timer(timer));
        }
    }
}

/// Waits until a host's monotonic clock shows a deadline; made by [`Host::sleep`].
pub struct Sleep {
    world: Arc<World>,
    alarm: Alarm,
}

impl Sleep {
    pub(crate) fn new(host: &Host, deadline: Monotonic) -> Sleep {
        Sleep { world: Arc::clone(&host.world), alarm: Alarm::new(host, deadline) }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let Sleep { world, alarm } = self.get_mut();
        alarm.poll(world, cx)
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        self.alarm.put_away(&self.world);
    }
}

/// A span ran out before the future was ready.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the timeout of the host's clock ran out")]
pub struct Elapsed;

/// A future with a time limit; made by [`Host::timeout`]. Every request has one, so it only borrows its host.
pub struct Timeout<'a, F> {
    world: &'a World,
    alarm: Alarm,
    future: Pin<Box<F>>,
}

impl<F: Future> Future for Timeout<'_, F> {
    type Output = Result<F::Output, Elapsed>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let Timeout { world, alarm, future } = self.get_mut();
        if let Poll::Ready(output) = future.as_mut().poll(cx) {
            return Poll::Ready(Ok(output));
        }
        alarm.poll(world, cx).map(|()| Err(Elapsed))
    }
}

impl<F> Drop for Timeout<'_, F> {
    fn drop(&mut self) {
        self.alarm.put_away(self.world);
    }
}
