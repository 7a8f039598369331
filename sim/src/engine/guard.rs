//! Every task of a host, wrapped so that it runs only while its process does.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::base::future::BoxFuture;
use crate::world::{Admission, World};
use picklock_model::ids::HostId;

pub(crate) struct Guard {
    world: Arc<World>,
    pub(super) host: HostId,
    /// True for the task that runs the critical sections: the one that a stall stops.
    critical: bool,
    /// Which of its client's tasks it belongs to.
    task: u32,
    future: BoxFuture<'static, ()>,
}

impl Guard {
    pub(crate) fn new(
        world: Arc<World>,
        host: HostId,
        critical: bool,
        task: u32,
        future: BoxFuture<'static, ()>,
    ) -> Guard {
        Guard { world, host, critical, task, future }
    }
}

impl Future for Guard {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.world.state().admit(self.host, self.critical, self.task, cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        let outcome = self.future.as_mut().poll(cx);
        // Only the critical section's task has left word that it is being polled.
        if self.critical {
            self.world.state().polled(self.host);
        }
        outcome
    }
}
