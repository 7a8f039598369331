//! How the process of a host begins: as it is started, as a copy, or to be copied.

use std::sync::{Arc, Mutex};

use picklock_sim::host::Host;
use picklock_supervisor::{Setup, StartError, Template};

/// The place for a program that was warmed up, or for the reason why it cannot be copied.
pub(crate) type Slot = Arc<Mutex<Option<Result<Template, String>>>>;

/// Warms up the program of a host.
type Run = Box<dyn Fn(&Host, &Setup) -> Result<Template, BeginError> + Send>;

/// A warm-up.
pub(crate) struct Warm {
    /// What it depends on besides the program and its hosts, in words.
    pub(crate) world: String,
    /// How it is done.
    pub(crate) run: Run,
}

/// How a program begins.
pub(crate) enum Beginning {
    /// As it is started, or as a copy that has done the same.
    Started,
    /// As a copy of a program that was warmed up.
    Warmed(Warm),
    /// To be copied once it is asked to stop.
    ToBeCopied(Slot),
}

/// The reason why a program did not begin.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BeginError {
    #[error(transparent)]
    Start(#[from] StartError),
    #[error("warm the program up: {0}; leave `warm` out, or see docs/guide/programs.md#warm-starts")]
    World(String),
    #[error(
        "copy the program after its warm-up: copies would share {0}; leave `warm` out, or see docs/guide/programs.md#warm-starts"
    )]
    Shares(String),
}
