//! One client's connection: its requests in order, and what others send it.

use std::io;
use std::sync::Arc;

use picklock_model::time::Monotonic;
use picklock_sim::host::{Origin, Origins};
use picklock_sim::mailbox::{Mailbox, mailbox};
use picklock_sim::stream::{ReadHalf, Stream, WriteHalf};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::server::{Parcel, Server};
use crate::protocol::resp::{Reply, Requests};
use crate::server::node::{Next, SessionId, Then};

/// Serves one client until it goes. An error on its stream concerns nobody else.
pub(super) async fn serve(server: Arc<Server>, mut stream: Stream, peer: String) {
    if server.shared().node.is_closed_to(&peer) {
        server.shared().node.turn_away();
        let _ = stream.write_all(PROTECTED).await;
        return;
    }
    if server.shared().node.is_full() {
        server.shared().node.turn_away();
        // Whether the client reads why it is turned away is its own business.
        let _ = stream.write_all(b"-ERR max number of clients reached\r\n").await;
        return;
    }
    let (outbox, parcels) = mailbox();
    let id = {
        let mut shared = server.shared();
        let id = shared.node.connect(&peer);
        shared.node.session_mut(id).door = stream.door();
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
        unchecked: 0,
        over_since: None,
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
    parcels: Mailbox<Parcel>,
    requests: Requests,
    /// From which messages came what is in `requests`: while the session waits, more are read.
    origins: Origins,
    reply: Vec<u8>,
    /// True while its session waits: what it sends is kept.
    waiting: bool,
    /// How many bytes were written since it was last looked at how many are unread.
    unchecked: usize,
    /// Since when more is unread than the soft limit allows.
    over_since: Option<Monotonic>,
}

/// Replies of more bytes than this are not kept until all requests of a message are executed.
const LARGE: usize = 256 * 1024;

/// After so many bytes it is looked at how many are unread.
const CHECK: usize = 16 * 1024;

/// The greeting of clients of other machines while there is no password (Redis 7.0 `acceptCommonHandler`).
const PROTECTED: &[u8] = b"-DENIED Redis is running in protected mode because protected mode is enabled and no password is \
    set for the default user. In this mode connections are only accepted from the loopback interface. If you want to \
    connect from external computers to Redis you may adopt one of the following solutions: 1) Just disable protected mode \
    sending the command 'CONFIG SET protected-mode no' from the loopback interface by connecting to Redis from the same \
    host the server is running, however MAKE SURE Redis is not publicly accessible from internet if you do so. Use CONFIG \
    REWRITE to make this change permanent. 2) Alternatively you can just disable the protected mode by editing the Redis \
    configuration file, and setting the protected mode option to 'no', and then restarting the server. 3) If you started \
    the server manually just for testing, restart it with the '--protected-mode no' option. 4) Setup a an authentication \
    password for the default user. NOTE: You only need to do one of the above things in order for the server to start \
    accepting connections from the outside.\r\n";

impl Connection {
    async fn converse(&mut self, server: &Server) -> io::Result<()> {
        loop {
            tokio::select! {
                biased;
                parcel = self.parcels.take() => {
                    let Some(parcel) = parcel else { return Ok(()) };
                    if self.hand_over(server, parcel).await? == Then::Close {
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
    async fn hand_over(&mut self, server: &Server, parcel: Parcel) -> io::Result<Then> {
        self.write.write_for(parcel.origin, &parcel.bytes).await?;
        if self.leaves_too_much(server, parcel.bytes.len()) {
            return Ok(Then::Close);
        }
        if parcel.then == Then::Resume {
            self.waiting = false;
        }
        Ok(parcel.then)
    }

    /// After so many bytes were written: true, and the connection is broken, if more is unread than it may leave. What it has
    /// not read is gone then, so that one who never reads cannot take all memory.
    fn leaves_too_much(&mut self, server: &Server, written: usize) -> bool {
        self.unchecked += written;
        if self.unchecked < CHECK {
            return false;
        }
        self.unchecked = 0;
        let limit = server.shared().node.output_limit(self.id);
        let unread = self.write.unread();
        let exceeds = |most: u64| most > 0 && unread > most;
        let now = server.host.monotonic();
        let since = exceeds(limit.soft).then(|| *self.over_since.get_or_insert(now));
        self.over_since = since;
        let too_long = since.is_some_and(|since| now.since(since).as_secs() > limit.soft_s);
        let closes = exceeds(limit.hard) || too_long;
        if closes {
            self.write.reset();
        }
        closes
    }

    /// Writes the replies that there are.
    async fn answer(&mut self, server: &Server, origin: Origin) -> io::Result<Next> {
        let written = self.reply.len();
        if written < LARGE {
            self.write.write_for(origin, &self.reply).await?;
            self.reply.clear();
        } else {
            self.write.give_for(origin, std::mem::take(&mut self.reply)).await?;
        }
        Ok(if self.leaves_too_much(server, written) { Next::Close } else { Next::Continue })
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
                        self.unchecked += self.reply.len();
                        self.reply.clear();
                    }
                    origin = came_with;
                    loop {
                        match server.execute(origin, self.id, &request, &mut self.reply) {
                            Some(Next::Stall(_)) => {
                                server.awake().await;
                                break Next::Continue;
                            }
                            Some(Next::Migrate) => {
                                server.migrate(origin, self.id, &mut self.reply).await;
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
            if self.reply.len() >= LARGE && self.answer(server, origin).await? == Next::Close {
                return Ok(Next::Close);
            }
        }
        server.end_turn(origin, self.id, &mut self.reply);
        self.waiting = matches!(next, Next::Blocked | Next::Runaway(_));
        if !self.reply.is_empty() && self.answer(server, origin).await? == Next::Close {
            return Ok(Next::Close);
        }
        Ok(next)
    }
}
