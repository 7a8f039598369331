//! Connections between hosts: byte streams that pause, stall and break with the processes and links at their ends.
//!
//! Both engines share this code. In the event engine the bytes travel inside the network model; in the turmoil engine
//! they travel through turmoil's sockets, and the model says when each segment may arrive.

use std::borrow::Cow;
use std::future::poll_fn;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

use super::host::Host;
use super::sockets::{SocketListener, SocketReader, SocketWriter};
pub use crate::world::Probe;
use crate::world::{Admission, Direction, Side, World};
use picklock_model::ids::HostId;
use picklock_model::ids::Origin;
use picklock_model::plan::Access;
use picklock_model::trace::{Content, Disconnect};

/// A socket that accepts connections.
pub struct Listener {
    host: Host,
    port: u16,
    socket: Option<SocketListener>,
}

/// A connection: tokio's `AsyncRead` and `AsyncWrite`. One read hands over bytes of at most one segment, one write
/// makes one segment.
pub struct Stream {
    read: ReadHalf,
    write: WriteHalf,
}

/// The half of a [`Stream`] that reads.
pub struct ReadHalf {
    handle: Arc<Handle>,
    socket: Option<SocketReader>,
}

/// The half of a [`Stream`] that writes.
pub struct WriteHalf {
    handle: Arc<Handle>,
    socket: Option<SocketWriter>,
    /// The origin of what is written as by any other writer, if that is not what was read last.
    serves: Option<Origin>,
}

/// One end of a connection; it closes when both halves are gone.
struct Handle {
    world: Arc<World>,
    side: Side,
    host: HostId,
    peer: HostId,
}

impl Drop for Handle {
    fn drop(&mut self) {
        self.world.tidy(|state| state.close(self.side));
    }
}

impl Listener {
    pub(crate) fn new(host: Host, port: u16, socket: Option<SocketListener>) -> Listener {
        Listener { host, port, socket }
    }

    /// The next connection, and the name of the host that it comes from; in a served world the address of a real
    /// client.
    ///
    /// # Errors
    /// When the socket is gone, which happens only to a process that is itself gone.
    pub async fn accept(&self) -> io::Result<(Stream, String)> {
        let (conn, sockets) = match &self.socket {
            None => (poll_fn(|cx| self.poll_accepted(cx)).await, None),
            Some(socket) => {
                let (conn, reader, writer) = socket.accept().await?;
                (conn, Some((reader, writer)))
            }
        };
        let stream = Stream::new(&self.host, Side { conn, sends: Direction::Back }, sockets);
        let state = self.host.world.state();
        let client = state.network.conn(conn).client.as_ref().map(|visit| visit.client.clone());
        drop(state);
        let name = client
            .unwrap_or_else(|| self.host.world.hosts()[usize::from(stream.read.handle.peer.0)].name.clone());
        Ok((stream, name))
    }

    fn poll_accepted(&self, cx: &mut Context<'_>) -> Poll<picklock_model::ids::ConnId> {
        let mut state = self.host.world.state();
        if state.gate(self.host.id(), cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        match state.network.listening.get_mut(&(self.host.id(), self.port)) {
            None => Poll::Pending,
            Some(listening) => match listening.accepted.pop_front() {
                Some(conn) => Poll::Ready(conn),
                None => {
                    listening.acceptor.wait(cx.waker());
                    Poll::Pending
                }
            },
        }
    }
}

impl Stream {
    pub(crate) fn new(host: &Host, side: Side, sockets: Option<(SocketReader, SocketWriter)>) -> Stream {
        let peer = host.world.state().network.peer(side);
        let handle = Arc::new(Handle { world: Arc::clone(&host.world), side, host: host.id(), peer });
        let (reader, writer) = sockets.unzip();
        Stream {
            read: ReadHalf { handle: Arc::clone(&handle), socket: reader },
            write: WriteHalf { handle, socket: writer, serves: None },
        }
    }

    /// The two halves, to be used by different tasks.
    #[must_use]
    pub fn into_split(self) -> (ReadHalf, WriteHalf) {
        (self.read, self.write)
    }

