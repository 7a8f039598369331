//! Every task of a host, wrapped so that it runs only while its process does.
//!
//! A panic of a client's task ends the run: the lock under test is at fault. A panic of a store's task ends the task, as if its process had
//! lost it, and stands in the trace as what the simulated store does not model.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use crate::base::future::BoxFuture;
use crate::host::driver::{Untestable, panic_text};
use crate::world::{Admission, World};
use picklock_model::ids::{HostId, Origin};
use picklock_model::trace::{Role, What};

pub(crate) struct Guard {
    world: Arc<World>,
    pub(super) host: HostId,
    /// True for the task that runs the critical sections: the one that a stall stops.
    critical: bool,
    /// Which of its client's tasks it belongs to.
    task: u32,
    /// True for a task of a simulated store.
    serves: bool,
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
        let role = world.hosts()[usize::from(host.0)].role;
        let serves = matches!(role, Role::Leader | Role::Follower | Role::Monitor | Role::Proxy);
        Guard { world, host, critical, task, serves, future }
    }

    /// Polls the task of a store; one that panics is over.
    fn serve(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let polled = catch_unwind(AssertUnwindSafe(|| self.future.as_mut().poll(cx)));
        polled.unwrap_or_else(|panic| {
            self.note(panic);
            Poll::Ready(())
        })
    }

    fn note(&self, panic: Box<dyn Any + Send>) {
        if panic.is::<Untestable>() {
            resume_unwind(panic);
        }
        let name = format!("a request on which the simulated store fails ({})", panic_text(panic.as_ref()));
        self.world.state().record(self.host, Origin::default(), What::NotModelled { name });
    }
}

impl Future for Guard {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        if self.world.state().admit(self.host, self.critical, self.task, cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        let outcome = if self.serves { self.serve(cx) } else { self.future.as_mut().poll(cx) };
        // Only the critical section's task has left word that it is being polled.
        if self.critical {
            self.world.state().polled(self.host);
        }
        outcome
    }
}
