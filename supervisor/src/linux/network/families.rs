//! The network of a program: sockets of all families, and which of them a call is about.

use std::sync::Arc;

use rustix::io::Errno;
use syscalls::Sysno;

use super::addresses::address;
use super::connections::Sockets;
use super::datagrams::Datagrams;
use super::netlink::Netlinks;
use super::unix::Unix;
use crate::Setup;
use crate::linux::files::paths::Sight;
use crate::linux::kernel::notify::Notice;
use crate::linux::start::apart::Apart;
use crate::linux::state::call::Answer;
use crate::linux::state::context::Ctx;
use crate::linux::state::table::Caller;

/// The sockets of a group.
pub(crate) struct Network {
    pub(crate) sockets: Sockets,
    datagrams: Datagrams,
    netlinks: Netlinks,
    unix: Unix,
}

impl Network {
    pub(crate) fn new(setup: &Arc<Setup>, apart: Apart) -> Self {
        Self {
            sockets: Sockets::new(setup.clone()),
            datagrams: Datagrams::default(),
            netlinks: Netlinks::new(setup.address),
            unix: Unix::new(apart),
        }
    }

    /// True if a call is about a datagram socket of IPv4.
    pub(crate) fn is_of_datagrams(&self, caller: Caller<'_>, notice: &Notice) -> bool {
        self.datagrams.has(caller, notice)
    }

    /// Answers a call about sockets; none if it is about something else.
    pub(crate) fn call(&mut self, ctx: Ctx<'_>, sight: &mut Sight) -> Option<Result<Answer, Errno>> {
        let (caller, notice) = (ctx.caller(), ctx.notice);
        let of_others = self.netlinks.call(caller, notice);
        if let Some(answer) = of_others.or_else(|| self.datagrams.call(&mut self.sockets, caller, notice)) {
            return Some(answer);
        }
        Some(match notice.call() {
            Sysno::socket => self.make(ctx),
            Sysno::connect => self.connect(ctx, sight),
            Sysno::bind => self.bind(ctx),
            Sysno::listen => self.sockets.start_listening(ctx),
            Sysno::accept | Sysno::accept4 => self.sockets.take(ctx),
            Sysno::sendto | Sysno::sendmsg | Sysno::sendmmsg => self.send(ctx, sight),
            Sysno::getsockname | Sysno::getpeername => self.sockets.names(ctx),
            // The number of a socket is that of its file.
            Sysno::getsockopt if (notice.int(1), notice.int(2)) == (libc::SOL_SOCKET, libc::SO_COOKIE) => {
                return None;
            }
            Sysno::setsockopt | Sysno::getsockopt => self.sockets.options(ctx),
            _ => return None,
        })
    }

    /// `socket`.
    fn make(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        match (ctx.notice.int(0), ctx.notice.int(1) & 0xff) {
            (libc::AF_UNIX, _) => Ok(Answer::Go),
            (libc::AF_INET, libc::SOCK_STREAM) => self.sockets.make(ctx),
            (libc::AF_INET, libc::SOCK_DGRAM) => self.datagrams.make(ctx),
            (libc::AF_NETLINK, _) => self.netlinks.make(ctx),
            // Programs try it, and carry on without: no IPv6.
            _ => Err(Errno::AFNOSUPPORT),
        }
    }

    fn connect(&mut self, ctx: Ctx<'_>, sight: &mut Sight) -> Result<Answer, Errno> {
        let file = ctx.caller().file(ctx.notice.int(0))?;
        let (to, bytes) = address(ctx.caller(), ctx.notice)?;
        match self.sockets.find(&file) {
            Some(id) => self.sockets.connect(ctx, id, file, to),
            None => self.unix.connect(ctx, sight, &file, &bytes),
        }
    }

    fn bind(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let file = ctx.caller().file(ctx.notice.int(0))?;
        let (at, bytes) = address(ctx.caller(), ctx.notice)?;
        match self.sockets.find(&file) {
            Some(id) => self.sockets.bind(id, at),
            None => self.unix.bind(ctx, &file, &bytes),
        }
    }

    fn send(&mut self, ctx: Ctx<'_>, sight: &mut Sight) -> Result<Answer, Errno> {
        let file = ctx.caller().file(ctx.notice.int(0))?;
        if self.sockets.find(&file).is_some() {
            return Ok(Answer::Go);
        }
        self.unix.send(ctx, sight, &file)
    }
}
