//! Opening of files: some are answered with others, and some are out of reach.

use std::{
    collections::BTreeMap,
    os::fd::{AsFd, AsRawFd as _, OwnedFd},
    sync::Arc,
};

use rand_core::Rng;
use rustix::{
    fs::{FileType, MemfdFlags, Mode, OFlags, SealFlags, SeekFrom, fcntl_add_seals, memfd_create, open},
    io::Errno,
};
use syscalls::Sysno;

use super::answers::{Answered, Asked};
use super::paths::{Sight, spelled};
use super::stamps::Stamps;
use crate::linux::kernel::found::Found;
use crate::linux::kernel::notify::{Listener, Notice};
use crate::linux::start::apart::Apart;
use crate::linux::state::call::{Answer, Cause, Held, Late};
use crate::linux::state::context::Ctx;
use crate::linux::state::fifos::Opening;
use crate::linux::state::table::{Caller, State};
use crate::{Setup, Step};

/// Where the JVMs of a machine find each other, and what each shows the others of itself: a run would depend on who else runs there.
const OF_OTHER_JVMS: &[u8] = b"/tmp/hsperfdata_";
/// The most files that are kept for names that are asked again.
const MOST_ANSWERED: usize = 1_000;
/// Bytes of randomness that one call is given at most.
const MOST_RANDOM: usize = 1 << 20;
/// Bytes that a random file holds for reads at a position.
const HELD_RANDOM: usize = 16 << 10;

/// The file system as a program finds it.
pub(crate) struct FileSystem {
    setup: Arc<Setup>,
    apart: Apart,
    pub(crate) sight: Sight,
    /// The times of its files.
    pub(crate) stamps: Stamps,
    /// The answers for files, by their names.
    answered: BTreeMap<String, (String, OwnedFd)>,
    /// Files that stand for `/dev/urandom`.
    pub(crate) random_files: Vec<u64>,
}

impl FileSystem {
    /// With one of its files that was made when the program was started.
    pub(crate) fn new(setup: &Arc<Setup>, apart: Apart, made: &OwnedFd) -> Self {
        Self {
            setup: setup.clone(),
            apart,
            sight: Sight::new(setup.files),
            stamps: Stamps::new(made, setup.clock.wall_ns),
            answered: BTreeMap::new(),
            random_files: Vec::new(),
        }
    }

    /// `open` and its kin.
    pub(crate) fn open(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let (dir, path_at, flags) = match ctx.notice.call() {
            Sysno::open => (libc::AT_FDCWD, 0, ctx.notice.int(1)),
            Sysno::openat => (ctx.notice.int(0), 1, ctx.notice.int(2)),
            _ => (ctx.notice.int(0), 1, ctx.caller().memory().u32(ctx.notice.arg(2))? as i32),
        };
        if flags & libc::O_PATH != 0 {
            return Ok(Answer::Go);
        }
        let path = ctx.caller().memory().text(ctx.notice.arg(path_at))?;
        if path.starts_with(OF_OTHER_JVMS) {
            return Err(Errno::NOENT);
        }
        let name = match self.sight.find(ctx.caller(), dir, &path, flags & libc::O_NOFOLLOW == 0) {
            Ok(found) if found.is_random() => {
                return self.give_random_file(ctx, flags);
            }
            Ok(found) => {
                let name = found.name()?;
                if let Some(what) = self.out_of_reach(ctx.caller(), &found, &name)? {
                    let name = String::from_utf8_lossy(&name);
                    ctx.events.push_back(Step::Refused(format!("open the {what} {name}")));
                    return Err(Errno::ACCESS);
                }
                if found.kind() == FileType::Fifo && name.starts_with(b"/") {
                    let opening = Opening::new(found, flags, ctx.table.heard);
                    return opening.map_or(Ok(Answer::Go), |opening| open_fifo(ctx, opening));
                }
                if flags & libc::O_ACCMODE != libc::O_RDONLY {
                    self.stamps.note_opened(&mut self.sight, ctx.caller(), found);
                    return Ok(Answer::Go);
                }
                self.sight.usual_name(name)
            }
            Err(_) if flags & libc::O_CREAT != 0 => {
                self.stamps.expect(&mut self.sight, ctx.caller(), dir, &path);
                return Ok(Answer::Go);
            }
            // A file that is not there on the machine may be there on a simulated host.
            Err(_) => spelled(ctx.caller(), dir, &path).unwrap_or_default(),
        };
        let (Ok(name), libc::O_RDONLY) = (String::from_utf8(name), flags & libc::O_ACCMODE) else {
            return Ok(Answer::Go);
        };
        let (sight, setup, apart) = (&mut self.sight, &*self.setup, self.apart);
        match (Asked { table: ctx.table, thread: ctx.thread, sight, setup, clock: ctx.time.clock, apart })
            .answer_for(&name)
        {
            Answered::Text(text) => {
                let file = self.answered_file(name, text)?;
                give_file(ctx, flags, &file)
            }
            Answered::Absent => Err(Errno::NOENT),
            Answered::Real => Ok(Answer::Go),
        }
    }

