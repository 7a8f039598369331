//! The program's network: connections that end at the supervisor.
//!
//! The program's TCP sockets are unix sockets, made here and given to it. A connect joins it to a hub of
//! the supervisor, a listening socket of the program is listened at under a name that the kernel makes up. So bytes
//! arrive at once, without ports, and all of the program's own calls (epoll, dup, shutdown) work on the real thing.
//!
//! While a connect that does not block is under way, the socket must not look writable: its buffer is filled with
//! filler bytes, which are taken out when the answer is known.

use std::{
    collections::VecDeque,
    net::{Ipv4Addr, SocketAddrV4},
    os::fd::{AsFd, OwnedFd},
    sync::Arc,
};

use rustix::{
    event::PollFlags,
    io::Errno,
    net::{
        self, AddressFamily, RecvFlags, SendFlags, Shutdown, SocketAddrAny, SocketAddrUnix, SocketFlags,
        SocketType, sockopt,
    },
};

use super::options::Options;
use crate::linux::kernel::polling::is_ready;
use crate::{Ending, Setup, SocketId, Step};

/// Buffers of a connection; the kernel grants less to others than root.
pub(crate) const BUFFER: usize = 4 << 20;
/// How many parts are taken at once from a file.
pub(crate) const PARTS: usize = 64;
/// The first port that sockets are given by themselves.
const FIRST_PORT: u16 = 40_000;

/// The stage of a socket.
pub(crate) enum Stage {
    Fresh,
    Listening {
        waiting: VecDeque<SocketId>,
    },
    /// The answer is awaited; the program's end is kept if it does not block.
    Connecting {
        theirs: Option<OwnedFd>,
        filler: usize,
    },
    /// The answer came, and the thread that blocks takes it.
    Answered(Result<(), Errno>),
    Open,
    /// The program will send nothing more.
    HalfShut,
    Over,
}

pub(crate) struct Socket {
    pub(crate) inode: u64,
    pub(crate) stage: Stage,
    pub(crate) ours: Option<OwnedFd>,
    pub(crate) local: Option<SocketAddrV4>,
    pub(crate) peer: Option<SocketAddrV4>,
    pub(crate) error: Option<Errno>,
    /// Bytes that the program sent and that were not reported yet.
    pub(crate) sent: Vec<u8>,
    /// Bytes that could not be delivered yet, for want of room.
    pub(crate) backlog: VecDeque<u8>,
    pub(crate) ending: Option<Ending>,
    pub(crate) options: Options,
}

/// The sockets of a group.
pub(crate) struct Sockets {
    setup: Arc<Setup>,
    pub(crate) all: Vec<Socket>,
    hub: Option<(OwnedFd, SocketAddrAny)>,
    ports: u16,
}

impl Sockets {
    pub(crate) fn new(setup: Arc<Setup>) -> Self {
        Self { setup, all: Vec::new(), hub: None, ports: 0 }
    }

    /// The address of the host.
    pub(crate) fn host(&self) -> Ipv4Addr {
        self.setup.address
    }

    /// True if an address is the host's.
    pub(crate) fn is_own(&self, address: Ipv4Addr) -> bool {
        address == self.setup.address || address.is_loopback() || address.is_unspecified()
    }

    /// True if an address is that of a host of this world.
    pub(crate) fn is_known(&self, address: Ipv4Addr) -> bool {
        self.is_own(address) || self.setup.hosts.iter().any(|(_, host)| *host == address)
    }

    pub(crate) fn get(&mut self, id: SocketId) -> &mut Socket {
        &mut self.all[id.0 as usize]
    }

    pub(crate) fn add(&mut self, inode: u64, stage: Stage) -> SocketId {
        let (local, peer, error) = (None, None, None);
        let (sent, backlog) = (Vec::new(), VecDeque::new());
        let (ending, options) = (None, Options::default());
        self.all.push(Socket {
            inode,
            stage,
            ours: None,
            local,
            peer,
            error,
            sent,
            backlog,
            ending,
            options,
        });
        SocketId(self.all.len() as u32 - 1)
    }

    pub(crate) fn find(&self, file: &OwnedFd) -> Option<SocketId> {
        let inode = rustix::fs::fstat(file).ok()?.st_ino;
        // The youngest: the kernel uses the numbers of closed ones again.
        self.all.iter().rposition(|socket| socket.inode == inode).map(|at| SocketId(at as u32))
    }

    pub(crate) fn next_port(&mut self) -> u16 {
        self.ports += 1;
        FIRST_PORT + self.ports
    }

    pub(crate) fn is_answered(&self, id: SocketId) -> bool {
        matches!(self.all[id.0 as usize].stage, Stage::Answered(_))
    }

