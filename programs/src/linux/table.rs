//! The processes and threads of a group.

use super::{call::Held, notify::Notice};

/// What a thread is at.
pub(crate) enum State {
    /// It computes, or the kernel does its call.
    Running,
    /// It waits in the kernel until the process that it made by `vfork` runs a program of its own: this one, once that has called.
    Lends(Option<usize>),
    /// It made a call that was not looked at yet.
    Called(Notice),
    /// Its call waits for something.
    Held(Notice, Held),
    Dead,
}

/// One thread of a group.
pub(crate) struct Thread {
    /// The kernel's number, as the supervisor sees it.
    pub(crate) tid: u32,
    pub(crate) process: usize,
    pub(crate) state: State,
    /// The driver was told what the thread is about to do.
    pub(crate) announced: bool,
    /// The signals that are blocked during its call, if the call says so.
    pub(crate) blocks: Option<u64>,
    /// How many bytes of its write are written already.
    pub(crate) written: usize,
}

impl Thread {
    pub(crate) fn new(tid: u32, process: usize, state: State) -> Self {
        Self { tid, process, state, announced: false, blocks: None, written: 0 }
    }

    pub(crate) fn is_running(&self) -> bool {
        matches!(self.state, State::Running)
    }
}
