//! One client's connection: its requests in order, and what others send it.

use std::io;
use std::sync::Arc;

use picklock_sim::stream::{ReadHalf, Stream, WriteHalf};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::sync::mpsc;

use super::server::{Parcel, Server};
use crate::node::{Next, SessionId, Then};
use crate::resp::{Reply, Requests};

/// Serves one client until it goes. An error on its stream concerns nobody else.
pub(super) async fn serve(server: Arc<Server>, mut stream: Stream, peer: String) {
    if server.shared().node.is_full() {
        server.shared().node.turn_away();
        // Whether the client reads why it is turned away is its own business.
        let _ = stream.write_all(b"-ERR max number of clients reached\r\n").await;
        return;
    }
    let (outbox, parcels) = mpsc::unbounded_channel();
    let id = {
        let mut shared = server.shared();
        let id = shared.node.connect(&peer);
        shared.outboxes.insert(id, outbox);
        id
    };
    let (read, write) = stream.into_split();
    let mut connection = Connection {
        id,
        read,
        write,
        parcels,
        requests: Requests::default(),
        reply: Vec::new(),
        waiting: false,
        answers_others: false,
    };
    let _ = connection.converse(&server).await;
    let mut shared = server.shared();
    shared.outboxes.remove(&id);
    shared.node.disconnect(id);
}

/// One client's connection.
struct Connection {
    id: SessionId,
    read: ReadHalf,
    write: WriteHalf,
    parcels: mpsc::UnboundedReceiver<Parcel>,
    requests: Requests,
    reply: Vec<u8>,
    /// True while its session waits: what it sends is kept.
    waiting: bool,
    /// True if the last thing written was in the service of another connection's command.
    answers_others: bool,
}

impl Connection {
    async fn converse(&mut self, server: &Server) -> io::Result<()> {
        loop {
            tokio::select! {
                biased;
                parcel = self.parcels.recv() => {
                    let Some(parcel) = parcel else { return Ok(()) };
                    if self.hand_over(parcel).await? == Then::Close {
                        return Ok(());
                    }
                }
                len = self.read.read_buf(self.requests.room()) => {
                    if len? == 0 || self.requests.is_overfull() {
                        return Ok(());
                    }
                }
            }
            if !self.waiting && self.execute(server).await? == Next::Close {
                return Ok(());
            }
        }
    }

    /// Writes what came from elsewhere.
    async fn hand_over(&mut self, parcel: Parcel) -> io::Result<Then> {
        self.write.answer_to(parcel.origin);
        self.answers_others = true;
        self.write.write_all(&parcel.bytes).await?;
        if parcel.then == Then::Resume {
            self.waiting = false;
        }
        Ok(parcel.then)
    }

    /// Executes all requests that are complete, or those up to one that has to wait.
    async fn execute(&mut self, server: &Server) -> io::Result<Next> {
        let origin = self.read.origin();
        let mut next = Next::Continue;
        self.requests.limits = server.shared().node.limits(self.id);
        while !matches!(next, Next::Close | Next::Blocked | Next::Runaway(_)) {
            if !self.requests.limits.trusted {
                self.requests.limits = server.shared().node.limits(self.id);
            }
            next = match self.requests.take() {
                Ok(Some(request)) => loop {
                    match server.execute(origin, self.id, &request, &mut self.reply) {
                        Some(Next::Stall(_)) => {
                            server.awake().await;
                            break Next::Continue;
                        }
                        Some(next) => break next,
                        None => server.awake().await,
                    }
                },
                Ok(None) => break,
                Err(error) => {
                    let protocol = server.shared().node.session(self.id).protocol;
                    Reply::Error(format!("ERR {error}").into()).encode(protocol, &mut self.reply);
                    Next::Close
                }
            };
        }
        self.waiting = matches!(next, Next::Blocked | Next::Runaway(_));
        if !self.reply.is_empty() {
            if std::mem::take(&mut self.answers_others) {
                self.write.answer_to(origin);
            }
            self.write.write_all(&self.reply).await?;
            self.reply.clear();
        }
        Ok(next)
    }
}
