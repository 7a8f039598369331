//! The answer to a call, and the cause that a call waits for.

use rustix::io::Errno;

use super::awaited::Awaited;
use super::fifos::Opening;
use crate::{SocketId, What};

/// How a call is answered.
pub(crate) enum Answer {
    Value(i64),
    /// The kernel does the call.
    Go,
    Hold(Held),
    /// Answered already.
    Done,
    /// The driver is notified first; the call is looked at again.
    Notify(What),
}

/// A time to wait for.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Deadline {
    Monotonic(u64),
    /// Follows the wall clock when that is stepped.
    Wall(u64),
}

/// A call that waits.
pub(crate) struct Held {
    pub(crate) until: Option<Deadline>,
    pub(crate) cause: Cause,
    /// The action when the time is over.
    pub(crate) late: Late,
}

impl Held {
    /// The same wait of a copy of the thread; none if it waits for something of its own process.
    pub(crate) fn copied(&self) -> Option<Self> {
        let cause = match &self.cause {
            Cause::Time => Cause::Time,
            Cause::Futex(wait) => Cause::Futex(wait.clone()),
            _ => return None,
        };
        Some(Self { until: self.until, cause, late: self.late })
    }
}

/// The cause that a call waits for.
pub(crate) enum Cause {
    /// Only for its time.
    Time,
    /// One of these files to be ready.
    Files(Awaited),
    /// One of these signals to be pending.
    Signals(u64),
    /// Anything that another thread does: the call is tried again after a call that was heard since this one.
    Again(u64),
    /// The same, and somebody who opens the other end of a FIFO.
    Fifo(Box<Opening>),
    Futex(FutexWait),
    /// A child to end; any if none is named.
    Child(Option<u32>),
    /// The answer to a connect.
    Connect(SocketId),
}

/// A thread in a futex.
#[derive(Clone)]
pub(crate) struct FutexWait {
    pub(crate) address: u64,
    pub(crate) private: bool,
    pub(crate) bits: u32,
    pub(crate) value: u32,
    pub(crate) woken: bool,
    /// First come, first woken.
    pub(crate) order: u64,
}

/// The action on a call whose time is over.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Late {
    Answer(i64),
    Fail(Errno),
    /// The call is looked at again.
    Again,
    /// `select`: its three sets are emptied.
    Empty {
        bytes: usize,
        sets: [u64; 3],
    },
}
