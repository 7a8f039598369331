//! Datagrams of IPv4: sockets that can be asked, and that carry nothing.
//!
//! Programs make one to ask for the interfaces of their host, or for the address from which a connection would come, which `connect` and
//! `getsockname` give without a message: the C library orders addresses so. What is sent is refused as at a port where nobody
//! listens.

use std::{net::SocketAddrV4, os::fd::AsFd as _};

use rustix::{
    fs::OFlags,
    io::Errno,
    net::{AddressFamily, SocketFlags, SocketType, socketpair},
};
use syscalls::Sysno;

use super::addresses::{address, write_address};
use super::connections::Sockets;
use crate::linux::kernel::notify::Notice;
use crate::linux::state::call::Answer;
use crate::linux::state::context::Ctx;
use crate::linux::state::table::Caller;

/// One socket.
struct Datagram {
    inode: u64,
    local: Option<SocketAddrV4>,
    peer: Option<SocketAddrV4>,
}

/// The datagram sockets of a group.
#[derive(Default)]
pub(crate) struct Datagrams(Vec<Datagram>);

impl Datagrams {
    /// `socket` for datagrams: a unix socket whose other end is closed, so that what is sent is refused.
    pub(crate) fn make(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let Ctx { listener, notice, .. } = ctx;
        let kind = notice.int(1);
        let (theirs, _) = socketpair(AddressFamily::UNIX, SocketType::DGRAM, SocketFlags::CLOEXEC, None)?;
        if kind & libc::SOCK_NONBLOCK != 0 {
            rustix::fs::fcntl_setfl(&theirs, OFlags::NONBLOCK)?;
        }
        let inode = rustix::fs::fstat(&theirs)?.st_ino;
        listener.give(notice, theirs.as_fd(), kind & libc::SOCK_CLOEXEC != 0).map_err(|_| Errno::MFILE)?;
        self.0.retain(|socket| socket.inode != inode);
        self.0.push(Datagram { inode, local: None, peer: None });
        Ok(Answer::Done)
    }

    fn find(&self, caller: Caller<'_>, notice: &Notice) -> Option<usize> {
        if self.0.is_empty() {
            return None;
        }
        let file = caller.file(notice.int(0)).ok()?;
        let inode = rustix::fs::fstat(&file).ok()?.st_ino;
        self.0.iter().position(|socket| socket.inode == inode)
    }

    /// True if a call is about such a socket.
    pub(crate) fn has(&self, caller: Caller<'_>, notice: &Notice) -> bool {
        self.find(caller, notice).is_some()
    }

    /// A call about such a socket; none if it is about something else.
    pub(crate) fn call(
        &mut self,
        sockets: &mut Sockets,
        caller: Caller<'_>,
        notice: &Notice,
    ) -> Option<Result<Answer, Errno>> {
        if !matches!(
            notice.call(),
            Sysno::bind
                | Sysno::connect
                | Sysno::getsockname
                | Sysno::getpeername
                | Sysno::setsockopt
                | Sysno::sendto
                | Sysno::sendmsg
                | Sysno::sendmmsg
        ) {
            return None;
        }
        let at = self.find(caller, notice)?;
        Some(match notice.call() {
            Sysno::bind | Sysno::connect => self.name(sockets, caller, notice, at),
            Sysno::getsockname | Sysno::getpeername => {
                let socket = &self.0[at];
                match (notice.call(), socket.peer) {
                    (Sysno::getpeername, None) => Err(Errno::NOTCONN),
                    (Sysno::getpeername, peer) => write_address(caller, notice.arg(1), notice.arg(2), peer),
                    _ => write_address(caller, notice.arg(1), notice.arg(2), socket.local),
                }
                .map(|()| Answer::Value(0))
            }
            Sysno::setsockopt if notice.int(1) == libc::SOL_SOCKET => return None,
            Sysno::setsockopt => Ok(Answer::Value(0)),
            _ => Err(Errno::CONNREFUSED),
        })
    }

    fn name(
        &mut self,
        sockets: &mut Sockets,
        caller: Caller<'_>,
        notice: &Notice,
        at: usize,
    ) -> Result<Answer, Errno> {
        let (given, bytes) = address(caller, notice)?;
        let connects = notice.call() == Sysno::connect;
        if connects && bytes.get(..2) == Some(&(libc::AF_UNSPEC as u16).to_ne_bytes()) {
            self.0[at].peer = None;
            return Ok(Answer::Value(0));
        }
        let address = given.ok_or(Errno::AFNOSUPPORT)?;
        if !connects {
            if !sockets.is_own(*address.ip()) {
                return Err(Errno::ADDRNOTAVAIL);
            }
            let port = if address.port() == 0 { sockets.next_port() } else { address.port() };
            self.0[at].local = Some(SocketAddrV4::new(*address.ip(), port));
            return Ok(Answer::Value(0));
        }
        if !sockets.is_known(*address.ip()) {
            return Err(Errno::NETUNREACH);
        }
        let own = if address.ip().is_loopback() { *address.ip() } else { sockets.host() };
        let port = match self.0[at].local {
            Some(local) => local.port(),
            None => sockets.next_port(),
        };
        let socket = &mut self.0[at];
        (socket.local, socket.peer) = (Some(SocketAddrV4::new(own, port)), Some(address));
        Ok(Answer::Value(0))
    }
}
