//! Netlink, as far as programs ask it for the interfaces of their host and for their addresses.
//!
//! The program's netlink socket is one end of a pair of unix sockets. What it sends is answered at once: the answers lie in
//! the socket when it asks for them. Left out: notifications of changes, for there are none; all that is not a question about
//! interfaces fails.

use std::{
    net::Ipv4Addr,
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    fs::OFlags,
    io::Errno,
    net::{AddressFamily, RecvFlags, SendFlags, SocketFlags, SocketType, recv, send, socketpair},
};
use syscalls::Sysno;

use super::interfaces::{Interface, PREFIX, interfaces};
use crate::linux::kernel::notify::Notice;
use crate::linux::state::call::Answer;
use crate::linux::state::context::Ctx;
use crate::linux::state::table::Caller;

/// The number of sockets at which it is looked which of them are still open.
const MANY: usize = 64;
/// The size of `struct nlmsghdr`.
const HEAD: usize = 16;
/// The size of `struct sockaddr_nl`.
const ADDRESS: usize = 12;
/// A request for all of a kind, `NLM_F_DUMP`.
const DUMP: u16 = (libc::NLM_F_ROOT | libc::NLM_F_MATCH) as u16;
/// The most bytes of one request or answer.
const MOST: usize = 64 << 10;

/// One socket.
struct Netlink {
    inode: u64,
    ours: OwnedFd,
}

/// The head of a message.
#[derive(Clone, Copy)]
struct Head {
    kind: u16,
    flags: u16,
    sequence: u32,
}

fn number<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at + N)?.try_into().ok()
}

/// A message with its head.
fn message(kind: u16, flags: u16, sequence: u32, port: u32, body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + body.len());
    bytes.extend(((HEAD + body.len()) as u32).to_ne_bytes());
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(flags.to_ne_bytes());
    bytes.extend(sequence.to_ne_bytes());
    bytes.extend(port.to_ne_bytes());
    bytes.extend(body);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// One attribute of a message.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = ((4 + value.len()) as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn text(name: &str) -> Vec<u8> {
    [name.as_bytes(), &[0]].concat()
}

/// An interface, as an `ifinfomsg` with attributes.
fn link(interface: &Interface) -> Vec<u8> {
    let mut body = vec![0, 0];
    body.extend(interface.kind.to_ne_bytes());
    body.extend(interface.index.to_ne_bytes());
    body.extend(interface.flags.to_ne_bytes());
    body.extend(0u32.to_ne_bytes());
    body.extend(attribute(libc::IFLA_IFNAME, &text(interface.name)));
    body.extend(attribute(libc::IFLA_TXQLEN, &1000u32.to_ne_bytes()));
    body.extend(attribute(libc::IFLA_MTU, &interface.mtu.to_ne_bytes()));
    body.extend(attribute(libc::IFLA_ADDRESS, &interface.hardware));
    let broadcast = if interface.broadcast.is_some() { [0xff; 6] } else { [0; 6] };
    body.extend(attribute(libc::IFLA_BROADCAST, &broadcast));
    body
}

/// Its address, as an `ifaddrmsg` with attributes.
fn address(interface: &Interface) -> Vec<u8> {
    let scope = if interface.broadcast.is_some() { libc::RT_SCOPE_UNIVERSE } else { libc::RT_SCOPE_HOST };
    let mut body = vec![libc::AF_INET as u8, PREFIX, libc::IFA_F_PERMANENT as u8, scope];
    body.extend(interface.index.to_ne_bytes());
    body.extend(attribute(libc::IFA_ADDRESS, &interface.address.octets()));
    body.extend(attribute(libc::IFA_LOCAL, &interface.address.octets()));
    if let Some(broadcast) = interface.broadcast {
        body.extend(attribute(libc::IFA_BROADCAST, &broadcast.octets()));
    }
    body.extend(attribute(libc::IFA_LABEL, &text(interface.name)));
    body
}