    /// Joins the program's socket to a socket of ours.
    pub(crate) fn join(&mut self, theirs: &OwnedFd) -> Result<OwnedFd, Errno> {
        if self.hub.is_none() {
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let hub = net::socket_with(AddressFamily::UNIX, SocketType::STREAM, flags, None)?;
            net::bind(&hub, &SocketAddrUnix::new_unnamed())?;
            net::listen(&hub, 16)?;
            let address = net::getsockname(&hub)?;
            self.hub = Some((hub, address));
        }
        let (hub, address) = self.hub.as_ref().expect("made above");
        net::connect(theirs, address)?;
        let ours = net::accept_with(hub, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK)?;
        let _ = sockopt::set_socket_send_buffer_size(&ours, BUFFER);
        Ok(ours)
    }

    /// Takes all that the programs sent.
    pub(crate) fn take_all(&mut self) {
        for socket in &mut self.all {
            socket.take();
        }
    }

    /// Bytes that were sent and not reported yet.
    pub(crate) fn unsent(&self) -> usize {
        self.all.iter().map(|socket| socket.sent.len()).sum()
    }

    /// The files in which something may have come.
    pub(crate) fn files(&self) -> impl Iterator<Item = &OwnedFd> {
        self.all.iter().filter_map(Socket::open)
    }

    /// True if something waits for room.
    pub(crate) fn has_backlog(&self) -> bool {
        self.all.iter().any(|socket| !socket.backlog.is_empty() || socket.ending.is_some())
    }

    /// Turns what the programs sent, shut and closed into steps: in which of [`Self::files`] something came is known.
    pub(crate) fn gather(&mut self, ready: &[bool], events: &mut VecDeque<Step>) {
        let mut ready = ready.iter();
        for (at, socket) in self.all.iter_mut().enumerate() {
            let id = SocketId(at as u32);
            if socket.open().is_none() {
                continue;
            }
            let comes = ready.next() == Some(&true);
            socket.deliver();
            let ended = comes && socket.take();
            if let Some(timeout) = socket.options.new_user_timeout() {
                events.push_back(Step::UserTimeout { socket: id, timeout });
            }
            if !socket.sent.is_empty() {
                events.push_back(Step::Sent { socket: id, bytes: std::mem::take(&mut socket.sent) });
            }
            if !ended {
                continue;
            }
            if socket.is_closed() {
                (socket.stage, socket.ours) = (Stage::Over, None);
                events.push_back(Step::Closed { socket: id });
            } else if matches!(socket.stage, Stage::Open) {
                socket.stage = Stage::HalfShut;
                events.push_back(Step::Shut { socket: id });
            }
        }
    }
}

impl Socket {
    /// Our end, where something may still come.
    fn open(&self) -> Option<&OwnedFd> {
        self.ours.as_ref().filter(|_| matches!(self.stage, Stage::Open | Stage::HalfShut))
    }

    /// Takes what was sent; whether nothing more will come.
    fn take(&mut self) -> bool {
        if self.open().is_none() {
            return false;
        }
        let Some(ours) = &self.ours else { return false };
        let mut room = [0; 16 << 10];
        // Not without end: the program may be sending meanwhile.
        for _ in 0..PARTS {
            match net::recv(ours, &mut room[..], RecvFlags::DONTWAIT) {
                Ok((0, _)) => return true,
                Ok((_, got)) => self.sent.extend_from_slice(&room[..got.min(room.len())]),
                Err(Errno::INTR) => {}
                Err(Errno::AGAIN) => return false,
                Err(_) => return true,
            }
        }
        false
    }

    /// True if the program closed its end, and did not merely shut it for sending.
    pub(crate) fn is_closed(&self) -> bool {
        // Asking for nothing still reports a hang-up.
        self.ours.as_ref().is_none_or(|ours| is_ready(&[(ours.as_fd(), PollFlags::empty())]))
    }

    /// Delivers what waits for room, then the end.
    pub(crate) fn deliver(&mut self) {
        if self.open().is_none() {
            return;
        }
        let Some(ours) = &self.ours else { return };
        while !self.backlog.is_empty() {
            let flags = SendFlags::DONTWAIT | SendFlags::NOSIGNAL;
            match net::send(ours, self.backlog.make_contiguous(), flags) {
                Ok(sent) => drop(self.backlog.drain(..sent)),
                Err(Errno::AGAIN) => return,
                Err(_) => self.backlog.clear(),
            }
        }
        if self.ending.take_if(|ending| *ending == Ending::Eof).is_some() {
            let _ = net::shutdown(ours, Shutdown::Write);
        }
    }
}

/// Fills a socket so that it does not look writable; how many bytes that took.
pub(crate) fn fill(theirs: &OwnedFd) -> Result<usize, Errno> {
    sockopt::set_socket_send_buffer_size(theirs, 1)?;
    let mut filled = 0;
    loop {
        match net::send(theirs, &[0; 512], SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(sent) => filled += sent,
            Err(Errno::AGAIN) => return Ok(filled),
            Err(error) => return Err(error),
        }
    }
}
