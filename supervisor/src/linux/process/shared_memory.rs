//! Shared memory, which no limit of a process counts: shared mappings without a file, memfds, and segments by number.
//!
//! Their pages live as long as any process has a part of them, so that a mapping says little about the memory behind it. The program may
//! therefore ask for no more than the limit of a process over its whole life. The size of a memfd is limited like that of a file, so that
//! each counts as the largest file; those that no process has any more do not count.

use std::{
    collections::{BTreeSet, VecDeque},
    fs,
};

use rustix::{fs::FileType, io::Errno};
use syscalls::Sysno;

use crate::Step;
use crate::linux::kernel::found::Found;
use crate::linux::kernel::text::text_of;
use crate::linux::state::call::Answer;
use crate::linux::state::context::Ctx;
use crate::linux::state::table::{Caller, Table};

/// Bytes of a page.
const PAGE: u64 = 4096;
/// The start of the name of a memfd.
const NAME: &str = "/memfd:";

/// The shared memory that a program has asked for.
#[derive(Default)]
pub(crate) struct SharedMemory {
    /// Bytes of mappings without a file, and of segments.
    bytes: u64,
    memfds: u64,
    /// A message was sent that may hold a descriptor, which no process has until it is received.
    has_sent: bool,
}

impl SharedMemory {
    /// A message is sent that may hold descriptors.
    pub(crate) fn note_message(&mut self) {
        self.has_sent = true;
    }

    /// `mmap` with `MAP_SHARED`, or of memory that no limit counts as it grows.
    pub(crate) fn map(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let Ctx { table, events, thread, notice, .. } = ctx;
        let caller = table.caller(thread);
        if notice.int(3) & libc::MAP_GROWSDOWN != 0 {
            events.push_back(Step::Refused("memory that grows by itself".to_owned()));
            return Err(Errno::INVAL);
        }
        let has_file = notice.int(3) & libc::MAP_ANONYMOUS == 0;
        if has_file && !is_zero(caller, notice.int(4)) {
            return Ok(Answer::Go);
        }
        self.take(events, caller.limits().memory, notice.arg(1))
    }

    /// `shmget`, which may make a segment.
    pub(crate) fn make_segment(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let Ctx { table, events, notice, .. } = ctx;
        let makes = notice.int(0) == libc::IPC_PRIVATE || notice.int(2) & libc::IPC_CREAT != 0;
        if notice.call() != Sysno::shmget || !makes {
            return Ok(Answer::Go);
        }
        self.take(events, table.limits.memory, notice.arg(1))
    }

    /// `memfd_create`.
    pub(crate) fn make_file(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let Ctx { table, events, .. } = ctx;
        let most = (table.limits.memory / table.limits.file.max(1)).max(1);
        if self.memfds >= most && !self.has_sent {
            self.memfds = memfds(table);
        }
        if self.memfds >= most {
            events.push_back(Step::Refused(format!("more than {most} memfds")));
            return Err(Errno::NOMEM);
        }
        self.memfds += 1;
        Ok(Answer::Go)
    }

    fn take(&mut self, events: &mut VecDeque<Step>, most: u64, length: u64) -> Result<Answer, Errno> {
        let bytes = self.bytes.saturating_add(length.div_ceil(PAGE).saturating_mul(PAGE));
        if bytes > most {
            events.push_back(Step::Refused(format!("more than {} MiB of shared memory", most >> 20)));
            return Err(Errno::NOMEM);
        }
        self.bytes = bytes;
        Ok(Answer::Go)
    }
}

/// True for `/dev/zero`, of which a shared mapping is memory without a file.
fn is_zero(caller: Caller<'_>, fd: i32) -> bool {
    let found = caller.file(fd).and_then(Found::new);
    found.is_ok_and(|found| {
        found.kind() == FileType::CharacterDevice
            && (found.stat.stx_rdev_major, found.stat.stx_rdev_minor) == (1, 5)
    })
}

/// The number of memfds that processes have open or mapped.
fn memfds(table: &Table) -> u64 {
    let mut found = BTreeSet::new();
    for process in table.processes.iter().filter(|process| process.alive) {
        let files = fs::read_dir(format!("/proc/{}/fd", process.pid)).into_iter().flatten().flatten();
        for file in files.map(|entry| entry.path()) {
            let is_memfd = fs::read_link(&file).is_ok_and(|link| link.to_string_lossy().starts_with(NAME));
            let inode = is_memfd.then(|| rustix::fs::stat(&file).ok()).flatten();
            found.extend(inode.map(|stat| stat.st_ino));
        }
        let maps = text_of(format!("/proc/{}/maps", process.pid)).unwrap_or_default();
        let mapped = maps.lines().filter(|line| line.contains(NAME));
        found.extend(mapped.filter_map(|line| line.split_whitespace().nth(4)?.parse::<u64>().ok()));
    }
    found.len() as u64
}
