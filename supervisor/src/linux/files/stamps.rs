//! Times and numbers of files, as the program's own host would give them.
//!
//! The kernel stamps files by the machine's clock. A file in the program's own directory is looked at whenever the host's clock
//! moves on, and when the program asks: one that changed since is stamped with the time at which it did, and its time is set
//! to that, so that the next change shows whenever it comes. What has no name, such as a pipe, is as old as the program,
//! and numbered in the order of being asked for.
//!
//! Looked at are directories and files that were opened to be written; of these a hundred at most. What changes otherwise, as a
//! file does that is linked to, is stamped when it is asked for. The time of the last read is not shown: the last change's is.

use std::{
    collections::{BTreeMap, BTreeSet},
    os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd},
};

use rustix::{
    fs::{
        self, AtFlags, CWD, FileType, Mode, OFlags, Stat, Statx, StatxFlags, Timespec, Timestamps, UTIME_OMIT,
    },
    io::Errno,
};
use syscalls::Sysno;

use super::paths::Sight;
use crate::linux::kernel::found::Found;
use crate::linux::state::call::Answer;
use crate::linux::state::context::Ctx;
use crate::linux::state::table::Caller;

/// Files that are looked at when the clock moves on.
const MOST_WATCHED: usize = 100;
const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;
/// The first number of what has no name.
const FIRST_NUMBER: u64 = 1_000;

/// Nanoseconds since 1970.
type Time = u64;

/// The times of a file that are known.
#[derive(Clone, Copy)]
struct Stamp {
    born: Time,
    changed: Time,
    /// When its rights or its links changed, or it.
    status: Time,
    /// The kernel's times: when it was made, when it changed, and its status.
    kernel: [Time; 3],
}

/// A file that a call is about to make.
struct Expected {
    dir: OwnedFd,
    name: Vec<u8>,
}

/// The times of a program's files.
#[derive(Default)]
pub(crate) struct Stamps {
    known: BTreeMap<u64, Stamp>,
    watched: Vec<(u64, OwnedFd)>,
    expected: Vec<Expected>,
    numbers: Vec<u64>,
    /// Files of the supervisor's that have no name: device and number.
    nameless: BTreeSet<(u64, u64)>,
    /// When the program was started, by the machine's clock.
    start: Time,
    /// The same by its own.
    begin: Time,
}

/// The answer about a file, if it is not the machine's.
struct Shown {
    file: OwnedFd,
    /// When it was read, changed, its status changed, and it was made.
    times: [Time; 4],
    number: Option<u64>,
}

fn look(file: BorrowedFd<'_>) -> Result<Statx, Errno> {
    fs::statx(file, "", AtFlags::EMPTY_PATH, StatxFlags::BASIC_STATS | StatxFlags::BTIME | StatxFlags::MNT_ID)
}

fn time(stamp: &rustix::fs::StatxTimestamp) -> Time {
    u64::try_from(stamp.tv_sec).unwrap_or(0) * SECOND + u64::from(stamp.tv_nsec)
}

impl Stamps {
    /// With a file that was made when the program was started.
    pub(crate) fn new(made: &OwnedFd, begin: Time) -> Self {
        let start = fs::fstat(made).map_or(0, |stat| stat.st_ctime as u64 * SECOND);
        Self { start, begin, ..Self::default() }
    }

    /// True if a time is one of the machine's clock, and none that the program has set.
    fn is_real(&self, time: Time) -> bool {
        time.abs_diff(self.start) < DAY
    }

