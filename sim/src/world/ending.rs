//! The end of a run: when all clients are done, or at its horizon; and the fresh client that comes in between, if the plan
//! has one.

use std::collections::{BTreeMap, BTreeSet};
use std::task::Waker;
use std::time::Duration;

use picklock_model::ids::{HostId, Key};
use picklock_model::time::TrueTime;
use picklock_model::trace::Conditions;

/// The state of the end of a run.
pub(crate) struct Ending {
    /// The run ends here at the latest.
    pub(crate) horizon: TrueTime,
    /// The host of the fresh client that asks for every key at the end, and how long that may take.
    pub(super) final_client: Option<(HostId, Duration)>,
    /// The terms by which progress is judged.
    pub(super) terms: Terms,
    /// The end of a run that goes on past its horizon, at the latest.
    pub(super) last: Option<TrueTime>,
    /// The keys for which it goes on that nobody has got yet.
    pub(super) free: Option<BTreeSet<Key>>,
    /// When it was let in.
    pub(crate) came: Option<TrueTime>,
    /// The run is over when it would be let in.
    pub(super) without_it: bool,
    /// Clients count as done when they are past this section of theirs.
    pub(super) last_section: Option<u32>,
    /// It waits here to be let in.
    pub(super) waiting: Option<Waker>,
    /// Keys of sections that have begun and not been released without an error: the first to be asked for.
    pub(super) open: BTreeMap<(HostId, u32), Key>,
}

impl Ending {
    pub(super) fn new(horizon: Duration) -> Ending {
        Ending {
            horizon: TrueTime(0) + horizon,
            final_client: None,
            terms: Terms::default(),
            last: None,
            free: None,
            came: None,
            without_it: false,
            last_section: None,
            waiting: None,
            open: BTreeMap::new(),
        }
    }
}

/// The terms by which progress is judged, as far as the end of the run depends on them.
#[derive(Clone, Copy, Default)]
pub(crate) struct Terms {
    /// The conditions that the design claims to survive.
    pub(crate) survives: Conditions,
    /// For how long a key may be free while somebody waits for it.
    pub(crate) bound: Duration,
    /// For how long a client without power may block others.
    pub(crate) silent_client: Duration,
    /// For how long a client waits for the answer of a store without power.
    pub(crate) silent_store: Duration,
    /// For how long the run goes on past its horizon at most.
    pub(crate) decide: Duration,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// Somebody still has something to do.
    Busy,
    /// The fresh client has just been let in, and has not been polled yet; or the run goes on past its horizon.
    LetIn,
    /// Everybody is done.
    Over,
}

/// How a client that has done its sections is wanted in the background.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanted {
    /// A fault lasts, or a section that it may have hit, and nobody asks for the lock: somebody should.
    Now,
    /// That may still come.
    Later,
    /// All sections are done and all faults have healed.
    NoMore,
}
