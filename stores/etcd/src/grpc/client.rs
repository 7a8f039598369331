//! The client's side: one connection to a server, on which calls are made.

use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use h2::client::{ResponseFuture, SendRequest};
use h2::{Ping, PingPong, RecvStream, SendStream};
use http::{HeaderMap, Method, Request, Response, Version};
use percent_encoding::percent_decode_str;
use picklock_sim::host::Host;
use prost::Message;

use super::messages::{Incoming, broken, encoded};
use super::status::Status;

/// A connection to a member. It breaks where its server falls silent: a ping after `silence` without one is answered within as much again.
#[derive(Clone)]
pub struct Channel {
    requests: SendRequest<Bytes>,
    /// False once the connection has ended.
    is_open: Arc<AtomicBool>,
}

/// The answers of a call.
pub struct Receiver {
    state: Receiving,
}

enum Receiving {
    Begun(ResponseFuture),
    Open(Incoming),
}

/// The requests of a call.
pub struct Sender {
    out: SendStream<Bytes>,
}

/// A call of several messages.
pub struct Stream {
    /// What it asks.
    pub sender: Sender,
    /// What it is answered.
    pub receiver: Receiver,
}

impl Channel {
    /// Connects to a host. With `silence`, a connection is given up whose server does not answer a ping, and what its kernel has not
    /// acknowledged after as long is dropped: grpc-go sets `TCP_USER_TIMEOUT` to the timeout of its keepalive
    /// (`internal/transport/http2_client.go`).
    ///
    /// # Errors
    /// When the server cannot be reached.
    pub async fn connect(
        host: &Host,
        server: &str,
        port: u16,
        silence: Option<Duration>,
    ) -> Result<Channel, Status> {
        let stream =
            host.connect(server, port).await.map_err(|error| Status::unavailable(error.to_string()))?;
        stream.set_user_timeout(silence);
        let (requests, mut connection) =
            h2::client::handshake(stream).await.map_err(|error| broken(&error))?;
        let pings = silence.and_then(|silence| Some((silence, connection.ping_pong()?)));
        let own = host.clone();
        let is_open = Arc::new(AtomicBool::new(true));
        let open = Arc::clone(&is_open);
        host.spawn(async move {
            match pings {
                // How it ends is in every call.
                None => drop(connection.await),
                Some((silence, pings)) => tokio::select! {
                    biased;
                    _ = connection => {}
                    () = fall_silent(own, silence, pings) => {}
                },
            }
            open.store(false, Ordering::Relaxed);
        });
        Ok(Channel { requests, is_open })
    }

    /// False once the connection has ended.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.is_open.load(Ordering::Relaxed)
    }

    /// A call of one message and one answer.
    ///
    /// # Errors
    /// The error that the server answers, or that of the connection.
    pub async fn call<A: Message + Default>(
        &mut self,
        method: &str,
        message: &impl Message,
    ) -> Result<A, Status> {
        let (answer, mut out) = self.begin(method).await?;
        out.send_data(encoded(message), true).map_err(|error| broken(&error))?;
        let mut receiver = Receiver { state: Receiving::Begun(answer) };
        receiver.next().await?.ok_or_else(|| Status::malformed(method))
    }

    /// A call of several messages.
    ///
    /// # Errors
    /// When the connection is broken.
    pub async fn open(&mut self, method: &str) -> Result<Stream, Status> {
        let (answer, out) = self.begin(method).await?;
        Ok(Stream { sender: Sender { out }, receiver: Receiver { state: Receiving::Begun(answer) } })
    }

    async fn begin(&mut self, method: &str) -> Result<(ResponseFuture, SendStream<Bytes>), Status> {
        poll_fn(|cx| self.requests.poll_ready(cx)).await.map_err(|error| broken(&error))?;
        let request = Request::builder()
            .method(Method::POST)
            .version(Version::HTTP_2)
            .uri(format!("http://etcd/{method}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(())
            .map_err(|_| Status::malformed(method))?;
        self.requests.send_request(request, false).map_err(|error| broken(&error))
    }
}

/// Ends when the server has not answered a ping in time.
async fn fall_silent(host: Host, silence: Duration, mut pings: PingPong) {
    loop {
        host.sleep(silence).await;
        let answered = host.timeout(silence, pings.ping(Ping::opaque())).await;
        if !matches!(answered, Ok(Ok(_))) {
            return;
        }
    }
}

impl Sender {
    /// Sends a message.
    ///
    /// # Errors
    /// When the call is over.
    pub fn send(&mut self, message: &impl Message) -> Result<(), Status> {
        self.out.send_data(encoded(message), false).map_err(|error| broken(&error))
    }

    /// Says that nothing comes any more.
    pub fn close(&mut self) {
        // The call may be over.
        let _ = self.out.send_data(Bytes::new(), true);
    }
}

impl Receiver {
    /// The next answer; none at the end. May be dropped and called again.
    ///
    /// # Errors
    /// The error with which the server ends the call, or that of the connection.
    pub async fn next<M: Message + Default>(&mut self) -> Result<Option<M>, Status> {
        if let Receiving::Begun(answer) = &mut self.state {
            let response = answer.await.map_err(|error| broken(&error))?;
            self.state = Receiving::Open(Incoming::new(opened(response)?));
        }
        let Receiving::Open(incoming) = &mut self.state else { return Ok(None) };
        if let Some(message) = incoming.next().await? {
            return Ok(Some(message));
        }
        let trailers = incoming.body.trailers().await.map_err(|error| broken(&error))?;
        trailers.as_ref().map_or(Ok(()), outcome)?;
        Ok(None)
    }
}

/// The body of a response, unless it is an error without one.
fn opened(response: Response<RecvStream>) -> Result<RecvStream, Status> {
    outcome(response.headers())?;
    Ok(response.into_body())
}

/// The status in headers or trailers, if there is one.
fn outcome(headers: &HeaderMap) -> Result<(), Status> {
    let text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    match text("grpc-status").parse().unwrap_or(0) {
        0 => Ok(()),
        code => {
            let message = percent_decode_str(text("grpc-message")).decode_utf8_lossy().into_owned();
            Err(Status::new(code, message))
        }
    }
}