    /// See [`ReadHalf::origin`].
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.read.origin()
    }

    /// The real address at which a client of a served world came in; none for a host of the world.
    #[must_use]
    pub fn door(&self) -> Option<String> {
        let Handle { world, side, .. } = &*self.read.handle;
        world.state().network.conn(side.conn).client.as_ref().map(|visit| visit.door.clone())
    }

    /// The same connection, on which a server asks another one in the service of this origin: for a client library that owns its stream, and
    /// writes by [`AsyncWrite`].
    #[must_use]
    pub fn serving(mut self, origin: Origin) -> Stream {
        self.write.serves = Some(origin);
        self
    }

    /// See [`WriteHalf::set_user_timeout`].
    pub fn set_user_timeout(&self, timeout: Option<Duration>) {
        self.write.set_user_timeout(timeout);
    }

    /// See [`WriteHalf::write_for`].
    ///
    /// # Errors
    /// When the connection is broken.
    pub async fn write_for(&mut self, origin: Origin, bytes: &[u8]) -> io::Result<()> {
        self.write.write_for(origin, bytes).await
    }
}

impl ReadHalf {
    /// Sends a probe. It takes no time, and it is not in the trace.
    #[must_use]
    pub fn probe(&self) -> Probe {
        self.handle.world.state().probe(self.handle.side)
    }

    /// The message that the last read handed over, and the section in whose service it was sent. A server that reads on
    /// before it has executed what it read keeps them with [`Origins`](super::Origins).
    #[must_use]
    pub fn origin(&self) -> Origin {
        self.handle.world.state().network.end(self.handle.side).last_read
    }
}