/// The datagrams that answer one request.
fn answers(all: &[Interface], head: Head, body: &[u8], port: u32) -> Vec<Vec<u8>> {
    let Head { kind, flags, sequence } = head;
    let is_dump = flags & DUMP == DUMP;
    let family = i32::from(body.first().copied().unwrap_or_default());
    let of_all = |kind: u16, bodies: Vec<Vec<u8>>| {
        let part = libc::NLM_F_MULTI as u16;
        let list: Vec<u8> =
            bodies.iter().flat_map(|body| message(kind, part, sequence, port, body)).collect();
        let done = message(libc::NLMSG_DONE as u16, part, sequence, port, &0i32.to_ne_bytes());
        if list.is_empty() { vec![done] } else { vec![list, done] }
    };
    let failure = |errno: Errno| {
        let mut body = (-errno.raw_os_error()).to_ne_bytes().to_vec();
        body.extend(message(kind, flags, sequence, port, &[]));
        vec![message(libc::NLMSG_ERROR as u16, 0, sequence, port, &body)]
    };
    match kind {
        libc::RTM_GETLINK if is_dump => of_all(libc::RTM_NEWLINK, all.iter().map(link).collect()),
        libc::RTM_GETLINK => {
            let index = number(body, 4).map(i32::from_ne_bytes);
            match all.iter().find(|interface| Some(interface.index) == index) {
                Some(interface) => vec![message(libc::RTM_NEWLINK, 0, sequence, port, &link(interface))],
                None => failure(Errno::NODEV),
            }
        }
        libc::RTM_GETADDR if is_dump && matches!(family, libc::AF_UNSPEC | libc::AF_INET) => {
            of_all(libc::RTM_NEWADDR, all.iter().map(address).collect())
        }
        libc::RTM_GETADDR | libc::RTM_GETROUTE if is_dump => of_all(kind, Vec::new()),
        _ => failure(Errno::OPNOTSUPP),
    }
}

/// The netlink sockets of a group.
pub(crate) struct Netlinks {
    all: Vec<Netlink>,
    host: Ipv4Addr,
}

impl Netlinks {
    /// Those of the host with this address.
    pub(crate) fn new(host: Ipv4Addr) -> Self {
        Self { all: Vec::new(), host }
    }

    /// `socket` for netlink.
    pub(crate) fn make(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let Ctx { table, listener, thread, notice, .. } = ctx;
        let caller = table.caller(thread);
        let kind = notice.int(1);
        if !matches!(kind & 0xff, libc::SOCK_RAW | libc::SOCK_DGRAM) || notice.int(2) != libc::NETLINK_ROUTE {
            return Err(Errno::AFNOSUPPORT);
        }
        let flags = SocketFlags::CLOEXEC;
        let (theirs, ours) = socketpair(AddressFamily::UNIX, SocketType::DGRAM, flags, None)?;
        if kind & libc::SOCK_NONBLOCK != 0 {
            rustix::fs::fcntl_setfl(&theirs, OFlags::NONBLOCK)?;
        }
        let inode = rustix::fs::fstat(&theirs)?.st_ino;
        let closes = kind & libc::SOCK_CLOEXEC != 0;
        listener.give(notice, theirs.as_fd(), closes).map_err(|_| Errno::MFILE)?;
        self.all.retain(|socket| socket.inode != inode);
        if self.all.len() >= MANY {
            // Those that are closed make room.
            self.all.retain(|socket| caller.holds(socket.inode));
        }
        self.all.push(Netlink { inode, ours });
        Ok(Answer::Done)
    }

