//! Sockets of the unix family: they reach what the program itself has made, and nothing of the machine.
//!
//! A path is looked up in the program's own mounts, and must lead into its own directory, where nobody else makes sockets.
//! Abstract names are its own where it has a network namespace of its own; elsewhere there are none. The supervisor then
//! connects and sends for the program, with the very file that it has looked at: a call that was looked at and left to the
//! kernel would read the address once more.

use std::{
    collections::VecDeque,
    io::IoSlice,
    mem::MaybeUninit,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::{FileType, OFlags},
    io::Errno,
    net::{
        self, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrAny, SocketAddrUnix,
        SocketType, sockopt,
    },
};
use syscalls::Sysno;

use crate::linux::files::paths::{Sight, spelled};
use crate::linux::kernel::found::Found;
use crate::linux::kernel::text::{status_field, text_of};
use crate::linux::start::apart::Apart;
use crate::linux::state::call::{Answer, Cause, Held, Late};
use crate::linux::state::context::Ctx;
use crate::linux::state::table::Caller;
use crate::linux::state::time::Time;
use crate::{HOME, Step};

/// The most bytes of one datagram.
const MOST: usize = 1 << 20;
/// The most parts of one datagram, `UIO_MAXIOV`.
const MOST_PARTS: u64 = 1024;
/// The most descriptors that go along with one datagram, `SCM_MAX_FD`.
const MOST_FILES: usize = 253;
/// Asked by the C library and others on their way, and never there: no word about those.
const USUAL: [&[u8]; 5] =
    [b"/var/run/nscd/", b"/run/nscd/", b"/run/systemd/", b"/var/run/dbus/", b"/run/dbus/"];

/// Where a unix address leads.
struct Target {
    address: SocketAddrUnix,
    /// Keeps the file that the address names.
    _found: Option<Found>,
}

/// A datagram as the program hands it over.
struct Datagram {
    to: Vec<u8>,
    bytes: Vec<u8>,
    files: Vec<OwnedFd>,
}

/// The names that were made up for unix sockets, and whether there are any.
pub(crate) struct Unix {
    names: u32,
    /// Abstract names are its own.
    has_names: bool,
}

impl Unix {
    pub(crate) fn new(apart: Apart) -> Self {
        Self { names: 0, has_names: apart.network }
    }

    /// `connect` of a socket that is none of the simulated network.
    pub(crate) fn connect(
        &self,
        ctx: Ctx<'_>,
        sight: &mut Sight,
        file: &OwnedFd,
        bytes: &[u8],
    ) -> Result<Answer, Errno> {
        let Ctx { table, time, events, thread, .. } = ctx;
        let caller = table.caller(thread);
        let family = bytes.get(..2).ok_or(Errno::INVAL)?;
        if family == (libc::AF_UNSPEC as u16).to_ne_bytes() {
            net::connect_unspec(file)?;
            return Ok(Answer::Value(0));
        }
        let target = self.target(sight, events, caller, bytes, "connect to")?;
        let outcome =
            in_no_time(file, || as_thread(caller.thread().tid, || net::connect(file, &target.address)));
        unless_full(time, file, outcome.map(|()| 0))
    }

    /// `bind` of a socket that is none of the simulated network. A path is the kernel's: it can be made only where the program
    /// may write.
    pub(crate) fn bind(&mut self, ctx: Ctx<'_>, file: &OwnedFd, bytes: &[u8]) -> Result<Answer, Errno> {
        match bytes.get(2..) {
            None => Ok(Answer::Go),
            Some([]) if self.has_names => {
                // The kernel would make up a name by chance.
                self.names += 1;
                let name = format!("{:05x}", self.names);
                net::bind(file, &SocketAddrUnix::new_abstract_name(name.as_bytes())?)?;
                Ok(Answer::Value(0))
            }
            Some([] | [0, ..]) if !self.has_names => {
                ctx.events.push_back(Step::Refused("an abstract name for a unix socket".to_owned()));
                Err(Errno::ACCESS)
            }
            Some(_) => Ok(Answer::Go),
        }
    }