    /// The times of a file after a look at it, with the time of a change that was not seen before.
    fn note(&mut self, file: BorrowedFd<'_>, now: Time) -> Result<(Statx, Stamp), Errno> {
        let stat = look(file)?;
        let kernel = [time(&stat.stx_btime), time(&stat.stx_mtime), time(&stat.stx_ctime)];
        let before = self.known.get(&stat.stx_ino).copied().filter(|stamp| stamp.kernel[0] == kernel[0]);
        if let Some(stamp) = before.filter(|stamp| stamp.kernel == kernel) {
            return Ok((stat, stamp));
        }
        let is_real = self.is_real(kernel[1]);
        let changed = if is_real { now } else { kernel[1] };
        let mut stamp = match before {
            // Not touched since it was there: the program's directory.
            None if !is_real => Stamp { born: self.begin, changed, status: self.begin, kernel },
            None => Stamp { born: now, changed, status: now, kernel },
            Some(stamp) if stamp.kernel[1] == kernel[1] => Stamp { status: now, kernel, ..stamp },
            Some(stamp) => Stamp { changed, status: now, kernel, ..stamp },
        };
        if is_real {
            let at =
                |time: Time| Timespec { tv_sec: (time / SECOND) as i64, tv_nsec: (time % SECOND) as i64 };
            let omitted = Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT };
            let times = Timestamps { last_access: omitted, last_modification: at(stamp.changed) };
            let path = format!("/proc/self/fd/{}", file.as_raw_fd());
            if fs::utimensat(CWD, path, &times, AtFlags::empty()).is_ok() {
                let stat = look(file)?;
                stamp.kernel = [kernel[0], time(&stat.stx_mtime), time(&stat.stx_ctime)];
            }
        }
        self.known.insert(stat.stx_ino, stamp);
        Ok((stat, stamp))
    }

    fn watch(&mut self, file: OwnedFd, inode: u64) {
        if !self.watched.iter().any(|(other, _)| *other == inode) {
            if self.watched.len() == MOST_WATCHED {
                self.watched.remove(0);
            }
            self.watched.push((inode, file));
        }
    }

    /// The program will be given a file that has no name.
    pub(crate) fn note_nameless(&mut self, file: &OwnedFd) -> Result<(), Errno> {
        let stat = fs::fstat(file)?;
        self.nameless.insert((stat.st_dev, stat.st_ino));
        Ok(())
    }

    /// The number of what has no name.
    pub(crate) fn number(&mut self, inode: u64) -> u64 {
        let at = self.numbers.iter().position(|&other| other == inode).unwrap_or_else(|| {
            self.numbers.push(inode);
            self.numbers.len() - 1
        });
        FIRST_NUMBER + at as u64
    }

    /// What has no name, in the order of being asked for.
    pub(crate) fn numbered(&self) -> &[u64] {
        &self.numbers
    }

    /// The same of a program of which this one is a copy: some inodes have others instead.
    pub(crate) fn take_numbers(&mut self, numbered: &[u64], replaced: &[(u64, u64)]) {
        let new =
            |old: &u64| replaced.iter().find(|(before, _)| before == old).map_or(*old, |(_, after)| *after);
        self.numbers = numbered.iter().map(new).collect();
    }

    /// The clock moves on: what changed until now is stamped.
    pub(crate) fn stamp(&mut self, now: Time) {
        if self.watched.is_empty() && self.expected.is_empty() {
            return;
        }
        self.meet();
        let watched = std::mem::take(&mut self.watched);
        for (_, file) in &watched {
            let _ = self.note(file.as_fd(), now);
        }
        self.watched = watched;
    }

    /// A call is about to change what is in a directory of the program's own.
    pub(crate) fn expect(&mut self, sight: &mut Sight, caller: Caller<'_>, dir: i32, path: &[u8]) {
        let end = path.iter().rposition(|&byte| byte != b'/').map_or(0, |at| at + 1);
        let cut = path[..end].iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
        let (folder, name) = path[..end].split_at(cut);
        let folder = if folder.is_empty() { b"." } else { folder };
        let Ok(found) = sight.find(caller, dir, folder, true) else { return };
        if sight.is_at_home(caller, &found.stat) != Ok(true) || name.len() > 255 {
            return;
        }
        let Ok(again) = rustix::io::fcntl_dupfd_cloexec(&found.file, 0) else { return };
        self.watch(found.file, found.stat.stx_ino);
        self.expected.push(Expected { dir: again, name: name.to_vec() });
    }

    /// ClockReads for what calls were about to make.
    pub(crate) fn meet(&mut self) {
        for expected in std::mem::take(&mut self.expected) {
            let flags = OFlags::PATH | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let Ok(file) = fs::openat(&expected.dir, expected.name, flags, Mode::empty()) else { continue };
            let Ok(stat) = look(file.as_fd()) else { continue };
            if matches!(
                FileType::from_raw_mode(stat.stx_mode.into()),
                FileType::RegularFile | FileType::Directory
            ) {
                self.watch(file, stat.stx_ino);
            }
        }
    }

    /// `mkdir`, `rename` and their kin.
    pub(crate) fn change_directory(&mut self, ctx: Ctx<'_>, sight: &mut Sight) -> Result<Answer, Errno> {
        let (caller, notice) = (ctx.caller(), ctx.notice);
        let paths: &[(Option<usize>, usize)] = match notice.call() {
            Sysno::mkdir => &[(None, 0)],
            Sysno::mkdirat => &[(Some(0), 1)],
            Sysno::rename => &[(None, 0), (None, 1)],
            _ => &[(Some(0), 1), (Some(2), 3)],
        };
        for &(dir, path) in paths {
            let dir = dir.map_or(libc::AT_FDCWD, |dir| notice.int(dir));
            let path = caller.memory().text(notice.arg(path))?;
            self.expect(sight, caller, dir, &path);
        }
        Ok(Answer::Go)
    }

    /// A file of the program's own is opened to be written.
    pub(crate) fn note_opened(&mut self, sight: &mut Sight, caller: Caller<'_>, found: Found) {
        if found.kind() == FileType::RegularFile && sight.is_at_home(caller, &found.stat) == Ok(true) {
            self.watch(found.file, found.stat.stx_ino);
        }
    }

    /// `stat` and its kin.
    pub(crate) fn describe(&mut self, ctx: Ctx<'_>, sight: &mut Sight) -> Result<Answer, Errno> {
        let (now, caller, notice) = (ctx.time.clock.wall_ns, ctx.caller(), ctx.notice);
        let (dir, path, buffer, flags) = match notice.call() {
            Sysno::fstat => (notice.int(0), None, 1, libc::AT_EMPTY_PATH),
            Sysno::stat => (libc::AT_FDCWD, Some(0), 1, 0),
            Sysno::lstat => (libc::AT_FDCWD, Some(0), 1, libc::AT_SYMLINK_NOFOLLOW),
            Sysno::newfstatat => (notice.int(0), Some(1), 2, notice.int(3)),
            _ => (notice.int(0), Some(1), 4, notice.int(2)),
        };
        let path = match path {
            Some(at) if notice.arg(at) != 0 => caller.memory().text(notice.arg(at))?,
            _ => Vec::new(),
        };
        let found = if path.is_empty() && flags & libc::AT_EMPTY_PATH != 0 && dir != libc::AT_FDCWD {
            let Ok(file) = caller.file(dir) else { return Ok(Answer::Go) };
            if notice.call() != Sysno::statx && !self.nameless.is_empty() {
                let stat = fs::fstat(&file)?;
                if self.nameless.contains(&(stat.st_dev, stat.st_ino)) {
                    let number = self.number(stat.st_ino);
                    let stat = shown_stat(stat, [self.begin; 4], Some(number));
                    caller.memory().write(notice.arg(buffer), plain(&stat))?;
                    return Ok(Answer::Value(0));
                }
            }
            Found::new(file)?
        } else if is_elsewhere(&path) {
            return Ok(Answer::Go);
        } else {
            let follow = flags & libc::AT_SYMLINK_NOFOLLOW == 0;
            let Ok(found) = sight.find(caller, dir, &path, follow) else { return Ok(Answer::Go) };
            found
        };
        let Some(Shown { file, times, number }) = self.shown(sight, now, caller, found)? else {
            return Ok(Answer::Go);
        };
        let memory = caller.memory();
        if notice.call() == Sysno::statx {
            let mask = StatxFlags::from_bits_retain(notice.int(3) as u32) | StatxFlags::INO;
            let mut stat = fs::statx(&file, "", AtFlags::EMPTY_PATH, mask)?;
            let [accessed, changed, status, born] = times.map(parts);
            for (place, (seconds, nanos)) in [
                (&mut stat.stx_atime, accessed),
                (&mut stat.stx_mtime, changed),
                (&mut stat.stx_ctime, status),
                (&mut stat.stx_btime, born),
            ] {
                (place.tv_sec, place.tv_nsec) = (seconds, nanos);
            }
            stat.stx_ino = number.unwrap_or(stat.stx_ino);
            memory.write(notice.arg(buffer), plain(&stat))?;
        } else {
            let stat = shown_stat(fs::fstat(&file)?, times, number);
            memory.write(notice.arg(buffer), plain(&stat))?;
        }
        Ok(Answer::Value(0))
    }

    /// A file with its times and its number, if they are not the machine's.
    fn shown(
        &mut self,
        sight: &mut Sight,
        now: Time,
        caller: Caller<'_>,
        found: Found,
    ) -> Result<Option<Shown>, Errno> {
        if sight.is_at_home(caller, &found.stat)? {
            self.meet();
            let (stat, stamp) = self.note(found.file.as_fd(), now)?;
            let accessed = time(&stat.stx_atime);
            let accessed = if self.is_real(accessed) { stamp.changed } else { accessed };
            let times = [accessed, stamp.changed, stamp.status, stamp.born];
            return Ok(Some(Shown { file: found.file, times, number: None }));
        }
        let may_be_nameless =
            matches!(found.kind(), FileType::Fifo | FileType::Socket | FileType::RegularFile)
                || found.stat.stx_mode & libc::S_IFMT as u16 == 0;
        if !may_be_nameless {
            return Ok(None);
        }
        let name = found.name()?;
        if name.starts_with(b"/") && !name.starts_with(b"/memfd:") {
            return Ok(None);
        }
        let number = Some(self.number(found.stat.stx_ino));
        Ok(Some(Shown { file: found.file, times: [self.begin; 4], number }))
    }

    /// The number of a socket, which the kernel counts for the whole machine.
    pub(crate) fn cookie(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let (caller, notice) = (ctx.caller(), ctx.notice);
        let file = caller.file(notice.int(0))?;
        let number = self.number(fs::fstat(&file)?.st_ino);
        let memory = caller.memory();
        if (memory.u32(notice.arg(4))? as usize) < size_of::<u64>() {
            return Err(Errno::INVAL);
        }
        memory.write(notice.arg(3), &number.to_ne_bytes())?;
        memory.write(notice.arg(4), &(size_of::<u64>() as u32).to_ne_bytes())?;
        Ok(Answer::Value(0))
    }

    /// `readlink` of a descriptor that has no name: its text is its number.
    pub(crate) fn read_link(&mut self, ctx: Ctx<'_>, sight: &mut Sight) -> Result<Answer, Errno> {
        let (caller, notice) = (ctx.caller(), ctx.notice);
        let (dir, path, buffer) = match notice.call() {
            Sysno::readlink => (libc::AT_FDCWD, 0, 1),
            _ => (notice.int(0), 1, 2),
        };
        let path = caller.memory().text(notice.arg(path))?;
        let Ok(found) = sight.find(caller, dir, &path, false) else { return Ok(Answer::Go) };
        if found.kind() != FileType::Symlink || !found.is_of_processes() {
            return Ok(Answer::Go);
        }
        // A link to oneself leads the supervisor nowhere.
        let Ok(text) = fs::readlinkat(&found.file, "", Vec::new()) else { return Ok(Answer::Go) };
        let text = text.into_string().unwrap_or_default();
        let Some((kind, number)) = text.strip_suffix(']').and_then(|text| text.split_once(":[")) else {
            return Ok(Answer::Go);
        };
        let (true, Ok(number)) = (matches!(kind, "pipe" | "socket"), number.parse()) else {
            return Ok(Answer::Go);
        };
        let text = format!("{kind}:[{}]", self.number(number));
        let length = text.len().min(notice.arg(buffer + 1) as usize);
        caller.memory().write(notice.arg(buffer), &text.as_bytes()[..length])?;
        Ok(Answer::Value(length as i64))
    }
}

