//! turmoil's sockets, as streams of hosts use them, and which segment of the model each of its messages is.

use std::collections::{BTreeMap, VecDeque};
use std::future::Future;
use std::io;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use turmoil::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use turmoil::net::{TcpListener, TcpStream};

use crate::world::{Direction, Side};
use picklock_model::ids::{ConnId, HostId};

/// Which connection of the model each pair of socket addresses is.
#[derive(Default)]
pub(crate) struct Directory {
    state: Mutex<Lists>,
}

#[derive(Default)]
struct Lists {
    /// Connects whose first segment is held by turmoil, in the order of sending, by pair of hosts.
    dialed: BTreeMap<(HostId, HostId), VecDeque<ConnId>>,
    /// The addresses of both ends, known once the first segment is let through.
    ends: BTreeMap<ConnId, (SocketAddr, SocketAddr)>,
}

const UNPOISONED: &str = "nothing panics while it holds this lock";

impl Directory {
    pub(crate) fn dialed(&self, from: HostId, to: HostId, conn: ConnId) {
        self.state.lock().expect(UNPOISONED).dialed.entry((from, to)).or_default().push_back(conn);
    }

    /// Which of the held first segments between two hosts is this connection's; it is no longer held afterwards.
    pub(crate) fn take_dialed(&self, from: HostId, to: HostId, conn: ConnId) -> Option<usize> {
        let mut state = self.state.lock().expect(UNPOISONED);
        let held = state.dialed.get_mut(&(from, to))?;
        let at = held.iter().position(|dialed| *dialed == conn)?;
        held.remove(at);
        Some(at)
    }

    pub(crate) fn set_ends(&self, conn: ConnId, ends: (SocketAddr, SocketAddr)) {
        self.state.lock().expect(UNPOISONED).ends.insert(conn, ends);
    }

    /// Source and destination of what this side sends.
    pub(crate) fn route(&self, side: Side) -> Option<(SocketAddr, SocketAddr)> {
        let (client, server) = *self.state.lock().expect(UNPOISONED).ends.get(&side.conn)?;
        Some(match side.sends {
            Direction::Out => (client, server),
            Direction::Back => (server, client),
        })
    }

    fn dialed_from(&self, client: SocketAddr) -> Option<ConnId> {
        let state = self.state.lock().expect(UNPOISONED);
        state.ends.iter().find(|(_, ends)| ends.0 == client).map(|(conn, _)| *conn)
    }
}

/// A connect of turmoil's under way.
pub(crate) struct Dialing(Pin<Box<dyn Future<Output = io::Result<TcpStream>> + Send>>);

impl Dialing {
    pub(crate) fn new(target: &str, port: u16) -> Dialing {
        Dialing(Box::pin(TcpStream::connect((target.to_owned(), port))))
    }

    pub(crate) fn poll(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<(SocketReader, SocketWriter)>> {
        self.0.as_mut().poll(cx).map_ok(split)
    }
}

fn split(stream: TcpStream) -> (SocketReader, SocketWriter) {
    let (reader, writer) = stream.into_split();
    (SocketReader(reader), SocketWriter(writer))
}

/// turmoil's listening socket.
pub(crate) struct SocketListener {
    listener: TcpListener,
    directory: Arc<Directory>,
}

impl SocketListener {
    pub(crate) async fn bind(port: u16, directory: Arc<Directory>) -> io::Result<SocketListener> {
        let listener = TcpListener::bind((IpAddr::V4(Ipv4Addr::UNSPECIFIED), port)).await?;
        Ok(SocketListener { listener, directory })
    }

    /// The next connection that the model knows too. One whose client has given up meanwhile may be missing there.
    pub(crate) async fn accept(&self) -> io::Result<(ConnId, SocketReader, SocketWriter)> {
        loop {
            let (stream, client) = self.listener.accept().await?;
            if let Some(conn) = self.directory.dialed_from(client) {
                let (reader, writer) = split(stream);
                return Ok((conn, reader, writer));
            }
        }
    }
}

/// The half of turmoil's stream that reads.
pub(crate) struct SocketReader(OwnedReadHalf);

impl SocketReader {
    /// Reads at most `limit` bytes, what is left of the segment that the model has delivered.
    pub(crate) fn poll_read(
        &mut self,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
        limit: usize,
    ) -> Poll<io::Result<usize>> {
        let mut limited = ReadBuf::new(buf.initialize_unfilled_to(limit));
        let outcome = Pin::new(&mut self.0).poll_read(cx, &mut limited);
        let read = limited.filled().len();
        outcome.map_ok(|()| {
            buf.advance(read);
            read
        })
    }
}

/// The half of turmoil's stream that writes.
pub(crate) struct SocketWriter(OwnedWriteHalf);

impl SocketWriter {
    /// Hands one segment to turmoil, which holds it until the model says that it arrives.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        let mut context = Context::from_waker(Waker::noop());
        match Pin::new(&mut self.0).poll_write(&mut context, bytes) {
            Poll::Ready(outcome) => outcome.map(|_| ()),
            Poll::Pending => Err(io::Error::other("turmoil's send buffer is full")),
        }
    }
}
