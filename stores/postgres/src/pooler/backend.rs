//! A pooler's connection to the server.

use std::io;

use picklock_model::ids::Origin;
use picklock_model::time::Monotonic;
use picklock_sim::host::Host;
use picklock_sim::stream::Stream;
use tokio::io::AsyncReadExt as _;

use super::frames::{Frame, frame, opening};
use crate::PORT;

/// A connection to the server.
pub(super) struct Backend {
    stream: Stream,
    received: Vec<u8>,
    /// Its number and its secret, by which its statement is cancelled.
    pub(super) key: (i32, i32),
    /// What the server said of itself when the connection was made.
    pub(super) parameters: Vec<u8>,
    /// Since when it is there.
    pub(super) born: Monotonic,
    /// Since when it is free.
    pub(super) free: Monotonic,
}

fn broken() -> io::Error {
    io::ErrorKind::ConnectionReset.into()
}

impl Backend {
    /// Connects to the server.
    pub(super) async fn open(host: &Host, server: &str) -> io::Result<Backend> {
        let now = host.monotonic();
        let mut backend = Backend {
            stream: host.connect(server, PORT).await?,
            received: Vec::new(),
            key: (0, 0),
            parameters: Vec::new(),
            born: now,
            free: now,
        };
        let user = b"user\0pooler\0database\0pooler\0\0";
        backend.send(Origin::default(), &opening(&[&196_608_u32.to_be_bytes(), user])).await?;
        loop {
            let frame = backend.next().await?;
            match frame.kind {
                b'S' => backend.parameters.extend_from_slice(&frame.bytes),
                b'K' => backend.key = frame.key().ok_or_else(broken)?,
                b'E' => return Err(io::Error::other("the server refused the connection")),
                b'Z' => return Ok(backend),
                _ => {}
            }
        }
    }

    /// Sends bytes in the service of a client's message.
    pub(super) async fn send(&mut self, origin: Origin, bytes: &[u8]) -> io::Result<()> {
        self.stream.write_for(origin, bytes).await
    }

    /// The next message. May be dropped and called again.
    pub(super) async fn next(&mut self) -> io::Result<Frame> {
        loop {
            if let Some(frame) = frame(&mut self.received).map_err(|_| broken())? {
                return Ok(frame);
            }
            if self.stream.read_buf(&mut self.received).await? == 0 {
                return Err(broken());
            }
        }
    }

    /// The message of the server to which its last one belongs.
    pub(super) fn origin(&self) -> Origin {
        self.stream.origin()
    }

    /// True unless the server has closed it, or has said something that nobody asked for.
    pub(super) async fn is_quiet(&mut self) -> bool {
        tokio::select! {
            biased;
            _ = self.next() => false,
            () = std::future::ready(()) => self.received.is_empty(),
        }
    }

    /// Takes away what a session has left. False if that failed.
    pub(super) async fn clear(&mut self) -> bool {
        let text = b"DISCARD ALL\0";
        let length = (text.len() as u32 + 4).to_be_bytes();
        if self.send(Origin::default(), &[&b"Q"[..], &length, text].concat()).await.is_err() {
            return false;
        }
        loop {
            match self.next().await {
                Ok(frame) if frame.kind == b'E' => return false,
                Ok(frame) if frame.status() == Some(b'I') => return true,
                Ok(_) => {}
                Err(_) => return false,
            }
        }
    }
}

/// Asks the server to cancel the statement of a connection.
pub(super) async fn cancel(host: &Host, server: &str, (pid, secret): (i32, i32)) -> io::Result<()> {
    let mut stream = host.connect(server, PORT).await?;
    let request = opening(&[&80_877_102_u32.to_be_bytes(), &pid.to_be_bytes(), &secret.to_be_bytes()]);
    stream.write_for(Origin::default(), &request).await?;
    // The server closes the connection when it has read the request.
    let _ = stream.read_buf(&mut Vec::new()).await;
    Ok(())
}
