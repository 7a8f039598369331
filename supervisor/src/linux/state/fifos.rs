//! Opening a FIFO: whoever opens one end waits until somebody opens the other.
//!
//! The kernel would let the first one sleep. Here its call is held, and both ends are opened by the supervisor when the second one comes:
//! with a handle of its own on both ends neither of them waits.

use std::os::fd::{AsFd, OwnedFd};

use rustix::{
    event::PollFlags,
    fs::{Mode, OFlags},
    io::Errno,
};

use crate::linux::kernel::found::Found;
use crate::linux::kernel::polling::is_ready;

/// A FIFO that is about to be opened.
pub(crate) struct Opening {
    found: Found,
    writes: bool,
    pub(crate) flags: OFlags,
    /// How many calls were heard when it was tried.
    pub(crate) since: u64,
}

impl Opening {
    /// The wait of an `open` of a FIFO with these flags; none if it does not wait.
    pub(crate) fn new(found: Found, flags: i32, since: u64) -> Option<Box<Self>> {
        let flags = OFlags::from_bits_retain(flags as u32);
        let mode = flags & OFlags::RWMODE;
        let waits = !flags.contains(OFlags::NONBLOCK) && (mode == OFlags::RDONLY || mode == OFlags::WRONLY);
        let kept = flags & (OFlags::RWMODE | OFlags::CLOEXEC | OFlags::APPEND);
        let opening = Self { found, writes: mode == OFlags::WRONLY, flags: kept, since };
        waits.then(|| Box::new(opening))
    }

    /// Opens an end of it, which does not wait.
    pub(crate) fn open(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        rustix::fs::open(self.found.handle(), flags | OFlags::CLOEXEC, Mode::empty())
    }

    /// True if somebody has the other end open.
    pub(crate) fn has_partner(&self) -> Result<bool, Errno> {
        if self.writes {
            return match self.open(OFlags::WRONLY | OFlags::NONBLOCK) {
                Ok(_) => Ok(true),
                Err(Errno::NXIO) => Ok(false),
                Err(errno) => Err(errno),
            };
        }
        let end = self.open(OFlags::RDONLY | OFlags::NONBLOCK)?;
        // Without a writer there is nothing to read, not even to wait for.
        let waits = || rustix::io::read(&end, &mut [0; 1]) == Err(Errno::AGAIN);
        Ok(is_ready(&[(end.as_fd(), PollFlags::IN)]) || waits())
    }

    pub(crate) fn is_other_end(&self, other: &Self) -> bool {
        let (one, two) = (&self.found.stat, &other.found.stat);
        (one.stx_mnt_id, one.stx_ino) == (two.stx_mnt_id, two.stx_ino) && self.writes != other.writes
    }
}
