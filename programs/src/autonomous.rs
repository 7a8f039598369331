//! An autonomous client: a program that takes, uses and releases the lock by itself.

use std::sync::PoisonError;

use picklock_sim::autonomous::AutonomousClient;
use picklock_sim::driver::HostDriver;
use picklock_sim::host::Host;
use picklock_sim::lock::BoxFuture;
use picklock_sim::recorder::BeliefRecorder;
use picklock_supervisor::{Setup, Status};

use crate::driver;
use crate::watch::Watch;

/// A program that does everything by itself.
pub(crate) struct AutonomousProgram {
    pub(crate) host: Host,
    pub(crate) setup: Setup,
    /// True if its tokens count.
    pub(crate) fenced: bool,
}

impl AutonomousClient for AutonomousProgram {
    fn work(&self, rounds: Vec<u32>, recorder: BeliefRecorder) -> BoxFuture<'_, ()> {
        Box::pin(async move {
            if rounds.is_empty() {
                return;
            }
            let watch = Watch::new(&self.host, recorder, rounds, self.fenced);
            let exit_report = driver::watch(&self.host, &self.setup, watch).await;
            let report = exit_report.lock().unwrap_or_else(PoisonError::into_inner).clone();
            match report.status {
                None | Some(Status::Code(0)) => {}
                Some(status) => HostDriver::of(&self.host).abort_run(format!(
                    "the program {status}. It must handle the errors of its library and exit with 0, or not exit.{}",
                    report.details()
                )),
            }
        })
    }
}
