//! The server's side: it takes calls from a connection, and answers each in the service of its request.

use std::future::Future;

use bytes::Bytes;
use h2::SendStream;
use h2::server::SendResponse;
use http::{HeaderMap, HeaderValue, Response, StatusCode};
use percent_encoding::{CONTROLS, utf8_percent_encode};
use picklock_sim::host::{Host, Origin};
use picklock_sim::stream::Stream;
use prost::Message;

use super::messages::{Incoming, encoded};
use super::status::Status;
use super::wire::{Service, Wire};

/// A call that was begun.
pub(crate) struct Call {
    /// Its path without the first slash: `etcdserverpb.KV/Range`.
    pub(crate) method: String,
    /// The message that began it.
    pub(crate) origin: Origin,
    incoming: Incoming,
    respond: SendResponse<Bytes>,
    service: Service,
}

/// The answers of a call.
pub(crate) struct Replies {
    out: SendStream<Bytes>,
    service: Service,
}

/// The requests of a call, of which there may be several.
pub(crate) struct Requests {
    incoming: Incoming,
    service: Service,
}

/// Serves the calls of one connection until it ends, each as a task of its own.
pub(crate) async fn serve<F>(host: &Host, stream: Stream, answer: impl Fn(Call) -> F)
where
    F: Future<Output = ()> + Send + 'static,
{
    let service = Service::default();
    let wire = Wire::new(stream, service.clone());
    let Ok(mut connection) = h2::server::handshake(wire).await else { return };
    while let Some(Ok((request, respond))) = connection.accept().await {
        let method = request.uri().path().trim_start_matches('/').to_owned();
        let origin = service.read();
        let incoming = Incoming::new(request.into_body());
        host.spawn(answer(Call { method, origin, incoming, respond, service: service.clone() }));
    }
}

impl Call {
    /// The only message of a call that has one.
    pub(crate) async fn request<M: Message + Default>(&mut self) -> Result<M, Status> {
        self.incoming.next().await?.ok_or_else(|| Status::malformed(&self.method))
    }

    /// Ends a call that has one answer.
    pub(crate) fn finish<M: Message>(self, answer: Result<M, Status>) {
        match answer {
            Ok(message) => {
                let (mut replies, _) = match self.begin() {
                    Ok(begun) => begun,
                    // Nobody waits for the answer.
                    Err(_) => return,
                };
                replies.send_for(None, &message);
                replies.end(Ok(()));
            }
            Err(status) => self.refuse(&status),
        }
    }

    /// Waits until nobody waits for an answer any more.
    pub(crate) async fn abandoned(&mut self) {
        let _ = std::future::poll_fn(|cx| self.respond.poll_reset(cx)).await;
    }

    /// Ends a call without an answer.
    pub(crate) fn refuse(mut self, status: &Status) {
        self.service.next(self.origin);
        let mut response = response();
        response.headers_mut().extend(trailers(status.code, &status.message));
        // Nobody may wait for it.
        let _ = self.respond.send_response(response, true);
    }

    /// Begins the answers of a call that has several.
    pub(crate) fn begin(mut self) -> Result<(Replies, Requests), Status> {
        self.service.next(self.origin);
        let out = self.respond.send_response(response(), false);
        let out = out.map_err(|error| super::messages::broken(&error))?;
        let Call { incoming, service, .. } = self;
        Ok((Replies { out, service: service.clone() }, Requests { incoming, service }))
    }
}

impl Requests {
    /// The next request and the message that brought it; none at the end. May be dropped and called again.
    pub(crate) async fn next<M: Message + Default>(&mut self) -> Result<Option<(Origin, M)>, Status> {
        Ok(self.incoming.next().await?.map(|message| (self.service.read(), message)))
    }
}

impl Replies {
    /// Sends an answer, in the service of a message if it is of another one than the call. False if nobody reads it.
    pub(crate) fn send_for(&mut self, origin: Option<Origin>, message: &impl Message) -> bool {
        if let Some(origin) = origin {
            self.service.next(origin);
        }
        self.out.send_data(encoded(message), false).is_ok()
    }

    /// Ends the call.
    pub(crate) fn end(mut self, outcome: Result<(), Status>) {
        let status = outcome.err();
        let (code, message) =
            status.as_ref().map_or((0, ""), |status| (status.code, status.message.as_str()));
        // Nobody may wait for it.
        let _ = self.out.send_trailers(trailers(code, message));
    }

    /// Waits until nobody reads the answers any more.
    pub(crate) async fn abandoned(&mut self) {
        let _ = std::future::poll_fn(|cx| self.out.poll_reset(cx)).await;
    }
}

fn response() -> Response<()> {
    let mut response = Response::new(());
    *response.status_mut() = StatusCode::OK;
    response.headers_mut().insert("content-type", HeaderValue::from_static("application/grpc"));
    response
}

fn trailers(code: u32, message: &str) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert("grpc-status", HeaderValue::from(code));
    if !message.is_empty()
        && let Ok(message) = HeaderValue::from_str(&utf8_percent_encode(message, CONTROLS).to_string())
    {
        trailers.insert("grpc-message", message);
    }
    trailers
}
