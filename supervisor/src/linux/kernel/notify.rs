//! The kernel's side of the supervision: notices of calls, and answers to them.

use std::{
    collections::VecDeque,
    io,
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd},
    sync::{Mutex, PoisonError},
};

use rustix::io::Errno;
use syscalls::Sysno;

/// A call that a thread makes; the thread waits for the answer.
#[derive(Clone, Copy)]
pub(crate) struct Notice(libc::seccomp_notif);

impl Notice {
    /// The kernel's number of the thread, as the supervisor sees it.
    pub(crate) fn thread(&self) -> u32 {
        self.0.pid
    }

    pub(crate) fn call(&self) -> Sysno {
        usize::try_from(self.0.data.nr).ok().and_then(Sysno::new).unwrap_or(Sysno::restart_syscall)
    }

    pub(crate) fn arg(&self, n: usize) -> u64 {
        self.0.data.args[n]
    }

    /// An argument that is an `int`.
    pub(crate) fn int(&self, n: usize) -> i32 {
        self.0.data.args[n] as i32
    }
}

/// How an interrupted call goes on after the signal's handler, by numbers that never leave the kernel, and that no crate names.
#[derive(Clone, Copy)]
pub(crate) enum Restart {
    /// Made anew if the handler was installed so, else it fails (`ERESTARTSYS`).
    AsAsked = 512,
    /// Made anew in any case (`ERESTARTNOINTR`).
    Always = 513,
    /// Made anew if there was no handler, else it fails (`ERESTARTNOHAND`).
    WithoutHandler = 514,
}

/// The listener at a group's calls.
pub(crate) struct Listener {
    file: OwnedFd,
    /// Calls that were received while another thread was traced.
    deferred: Mutex<VecDeque<Notice>>,
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }
}

impl Listener {
    /// Listens, and hands the processor over at each notice where the kernel can (6.6 or later): ten times as fast.
    pub(crate) fn new(fd: OwnedFd) -> Self {
        // SAFETY: takes a number and no pointer. Kernels that do not know it refuse, and are merely slower.
        unsafe {
            libc::ioctl(
                fd.as_raw_fd(),
                libc::SECCOMP_IOCTL_NOTIF_SET_FLAGS,
                u64::from(linux_raw_sys::ptrace::SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP),
            );
        }
        Self { file: fd, deferred: Mutex::default() }
    }

    /// Keeps a call for later.
    pub(crate) fn defer(&self, notice: Notice) {
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner).push_back(notice);
    }

    /// The first call that was kept for later.
    pub(crate) fn deferred(&self) -> Option<Notice> {
        self.deferred.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// The next call; none if the thread died before it was reported.
    pub(crate) fn receive(&self) -> io::Result<Option<Notice>> {
        // SAFETY: all-zero bytes are a valid notice, and the kernel insists on them.
        let mut notice: libc::seccomp_notif = unsafe { std::mem::zeroed() };
        // SAFETY: the pointer is to a notice that outlives the call.
        let got = unsafe { libc::ioctl(self.file.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_RECV, &mut notice) };
        if got == 0 {
            return Ok(Some(Notice(notice)));
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::ENOENT | libc::EINTR) => Ok(None),
            _ => Err(error),
        }
    }

    fn send(&self, notice: &Notice, value: i64, error: i32, flags: u32) {
        let response = libc::seccomp_notif_resp { id: notice.0.id, val: value, error, flags };
        // SAFETY: the pointer is to a response that outlives the call. It fails if the thread died meanwhile, which
        // shows elsewhere.
        unsafe { libc::ioctl(self.file.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_SEND, &response) };
    }

    /// Ends the call with a value.
    pub(crate) fn answer(&self, notice: &Notice, value: i64) {
        self.send(notice, value, 0, 0);
    }

    /// Ends the call with an error.
    pub(crate) fn fail(&self, notice: &Notice, error: Errno) {
        self.send(notice, 0, -error.raw_os_error(), 0);
    }

    /// Interrupts the call because of a signal.
    pub(crate) fn interrupt(&self, notice: &Notice, restart: Restart) {
        self.send(notice, 0, -(restart as i32), 0);
    }

    /// Lets the kernel do the call.
    pub(crate) fn go(&self, notice: &Notice) {
        self.send(notice, 0, 0, libc::SECCOMP_USER_NOTIF_FLAG_CONTINUE as u32);
    }

    fn request(
        &self,
        notice: &Notice,
        fd: BorrowedFd<'_>,
        at: Option<RawFd>,
        flags: u32,
        closes: bool,
    ) -> io::Result<i32> {
        let flags = flags | if at.is_some() { libc::SECCOMP_ADDFD_FLAG_SETFD as u32 } else { 0 };
        let request = libc::seccomp_notif_addfd {
            id: notice.0.id,
            flags,
            srcfd: fd.as_raw_fd() as u32,
            newfd: at.unwrap_or(0) as u32,
            newfd_flags: if closes { libc::O_CLOEXEC as u32 } else { 0 },
        };
        // SAFETY: the pointer is to a request that outlives the call.
        let got = unsafe { libc::ioctl(self.file.as_raw_fd(), libc::SECCOMP_IOCTL_NOTIF_ADDFD, &request) };
        if got < 0 { Err(io::Error::last_os_error()) } else { Ok(got) }
    }

    /// Ends the call with a new descriptor of the program for `fd`.
    pub(crate) fn give(&self, notice: &Notice, fd: BorrowedFd<'_>, closes: bool) -> io::Result<i32> {
        self.request(notice, fd, None, libc::SECCOMP_ADDFD_FLAG_SEND as u32, closes)
    }

    /// Makes `fd` a new descriptor of the program, and leaves the call open.
    pub(crate) fn add(&self, notice: &Notice, fd: BorrowedFd<'_>) -> io::Result<i32> {
        self.request(notice, fd, None, 0, true)
    }

    /// Makes `fd` the program's descriptor `at`, and leaves the call open.
    pub(crate) fn place(
        &self,
        notice: &Notice,
        fd: BorrowedFd<'_>,
        at: RawFd,
        closes: bool,
    ) -> io::Result<i32> {
        self.request(notice, fd, Some(at), 0, closes)
    }
}
