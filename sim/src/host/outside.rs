//! What the driver of a program needs that was not written against [`Host`]: it is run as this host's process, and its driver
//! passes the protocol points, and reads the clocks for it.

use std::future::poll_fn;
use std::panic::resume_unwind;
use std::task::Poll;

use super::host::Host;
use crate::world::Admission;
use picklock_model::plan::Access;
use picklock_model::time::{Monotonic, WallTime};

impl Host {
    /// Comes to a protocol point and goes on when it is passed: a pause that strikes here is waited for.
    pub async fn pass(&self, access: Access) {
        self.world.state().before(self.id, access, None);
        self.gate().await;
        self.world.state().after(self.id, access, None);
        self.gate().await;
    }

    async fn gate(&self) {
        poll_fn(|cx| match self.world.state().gate(self.id, cx.waker()) {
            Admission::Wait => Poll::Pending,
            Admission::Run => Poll::Ready(()),
        })
        .await;
    }

    /// What its clocks show, without a protocol point: whoever drives a program passes those that the program comes to.
    #[must_use]
    pub fn reading(&self) -> (Monotonic, WallTime) {
        let mut state = self.world.state();
        let now = state.local_now(self.id);
        (state.monotonic(self.id), state.process(self.id).clock.wall(now))
    }

    /// The names of all hosts of its world, in their order, itself included.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.world.hosts().iter().map(|host| host.name.clone()).collect()
    }

    /// Ends the run: what runs here cannot be tested, for this reason, which is no verdict on it.
    pub fn give_up(&self, why: String) -> ! {
        resume_unwind(Box::new(Unfit(why)))
    }
}

/// Why code under test could not be tested.
#[derive(Debug)]
pub(crate) struct Unfit(pub(crate) String);
