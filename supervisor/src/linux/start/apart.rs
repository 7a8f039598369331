//! The names by which processes of one machine find each other, which a program has for itself like its files and its
//! processes. Shared memory, semaphores and queues are numbered in an IPC namespace, abstract names of unix sockets belong to a
//! network namespace.
//!
//! Where one of them is forbidden, what it would hold is refused: nothing of it reaches the machine's.

use std::{
    io,
    os::fd::OwnedFd,
    sync::atomic::{AtomicUsize, Ordering},
};

use super::child::fork;

/// Which namespaces a program has, beside those that it cannot be without.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Apart {
    /// True if what is shared by number or name is its own.
    pub(crate) ipc: bool,
    /// Abstract names are its own.
    pub(crate) network: bool,
}

/// The combinations to try, the best first.
const TRIED: [Apart; 4] = [
    Apart { ipc: true, network: true },
    Apart { ipc: true, network: false },
    Apart { ipc: false, network: true },
    Apart { ipc: false, network: false },
];

/// The first of them that this machine has not refused yet.
static FIRST: AtomicUsize = AtomicUsize::new(0);

/// A copy of this process in namespaces of its own: in those that are asked for, and in as many of the others as there can be.
///
/// # Safety
/// As for [`fork`].
pub(super) unsafe fn fork_apart(namespaces: i32) -> io::Result<(Option<OwnedFd>, Apart)> {
    let mut refused = io::Error::from_raw_os_error(libc::EPERM);
    let first = FIRST.load(Ordering::Relaxed);
    for (at, apart) in TRIED.into_iter().enumerate().skip(first) {
        let more = if apart.ipc { libc::CLONE_NEWIPC } else { 0 }
            | if apart.network { libc::CLONE_NEWNET } else { 0 };
        // SAFETY: as the caller says.
        match unsafe { fork(namespaces | more) } {
            Ok(copy) => {
                FIRST.store(at, Ordering::Relaxed);
                return Ok((copy, apart));
            }
            Err(error) => refused = error,
        }
    }
    Err(refused)
}
