//! The end of a served host's process.

use picklock_model::plan::{Action, Injection, Target, When};
use picklock_model::time::TrueTime;

/// The death of a host's process.
pub(super) fn death(host: &str) -> Injection {
    Injection {
        fault: "shutdown".to_owned(),
        when: When::At { at_ns: TrueTime(0) },
        target: Target::host(host),
        action: Action::Crash { power_loss: false, restart_after: None },
    }
}
