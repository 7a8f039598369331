//! The levers that only one kind of store has: a member's program is told, does it, and says whether it made a difference.

use std::future::poll_fn;
use std::task::Poll;

use super::host::Host;
use crate::world::Admission;
pub use crate::world::PulledLever;

impl Host {
    /// The next lever of its own kind that is pulled on this host's process.
    pub async fn next_lever(&self) -> PulledLever {
        poll_fn(|cx| {
            let mut state = self.world.state();
            if state.gate(self.id, cx.waker()) == Admission::Wait {
                return Poll::Pending;
            }
            let process = state.process(self.id);
            match process.pulled.pop_front() {
                Some(lever) => Poll::Ready(lever),
                None => {
                    process.lever_waiter = Some(cx.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }

    /// Records that a lever made a difference: a reply became an error, a record was dropped.
    pub fn lever_struck(&self, lever: &PulledLever) {
        self.world.state().strike_host(lever.injection, self.id);
    }
}
