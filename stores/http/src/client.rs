//! The client's end: requests over connections that are used again.
//!
//! It behaves as Go's `http.Client` does where a lock can see it: a request has no time limit of its own; each that is under way has a
//! connection; a connection on which a request was answered waits for the next one. A GET that meets a connection which has ended meanwhile
//! is sent again, on another one, as is whatever could not be written; anything else may have been carried out.
//!
//! *Source:* `net/http/transport.go` of Go 1.24, and the `DialContext` of `hashicorp/go-cleanhttp` and `k8s.io/client-go`: 30 s to connect, and
//! TCP keepalives every 30 s.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use picklock_sim::host::Host;
use picklock_sim::stream::{Probe, ReadHalf, WriteHalf};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use crate::codec::{Malformed, read_response, written_request};
use crate::message::{Request, Response};

/// How long a connect may take.
const DIAL: Duration = Duration::from_secs(30);

/// A server that is silent for so long is probed, and again after as much.
const KEEPALIVE: Duration = Duration::from_secs(30);

/// So many probes without an answer end a connection (`net.ipv4.tcp_keepalive_probes`).
const PROBES: u32 = 9;

/// The reason why there is no response.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The request was not sent.
    #[error("the request was not sent: {0}")]
    Unsent(#[source] io::Error),
    /// The connection broke, and nobody knows what became of the request.
    #[error("the connection broke: {0}")]
    Broken(#[source] io::Error),
    /// The response cannot be read.
    #[error(transparent)]
    Malformed(#[from] Malformed),
}

/// A client of one server.
pub struct Client {
    host: Host,
    server: String,
    port: u16,
    idle: Mutex<Vec<Connection>>,
}

struct Connection {
    reader: ReadHalf,
    writer: WriteHalf,
    bytes: Vec<u8>,
    is_new: bool,
}

impl Client {
    /// A client of the server on this host and port. It connects when there is something to ask.
    #[must_use]
    pub fn new(host: &Host, server: &str, port: u16) -> Client {
        Client { host: host.clone(), server: server.to_owned(), port, idle: Mutex::default() }
    }

    /// Sends a request and waits for its response, for as long as that takes.
    ///
    /// # Errors
    /// When there is none.
    pub async fn send(&self, request: &Request) -> Result<Response, Error> {
        let bytes = written_request(request, &format!("{}:{}", self.server, self.port));
        loop {
            let mut connection = match self.take() {
                Some(connection) => connection,
                None => self.connect().await.map_err(Error::Unsent)?,
            };
            let may_repeat = !connection.is_new;
            if let Err(error) = connection.writer.write_all(&bytes).await {
                if may_repeat {
                    continue;
                }
                return Err(Error::Unsent(error));
            }
            match self.response(&mut connection).await {
                Ok(response) => {
                    connection.is_new = false;
                    if !response.closes {
                        self.idle().push(connection);
                    }
                    return Ok(response);
                }
                Err(Error::Broken(_))
                    if may_repeat && request.method == "GET" && connection.bytes.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Connection>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The connection that was used last.
    fn take(&self) -> Option<Connection> {
        self.idle().pop()
    }

    async fn connect(&self) -> io::Result<Connection> {
        let connects = Box::pin(self.host.connect(&self.server, self.port));
        let connected = self.host.timeout_boxed(DIAL, connects).await;
        let stream = connected.map_err(|_| io::Error::new(io::ErrorKind::TimedOut, "i/o timeout"))??;
        let (reader, writer) = stream.into_split();
        Ok(Connection { reader, writer, bytes: Vec::new(), is_new: true })
    }

    async fn response(&self, connection: &mut Connection) -> Result<Response, Error> {
        let Connection { reader, bytes, .. } = connection;
        let mut unanswered = 0;
        loop {
            if let Some((response, len)) = read_response(bytes)? {
                bytes.drain(..len);
                return Ok(response);
            }
            let read = self.host.timeout_boxed(KEEPALIVE, Box::pin(reader.read_buf(bytes))).await;
            match read {
                Ok(Ok(0)) => return Err(Error::Broken(io::ErrorKind::UnexpectedEof.into())),
                Ok(Ok(_)) => unanswered = 0,
                Ok(Err(error)) => return Err(Error::Broken(error)),
                Err(_) => match reader.probe() {
                    Probe::Answered => unanswered = 0,
                    Probe::Silent if unanswered < PROBES => unanswered += 1,
                    Probe::Silent => return Err(Error::Broken(io::ErrorKind::TimedOut.into())),
                    Probe::Unknown => return Err(Error::Broken(io::ErrorKind::ConnectionReset.into())),
                },
            }
        }
    }
}
