//! A connection whose segments are sent in the service of the call that they belong to.
//!
//! HTTP/2 carries many calls on one connection, and its own task writes. So whoever sends an answer leaves word in whose service the next
//! segment goes.

use std::future::Future as _;
use std::io;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use picklock_sim::host::Origin;
use picklock_sim::stream::{ReadHalf, Stream, WriteHalf};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The messages in whose service a connection reads and writes.
#[derive(Clone, Default)]
pub(super) struct Service(Arc<Mutex<Served>>);

#[derive(Clone, Copy, Default)]
struct Served {
    read: Origin,
    next: Option<Origin>,
}

impl Service {
    /// The message that was read last.
    pub(super) fn read(&self) -> Origin {
        self.served().read
    }

    /// The next segment goes in the service of this message.
    pub(super) fn next(&self, origin: Origin) {
        self.served().next = Some(origin);
    }

    fn served(&self) -> std::sync::MutexGuard<'_, Served> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A connection of a server.
pub(super) struct Wire {
    read: ReadHalf,
    write: WriteHalf,
    service: Service,
}

impl Wire {
    pub(super) fn new(stream: Stream, service: Service) -> Wire {
        let (read, write) = stream.into_split();
        Wire { read, write, service }
    }
}

impl AsyncRead for Wire {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let polled = Pin::new(&mut self.read).poll_read(cx, buf);
        if polled.is_ready() {
            self.service.served().read = self.read.origin();
        }
        polled
    }
}

impl AsyncWrite for Wire {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let (next, read) = {
            let served = self.service.served();
            (served.next, served.read)
        };
        // A write takes all or nothing: what is dropped has done nothing.
        let written = pin!(self.write.write_for(next.unwrap_or(read), bytes)).poll(cx);
        if written.is_ready() {
            self.service.served().next = None;
        }
        written.map_ok(|()| bytes.len())
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.write).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.write).poll_shutdown(cx)
    }
}