    /// A call about a netlink socket; none if it is about something else.
    pub(crate) fn call(&self, caller: Caller<'_>, notice: &Notice) -> Option<Result<Answer, Errno>> {
        let may_be = matches!(
            notice.call(),
            Sysno::bind
                | Sysno::connect
                | Sysno::setsockopt
                | Sysno::getsockname
                | Sysno::getpeername
                | Sysno::sendto
                | Sysno::sendmsg
                | Sysno::write
                | Sysno::recvfrom
                | Sysno::recvmsg
        );
        if !may_be || self.all.is_empty() {
            return None;
        }
        let file = caller.file(notice.int(0)).ok()?;
        let inode = rustix::fs::fstat(&file).ok()?.st_ino;
        let at = self.all.iter().position(|socket| socket.inode == inode)?;
        let level = notice.int(1);
        Some(match notice.call() {
            Sysno::bind | Sysno::connect => Ok(Answer::Value(0)),
            Sysno::setsockopt if level != libc::SOL_SOCKET => Ok(Answer::Value(0)),
            Sysno::getsockname | Sysno::getpeername => answer_name(caller, notice),
            Sysno::sendto | Sysno::sendmsg => self.ask(caller, notice, at),
            Sysno::write => {
                let bytes = caller.memory().read(notice.arg(1), MOST.min(notice.arg(2) as usize));
                bytes.and_then(|bytes| self.answer_request(caller, at, &bytes))
            }
            Sysno::recvfrom | Sysno::recvmsg => hear_answer(caller, notice, &file),
            _ => return None,
        })
    }

    /// `sendto` and `sendmsg`.
    fn ask(&self, caller: Caller<'_>, notice: &Notice, at: usize) -> Result<Answer, Errno> {
        let memory = caller.memory();
        if notice.call() == Sysno::sendto {
            let bytes = memory.read(notice.arg(1), MOST.min(notice.arg(2) as usize))?;
            return self.answer_request(caller, at, &bytes);
        }
        let mut bytes = Vec::new();
        for (start, length) in parts_of(caller, notice.arg(1))? {
            bytes.extend(memory.read(start, MOST.min(length))?);
        }
        self.answer_request(caller, at, &bytes)
    }

