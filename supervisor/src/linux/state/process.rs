//! One process of a group.

use std::os::fd::{AsFd, OwnedFd};

use rand_chacha::ChaCha8Rng;
use rustix::{
    event::PollFlags,
    io::Errno,
    process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open},
};

use crate::linux::kernel::clock_page::Image;
use crate::linux::kernel::memory::Memory;
use crate::linux::kernel::polling::is_ready;

/// One process of a group.
pub(crate) struct Process {
    /// The kernel's number, as the supervisor sees it.
    pub(crate) pid: u32,
    /// The number that the program sees.
    pub(crate) own_pid: u32,
    pub(crate) handle: OwnedFd,
    pub(crate) parent: Option<usize>,
    pub(crate) alive: bool,
    /// Dead, and its parent was not notified yet.
    pub(crate) unreaped: bool,
    pub(crate) image: Image,
    pub(crate) random: ChaCha8Rng,
    /// Processor time at its last call, to notice long silence.
    pub(crate) used_ns: u64,
    /// A signal was sent to it that may still be pending.
    pub(crate) signalled: bool,
}

impl Process {
    pub(crate) fn open(pid: u32) -> Result<OwnedFd, Errno> {
        let pid = Pid::from_raw(pid as i32).ok_or(Errno::SRCH)?;
        pidfd_open(pid, PidfdFlags::empty())
    }

    pub(crate) fn memory(&self) -> Memory {
        Memory(self.pid)
    }

    /// The file behind a descriptor of the process.
    pub(crate) fn file(&self, fd: i32) -> Result<OwnedFd, Errno> {
        if fd < 0 {
            return Err(Errno::BADF);
        }
        pidfd_getfd(&self.handle, fd, PidfdGetfdFlags::empty())
    }

    /// True if the process ended.
    pub(crate) fn ended(&self) -> bool {
        is_ready(&[(self.handle.as_fd(), PollFlags::IN)])
    }

    /// Processor time of all its threads.
    pub(crate) fn processor_ns(&self) -> u64 {
        let mut clock = 0;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: both pointers are to locals.
        let is_known = unsafe {
            libc::clock_getcpuclockid(self.pid as i32, &mut clock) == 0
                && libc::clock_gettime(clock, &mut time) == 0
        };
        if is_known { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 } else { 0 }
    }
}
