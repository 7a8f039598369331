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

use super::{
    call::{Answer, Cause, Held, Late},
    group::Group,
    notify::Notice,
    paths::Found,
    polling::is_ready,
    table::State,
};

/// A FIFO that is about to be opened.
pub(crate) struct Opening {
    found: Found,
    writes: bool,
    flags: OFlags,
    /// How many calls were heard when it was tried.
    pub(crate) since: u64,
}

impl Opening {
    /// Opens an end of it, which does not wait.
    fn open(&self, flags: OFlags) -> Result<OwnedFd, Errno> {
        rustix::fs::open(self.found.handle(), flags | OFlags::CLOEXEC, Mode::empty())
    }

    /// Whether somebody has the other end open.
    fn has_partner(&self) -> Result<bool, Errno> {
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

    fn is_other_end(&self, other: &Self) -> bool {
        let (one, two) = (&self.found.stat, &other.found.stat);
        (one.stx_mnt_id, one.stx_ino) == (two.stx_mnt_id, two.stx_ino) && self.writes != other.writes
    }
}

impl Group {
    /// What an `open` of a FIFO with these flags is about to do; none if it does not wait.
    pub(crate) fn opening(&self, found: Found, flags: i32) -> Option<Box<Opening>> {
        let flags = OFlags::from_bits_retain(flags as u32);
        let mode = flags & OFlags::RWMODE;
        let waits = !flags.contains(OFlags::NONBLOCK) && (mode == OFlags::RDONLY || mode == OFlags::WRONLY);
        let kept = flags & (OFlags::RWMODE | OFlags::CLOEXEC | OFlags::APPEND);
        let opening = Opening { found, writes: mode == OFlags::WRONLY, flags: kept, since: self.table.heard };
        waits.then(|| Box::new(opening))
    }

    /// Opens a FIFO: at once if the other end is open, together with whoever waits to open that, or later.
    pub(crate) fn open_fifo(&mut self, notice: &Notice, opening: Box<Opening>) -> Result<Answer, Errno> {
        if opening.has_partner()? {
            return Ok(Answer::Go);
        }
        let counterpart = self.table.threads.iter_mut().find(|thread| {
            matches!(&thread.state, State::Held(_, held)
                if matches!(&held.cause, Cause::Fifo(other) if opening.is_other_end(other)))
        });
        let Some(other) = counterpart else {
            return Ok(Answer::Hold(Held { until: None, cause: Cause::Fifo(opening), late: Late::Again }));
        };
        let _both = opening.open(OFlags::RDWR | OFlags::NONBLOCK)?;
        let end = opening.open(opening.flags)?;
        if let State::Held(their_notice, Held { cause: Cause::Fifo(theirs), .. }) =
            std::mem::replace(&mut other.state, State::Running)
        {
            other.announced = false;
            let their_end = theirs.open(theirs.flags)?;
            self.give_end(&their_notice, &theirs, &their_end);
        }
        self.give_end(notice, &opening, &end);
        Ok(Answer::Done)
    }

    fn give_end(&self, notice: &Notice, opening: &Opening, end: &OwnedFd) {
        let closes = opening.flags.contains(OFlags::CLOEXEC);
        if self.listener.give(notice, end.as_fd(), closes).is_err() {
            self.listener.fail(notice, Errno::MFILE);
        }
    }
}
