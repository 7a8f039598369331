//! The program's calls about its network, and the driver's answers; `connections` says what is behind them.

use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddrV4},
    os::fd::AsFd,
};

use rustix::{
    event::PollFlags,
    fs::OFlags,
    io::Errno,
    net::{self, AddressFamily, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags, SocketType, sockopt},
};
use syscalls::Sysno;

use super::{
    awaited::Awaited,
    call::{Answer, Cause, Held, Late},
    connections::{BUFFER, Socket, Stage, fill},
    group::Group,
    notify::Notice,
    polling::is_ready,
};
use crate::{ConnectError, Ending, SocketId, Step};

/// An IPv4 address as the program passes it.
fn address(bytes: &[u8]) -> Option<SocketAddrV4> {
    let family = u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?);
    let rest: [u8; 6] = bytes.get(2..8)?.try_into().ok()?;
    let [high, low, a, b, c, d] = rest;
    (i32::from(family) == libc::AF_INET)
        .then(|| SocketAddrV4::new(Ipv4Addr::new(a, b, c, d), u16::from_be_bytes([high, low])))
}

impl Group {
    pub(crate) fn socket(&mut self, notice: &Notice) -> Result<Answer, Errno> {
        let (family, kind) = (notice.int(0), notice.int(1));
        let is_stream = kind & 0xff == libc::SOCK_STREAM;
        match family {
            libc::AF_UNIX => return Ok(Answer::Go),
            libc::AF_INET if is_stream => {}
            libc::AF_INET if kind & 0xff == libc::SOCK_DGRAM => return self.make_datagram(notice),
            libc::AF_NETLINK => return self.make_netlink(notice),
            // Programs try it, and carry on without: no IPv6.
            _ => return Err(Errno::AFNOSUPPORT),
        }
        let mut flags = SocketFlags::CLOEXEC;
        flags.set(SocketFlags::NONBLOCK, kind & libc::SOCK_NONBLOCK != 0);
        let file = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
        let _ = sockopt::set_socket_send_buffer_size(&file, BUFFER);
        let inode = rustix::fs::fstat(&file)?.st_ino;
        let closes = kind & libc::SOCK_CLOEXEC != 0;
        self.listener.give(notice, file.as_fd(), closes).map_err(|_| Errno::MFILE)?;
        self.sockets.add(inode, Stage::Fresh);
        Ok(Answer::Done)
    }

    /// The address in the arguments of `connect` and `bind`; none for another family than IPv4.
    pub(crate) fn address(
        &self,
        thread: usize,
        notice: &Notice,
    ) -> Result<(Option<SocketAddrV4>, Vec<u8>), Errno> {
        let length = usize::try_from(notice.int(2)).map_err(|_| Errno::INVAL)?.min(128);
        let bytes = self.table.memory_of(thread).read(notice.arg(1), length)?;
        Ok((address(&bytes), bytes))
    }

    pub(crate) fn is_own(&self, address: Ipv4Addr) -> bool {
        address == self.setup.address || address.is_loopback() || address.is_unspecified()
    }

    pub(crate) fn connect(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let file = self.table.file_of(thread, notice.int(0))?;
        let (to, bytes) = self.address(thread, notice)?;
        let Some(id) = self.sockets.find(&file) else {
            return self.connect_unix(thread, &file, &bytes);
        };
        match &mut self.sockets.get(id).stage {
            Stage::Fresh => {}
            Stage::Answered(_) => {
                let socket = self.sockets.get(id);
                let Stage::Answered(answer) = std::mem::replace(&mut socket.stage, Stage::Fresh) else {
                    return Err(Errno::INVAL);
                };
                answer?;
                let ours = self.sockets.join(&file)?;
                let socket = self.sockets.get(id);
                (socket.ours, socket.stage) = (Some(ours), Stage::Open);
                socket.deliver();
                return Ok(Answer::Value(0));
            }
            Stage::Connecting { .. } => return Err(Errno::ALREADY),
            Stage::Open | Stage::HalfShut => return Err(Errno::ISCONN),
            Stage::Over => return Err(self.sockets.get(id).error.take().unwrap_or(Errno::ISCONN)),
            Stage::Listening { .. } => return Err(Errno::ISCONN),
        }
        let to = to.ok_or(Errno::AFNOSUPPORT)?;
        if !self.is_own(*to.ip()) && !self.setup.hosts.iter().any(|(_, host)| host == to.ip()) {
            self.events.push_back(Step::Refused(format!("connect to {to}, which is no host of this world")));
            return Err(Errno::NETUNREACH);
        }
        let local = SocketAddrV4::new(self.setup.address, self.sockets.next_port());
        let socket = self.sockets.get(id);
        socket.local.get_or_insert(local);
        socket.peer = Some(to);
        self.events.push_back(Step::Connect { socket: id, to });
        if !rustix::fs::fcntl_getfl(&file)?.contains(OFlags::NONBLOCK) {
            self.sockets.get(id).stage = Stage::Connecting { theirs: None, filler: 0 };
            return Ok(Answer::Hold(Held {
                until: None,
                cause: Cause::Connect(id),
                late: Late::Fail(Errno::TIMEDOUT),
            }));
        }
        let ours = self.sockets.join(&file)?;
        let filler = fill(&file)?;
        let socket = self.sockets.get(id);
        socket.ours = Some(ours);
        socket.stage = Stage::Connecting { theirs: Some(file), filler };
        Err(Errno::INPROGRESS)
    }

