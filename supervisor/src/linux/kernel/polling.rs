//! The readiness of files, asked without waiting.

use std::os::fd::{BorrowedFd, OwnedFd};

use rustix::{
    event::{PollFd, PollFlags, Timespec, poll},
    fs::{FileType, OFlags},
    io::Errno,
};

/// True if one of the files is ready for what is asked.
pub(crate) fn is_ready(files: &[(BorrowedFd<'_>, PollFlags)]) -> bool {
    which_are_ready(files).contains(&true)
}

/// Which of the files are ready for what is asked.
pub(crate) fn which_are_ready(files: &[(BorrowedFd<'_>, PollFlags)]) -> Vec<bool> {
    let mut asked: Vec<_> =
        files.iter().map(|&(file, events)| PollFd::from_borrowed_fd(file, events)).collect();
    let any = !asked.is_empty()
        && poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0);
    asked.iter().map(|file| any && !file.revents().is_empty()).collect()
}

/// True if a call on the descriptor may wait: it blocks, and its file is of such a kind.
pub(crate) fn may_wait(file: &OwnedFd) -> Result<bool, Errno> {
    let stat = rustix::fs::fstat(file)?;
    let kind = FileType::from_raw_mode(stat.st_mode);
    // Event descriptors and their kin have no type at all.
    let waits = matches!(kind, FileType::Socket | FileType::Fifo) || stat.st_mode & libc::S_IFMT == 0;
    Ok(waits && !rustix::fs::fcntl_getfl(file)?.contains(OFlags::NONBLOCK))
}