    /// `sendto`, `sendmsg` and `sendmmsg` with an address of their own.
    pub(crate) fn send(&self, ctx: Ctx<'_>, sight: &mut Sight, file: &OwnedFd) -> Result<Answer, Errno> {
        let Ctx { table, time, events, thread, notice, .. } = ctx;
        let caller = table.caller(thread);
        // Only datagrams go by an address; the kernel takes none for the others.
        if sockopt::socket_type(file)? != SocketType::DGRAM {
            return Ok(Answer::Go);
        }
        let (datagram, flags) = match notice.call() {
            Sysno::sendto => {
                let memory = caller.memory();
                let length = usize::try_from(notice.arg(2)).unwrap_or(usize::MAX);
                if length > MOST {
                    return Err(Errno::MSGSIZE);
                }
                let bytes = memory.read(notice.arg(1), length)?;
                let to = if notice.arg(4) == 0 {
                    Vec::new()
                } else {
                    address_at(caller, notice.arg(4), notice.int(5))?
                };
                (Datagram { to, bytes, files: Vec::new() }, notice.int(3))
            }
            Sysno::sendmsg => (datagram(caller, notice.arg(1))?, notice.int(2)),
            // The first one alone: senders come back for the rest.
            _ if notice.int(2) <= 0 => return Ok(Answer::Value(0)),
            _ => (datagram(caller, notice.arg(1))?, notice.int(3)),
        };
        let target = match datagram.to.as_slice() {
            [] => None,
            to => Some(self.target(sight, events, caller, to, "send to")?),
        };
        let wanted = SendFlags::from_bits_retain(flags as u32);
        let flags = wanted | SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
        let outcome = as_thread(caller.thread().tid, || datagram.send(file, target.as_ref(), flags));
        if outcome == Err(Errno::AGAIN) && wanted.contains(SendFlags::DONTWAIT) {
            return Err(Errno::AGAIN);
        }
        if let (Ok(sent), Sysno::sendmmsg) = (&outcome, notice.call()) {
            // `msg_len`, behind the message itself.
            let at = notice.arg(1) + size_of::<libc::msghdr>() as u64;
            caller.memory().write(at, &(*sent as u32).to_ne_bytes())?;
            return Ok(Answer::Value(1));
        }
        unless_full(time, file, outcome)
    }

    /// Where a unix address leads, if that is the program's own.
    fn target(
        &self,
        sight: &mut Sight,
        events: &mut VecDeque<Step>,
        caller: Caller<'_>,
        bytes: &[u8],
        what: &str,
    ) -> Result<Target, Errno> {
        if bytes.get(..2) != Some(&(libc::AF_UNIX as u16).to_ne_bytes())
            || bytes.len() > size_of::<libc::sockaddr_un>()
        {
            return Err(Errno::INVAL);
        }
        match &bytes[2..] {
            [] => Err(Errno::INVAL),
            [0, name @ ..] => {
                if !self.has_names {
                    let name = String::from_utf8_lossy(name);
                    events.push_back(Step::Refused(format!("{what} the abstract unix socket {name:?}")));
                    return Err(Errno::CONNREFUSED);
                }
                Ok(Target { address: SocketAddrUnix::new_abstract_name(name)?, _found: None })
            }
            path => {
                let path = path.split(|&byte| byte == 0).next().unwrap_or_default();
                let found = sight.find(caller, libc::AT_FDCWD, path, true);
                let spelled = spelled(caller, libc::AT_FDCWD, path).unwrap_or_default();
                match found {
                    Ok(found) if sight.is_at_home(caller, &found.stat)? => {
                        if found.kind() != FileType::Socket {
                            return Err(Errno::CONNREFUSED);
                        }
                        let address = SocketAddrUnix::new(found.handle())?;
                        Ok(Target { address, _found: Some(found) })
                    }
                    Err(errno) if spelled.starts_with(HOME.to_bytes()) => Err(errno),
                    // The machine knows if it is there.
                    _ => {
                        if !USUAL.iter().any(|usual| spelled.starts_with(usual)) {
                            let path = String::from_utf8_lossy(path);
                            events.push_back(Step::Refused(format!("{what} the unix socket {path:?}")));
                        }
                        Err(Errno::CONNREFUSED)
                    }
                }
            }
        }
    }
}

/// A `msghdr`, its parts, and what goes along.
fn datagram(caller: Caller<'_>, at: u64) -> Result<Datagram, Errno> {
    let memory = caller.memory();
    let word = |offset: usize| memory.u64(at + offset as u64);
    let name = word(std::mem::offset_of!(libc::msghdr, msg_name))?;
    let length = memory.u32(at + std::mem::offset_of!(libc::msghdr, msg_namelen) as u64)?;
    let to = if name == 0 { Vec::new() } else { address_at(caller, name, length as i32)? };
    let parts_at = word(std::mem::offset_of!(libc::msghdr, msg_iov))?;
    let parts = word(std::mem::offset_of!(libc::msghdr, msg_iovlen))?;
    if parts > MOST_PARTS {
        return Err(Errno::MSGSIZE);
    }
    let mut bytes = Vec::new();
    for part in 0..parts {
        let (start, length) = (memory.u64(parts_at + 16 * part)?, memory.u64(parts_at + 16 * part + 8)?);
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > MOST || bytes.len() + length > MOST {
            return Err(Errno::MSGSIZE);
        }
        bytes.extend(memory.read(start, length)?);
    }
    let along = word(std::mem::offset_of!(libc::msghdr, msg_control))?;
    let room = word(std::mem::offset_of!(libc::msghdr, msg_controllen))? as usize;
    let files = if along == 0 || room == 0 {
        Vec::new()
    } else {
        let bytes = memory.read(along, room.min(4096))?;
        files_along(caller, &bytes)?
    };
    Ok(Datagram { to, bytes, files })
}

