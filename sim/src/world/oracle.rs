//! The perfect lock: granted by the simulator itself, one holder at a time, first come first served.
//!
//! A grant ends only when nothing of it can still take effect: it was released, or its holder died, and no message
//! of that section is still on its way to the resource. It is the control that must hold in every scenario.

use std::collections::{BTreeMap, VecDeque};
use std::task::Waker;

use picklock_model::ids::{GrantId, HostId, Key};

#[derive(Default)]
pub(super) struct Oracle {
    pub(super) keys: BTreeMap<Key, Turn>,
    /// The grants that processes that stand still give back as soon as they run.
    pub(super) leaving: Vec<(HostId, GrantId, Key)>,
    /// Segments sent to the resource and not yet read there, by the section that sent them.
    pub(super) in_flight: BTreeMap<GrantId, u32>,
}

#[derive(Default)]
pub(super) struct Turn {
    pub(super) holder: Option<GrantId>,
    pub(super) released: bool,
    pub(super) queue: VecDeque<(GrantId, Waker)>,
}

impl Oracle {
    pub(super) fn nothing_in_flight(&self) -> bool {
        self.in_flight.is_empty()
    }
}