    /// Tells how a connect ended.
    pub fn connected(&mut self, socket: SocketId, outcome: Result<(), ConnectError>) {
        let outcome = outcome.map_err(errno);
        let entry = self.sockets.get(socket);
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
    pub fn deliver(&mut self, socket: SocketId, bytes: &[u8]) {
        let entry = self.sockets.get(socket);
        entry.backlog.extend(bytes);
        entry.deliver();
    }

    /// Tells the program that the other side ended the connection.
    pub fn closed(&mut self, socket: SocketId, how: Ending) {
        match how {
            Ending::Eof => {
                let entry = self.sockets.get(socket);
                entry.ending = Some(how);
                entry.deliver();
            }
            Ending::Reset if matches!(self.sockets.get(socket).stage, Stage::Connecting { .. }) => {
                self.connected(socket, Err(ConnectError::Reset));
            }
            Ending::Reset => self.reset(socket),
        }
    }

    fn reset(&mut self, id: SocketId) {
        let inode = self.sockets.get(id).inode;
        // An end that is closed with bytes unread resets the other one: one byte more, from the program's own end.
        if let Some(theirs) = self.table.descriptor_of(inode) {
            let _ = net::send(&theirs, &[0], SendFlags::DONTWAIT | SendFlags::NOSIGNAL);
        }
        let entry = self.sockets.get(id);
        (entry.ours, entry.stage) = (None, Stage::Over);
        entry.backlog.clear();
    }

    pub(crate) fn bind(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let file = self.table.file_of(thread, notice.int(0))?;
        let Some(id) = self.sockets.find(&file) else {
            let (_, bytes) = self.address(thread, notice)?;
            return self.bind_unix(&file, &bytes);
        };
        let at = self.address(thread, notice)?.0.ok_or(Errno::AFNOSUPPORT)?;
        if !self.is_own(*at.ip()) {
            return Err(Errno::ADDRNOTAVAIL);
        }
        if self.sockets.get(id).local.is_some() {
            return Err(Errno::INVAL);
        }
        let is_taken = |socket: &Socket| {
            socket.local.is_some_and(|local| local.port() == at.port())
                && matches!(socket.stage, Stage::Listening { .. })
        };
        if at.port() != 0 && self.sockets.all.iter().any(is_taken) {
            return Err(Errno::ADDRINUSE);
        }
        let port = if at.port() == 0 { self.sockets.next_port() } else { at.port() };
        self.sockets.get(id).local = Some(SocketAddrV4::new(*at.ip(), port));
        Ok(Answer::Value(0))
    }

    pub(crate) fn start_listening(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let file = self.table.file_of(thread, notice.int(0))?;
        let Some(id) = self.sockets.find(&file) else { return Ok(Answer::Go) };
        if !matches!(self.sockets.get(id).stage, Stage::Fresh) {
            return Ok(Answer::Go);
        }
        if self.sockets.get(id).local.is_none() {
            let port = self.sockets.next_port();
            self.sockets.get(id).local = Some(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, port));
        }
        net::bind(&file, &SocketAddrUnix::new_unnamed())?;
        net::listen(&file, 4096)?;
        let socket = self.sockets.get(id);
        socket.stage = Stage::Listening { waiting: VecDeque::new() };
        let port = socket.local.map_or(0, |local| local.port());
        self.events.push_back(Step::Listen { socket: id, port });
        Ok(Answer::Value(0))
    }

