//! Opening of files: some are answered with others, and some are out of reach.

use std::os::fd::{AsFd, AsRawFd as _, OwnedFd};

use rand_core::Rng;
use rustix::{
    fs::{FileType, MemfdFlags, Mode, OFlags, SealFlags, SeekFrom, fcntl_add_seals, memfd_create, open},
    io::Errno,
};
use syscalls::Sysno;

use super::{answers::Answered, call::Answer, group::Group, notify::Notice, paths::Found};
use crate::Step;

/// Bytes of randomness that one call is given at most.
const MOST_RANDOM: usize = 1 << 20;
/// Bytes that a random file holds for reads at a position.
const HELD_RANDOM: usize = 16 << 10;

impl Group {
    pub(crate) fn open(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let (dir, path_at, flags) = match notice.call() {
            Sysno::open => (libc::AT_FDCWD, 0, notice.int(1)),
            Sysno::openat => (notice.int(0), 1, notice.int(2)),
            _ => (notice.int(0), 1, self.table.memory_of(thread).u32(notice.arg(2))? as i32),
        };
        if flags & libc::O_PATH != 0 {
            return Ok(Answer::Go);
        }
        let path = self.table.memory_of(thread).text(notice.arg(path_at))?;
        let name = match self.find(thread, dir, &path, flags & libc::O_NOFOLLOW == 0) {
            Ok(found) if found.is_random() => return self.give_random_file(thread, notice, flags),
            Ok(found) => {
                let name = found.name()?;
                if let Some(what) = self.out_of_reach(&found, &name)? {
                    let name = String::from_utf8_lossy(&name);
                    self.events.push_back(Step::Refused(format!("open the {what} {name}")));
                    return Err(Errno::ACCESS);
                }
                if found.kind() == FileType::Fifo && name.starts_with(b"/") {
                    let opening = self.opening(found, flags);
                    return opening.map_or(Ok(Answer::Go), |opening| self.open_fifo(notice, opening));
                }
                if flags & libc::O_ACCMODE != libc::O_RDONLY {
                    self.watch(found);
                    return Ok(Answer::Go);
                }
                self.usual_name(name)
            }
            Err(_) if flags & libc::O_CREAT != 0 => {
                self.expect(thread, dir, &path);
                return Ok(Answer::Go);
            }
            // What is not there on the machine may be there on a simulated host.
            Err(_) => self.spelled(thread, dir, &path).unwrap_or_default(),
        };
        let (Ok(name), libc::O_RDONLY) = (String::from_utf8(name), flags & libc::O_ACCMODE) else {
            return Ok(Answer::Go);
        };
        match self.answer_for(thread, &name) {
            Answered::Text(text) => {
                let file = self.answered_file(name, text)?;
                self.give_file(notice, flags, &file)
            }
            Answered::Absent => Err(Errno::NOENT),
            Answered::Real => Ok(Answer::Go),
        }
    }

    /// A file that says a text, opened anew. It is made once for as long as the text stays the same, as a file on a disk is.
    fn answered_file(&mut self, name: String, text: String) -> Result<OwnedFd, Errno> {
        if self.answered.get(&name).is_none_or(|(before, _)| *before != text) {
            let file = memory_file(text.as_bytes())?;
            fcntl_add_seals(&file, SealFlags::WRITE | SealFlags::SHRINK | SealFlags::GROW | SealFlags::SEAL)?;
            self.stamps.note_nameless(&file)?;
            self.answered.insert(name.clone(), (text, file));
        }
        let path = format!("/proc/self/fd/{}", self.answered[&name].1.as_raw_fd());
        open(path, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty())
    }

    fn give_file(&mut self, notice: &Notice, flags: i32, file: &OwnedFd) -> Result<Answer, Errno> {
        let closes = flags & libc::O_CLOEXEC != 0;
        self.listener.give(notice, file.as_fd(), closes).map_err(|_| Errno::MFILE)?;
        Ok(Answer::Done)
    }

    /// A file in place of `/dev/urandom`. Its reads are answered; it holds something for those who read at a position.
    fn give_random_file(&mut self, thread: usize, notice: &Notice, flags: i32) -> Result<Answer, Errno> {
        let mut bytes = vec![0; HELD_RANDOM];
        self.table.random_of(thread).fill_bytes(&mut bytes);
        let file = memory_file(&bytes)?;
        self.random_files.push(rustix::fs::fstat(&file)?.st_ino);
        self.give_file(notice, flags, &file)
    }

    /// What a file is that a program must not open: a device, or a pipe of the machine. Mounts keep it from devices, too.
    fn out_of_reach(&mut self, found: &Found, name: &[u8]) -> Result<Option<&'static str>, Errno> {
        Ok(match found.kind() {
            FileType::BlockDevice => Some("device"),
            FileType::CharacterDevice if !found.is_harmless() => Some("device"),
            FileType::Fifo if name.starts_with(b"/") && !self.view()?.is_at_home(&found.stat) => Some("pipe"),
            _ => None,
        })
    }

    /// Notes a sync of a file. It is the kernel's; nothing else runs meanwhile.
    pub(crate) fn sync(&self, notice: &Notice) -> Answer {
        let file = std::fs::metadata(format!("/proc/{}/fd/{}", notice.thread(), notice.int(0)));
        if let (Some(syncs), Ok(file)) = (&self.setup.syncs, file) {
            syncs.note(&file);
        }
        Answer::Go
    }

    pub(crate) fn getrandom(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        self.give_random(thread, notice.arg(0), notice.arg(1))
    }

    fn give_random(&mut self, thread: usize, address: u64, length: u64) -> Result<Answer, Errno> {
        let mut bytes = vec![0; MOST_RANDOM.min(length as usize)];
        self.table.random_of(thread).fill_bytes(&mut bytes);
        self.table.memory_of(thread).write(address, &bytes)?;
        Ok(Answer::Value(bytes.len() as i64))
    }

    /// A read of `/dev/urandom`.
    pub(crate) fn read_random(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        if notice.call() == Sysno::readv {
            // The first part alone: readers come back for the rest.
            let memory = self.table.memory_of(thread);
            let (address, length) = (memory.u64(notice.arg(1))?, memory.u64(notice.arg(1) + 8)?);
            return self.give_random(thread, address, length);
        }
        self.give_random(thread, notice.arg(1), notice.arg(2))
    }
}

fn memory_file(bytes: &[u8]) -> Result<OwnedFd, Errno> {
    let file = memfd_create("file", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
    rustix::io::write(&file, bytes)?;
    rustix::fs::seek(&file, SeekFrom::Start(0))?;
    Ok(file)
}
