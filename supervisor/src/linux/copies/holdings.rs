//! The descriptors of a process that is copied, and those that its copies are given: a copy shares none that has a state.

use std::{
    collections::{BTreeMap, btree_map::Entry},
    fs::{self, File},
    io::{self, Read, Seek, SeekFrom},
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt},
    },
    path::{Path, PathBuf},
};

use rustix::{
    event::{EventfdFlags, PollFd, PollFlags, Timespec, epoll, eventfd, poll},
    fs::OFlags,
    net::{AddressFamily, SocketFlags, SocketType, getpeername, socketpair, sockopt},
    pipe::{PipeFlags, SpliceFlags, pipe_with, tee},
};

use crate::linux::kernel::notify::{Listener, Notice};
use crate::linux::kernel::text::text_of;
use crate::linux::network::connections::Sockets;
use crate::linux::start::spawn::Ends;
use crate::linux::state::process::Process;

/// Files of the machine that are the same for all who hold them.
const STATELESS: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// The descriptors of a process.
pub(crate) struct Holdings {
    process: u32,
    held: Vec<Holding>,
    waits: Vec<Wait>,
}

/// A descriptor that copies are given anew.
struct Holding {
    fd: i32,
    closes: bool,
    flags: OFlags,
    inode: u64,
    kind: Kind,
}

enum Kind {
    /// The input or an output.
    End(usize),
    Epoll,
    Counter(u32),
    /// The end of a pipe into which is written.
    PipeIn,
    /// The other end, and what waits there to be read.
    PipeOut(Vec<u8>),
    /// A socket whose other end is closed, with nothing left to read. A JVM has one, which it puts in the place of those that it closes.
    Severed,
    /// A file that is only read, and how far.
    File(u64),
}

/// What an epoll waits for.
pub(crate) struct Wait {
    pub(crate) epoll: i32,
    pub(crate) file: i32,
    events: u32,
    data: u64,
}

impl Wait {
    /// The entry as the kernel takes it: without gaps.
    pub(crate) fn entry(&self) -> [u8; 12] {
        let mut bytes = [0; 12];
        bytes[..4].copy_from_slice(&self.events.to_ne_bytes());
        bytes[4..].copy_from_slice(&self.data.to_ne_bytes());
        bytes
    }

    /// An entry of `/proc/ID/fdinfo/FD`. None if nobody can say whether a copy would be woken as the process was: once for each change.
    fn read(epoll: i32, line: &str) -> Option<Self> {
        const EDGE: u32 = libc::EPOLLET as u32;
        const ONCE: u32 = libc::EPOLLONESHOT as u32;
        let mut words = line.split_whitespace();
        let mut field = |name: &str| words.find(|&word| word == name).and_then(|_| words.next());
        let file = field("tfd:")?.parse().ok()?;
        let events = u32::from_str_radix(field("events:")?, 16).ok()?;
        let data = u64::from_str_radix(field("data:")?, 16).ok()?;
        let is_plain = events & ONCE == 0 && (events & EDGE == 0 || events & libc::EPOLLOUT as u32 == 0);
        is_plain.then_some(Self { epoll, file, events, data })
    }
}

impl Holdings {
    /// The descriptors of a process with these ends.
    ///
    /// # Errors
    /// If copies would share one that has a state; which.
    pub(crate) fn of(
        process: &Process,
        ends: [u64; 3],
        random_files: &[u64],
        sockets: &Sockets,
    ) -> Result<Self, String> {
        let mut holdings = Self { process: process.pid, held: Vec::new(), waits: Vec::new() };
        let mut fds = Vec::new();
        for file in fs::read_dir(format!("/proc/{}/fd", process.pid)).map_err(|error| error.to_string())? {
            fds.extend(file.ok().and_then(|file| file.file_name().to_str()?.parse::<i32>().ok()));
        }
        for fd in fds {
            let path = PathBuf::from(format!("/proc/{}/fd/{fd}", process.pid));
            if holdings.add(process, fd, &path, ends, random_files, sockets).is_none() {
                let link = fs::read_link(&path).unwrap_or_default();
                return Err(format!("its descriptor {fd}, {}", link.display()));
            }
        }
        let are_given = holdings.held.iter().filter(|held| matches!(held.kind, Kind::End(_))).count() == 3;
        let is_held = |wait: &Wait| holdings.held.iter().any(|held| held.fd == wait.file);
        if are_given && holdings.waits.iter().all(is_held) {
            return Ok(holdings);
        }
        Err("its input or an output, which it has closed, or an epoll that waits for a closed file"
            .to_owned())
    }