    /// A connection comes to a listening socket; none if it listens no more.
    pub fn accept(&mut self, listener: SocketId, from: SocketAddrV4) -> Option<SocketId> {
        let inode = self.sockets.get(listener).inode;
        let address = net::getsockname(self.table.descriptor_of(inode)?).ok()?;
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let ours = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None).ok()?;
        net::connect(&ours, &address).ok()?;
        let _ = sockopt::set_socket_send_buffer_size(&ours, BUFFER);
        let local = self.sockets.get(listener).local;
        // A connection begins with the options of its listener.
        let options = self.sockets.get(listener).options.clone();
        let id = self.sockets.add(0, Stage::Open);
        let socket = self.sockets.get(id);
        (socket.ours, socket.local, socket.peer) = (Some(ours), local, Some(from));
        socket.options = options;
        match &mut self.sockets.get(listener).stage {
            Stage::Listening { waiting } => waiting.push_back(id),
            _ => return None,
        }
        Some(id)
    }

    /// `accept`: takes the next connection.
    pub(crate) fn take(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let file = self.table.file_of(thread, notice.int(0))?;
        let blocks = !rustix::fs::fcntl_getfl(&file)?.contains(OFlags::NONBLOCK);
        let ready = is_ready(&[(file.as_fd(), PollFlags::IN)]);
        let listener = self.sockets.find(&file);
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
        let Stage::Listening { waiting } = &mut self.sockets.get(listener).stage else {
            return Err(Errno::INVAL);
        };
        let id = waiting.pop_front().ok_or(Errno::AGAIN)?;
        let inode = rustix::fs::fstat(&taken)?.st_ino;
        self.sockets.get(id).inode = inode;
        let peer = self.sockets.get(id).peer;
        self.write_address(thread, notice.arg(1), notice.arg(2), peer)?;
        let closes = wanted & libc::SOCK_CLOEXEC != 0;
        self.listener.give(notice, taken.as_fd(), closes).map_err(|_| Errno::MFILE)?;
        Ok(Answer::Done)
    }

    pub(crate) fn write_address(
        &self,
        thread: usize,
        at: u64,
        length_at: u64,
        address: Option<SocketAddrV4>,
    ) -> Result<(), Errno> {
        if at == 0 || length_at == 0 {
            return Ok(());
        }
        let memory = self.table.memory_of(thread);
        let address = address.unwrap_or(SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 0));
        let mut bytes = [0; size_of::<libc::sockaddr_in>()];
        bytes[..2].copy_from_slice(&(libc::AF_INET as u16).to_ne_bytes());
        bytes[2..4].copy_from_slice(&address.port().to_be_bytes());
        bytes[4..8].copy_from_slice(&address.ip().octets());
        let room = memory.u32(length_at)? as usize;
        memory.write(at, &bytes[..room.min(bytes.len())])?;
        memory.write(length_at, &(bytes.len() as u32).to_ne_bytes())
    }

    /// `getsockname` and `getpeername`.
    pub(crate) fn names(&mut self, thread: usize, notice: &Notice) -> Result<Answer, Errno> {
        let file = self.table.file_of(thread, notice.int(0))?;
        let Some(id) = self.sockets.find(&file) else { return Ok(Answer::Go) };
        let socket = self.sockets.get(id);
        let is_open = matches!(socket.stage, Stage::Open | Stage::HalfShut);
        let address = match notice.call() {
            Sysno::getpeername if !is_open => return Err(Errno::NOTCONN),
            Sysno::getpeername => socket.peer,
            _ => socket.local,
        };
        self.write_address(thread, notice.arg(1), notice.arg(2), address)?;
        Ok(Answer::Value(0))
    }
}

fn errno(error: ConnectError) -> Errno {
    match error {
        ConnectError::Refused => Errno::CONNREFUSED,
        ConnectError::TimedOut => Errno::TIMEDOUT,
        ConnectError::Unreachable => Errno::HOSTUNREACH,
        ConnectError::Reset => Errno::CONNRESET,
    }
}