    /// A file that says a text, opened anew. It is made once for as long as the text stays the same, as a file on a disk is.
    fn answered_file(&mut self, name: String, text: String) -> Result<OwnedFd, Errno> {
        if self.answered.len() > MOST_ANSWERED {
            self.answered.clear();
        }
        if self.answered.get(&name).is_none_or(|(before, _)| *before != text) {
            let file = memory_file(text.as_bytes())?;
            fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
            self.stamps.note_nameless(&file)?;
            self.answered.insert(name.clone(), (text, file));
        }
        let path = format!("/proc/self/fd/{}", self.answered[&name].1.as_raw_fd());
        open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
    }

    /// A file in place of `/dev/urandom`. Its reads are answered; it holds something for those who read at a position.
    fn give_random_file(&mut self, ctx: Ctx<'_>, flags: i32) -> Result<Answer, Errno> {
        let mut bytes = vec![0; HELD_RANDOM];
        ctx.table.random_of(ctx.thread).fill_bytes(&mut bytes);
        let file = memory_file(&bytes)?;
        self.random_files.push(rustix::fs::fstat(&file)?.st_ino);
        give_file(ctx, flags, &file)
    }

    /// The kind of a file that a program must not open: a device, or a pipe of the machine. Mounts keep it from devices, too.
    fn out_of_reach(
        &mut self,
        caller: Caller<'_>,
        found: &Found,
        name: &[u8],
    ) -> Result<Option<&'static str>, Errno> {
        Ok(match found.kind() {
            FileType::BlockDevice => Some("device"),
            FileType::CharacterDevice if !found.is_harmless() => Some("device"),
            FileType::Fifo if name.starts_with(b"/") && !self.sight.is_at_home(caller, &found.stat)? => {
                Some("pipe")
            }
            _ => None,
        })
    }

    /// Notes a sync of a file. It is the kernel's; nothing else runs meanwhile.
    pub(crate) fn sync(&self, ctx: Ctx<'_>) -> Answer {
        let file = std::fs::metadata(format!("/proc/{}/fd/{}", ctx.notice.thread(), ctx.notice.int(0)));
        if let (Some(syncs), Ok(file)) = (&self.setup.syncs, file) {
            syncs.note(&file);
        }
        Answer::Go
    }

    /// True if a call reads a file that stands for `/dev/urandom`.
    pub(crate) fn reads_random(&self, notice: &Notice, file: &OwnedFd) -> Result<bool, Errno> {
        if self.random_files.is_empty() || !matches!(notice.call(), Sysno::read | Sysno::readv) {
            return Ok(false);
        }
        Ok(self.random_files.contains(&rustix::fs::fstat(file)?.st_ino))
    }
}

fn give_file(ctx: Ctx<'_>, flags: i32, file: &OwnedFd) -> Result<Answer, Errno> {
    let closes = flags & libc::O_CLOEXEC != 0;
    ctx.listener.give(ctx.notice, file.as_fd(), closes).map_err(|_| Errno::MFILE)?;
    Ok(Answer::Done)
}

/// Opens a FIFO: at once if the other end is open, together with whoever waits to open that, or later.
fn open_fifo(ctx: Ctx<'_>, opening: Box<Opening>) -> Result<Answer, Errno> {
    let Ctx { table, listener, notice, .. } = ctx;
    if opening.has_partner()? {
        return Ok(Answer::Go);
    }
    let counterpart = table.threads.iter_mut().find(|thread| {
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
        give_end(listener, &their_notice, &theirs, &their_end);
    }
    give_end(listener, notice, &opening, &end);
    Ok(Answer::Done)
}

fn give_end(listener: &Listener, notice: &Notice, opening: &Opening, end: &OwnedFd) {
    let closes = opening.flags.contains(OFlags::CLOEXEC);
    if listener.give(notice, end.as_fd(), closes).is_err() {
        listener.fail(notice, Errno::MFILE);
    }
}

/// `getrandom`.
pub(crate) fn getrandom(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let (address, length) = (ctx.notice.arg(0), ctx.notice.arg(1));
    give_random(ctx, address, length)
}

fn give_random(ctx: Ctx<'_>, address: u64, length: u64) -> Result<Answer, Errno> {
    let mut bytes = vec![0; MOST_RANDOM.min(length as usize)];
    ctx.table.random_of(ctx.thread).fill_bytes(&mut bytes);
    ctx.caller().memory().write(address, &bytes)?;
    Ok(Answer::Value(bytes.len() as i64))
}

/// A read of `/dev/urandom`.
pub(crate) fn read_random(ctx: Ctx<'_>) -> Result<Answer, Errno> {
    let notice = ctx.notice;
    if notice.call() == Sysno::readv {
        // The first part alone: readers come back for the rest.
        let memory = ctx.caller().memory();
        let (address, length) = (memory.u64(notice.arg(1))?, memory.u64(notice.arg(1) + 8)?);
        return give_random(ctx, address, length);
    }
    give_random(ctx, notice.arg(1), notice.arg(2))
}

fn memory_file(bytes: &[u8]) -> Result<OwnedFd, Errno> {
    let file = memfd_create("file", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    rustix::io::write(&file, bytes)?;
    rustix::fs::seek(&file, SeekFrom::Start(0))?;
    Ok(file)
}
