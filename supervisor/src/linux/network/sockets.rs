//! The program's calls about its network, and the driver's answers; `connections` says what is behind them.

use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddrV4},
    os::fd::{AsFd, OwnedFd},
};

use rustix::{
    event::PollFlags,
    fs::OFlags,
    io::Errno,
    net::{self, AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, sockopt},
};
use syscalls::Sysno;

use super::addresses::write_address;
use super::connections::{BUFFER, Socket, Sockets, Stage, fill};
use super::options::{is_kept, is_refused};
use crate::linux::kernel::polling::is_ready;
use crate::linux::state::awaited::Awaited;
use crate::linux::state::call::{Answer, Cause, Held, Late};
use crate::linux::state::context::Ctx;
use crate::linux::state::table::Table;
use crate::{ConnectError, Ending, SocketId, Step};

/// The longest value that is kept, in bytes; the longest of the kernel's own (a route of IP, a signature's key) are shorter.
const LONGEST: usize = 256;
/// The size of `struct tcp_info` up to the fields that Linux 3.10 had.
const INFO: usize = 104;

impl Sockets {
    /// `socket` for a stream.
    pub(crate) fn make(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let Ctx { listener, notice, .. } = ctx;
        let kind = notice.int(1);
        let mut flags = SocketFlags::CLOEXEC;
        flags.set(SocketFlags::NONBLOCK, kind & libc::SOCK_NONBLOCK != 0);
        let file = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let _ = sockopt::set_socket_send_buffer_size(&file, BUFFER);
        let inode = rustix::fs::fstat(&file)?.st_ino;
        let closes = kind & libc::SOCK_CLOEXEC != 0;
        listener.give(notice, file.as_fd(), closes).map_err(|_| Errno::MFILE)?;
        self.add(inode, Stage::Fresh);
        Ok(Answer::Done)
    }

    /// `connect` of one of them.
    pub(crate) fn connect(
        &mut self,
        ctx: Ctx<'_>,
        id: SocketId,
        file: OwnedFd,
        to: Option<SocketAddrV4>,
    ) -> Result<Answer, Errno> {
        match &mut self.get(id).stage {
            Stage::Fresh => {}
            Stage::Answered(_) => {
                let socket = self.get(id);
                let Stage::Answered(answer) = std::mem::replace(&mut socket.stage, Stage::Fresh) else {
                    return Err(Errno::INVAL);
                };
                answer?;
                let ours = self.join(&file)?;
                let socket = self.get(id);
                (socket.ours, socket.stage) = (Some(ours), Stage::Open);
                socket.deliver();
                return Ok(Answer::Value(0));
            }
            Stage::Connecting { .. } => return Err(Errno::ALREADY),
            Stage::Open | Stage::HalfShut => return Err(Errno::ISCONN),
            Stage::Over => return Err(self.get(id).error.take().unwrap_or(Errno::ISCONN)),
            Stage::Listening { .. } => return Err(Errno::ISCONN),
        }
        let to = to.ok_or(Errno::AFNOSUPPORT)?;
        if !self.is_known(*to.ip()) {
            ctx.events.push_back(Step::Refused(format!("connect to {to}, which is no host of this world")));
            return Err(Errno::NETUNREACH);
        }
        let local = SocketAddrV4::new(self.host(), self.next_port());
        let socket = self.get(id);
        socket.local.get_or_insert(local);
        socket.peer = Some(to);
        ctx.events.push_back(Step::Connect { socket: id, to });
        if !rustix::fs::fcntl_getfl(&file)?.contains(OFlags::NONBLOCK) {
            self.get(id).stage = Stage::Connecting { theirs: None, filler: 0 };
            return Ok(Answer::Hold(Held {
                until: None,
                cause: Cause::Connect(id),
                late: Late::Fail(Errno::TIMEDOUT),
            }));
        }
        let ours = self.join(&file)?;
        let filler = fill(&file)?;
        let socket = self.get(id);
        socket.ours = Some(ours);
        socket.stage = Stage::Connecting { theirs: Some(file), filler };
        Err(Errno::INPROGRESS)
    }

    /// Reports how a connect ended.
    pub(crate) fn connected(&mut self, socket: SocketId, outcome: Result<(), ConnectError>) {
        let outcome = outcome.map_err(errno);
        let entry = self.get(socket);
        let Stage::Connecting { theirs, filler } = std::mem::replace(&mut entry.stage, Stage::Fresh) else {
            return;
        };
        let Some(theirs) = theirs else {
            entry.stage = Stage::Answered(outcome);
            return;
        };
        if let Err(errno) = outcome {
            entry.error = Some(errno);
            entry.stage = Stage::Over;
            // Closing with the filler unread makes the program's end fail, as a connect that failed does.
            entry.ours = None;
            return;
        }
        entry.stage = Stage::Open;
        let Some(ours) = &entry.ours else { return };
        let mut left = filler;
        let mut room = [0; 4096];
        while left > 0 {
            let most = left.min(room.len());
            match net::recv(ours, &mut room[..most], RecvFlags::DONTWAIT) {
                Ok((_, got)) if got > 0 => left -= got,
                _ => break,
            }
        }
        let _ = sockopt::set_socket_send_buffer_size(&theirs, BUFFER);
        drop(theirs);
        entry.deliver();
    }