    fn add(
        &mut self,
        process: &Process,
        fd: i32,
        path: &Path,
        ends: [u64; 3],
        random_files: &[u64],
        sockets: &Sockets,
    ) -> Option<()> {
        let info = text_of(format!("/proc/{}/fdinfo/{fd}", process.pid)).ok()?;
        let field = |name: &str| Some(info.lines().find_map(|line| line.strip_prefix(name))?.trim());
        let flags = OFlags::from_bits_retain(u32::from_str_radix(field("flags:")?, 8).ok()?);
        let (metadata, link) = (fs::metadata(path).ok()?, fs::read_link(path).ok()?);
        let (inode, link) = (metadata.ino(), link.to_str()?);
        let kind = match link {
            _ if ends.get(fd as usize).is_some() => {
                let is_as_given = ends[fd as usize] == inode && !flags.intersects(ends_changed());
                is_as_given.then_some(Kind::End(fd as usize))?
            }
            _ if random_files.contains(&inode) || STATELESS.contains(&link) => return Some(()),
            "anon_inode:[eventpoll]" => {
                for line in info.lines().filter(|line| line.starts_with("tfd:")) {
                    self.waits.push(Wait::read(fd, line)?);
                }
                Kind::Epoll
            }
            "anon_inode:[eventfd]" if field("eventfd-semaphore:")? == "0" => {
                Kind::Counter(u32::from_str_radix(field("eventfd-count:")?, 16).ok()?)
            }
            _ if metadata.file_type().is_fifo() && link.starts_with("pipe:") => {
                if flags.contains(OFlags::WRONLY) {
                    Kind::PipeIn
                } else {
                    Kind::PipeOut(content(&process.file(fd).ok()?).ok()?)
                }
            }
            _ if metadata.file_type().is_socket() => {
                let socket = process.file(fd).ok()?;
                (sockets.find(&socket).is_none() && is_severed(&socket)).then_some(Kind::Severed)?
            }
            _ if (metadata.is_file() || metadata.is_dir()) && !link.starts_with("/proc/") => {
                let only_reads = !flags.intersects(OFlags::WRONLY | OFlags::RDWR);
                only_reads.then_some(Kind::File(field("pos:")?.parse().ok()?))?
            }
            _ => return None,
        };
        let has_twin = |held: &Holding| held.inode == inode && is_same(process.pid, held.fd, fd);
        if self.held.iter().any(has_twin) {
            return None;
        }
        self.held.push(Holding { fd, closes: flags.contains(OFlags::CLOEXEC), flags, inode, kind });
        Some(())
    }
}

/// Flags of an input or an output that a program has changed, and that copies are not given.
fn ends_changed() -> OFlags {
    OFlags::APPEND | OFlags::from_bits_retain(libc::O_ASYNC as u32)
}

/// Both ends of the pipe that takes the place of this one.
fn pipe(pipes: &mut BTreeMap<u64, (OwnedFd, OwnedFd)>, inode: u64) -> io::Result<&(OwnedFd, OwnedFd)> {
    Ok(match pipes.entry(inode) {
        Entry::Occupied(there) => there.into_mut(),
        Entry::Vacant(place) => place.insert(pipe_with(PipeFlags::CLOEXEC)?),
    })
}

/// What waits in a pipe to be read; it stays there.
fn content(pipe: &OwnedFd) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; rustix::io::ioctl_fionread(pipe)? as usize];
    if bytes.is_empty() {
        return Ok(bytes);
    }
    let (reads, writes) = pipe_with(PipeFlags::CLOEXEC)?;
    let copied = tee(pipe, &writes, bytes.len(), SpliceFlags::NONBLOCK)?;
    // What one pipe holds fits into another: unless somebody has made it larger.
    if copied < bytes.len() || File::from(reads).read(&mut bytes)? < bytes.len() {
        return Err(io::Error::other("it holds too much"));
    }
    Ok(bytes)
}

