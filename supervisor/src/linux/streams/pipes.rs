//! Writes to pipes: one that finds no room is held until there is some.
//!
//! The kernel would let the thread sleep, with nobody to make room: one thread runs at a time. So the supervisor writes what there is room
//! for, through a handle of its own that does not wait, and the thread's call ends when all of it is written.

use std::{io::IoSlice, os::fd::OwnedFd};

use rustix::{
    event::PollFlags,
    fs::{FileType, OFlags},
    io::{Errno, ReadWriteFlags},
};
use syscalls::Sysno;

use super::output::Streams;
use crate::linux::kernel::notify::Notice;
use crate::linux::state::awaited::Awaited;
use crate::linux::state::call::{Answer, Cause, Held, Late};
use crate::linux::state::context::Ctx;
use crate::linux::state::table::{Caller, Table};

/// The size up to which a pipe takes a write as a whole or not at all; with room for anything it has room for this.
const WHOLE: usize = libc::PIPE_BUF;
/// Bytes that are carried at once: as many as a pipe holds.
const PART: usize = 64 << 10;
/// The kernel's limit on the parts of one `writev`.
const MOST_PARTS: u64 = 1024;
/// The position of a file that has none, as `pwritev2` takes it.
const NOWHERE: u64 = u64::MAX;

/// `write` and `writev`. All but those to a pipe are the kernel's.
pub(crate) fn write(ctx: Ctx<'_>, streams: &mut Streams) -> Result<Answer, Errno> {
    let Ctx { table, thread, notice, .. } = ctx;
    let Ok(file) = table.file_of(thread, notice.int(0)) else { return Ok(Answer::Go) };
    let stat = rustix::fs::fstat(&file)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::Fifo
        || rustix::fs::fcntl_getfl(&file)?.contains(OFlags::NONBLOCK)
    {
        return Ok(Answer::Go);
    }
    let parts = parts(table.caller(thread), notice)?;
    let length = parts.iter().map(|&(_, length)| length).sum::<usize>();
    let awaited = Awaited::file(file, PollFlags::OUT);
    if length <= WHOLE && awaited.has_file() {
        return Ok(Answer::Go);
    }
    if length > WHOLE
        && let Some(answer) =
            write_in_parts(table, streams, thread, &awaited.files[0].0, stat.st_ino, &parts)?
    {
        return Ok(answer);
    }
    Ok(Answer::Hold(Held { until: None, cause: Cause::Files(awaited), late: Late::Fail(Errno::AGAIN) }))
}

/// Writes as much as there is room for; none if there is more to write.
fn write_in_parts(
    table: &mut Table,
    streams: &mut Streams,
    thread: usize,
    file: &OwnedFd,
    inode: u64,
    parts: &[(u64, usize)],
) -> Result<Option<Answer>, Errno> {
    let memory = table.memory_of(thread);
    loop {
        let written = table.threads[thread].written;
        let (address, left) = rest(parts, written);
        if left == 0 {
            return Ok(Some(Answer::Value(written as i64)));
        }
        let bytes = memory.read(address, left.min(PART))?;
        match rustix::io::pwritev2(file, &[IoSlice::new(&bytes)], NOWHERE, ReadWriteFlags::NOWAIT) {
            Ok(more) => table.threads[thread].written += more,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) if streams.makes_room(inode) => {}
            Err(Errno::AGAIN) => return Ok(None),
            // Nobody reads any more, which the kernel reports in its own way; or it cannot write without waiting (before 6.5).
            Err(_) if written == 0 => return Ok(Some(Answer::Go)),
            Err(_) => return Ok(Some(Answer::Value(written as i64))),
        }
    }
}

/// Addresses and lengths of what a call writes.
fn parts(caller: Caller<'_>, notice: &Notice) -> Result<Vec<(u64, usize)>, Errno> {
    if notice.call() == Sysno::write {
        return Ok(vec![(notice.arg(1), notice.arg(2) as usize)]);
    }
    let count = notice.arg(2);
    if count > MOST_PARTS {
        return Err(Errno::INVAL);
    }
    let bytes = caller.memory().read(notice.arg(1), count as usize * 16)?;
    let word = |bytes: &[u8]| u64::from_le_bytes(bytes.try_into().expect("eight bytes"));
    Ok(bytes.chunks_exact(16).map(|part| (word(&part[..8]), word(&part[8..]) as usize)).collect())
}

/// Where to go on after so many bytes: an address, and how many bytes follow there.
fn rest(parts: &[(u64, usize)], mut written: usize) -> (u64, usize) {
    for &(address, length) in parts {
        if written < length {
            return (address + written as u64, length - written);
        }
        written -= length;
    }
    (0, 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_write_goes_on_where_it_was_held() {
        let parts = [(1000, 3), (2000, 0), (3000, 5)];
        assert_eq!(rest(&parts, 0), (1000, 3));
        assert_eq!(rest(&parts, 2), (1002, 1));
        assert_eq!(rest(&parts, 3), (3000, 5));
        assert_eq!(rest(&parts, 8), (0, 0));
    }
}
