//! The processes and threads of a group.

use std::os::fd::{AsFd, OwnedFd};

use rand_chacha::ChaCha8Rng;
use rustix::{
    event::PollFlags,
    fs::{FileType, OFlags},
    io::Errno,
    process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open},
};

use super::{awaited::Awaited, clock_page::Image, fifos::Opening, memory::Memory, notify::Notice};

/// One process of a group.
pub(crate) struct Process {
    /// The kernel's number, as the supervisor sees it.
    pub(crate) pid: u32,
    /// The number that the program sees.
    pub(crate) own_pid: u32,
    pub(crate) handle: OwnedFd,
    pub(crate) parent: Option<usize>,
    pub(crate) alive: bool,
    /// Dead, and its parent was not told yet.
    pub(crate) unreaped: bool,
    /// It was just given a new program, or is about to be.
    pub(crate) fresh: bool,
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

    /// Whether the process ended.
    pub(crate) fn ended(&self) -> bool {
        super::waiting::is_ready(&[(self.handle.as_fd(), PollFlags::IN)])
    }

    /// Processor time of all its threads.
    pub(crate) fn processor_ns(&self) -> u64 {
        let mut clock = 0;
        let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: both pointers are to locals.
        let told = unsafe {
            libc::clock_getcpuclockid(self.pid as i32, &mut clock) == 0
                && libc::clock_gettime(clock, &mut time) == 0
        };
        if told { time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64 } else { 0 }
    }
}

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
    /// What is done when the time is over.
    pub(crate) late: Late,
}

/// What a call waits for.
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
    Connect(crate::SocketId),
}

/// A thread in a futex.
pub(crate) struct FutexWait {
    pub(crate) address: u64,
    pub(crate) private: bool,
    pub(crate) bits: u32,
    pub(crate) value: u32,
    pub(crate) woken: bool,
    /// First come, first woken.
    pub(crate) order: u64,
}

/// What is done with a call whose time is over.
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

/// What kind of file a descriptor is, as far as waiting goes.
pub(crate) fn may_wait(file: &OwnedFd) -> Result<bool, Errno> {
    let stat = rustix::fs::fstat(file)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    // Event descriptors and their kin have no type at all.
    let waits = matches!(kind, FileType::Socket | FileType::Fifo) || stat.st_mode & libc::S_IFMT == 0;
    Ok(waits && !rustix::fs::fcntl_getfl(file)?.contains(OFlags::NONBLOCK))
}

/// A field of `/proc/ID/status`.
pub(crate) fn status_field(status: &str, name: &str) -> Option<u32> {
    let line = status.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
    line.split_whitespace().last()?.parse().ok()
}