/// True for a stream within the machine whose other end is closed, with nothing left to read.
fn is_severed(socket: &OwnedFd) -> bool {
    let is_stream = sockopt::socket_domain(socket) == Ok(AddressFamily::UNIX)
        && sockopt::socket_type(socket) == Ok(SocketType::STREAM);
    let mut asked = [PollFd::new(socket, PollFlags::IN)];
    // One that never was connected looks the same otherwise.
    let was_connected = getpeername(socket).is_ok();
    let is_over = poll(&mut asked, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok()
        && asked[0].revents().contains(PollFlags::HUP);
    is_stream && was_connected && is_over && rustix::io::ioctl_fionread(socket) == Ok(0)
}

/// True if two descriptors of a process are one, or nobody can say.
fn is_same(process: u32, one: i32, other: i32) -> bool {
    /// `KCMP_FILE`.
    const FILE: i32 = 0;
    // SAFETY: plain numbers.
    unsafe { libc::syscall(libc::SYS_kcmp, process, process, FILE, one, other) <= 0 }
}

/// The descriptors that one copy is given.
pub(crate) struct Outfit<'a> {
    holdings: &'a Holdings,
    ends: &'a Ends,
    listener: &'a Listener,
    /// The numbers of files that were replaced, and of what replaced them.
    pub(crate) replaced: Vec<(u64, u64)>,
}

impl<'a> Outfit<'a> {
    pub(crate) fn new(holdings: &'a Holdings, ends: &'a Ends, listener: &'a Listener) -> Self {
        Self { holdings, ends, listener, replaced: Vec::new() }
    }

    /// What the epolls of a copy wait for.
    pub(crate) fn waits(&self) -> &[Wait] {
        &self.holdings.waits
    }

    /// Gives a copy its descriptors, at one of its calls.
    pub(crate) fn place(&mut self, call: &Notice) -> io::Result<()> {
        let mut pipes = BTreeMap::new();
        for held in &self.holdings.held {
            let file = self.anew(held, &mut pipes)?;
            if !matches!(held.kind, Kind::Epoll | Kind::File(_)) {
                rustix::io::ioctl_fionbio(&file, held.flags.contains(OFlags::NONBLOCK))?;
            }
            self.give(call, held, file.as_fd())?;
        }
        Ok(())
    }

    /// What takes the place of a descriptor.
    fn anew(&self, held: &Holding, pipes: &mut BTreeMap<u64, (OwnedFd, OwnedFd)>) -> io::Result<OwnedFd> {
        Ok(match &held.kind {
            Kind::End(end) => self.ends.theirs[*end].try_clone()?,
            Kind::Epoll => epoll::create(epoll::CreateFlags::empty())?,
            Kind::Counter(value) => eventfd(*value, EventfdFlags::empty())?,
            Kind::PipeIn => pipe(pipes, held.inode)?.1.try_clone()?,
            Kind::PipeOut(content) => {
                let (reads, writes) = pipe(pipes, held.inode)?;
                rustix::io::write(writes, content)?;
                reads.try_clone()?
            }
            Kind::Severed => {
                socketpair(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)?.0
            }
            Kind::File(position) => {
                let path = format!("/proc/{}/fd/{}", self.holdings.process, held.fd);
                let flags = held.flags.difference(OFlags::CLOEXEC | OFlags::NOFOLLOW);
                let mut file = File::options().read(true).custom_flags(flags.bits() as i32).open(path)?;
                file.seek(SeekFrom::Start(*position))?;
                file.into()
            }
        })
    }

    fn give(&mut self, call: &Notice, held: &Holding, file: BorrowedFd<'_>) -> io::Result<()> {
        self.replaced.push((held.inode, rustix::fs::fstat(file)?.st_ino));
        self.listener.place(call, file, held.fd, held.closes).map(drop)
    }
}
