//! The driver of a host: for a program that was not written against [`Host`] and runs as the process of one. Its driver reports
//! the injection points that the program reaches, and reads the clocks for it. A lock under test does neither.

use std::future::poll_fn;
use std::panic::resume_unwind;
use std::task::Poll;

use super::host::Host;
use crate::world::Admission;
use picklock_model::code::Stack;
use picklock_model::plan::Access;
use picklock_model::time::{Monotonic, WallTime};

/// The driver of the process of one host, from outside.
#[derive(Clone, Debug)]
pub struct HostDriver {
    host: Host,
}

impl HostDriver {
    /// The driver of this host.
    #[must_use]
    pub fn of(host: &Host) -> HostDriver {
        HostDriver { host: host.clone() }
    }

    /// Reports that the program has reached an injection point; a pause that hits here is waited for.
    pub async fn reach(&self, access: Access) {
        self.host.world.state().before(self.host.id, access, None);
        self.gate().await;
        self.host.world.state().after(self.host.id, access, None);
        self.gate().await;
    }

    /// True if this run keeps where programs are in their source.
    #[must_use]
    pub fn keeps_code(&self) -> bool {
        self.host.world.state().code.is_some()
    }

    /// What the program does from now on, it does from here; kept if the run [does so](HostDriver::keeps_code).
    pub fn at(&self, stack: Stack) {
        if let Some(code) = &mut self.host.world.state().code {
            code.at(self.host.id, stack);
        }
    }

    async fn gate(&self) {
        poll_fn(|cx| match self.host.world.state().gate(self.host.id, cx.waker()) {
            Admission::Wait => Poll::Pending,
            Admission::Run => Poll::Ready(()),
        })
        .await;
    }

    /// The readings of its clocks, without an injection point.
    #[must_use]
    pub fn clocks(&self) -> (Monotonic, WallTime) {
        let mut state = self.host.world.state();
        let now = state.local_now(self.host.id);
        (state.monotonic(self.host.id), state.process(self.host.id).clock.wall(now))
    }

    /// The names of all hosts of its world, in their order, itself included.
    #[must_use]
    pub fn host_names(&self) -> Vec<String> {
        self.host.world.hosts().iter().map(|host| host.name.clone()).collect()
    }

    /// Ends the run: what runs here cannot be tested, for this reason, which is no verdict on it.
    pub fn abort_run(&self, why: String) -> ! {
        resume_unwind(Box::new(Untestable(why)))
    }
}

/// The reason why code under test could not be tested.
#[derive(Debug)]
pub(crate) struct Untestable(pub(crate) String);

/// The message of a panic.
pub(crate) fn panic_text(panic: &(dyn std::any::Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| panic.downcast_ref::<Untestable>().map(|unfit| unfit.0.clone()));
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "no message".to_owned())
}
