//! Locks on files: one that is taken is waited for here, not in the kernel.
//!
//! A lock of an open file (`flock`, `F_OFD_SETLKW`) is tried by the supervisor through a handle of the same open file, which makes it the
//! program's. A lock of a process (`F_SETLKW`) only the process can take: the supervisor reads in `/proc/locks` whether it is free, and
//! then lets the kernel do the call. Whoever waits tries again after each call of another thread.
//!
//! Left out: the kernel's search for cycles of processes that wait for each other, which it answers with `EDEADLK`.

use std::{
    collections::VecDeque,
    os::fd::{AsRawFd, OwnedFd},
};

use rustix::{
    fs::{FlockOperation, flock},
    io::Errno,
};

use super::paths::Sight;
use crate::linux::kernel::found::Found;
use crate::linux::kernel::text::text_of;
use crate::linux::state::call::Answer;
use crate::linux::state::context::Ctx;
use crate::linux::state::table::Caller;
use crate::{Files, Step};

/// `flock`.
pub(crate) fn lock_file(ctx: Ctx<'_>, sight: &mut Sight) -> Result<Answer, Errno> {
    let Ctx { table, events, thread, notice, .. } = ctx;
    let caller = table.caller(thread);
    let file = caller.file(notice.int(0))?;
    if notice.int(1) & libc::LOCK_UN == 0 {
        refuse_file_of_machine(sight, events, caller, &file)?;
    }
    let operation = match notice.int(1) {
        libc::LOCK_SH => FlockOperation::NonBlockingLockShared,
        libc::LOCK_EX => FlockOperation::NonBlockingLockExclusive,
        _ => return Ok(Answer::Go),
    };
    match flock(file, operation) {
        Ok(()) => Ok(Answer::Value(0)),
        Err(Errno::WOULDBLOCK) => Ok(caller.again()),
        Err(errno) => Err(errno),
    }
}

/// Refuses locks on files of the machine: hosts would exclude each other by them, and the machine's own processes.
fn refuse_file_of_machine(
    sight: &mut Sight,
    events: &mut VecDeque<Step>,
    caller: Caller<'_>,
    file: &OwnedFd,
) -> Result<(), Errno> {
    if !is_of_machine(sight, caller, file)? {
        return Ok(());
    }
    events.push_back(Step::Refused("a lock on a file of the machine".to_owned()));
    Err(Errno::NOLCK)
}

/// True if an open file has a name outside the program's own directory. Where the machine's files may be written, they are
/// the program's, too.
fn is_of_machine(sight: &mut Sight, caller: Caller<'_>, file: &OwnedFd) -> Result<bool, Errno> {
    if sight.files == Files::Shared {
        return Ok(false);
    }
    let found = Found::new(rustix::io::fcntl_dupfd_cloexec(file, 0)?)?;
    let name = found.name()?;
    let is_named = name.starts_with(b"/") && !name.starts_with(b"/memfd:");
    Ok(is_named && !sight.is_at_home(caller, &found.stat)?)
}

/// `fcntl` that takes a lock on a part of a file, waits for one, or looks for those of others.
pub(crate) fn lock_range(ctx: Ctx<'_>, sight: &mut Sight) -> Result<Answer, Errno> {
    let Ctx { table, events, thread, notice, .. } = ctx;
    let caller = table.caller(thread);
    let file = caller.file(notice.int(0))?;
    let bytes = caller.memory().read(notice.arg(2), size_of::<libc::flock>())?;
    // SAFETY: the structure is plain numbers, and there are as many bytes.
    let lock: libc::flock = unsafe { bytes.as_ptr().cast::<libc::flock>().read_unaligned() };
    if i32::from(lock.l_type) == libc::F_UNLCK {
        return Ok(Answer::Go);
    }
    refuse_file_of_machine(sight, events, caller, &file)?;
    if !matches!(notice.int(1), libc::F_SETLKW | libc::F_OFD_SETLKW) {
        return Ok(Answer::Go);
    }
    if notice.int(1) == libc::F_OFD_SETLKW {
        // SAFETY: the pointer is to a local that outlives the call.
        if unsafe { libc::fcntl(file.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) } == 0 {
            return Ok(Answer::Value(0));
        }
        return match std::io::Error::last_os_error().raw_os_error() {
            Some(libc::EAGAIN | libc::EACCES) => Ok(caller.again()),
            errno => Err(Errno::from_raw_os_error(errno.unwrap_or(libc::EINVAL))),
        };
    }
    let pid = caller.process().pid;
    let is_free = range(&file, &lock).is_none_or(|(start, end)| is_free(&file, &lock, pid, start, end));
    if is_free { Ok(Answer::Go) } else { Ok(caller.again()) }
}