    fn answer_request(&self, caller: Caller<'_>, at: usize, bytes: &[u8]) -> Result<Answer, Errno> {
        let (all, port) = (interfaces(self.host), caller.process().own_pid);
        let mut rest = bytes;
        while let Some(length) = number(rest, 0).map(|length| u32::from_ne_bytes(length) as usize) {
            if length < HEAD || length > rest.len() {
                break;
            }
            let half = |at: usize| number(rest, at).map_or(0, u16::from_ne_bytes);
            let head = Head {
                kind: half(4),
                flags: half(6),
                sequence: number(rest, 8).map_or(0, u32::from_ne_bytes),
            };
            for datagram in answers(&all, head, &rest[HEAD..length], port) {
                send(&self.all[at].ours, &datagram, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
                    .map_err(|_| Errno::NOBUFS)?;
            }
            rest = &rest[length.next_multiple_of(4).min(rest.len())..];
        }
        Ok(Answer::Value(bytes.len() as i64))
    }
}

fn answer_name(caller: Caller<'_>, notice: &Notice) -> Result<Answer, Errno> {
    let port = if notice.call() == Sysno::getsockname { caller.process().own_pid } else { 0 };
    let memory = caller.memory();
    let room = (memory.u32(notice.arg(2))? as usize).min(ADDRESS);
    memory.write(notice.arg(1), &name(port)[..room])?;
    memory.write(notice.arg(2), &(ADDRESS as u32).to_ne_bytes())?;
    Ok(Answer::Value(0))
}

/// Addresses and lengths of the parts of a `msghdr`.
fn parts_of(caller: Caller<'_>, at: u64) -> Result<Vec<(u64, usize)>, Errno> {
    let memory = caller.memory();
    let list = memory.u64(at.wrapping_add(std::mem::offset_of!(libc::msghdr, msg_iov) as u64))?;
    let count = memory.u64(at.wrapping_add(std::mem::offset_of!(libc::msghdr, msg_iovlen) as u64))?.min(64);
    (0..count)
        .map(|part| {
            Ok((
                memory.u64(list.wrapping_add(16 * part))?,
                memory.u64(list.wrapping_add(16 * part + 8))? as usize,
            ))
        })
        .collect()
}

/// `recvfrom` and `recvmsg`: what was answered, from the kernel.
fn hear_answer(caller: Caller<'_>, notice: &Notice, file: &OwnedFd) -> Result<Answer, Errno> {
    let memory = caller.memory();
    let is_message = notice.call() == Sysno::recvmsg;
    let (parts, flags) = if is_message {
        (parts_of(caller, notice.arg(1))?, notice.int(2))
    } else {
        (vec![(notice.arg(1), notice.arg(2) as usize)], notice.int(3))
    };
    let all = parts.iter().fold(0_usize, |sum, &(_, length)| sum.saturating_add(length));
    let mut room = vec![0; MOST.min(all)];
    let wanted = RecvFlags::from_bits_retain(flags as u32) & RecvFlags::PEEK;
    let (_, whole) = match recv(file, &mut room[..], wanted | RecvFlags::DONTWAIT | RecvFlags::TRUNC) {
        Err(Errno::AGAIN)
            if flags & libc::MSG_DONTWAIT == 0
                && !rustix::fs::fcntl_getfl(file)?.contains(OFlags::NONBLOCK) =>
        {
            return Ok(caller.again());
        }
        got => got?,
    };
    let got = whole.min(room.len());
    let mut left = &room[..got];
    for (start, length) in parts {
        let (part, more) = left.split_at(length.min(left.len()));
        memory.write(start, part)?;
        left = more;
    }
    let (address_at, length_at) = if is_message {
        let field = |offset: usize| notice.arg(1) + offset as u64;
        let flags = if whole > got { libc::MSG_TRUNC } else { 0 };
        memory.write(field(std::mem::offset_of!(libc::msghdr, msg_flags)), &flags.to_ne_bytes())?;
        memory.write(field(std::mem::offset_of!(libc::msghdr, msg_controllen)), &[0; 8])?;
        let address_at = memory.u64(field(std::mem::offset_of!(libc::msghdr, msg_name)))?;
        (address_at, field(std::mem::offset_of!(libc::msghdr, msg_namelen)))
    } else {
        (notice.arg(4), notice.arg(5))
    };
    if address_at != 0 {
        let room = (memory.u32(length_at)? as usize).min(ADDRESS);
        memory.write(address_at, &name(0)[..room])?;
        memory.write(length_at, &(ADDRESS as u32).to_ne_bytes())?;
    }
    Ok(Answer::Value(if flags & libc::MSG_TRUNC != 0 { whole } else { got } as i64))
}

/// A `sockaddr_nl`; that of the kernel is zero.
fn name(port: u32) -> [u8; ADDRESS] {
    let mut bytes = [0; ADDRESS];
    bytes[..2].copy_from_slice(&(libc::AF_NETLINK as u16).to_ne_bytes());
    bytes[4..8].copy_from_slice(&port.to_ne_bytes());
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_question_about_interfaces_fails() {
        let all = interfaces([10, 0, 0, 1].into());
        let ask = |kind, flags, body: &[u8]| answers(&all, Head { kind, flags, sequence: 7 }, body, 2);
        assert_eq!(ask(libc::RTM_GETADDR, DUMP, &[libc::AF_INET as u8]).len(), 2);
        assert_eq!(ask(libc::RTM_GETADDR, DUMP, &[libc::AF_INET6 as u8]).len(), 1);
        let refused = ask(libc::RTM_NEWLINK, 0, &[]);
        assert_eq!(number(&refused[0], 4), Some((libc::NLMSG_ERROR as u16).to_ne_bytes()));
        assert_eq!(number(&refused[0], HEAD), Some((-libc::EOPNOTSUPP).to_ne_bytes()));
    }
}
