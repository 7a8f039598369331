//! A connection to a server, as those hold it who are no clients of a lock: a pooler, a standby, a controller.

use std::io;

use picklock_model::ids::Origin;
use picklock_sim::host::Host;
use picklock_sim::stream::Stream;
use tokio::io::AsyncReadExt as _;

use crate::PORT;
use crate::protocol::{Frame, frame, opening_of};

/// A connection to a server.
pub(crate) struct Link {
    stream: Stream,
    received: Vec<u8>,
    /// Its number and its secret, by which its statement is cancelled.
    pub(crate) key: (i32, i32),
    /// What the server said of itself when the connection was made.
    pub(crate) parameters: Vec<u8>,
}

/// The version of the protocol.
const VERSION: u32 = 196_608;

/// How much is read at once: pgbouncer's `pkt_buf`.
pub(crate) const CHUNK: usize = 4_096;

fn broken() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

impl Link {
    /// Connects to a server, with these parameters and their values.
    pub(crate) async fn open(host: &Host, server: &str, parameters: &[(&str, &str)]) -> io::Result<Link> {
        let stream = host.connect(server, PORT).await?;
        let mut link = Link { stream, received: Vec::new(), key: (0, 0), parameters: Vec::new() };
        let given: String = parameters.iter().map(|(name, value)| format!("{name}\0{value}\0")).collect();
        let startup = opening_of(&[&VERSION.to_be_bytes(), given.as_bytes(), b"\0"]);
        link.send(Origin::default(), &startup).await?;
        loop {
            let frame = link.next().await?;
            match frame.kind {
                b'S' => link.parameters.extend_from_slice(&frame.bytes),
                b'K' => link.key = frame.key().ok_or_else(broken)?,
                b'E' => return Err(io::Error::other("the server refused the connection")),
                b'Z' => return Ok(link),
                _ => {}
            }
        }
    }

    /// Sends bytes in the service of a message.
    pub(crate) async fn send(&mut self, origin: Origin, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_for(origin, bytes).await
    }

    /// The next message. May be dropped and called again.
    pub(crate) async fn next(&mut self) -> io::Result<Frame> {
        loop {
            if let Some(frame) = self.received()? {
                return Ok(frame);
            }
            self.received.reserve(CHUNK);
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err(broken());
            }
        }
    }

    /// The next message, if it is there.
    pub(crate) fn received(&mut self) -> io::Result<Option<Frame>> {
        frame(&mut self.received).map_err(|_| broken())
    }

    /// The message of the server to which its last one belongs.
    pub(crate) fn origin(&self) -> Origin {
        self.stream.origin()
    }

    /// True unless the server has closed it, or has said something that nobody asked for.
    pub(crate) async fn is_quiet(&mut self) -> bool {
        tokio::select! {
            biased;
            _ = self.next() => false,
            () = std::future::ready(()) => self.received.is_empty(),
        }
    }

    /// Sends statements: true if they were carried out, false if one was refused.
    ///
    /// # Errors
    /// When the connection breaks.
    pub(crate) async fn run(&mut self, statements: &str) -> io::Result<bool> {
        let length = (statements.len() as u32 + 5).to_be_bytes();
        let query = [&b"Q"[..], &length, statements.as_bytes(), b"\0"].concat();
        self.send(Origin::default(), &query).await?;
        let mut done = true;
        loop {
            let frame = self.next().await?;
            done &= frame.kind != b'E';
            if frame.status().is_some() {
                return Ok(done);
            }
        }
    }
}

/// Asks the server to cancel the statement of a connection.
pub(crate) async fn cancel(host: &Host, server: &str, (pid, secret): (i32, i32)) -> io::Result<()> {
    let mut stream = host.connect(server, PORT).await?;
    let request = opening_of(&[&80_877_102_u32.to_be_bytes(), &pid.to_be_bytes(), &secret.to_be_bytes()]);
    stream.write_for(Origin::default(), &request).await?;
    // The server closes the connection when it has read the request.
    let _ = stream.read_buf(&mut Vec::new()).await;
    Ok(())
}
