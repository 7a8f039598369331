//! The fault actions that only one kind of store has: a member's program gets one, does it, and reports if it made a difference.

use std::future::poll_fn;
use std::task::Poll;

use super::host::Host;
use crate::world::Admission;
pub use crate::world::AppliedAction;

impl Host {
    /// The next action of its own kind that is applied on this host's process.
    pub async fn next_action(&self) -> AppliedAction {
        poll_fn(|cx| {
            let mut state = self.world.state();
            if state.gate(self.id, cx.waker()) == Admission::Wait {
                return Poll::Pending;
            }
            let process = state.process(self.id);
            match process.applied.pop_front() {
                Some(action) => Poll::Ready(action),
                None => {
                    process.action_waiter = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Records that a fault action made a difference: a reply became an error, a record was dropped.
    pub fn action_took_effect(&self, action: &AppliedAction) {
        self.world.state().hit_host(action.injection, self.id);
    }
}