/// True if a path plainly leads neither into the program's own directory nor to its descriptors: most that are asked for do not.
fn is_elsewhere(path: &[u8]) -> bool {
    let mut parts = path.split(|&byte| byte == b'/');
    let from_root = parts.next() == Some(b"");
    let first = parts.next().unwrap_or_default();
    from_root
        && !matches!(first, b"" | b"." | b".." | b"dev" | b"proc" | b"run" | b"var")
        && !parts.any(|part| part == b"..")
}

/// Seconds and nanoseconds.
fn parts(time: Time) -> (i64, u32) {
    ((time / SECOND) as i64, (time % SECOND) as u32)
}

/// The kernel's answer about a file, with other times and perhaps another number.
fn shown_stat(mut stat: Stat, times: [Time; 4], number: Option<u64>) -> Stat {
    let [accessed, changed, status, _] = times.map(parts);
    (stat.st_atime, stat.st_atime_nsec) = (accessed.0, accessed.1.into());
    (stat.st_mtime, stat.st_mtime_nsec) = (changed.0, changed.1.into());
    (stat.st_ctime, stat.st_ctime_nsec) = (status.0, status.1.into());
    stat.st_ino = number.unwrap_or(stat.st_ino);
    stat
}

/// The bytes of what the kernel fills in.
fn plain<T: Copy>(value: &T) -> &[u8] {
    // SAFETY: the kernel's structures that are given here are plain numbers without gaps between them.
    unsafe { std::slice::from_raw_parts(std::ptr::from_ref(value).cast(), size_of::<T>()) }
}