/// `fcntl` with `F_SETLEASE`: to hold up whoever opens a file.
pub(crate) fn lease(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    ctx.events.push_back(Step::Refused("a lease on a file".to_owned()));
    Err(Errno::PERM)
}

/// The bytes that a lock covers; none if it makes no sense, which the kernel says.
fn range(file: &OwnedFd, lock: &libc::flock) -> Option<(u64, u64)> {
    let base = match i32::from(lock.l_whence) {
        libc::SEEK_SET => 0,
        libc::SEEK_CUR => i64::try_from(rustix::fs::tell(file).ok()?).ok()?,
        _ => rustix::fs::fstat(file).ok()?.st_size,
    };
    let start = base.checked_add(lock.l_start)?;
    let (first, last) = match lock.l_len {
        0 => (start, i64::MAX),
        length @ 1.. => (start, start.checked_add(length - 1)?),
        length => (start.checked_add(length)?, start - 1),
    };
    Some((u64::try_from(first).ok()?, u64::try_from(last).ok()?))
}

/// True if nobody else holds a lock that forbids this one.
fn is_free(file: &OwnedFd, lock: &libc::flock, pid: u32, start: u64, end: u64) -> bool {
    let Ok(stat) = rustix::fs::fstat(file) else { return true };
    let (major, minor) = (rustix::fs::major(stat.st_dev), rustix::fs::minor(stat.st_dev));
    let id = format!("{major:02x}:{minor:02x}:{}", stat.st_ino);
    let writes = i32::from(lock.l_type) == libc::F_WRLCK;
    let locks = text_of("/proc/locks").unwrap_or_default();
    !locks
        .lines()
        .filter_map(|line| other(line, &id, pid))
        .any(|(other_writes, first, last)| (writes || other_writes) && first <= end && start <= last)
}

/// A lock on a part of this file that is not the process's own, as a line of `/proc/locks`: whether it is for writing, and its range.
fn other(line: &str, id: &str, pid: u32) -> Option<(bool, u64, u64)> {
    let mut words = line.split_whitespace().skip(1);
    let kind = words.next().filter(|kind| matches!(*kind, "POSIX" | "OFDLCK"))?;
    let (mode, holder) = (words.nth(1)?, words.next()?);
    if words.next()? != id || kind == "POSIX" && holder.parse() == Ok(pid) {
        return None;
    }
    let (first, last) = (words.next()?.parse().ok()?, words.next()?);
    Some((mode == "WRITE", first, last.parse().unwrap_or(u64::MAX)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locks_of_others_on_the_same_file_are_read() {
        let read = |line| other(line, "00:1b:57", 12);
        assert_eq!(read("1: POSIX  ADVISORY  WRITE 13 00:1b:57 0 EOF"), Some((true, 0, u64::MAX)));
        assert_eq!(read("2: OFDLCK ADVISORY  READ -1 00:1b:57 4 9"), Some((false, 4, 9)));
        assert_eq!(read("1: POSIX  ADVISORY  WRITE 12 00:1b:57 0 EOF"), None);
        assert_eq!(read("1: POSIX  ADVISORY  WRITE 13 00:1b:58 0 EOF"), None);
        assert_eq!(read("1: -> POSIX  ADVISORY  WRITE 13 00:1b:57 0 EOF"), None);
        assert_eq!(read("3: FLOCK  ADVISORY  WRITE 13 00:1b:57 0 EOF"), None);
    }
}