impl WriteHalf {
    /// Writes all of these bytes, as one segment, in the service of this origin: for a server that answers something else
    /// than what was read last on the connection. It holds for this write alone. A client always writes in the service of
    /// its section.
    ///
    /// # Errors
    /// When the connection is broken.
    pub async fn write_for(&mut self, origin: Origin, bytes: &[u8]) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut bytes = Cow::Borrowed(bytes);
        poll_fn(|cx| self.poll_send(cx, Some(origin), &mut bytes)).await.map(drop)
    }

    /// The same with bytes that are given away: what is large is not copied.
    ///
    /// # Errors
    /// When the connection is broken.
    pub async fn give_for(&mut self, origin: Origin, bytes: Vec<u8>) -> io::Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let mut bytes = Cow::Owned(bytes);
        poll_fn(|cx| self.poll_send(cx, Some(origin), &mut bytes)).await.map(drop)
    }

    /// Sets how long sent data may stay unacknowledged before the kernel drops them and breaks the connection (`TCP_USER_TIMEOUT`); without
    /// a value it is the `tcp_timeout` of the world. It holds for what is not yet waiting for an acknowledgement.
    pub fn set_user_timeout(&self, timeout: Option<Duration>) {
        self.handle.world.state().network.end(self.handle.side).user_timeout = timeout;
    }

    /// Breaks the connection at both ends. What the other end has not read is gone.
    pub fn reset(&mut self) {
        self.handle.world.state().reset(self.handle.side);
    }

    /// How many of the bytes that were written the other end has not read.
    #[must_use]
    pub fn unread(&self) -> u64 {
        self.handle.world.state().network.unread(self.handle.side)
    }

    /// Sends all of these bytes, in the service of what was read last if not of another origin.
    fn poll_send(
        &mut self,
        cx: &mut Context<'_>,
        served: Option<Origin>,
        bytes: &mut Cow<'_, [u8]>,
    ) -> Poll<io::Result<usize>> {
        let len = bytes.len();
        let Handle { world, side, host, peer } = &*self.handle;
        let mut state = world.state();
        if state.gate(*host, cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        if let Some(why) = state.network.end(*side).ended {
            return Poll::Ready(Err(broken(why)));
        }
        if len == 0 {
            return Poll::Ready(Ok(0));
        }
        state.before(*host, Access::Write, Some(*peer));
        if state.gate(*host, cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        let content = Content::of(bytes);
        let sent = match &mut self.socket {
            None => {
                let segment = match bytes {
                    Cow::Owned(bytes) if world.keeper.is_none() => std::mem::take(bytes),
                    _ => state.network.segment(bytes),
                };
                state.send(*side, served, segment, len as u32, content)
            }
            Some(socket) => {
                drop(state);
                socket.write(bytes)?;
                state = world.state();
                state.send(*side, served, Vec::new(), len as u32, content)
            }
        };
        state.after(*host, Access::Write, Some(*peer));
        drop(state);
        if let Some(keeper) = &world.keeper {
            // The host that was connected to serves: a segment to it is a request.
            let request = side.sends == Direction::Out;
            let member = if request { *peer } else { *host };
            keeper.keep(sent, side.conn, world.hosts()[usize::from(member.0)].role, request, bytes);
        }
        Poll::Ready(Ok(len))
    }
}

impl AsyncRead for ReadHalf {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let Handle { world, side, host, peer } = &*this.handle;
        let mut state = world.state();
        if state.gate(*host, cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        let end = state.network.end(*side);
        if end.received.is_empty() {
            return match end.ended {
                Some(Disconnect::Closed) => Poll::Ready(Ok(())),
                Some(why) => Poll::Ready(Err(broken(why))),
                None => {
                    end.reader.wait(cx.waker());
                    Poll::Pending
                }
            };
        }
        state.before(*host, Access::Read, Some(*peer));
        if state.gate(*host, cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        let len = if let Some(socket) = &mut this.socket {
            drop(state);
            let limit = buf.remaining().min(front_left(world, *side) as usize);
            let read = ready!(socket.poll_read(cx, buf, limit))?;
            state = world.state();
            consume(&mut state.network.end(*side).received, read as u32);
            read
        } else if let Some(chunk) = state.network.end(*side).received.front_mut() {
            let unread = &chunk.bytes[chunk.bytes.len() - chunk.left as usize..];
            let len = unread.len().min(buf.remaining());
            buf.put_slice(&unread[..len]);
            chunk.left -= len as u32;
            len
        } else {
            0
        };
        let end = state.network.end(*side);
        end.read_bytes += len as u64;
        let first = end.received.front().expect("the queue was seen not to be empty");
        let (event, grant, finished) = (first.event, first.grant, first.left == 0);
        end.last_read = Origin { cause: Some(event), grant };
        if finished {
            let read = end.received.pop_front();
            read.into_iter().for_each(|chunk| state.network.keep(chunk.bytes));
            state.unbind(grant, *peer, *host);
        }
        state.learn(*host, event);
        state.after(*host, Access::Read, Some(*peer));
        Poll::Ready(Ok(()))
    }
}

fn front_left(world: &World, side: Side) -> u32 {
    world.state().network.end(side).received.front().map_or(0, |chunk| chunk.left)
}

/// Counts bytes off the first chunk; the caller takes it out when nothing is left of it.
fn consume(received: &mut std::collections::VecDeque<crate::world::Chunk>, read: u32) {
    if let Some(chunk) = received.front_mut() {
        chunk.left -= read.min(chunk.left);
    }
}

impl AsyncWrite for WriteHalf {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let this = self.get_mut();
        this.poll_send(cx, this.serves, &mut Cow::Borrowed(bytes))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let mut state = self.handle.world.state();
        if state.gate(self.handle.host, cx.waker()) == Admission::Wait {
            return Poll::Pending;
        }
        state.shut_down(self.handle.side);
        Poll::Ready(Ok(()))
    }
}

impl AsyncRead for Stream {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.read).poll_read(cx, buf)
    }
}

impl AsyncWrite for Stream {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.write).poll_write(cx, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.write).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.write).poll_shutdown(cx)
    }
}

/// The error that a socket call gives for a connection that ended in this way.
pub(crate) fn broken(why: Disconnect) -> io::Error {
    let kind = match why {
        Disconnect::Closed => io::ErrorKind::BrokenPipe,
        Disconnect::Reset => io::ErrorKind::ConnectionReset,
        Disconnect::Refused => io::ErrorKind::ConnectionRefused,
        Disconnect::TimedOut => io::ErrorKind::TimedOut,
    };
    io::Error::from(kind)
}
