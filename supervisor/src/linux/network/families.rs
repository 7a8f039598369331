//! The network of a program: sockets of all families, and which of them a call is about.

use std::{collections::VecDeque, sync::Arc};

use rustix::io::Errno;
use syscalls::Sysno;

use super::addresses::address;
use super::connections::Sockets;
use super::datagrams::Datagrams;
use super::netlink::Netlinks;
use super::unix::Unix;
use crate::linux::files::paths::Sight;
use crate::linux::kernel::notify::{Listener, Notice};
use crate::linux::start::apart::Apart;
use crate::linux::state::call::Answer;
use crate::linux::state::table::Caller;
use crate::linux::state::time::Time;
use crate::{Setup, Step};

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
    pub(crate) fn call(
        &mut self,
        listener: &Listener,
        sight: &mut Sight,
        time: &mut Time,
        events: &mut VecDeque<Step>,
        caller: Caller<'_>,
        notice: &Notice,
    ) -> Option<Result<Answer, Errno>> {
        let of_others = self.netlinks.call(caller, notice);
        if let Some(answer) = of_others.or_else(|| self.datagrams.call(&mut self.sockets, caller, notice)) {
            return Some(answer);
        }
        Some(match notice.call() {
            Sysno::socket => self.make(listener, caller, notice),
            Sysno::connect => self.connect(sight, time, events, caller, notice),
            Sysno::bind => self.bind(events, caller, notice),
            Sysno::listen => self.sockets.start_listening(events, caller, notice),
            Sysno::accept | Sysno::accept4 => self.sockets.take(listener, caller, notice),
            Sysno::sendto | Sysno::sendmsg | Sysno::sendmmsg => {
                self.send(sight, time, events, caller, notice)
            }
            Sysno::getsockname | Sysno::getpeername => self.sockets.names(caller, notice),
            // The number of a socket is that of its file.
            Sysno::getsockopt if (notice.int(1), notice.int(2)) == (libc::SOL_SOCKET, libc::SO_COOKIE) => {
                return None;
            }
            Sysno::setsockopt | Sysno::getsockopt => self.sockets.options(caller, notice),
            _ => return None,
        })
    }

    /// `socket`.
    fn make(&mut self, listener: &Listener, caller: Caller<'_>, notice: &Notice) -> Result<Answer, Errno> {
        match (notice.int(0), notice.int(1) & 0xff) {
            (libc::AF_UNIX, _) => Ok(Answer::Go),
            (libc::AF_INET, libc::SOCK_STREAM) => self.sockets.make(listener, notice),
            (libc::AF_INET, libc::SOCK_DGRAM) => self.datagrams.make(listener, notice),
            (libc::AF_NETLINK, _) => self.netlinks.make(listener, caller, notice),
            // Programs try it, and carry on without: no IPv6.
            _ => Err(Errno::AFNOSUPPORT),
        }
    }

    fn connect(
        &mut self,
        sight: &mut Sight,
        time: &mut Time,
        events: &mut VecDeque<Step>,
        caller: Caller<'_>,
        notice: &Notice,
    ) -> Result<Answer, Errno> {
        let file = caller.file(notice.int(0))?;
        let (to, bytes) = address(caller, notice)?;
        match self.sockets.find(&file) {
            Some(id) => self.sockets.connect(events, id, file, to),
            None => self.unix.connect(sight, time, events, caller, &file, &bytes),
        }
    }

    fn bind(
        &mut self,
        events: &mut VecDeque<Step>,
        caller: Caller<'_>,
        notice: &Notice,
    ) -> Result<Answer, Errno> {
        let file = caller.file(notice.int(0))?;
        let (at, bytes) = address(caller, notice)?;
        match self.sockets.find(&file) {
            Some(id) => self.sockets.bind(id, at),
            None => self.unix.bind(events, &file, &bytes),
        }
    }

    fn send(
        &mut self,
        sight: &mut Sight,
        time: &mut Time,
        events: &mut VecDeque<Step>,
        caller: Caller<'_>,
        notice: &Notice,
    ) -> Result<Answer, Errno> {
        let file = caller.file(notice.int(0))?;
        if self.sockets.find(&file).is_some() {
            return Ok(Answer::Go);
        }
        self.unix.send(sight, time, events, caller, &file, notice)
    }
}
