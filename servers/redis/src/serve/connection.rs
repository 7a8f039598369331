//! One client's connection: its requests in order, and what others send it.

use std::io;
use std::sync::Arc;

use picklock_sim::host::Origins;
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
        origins: Origins::default(),
        reply: Vec::new(),
        waiting: false,
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
    /// From which messages came what is in `requests`: while the session waits, more are read.
    origins: Origins,
    reply: Vec<u8>,
    /// True while its session waits: what it sends is kept.
    waiting: bool,
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
                    let len = len?;
                    if len == 0 || self.requests.is_overfull() {
                        return Ok(());
                    }
                    self.origins.read(len, self.read.origin());
                }
            }
            if !self.waiting && self.execute(server).await? == Next::Close {
                return Ok(());
            }
        }
    }

    /// Writes what came from elsewhere.
    async fn hand_over(&mut self, parcel: Parcel) -> io::Result<Then> {
        self.write.write_for(parcel.origin, &parcel.bytes).await?;
        if parcel.then == Then::Resume {
            self.waiting = false;
        }
        Ok(parcel.then)
    }

    /// Executes all requests that are complete, or those up to one that has to wait. Requests that came with one message
    /// are answered by one.
    async fn execute(&mut self, server: &Server) -> io::Result<Next> {
        let mut origin = self.read.origin();
        let mut next = Next::Continue;
        self.requests.limits = server.shared().node.limits(self.id);
        while !matches!(next, Next::Close | Next::Blocked | Next::Runaway(_)) {
            if !self.requests.limits.trusted {
                self.requests.limits = server.shared().node.limits(self.id);
            }
            let waiting = self.requests.waiting();
            next = match self.requests.take() {
                Ok(Some(request)) => {
                    let came_with = self.origins.take(waiting - request.behind);
                    if came_with != origin && !self.reply.is_empty() {
                        self.write.write_for(origin, &self.reply).await?;
                        self.reply.clear();
                    }
                    origin = came_with;
                    loop {
                        match server.execute(origin, self.id, &request, &mut self.reply) {
                            Some(Next::Stall(_)) => {
                                server.awake().await;
                                break Next::Continue;
                            }
                            Some(next) => break next,
                            None => server.awake().await,
                        }
                    }
                }
                Ok(None) => {
                    // What was empty was skipped.
                    self.origins.take(waiting - self.requests.waiting());
                    break;
                }
                Err(error) => {
                    let protocol = server.shared().node.session(self.id).protocol;
                    Reply::Error(format!("ERR {error}").into()).encode(protocol, &mut self.reply);
                    Next::Close
                }
            };
        }
        self.waiting = matches!(next, Next::Blocked | Next::Runaway(_));
        if !self.reply.is_empty() {
            self.write.write_for(origin, &self.reply).await?;
            self.reply.clear();
        }
        Ok(next)
    }
}