/// The descriptors in control messages. Others have no place here: whoever names itself could lie.
fn files_along(caller: Caller<'_>, mut bytes: &[u8]) -> Result<Vec<OwnedFd>, Errno> {
    const HEAD: usize = size_of::<libc::cmsghdr>();
    let mut files = Vec::new();
    while bytes.len() >= HEAD {
        let number = |at: usize| i32::from_ne_bytes(bytes[at..at + 4].try_into().expect("four bytes"));
        let length = u64::from_ne_bytes(bytes[..8].try_into().expect("eight bytes")) as usize;
        if length < HEAD || length > bytes.len() {
            return Err(Errno::INVAL);
        }
        if (number(8), number(12)) != (libc::SOL_SOCKET, libc::SCM_RIGHTS) {
            return Err(Errno::PERM);
        }
        for fd in bytes[HEAD..length].chunks_exact(4) {
            files.push(caller.file(i32::from_ne_bytes(fd.try_into().expect("four bytes")))?);
        }
        bytes = &bytes[length.next_multiple_of(8).min(bytes.len())..];
    }
    if files.len() > MOST_FILES { Err(Errno::INVAL) } else { Ok(files) }
}

/// The bytes of an address.
fn address_at(caller: Caller<'_>, at: u64, length: i32) -> Result<Vec<u8>, Errno> {
    let length = usize::try_from(length).map_err(|_| Errno::INVAL)?;
    if length > size_of::<libc::sockaddr_storage>() {
        return Err(Errno::INVAL);
    }
    caller.memory().read(at, length)
}

/// Does something with a socket without waiting for it.
fn in_no_time<T>(file: &OwnedFd, does: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
    let flags = rustix::fs::fcntl_getfl(file)?;
    if flags.contains(OFlags::NONBLOCK) {
        return does();
    }
    rustix::fs::fcntl_setfl(file, flags | OFlags::NONBLOCK)?;
    let outcome = does();
    rustix::fs::fcntl_setfl(file, flags)?;
    outcome
}

/// Data for which the other side has no room wait, if the program does: they are tried again a little later.
fn unless_full(time: &mut Time, file: &OwnedFd, outcome: Result<usize, Errno>) -> Result<Answer, Errno> {
    match outcome {
        Ok(value) => Ok(Answer::Value(value as i64)),
        Err(Errno::AGAIN) if !rustix::fs::fcntl_getfl(file)?.contains(OFlags::NONBLOCK) => {
            let until = Some(time.in_little());
            Ok(Answer::Hold(Held { until, cause: Cause::Time, late: Late::Again }))
        }
        Err(errno) => Err(errno),
    }
}

impl Datagram {
    fn send(&self, socket: &OwnedFd, to: Option<&Target>, flags: SendFlags) -> Result<usize, Errno> {
        let files: Vec<_> = self.files.iter().map(AsFd::as_fd).collect();
        let mut room = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST_FILES))];
        let mut along = SendAncillaryBuffer::new(&mut room);
        if !files.is_empty() && !along.push(SendAncillaryMessage::ScmRights(&files)) {
            return Err(Errno::INVAL);
        }
        let parts = [IoSlice::new(&self.bytes)];
        match to {
            Some(target) => net::sendmsg_addr(
                socket,
                &SocketAddrAny::from(target.address.clone()),
                &parts,
                &mut along,
                flags,
            ),
            None => net::sendmsg(socket, &parts, &mut along, flags),
        }
    }
}

/// Does something with the rights of a thread of the program, where these are others than the supervisor's: who connects is
/// known to the other side, and may not be let in.
fn as_thread<T>(tid: u32, does: impl FnOnce() -> Result<T, Errno>) -> Result<T, Errno> {
    use rustix::thread::{Gid, Uid, set_thread_res_gid, set_thread_res_uid};
    let (user, group) = (rustix::process::geteuid(), rustix::process::getegid());
    if !user.is_root() {
        return does();
    }
    let status = text_of(format!("/proc/{tid}/status")).unwrap_or_default();
    // The last number is that for files, which follows the effective one.
    let theirs = |name: &str| status_field(&status, name).ok_or(Errno::SRCH);
    let (their_user, their_group) = (Uid::from_raw(theirs("Uid")?), Gid::from_raw(theirs("Gid")?));
    if (their_user, their_group) == (user, group) {
        return does();
    }
    let (real_user, real_group) = (rustix::process::getuid(), rustix::process::getgid());
    set_thread_res_gid(real_group, their_group, group)?;
    let outcome = set_thread_res_uid(real_user, their_user, user).and_then(|()| {
        let outcome = does();
        set_thread_res_uid(real_user, user, user).expect("root stays its saved user");
        outcome
    });
    set_thread_res_gid(real_group, group, group).expect("root may become any group");
    outcome
}