    /// Delivers bytes to the program.
    pub(crate) fn deliver(&mut self, socket: SocketId, bytes: &[u8]) {
        let entry = self.get(socket);
        entry.backlog.extend(bytes);
        entry.deliver();
    }

    /// Reports to the program that the other side ended the connection.
    pub(crate) fn closed(&mut self, table: &Table, socket: SocketId, how: Ending) {
        match how {
            Ending::Eof => {
                let entry = self.get(socket);
                entry.ending = Some(how);
                entry.deliver();
            }
            Ending::Reset if matches!(self.get(socket).stage, Stage::Connecting { .. }) => {
                self.connected(socket, Err(ConnectError::Reset));
            }
            Ending::Reset => self.reset(table, socket),
        }
    }

    fn reset(&mut self, table: &Table, id: SocketId) {
        let inode = self.get(id).inode;
        // An end that is closed with bytes unread resets the other one: one byte more, from the program's own end.
        if let Some(theirs) = table.descriptor_of(inode) {
            let _ = net::send(&theirs, &[0], SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
        }
        let entry = self.get(id);
        (entry.ours, entry.stage) = (None, Stage::Over);
        entry.backlog.clear();
    }

    /// `bind` of one of them.
    pub(crate) fn bind(&mut self, id: SocketId, at: Option<SocketAddrV4>) -> Result<Answer, Errno> {
        let at = at.ok_or(Errno::AFNOSUPPORT)?;
        if !self.is_own(*at.ip()) {
            return Err(Errno::ADDRNOTAVAIL);
        }
        if self.get(id).local.is_some() {
            return Err(Errno::INVAL);
        }
        let is_taken = |socket: &Socket| {
            socket.local.is_some_and(|local| local.port() == at.port())
                && matches!(socket.stage, Stage::Listening { .. })
        };
        if at.port() != 0 && self.all.iter().any(is_taken) {
            return Err(Errno::ADDRINUSE);
        }
        let port = if at.port() == 0 { self.next_port() } else { at.port() };
        self.get(id).local = Some(SocketAddrV4::new(*at.ip(), port));
        Ok(Answer::Value(0))
    }

    /// `listen`.
    pub(crate) fn start_listening(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let Ctx { table, events, thread, notice, .. } = ctx;
        let caller = table.caller(thread);
        let file = caller.file(notice.int(0))?;
        let Some(id) = self.find(&file) else { return Ok(Answer::Go) };
        if !matches!(self.get(id).stage, Stage::Fresh) {
            return Ok(Answer::Go);
        }
        if self.get(id).local.is_none() {
            let port = self.next_port();
            self.get(id).local = Some(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port));
        }
        net::bind(&file, &SocketAddrUnix::new_unnamed())?;
        net::listen(&file, 4096)?;
        let socket = self.get(id);
        socket.stage = Stage::Listening { waiting: VecDeque::new() };
        let port = socket.local.map_or(0, |local| local.port());
        events.push_back(Step::Listen { socket: id, port });
        Ok(Answer::Value(0))
    }

    /// A connection comes to a listening socket; none if it listens no more.
    pub(crate) fn accept(
        &mut self,
        table: &Table,
        listener: SocketId,
        from: SocketAddrV4,
    ) -> Option<SocketId> {
        let inode = self.get(listener).inode;
        let address = net::getsockname(table.descriptor_of(inode)?).ok()?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let ours = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).ok()?;
        net::connect(&ours, &address).ok()?;
        let _ = sockopt::set_socket_send_buffer_size(&ours, BUFFER);
        let local = self.get(listener).local;
        // A connection begins with the options of its listener.
        let options = self.get(listener).options.clone();
        let id = self.add(0, Stage::Open);
        let socket = self.get(id);
        (socket.ours, socket.local, socket.peer) = (Some(ours), local, Some(from));
        socket.options = options;
        match &mut self.get(listener).stage {
            Stage::Listening { waiting } => waiting.push_back(id),
            _ => return None,
        }
        Some(id)
    }

    /// `accept`: takes the next connection.
    pub(crate) fn take(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let (caller, notice) = (ctx.caller(), ctx.notice);
        let file = caller.file(notice.int(0))?;
        let blocks = !rustix::fs::fcntl_getfl(&file)?.contains(OFlags::NONBLOCK);
        let ready = is_ready(&[(file.as_fd(), PollFlags::IN)]);
        let listener = self.find(&file);
        if !ready && blocks {
            return Ok(Answer::Hold(Held {
                until: None,
                cause: Cause::Files(Awaited::file(file, PollFlags::IN)),
                late: Late::Fail(Errno::AGAIN),
            }));
        }
        let Some(listener) = listener else { return Ok(Answer::Go) };
        if !ready {
            return Err(Errno::AGAIN);
        }
        let wanted = if notice.call() == Sysno::accept4 { notice.int(3) } else { 0 };
        let mut flags = SocketFlags::CLOEXEC;
        flags.set(SocketFlags::NONBLOCK, wanted & libc::SOCK_NONBLOCK != 0);
        let taken = net::accept_with(&file, flags)?;
        let _ = sockopt::set_socket_send_buffer_size(&taken, BUFFER);
        let Stage::Listening { waiting } = &mut self.get(listener).stage else {
            return Err(Errno::INVAL);
        };
        let id = waiting.pop_front().ok_or(Errno::AGAIN)?;
        let inode = rustix::fs::fstat(&taken)?.st_ino;
        self.get(id).inode = inode;
        let peer = self.get(id).peer;
        write_address(caller, notice.arg(1), notice.arg(2), peer)?;
        let closes = wanted & libc::SOCK_CLOEXEC != 0;
        ctx.listener.give(notice, taken.as_fd(), closes).map_err(|_| Errno::MFILE)?;
        Ok(Answer::Done)
    }

    /// `getsockname` and `getpeername`.
    pub(crate) fn names(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let (caller, notice) = (ctx.caller(), ctx.notice);
        let file = caller.file(notice.int(0))?;
        let Some(id) = self.find(&file) else { return Ok(Answer::Go) };
        let socket = self.get(id);
        let is_open = matches!(socket.stage, Stage::Open | Stage::HalfShut);
        let address = match notice.call() {
            Sysno::getpeername if !is_open => return Err(Errno::NOTCONN),
            Sysno::getpeername => socket.peer,
            _ => socket.local,
        };
        write_address(caller, notice.arg(1), notice.arg(2), address)?;
        Ok(Answer::Value(0))
    }

    /// `setsockopt` and `getsockopt`.
    pub(crate) fn options(&mut self, ctx: Ctx<'_>) -> Result<Answer, Errno> {
        let (caller, notice) = (ctx.caller(), ctx.notice);
        let file = caller.file(notice.int(0))?;
        let Some(id) = self.find(&file) else { return Ok(Answer::Go) };
        let memory = caller.memory();
        let (level, name) = (notice.int(1), notice.int(2));
        if is_refused(level, name) {
            return Err(Errno::NOPROTOOPT);
        }
        if notice.call() == Sysno::setsockopt {
            if level == libc::SOL_SOCKET && !is_kept(name) {
                return Ok(Answer::Go);
            }
            let length = usize::try_from(notice.int(4)).map_err(|_| Errno::INVAL)?;
            if length > LONGEST {
                return Err(Errno::INVAL);
            }
            let value = memory.read(notice.arg(3), length)?;
            self.get(id).options.set(level, name, value);
            return Ok(Answer::Value(0));
        }
        let value = match (level, name) {
            (libc::SOL_SOCKET, libc::SO_ERROR) => {
                // The kernel's own error is taken out with ours.
                let kernel = sockopt::socket_error(&file)?.err();
                let socket = self.get(id);
                let connecting = matches!(socket.stage, Stage::Connecting { .. });
                let error = socket.error.take().or(kernel.filter(|_| !connecting));
                error.map_or(0, Errno::raw_os_error).to_ne_bytes().to_vec()
            }
            (libc::SOL_SOCKET, libc::SO_DOMAIN) => libc::AF_INET.to_ne_bytes().to_vec(),
            (libc::SOL_SOCKET, libc::SO_PROTOCOL) => libc::IPPROTO_TCP.to_ne_bytes().to_vec(),
            (libc::SOL_SOCKET, name) if !is_kept(name) => return Ok(Answer::Go),
            (libc::IPPROTO_TCP, libc::TCP_INFO) => info(self.get(id)),
            _ => self.get(id).options.get(level, name),
        };
        let room = usize::try_from(memory.u32(notice.arg(4))? as i32).map_err(|_| Errno::INVAL)?;
        let given = room.min(value.len());
        memory.write(notice.arg(3), &value[..given])?;
        memory.write(notice.arg(4), &(given as u32).to_ne_bytes())?;
        Ok(Answer::Value(0))
    }
}

/// `TCP_INFO`: the state of a connection, and nothing that was measured.
fn info(socket: &Socket) -> Vec<u8> {
    let state = match socket.stage {
        Stage::Open => 1,
        Stage::Connecting { .. } | Stage::Answered(_) => 2,
        Stage::HalfShut => 5,
        Stage::Fresh | Stage::Over => 7,
        Stage::Listening { .. } => 10,
    };
    let mut info = vec![0; INFO];
    info[0] = state;
    info
}

fn errno(error: ConnectError) -> Errno {
    match error {
        ConnectError::Refused => Errno::CONNREFUSED,
        ConnectError::TimedOut => Errno::TIMEDOUT,
        ConnectError::Unreachable => Errno::HOSTUNREACH,
        ConnectError::Reset => Errno::CONNRESET,
    }
}
