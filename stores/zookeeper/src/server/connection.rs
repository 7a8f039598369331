//! The connection of a client: it begins with a session, then requests are answered one after the other, and events come in between.
//!
//! *Source:* `NIOServerCnxn`, `ZooKeeperServer.processConnectRequest` and `processPacket` of ZooKeeper 3.8.

use std::sync::Arc;
use std::time::Duration;

use picklock_model::trace::What;
use picklock_sim::host::{Origin, Origins};
use picklock_sim::stream::{ReadHalf, Stream, WriteHalf};
use tokio::io::AsyncReadExt as _;
use tokio::sync::mpsc;

use super::member::{Asked, Member};
use super::state::{CREATE_SESSION, Outgoing, are_modelled, reply};
use super::{password, words};
use crate::jute::{Packets, Record, packet};
use crate::messages::{
    Auth, Children, ClientInfo, ConnectRequest, ConnectResponse, Path, Request, RequestHeader, error, opcode,
    xid,
};

/// A connection without a session is closed after this.
const WITHOUT_SESSION: Duration = Duration::from_secs(10);

/// Silent connections are looked for so often.
const LOOKS: Duration = Duration::from_secs(5);

/// What came in on a connection.
struct Incoming {
    read: ReadHalf,
    packets: Packets,
    origins: Origins,
}

/// A packet, and the message that brought it.
type Arrived = (Origin, Vec<u8>);

/// A session on its connection.
#[derive(Clone, Copy, Debug)]
struct Session {
    id: i64,
    /// Its time, in milliseconds.
    timeout: i32,
}

/// Serves a client until it is gone.
pub(super) async fn serve(member: &Arc<Member>, stream: Stream, client: &str) {
    let (read, mut write) = stream.into_split();
    let mut incoming = Incoming { read, packets: Packets::default(), origins: Origins::default() };
    let first = member.host.timeout_boxed(WITHOUT_SESSION, Box::pin(incoming.first())).await;
    let Ok(Some(first)) = first else { return };
    let (origin, request) = match first {
        First::Word(origin, word) => {
            let answer = member.with(|machine| words::answer(word, machine));
            let _ = write.write_for(origin, answer.as_bytes()).await;
            return;
        }
        First::Packet(origin, packet) => (origin, ConnectRequest::take(&mut packet.as_slice())),
    };
    let Ok(request) = request else { return };
    // A member that follows nobody takes nobody, and one that is behind takes nobody who has seen more.
    let takes = |zxid| member.with(|machine| machine.is_serving() && zxid <= machine.zxid);
    if !takes(request.last_zxid_seen) {
        return;
    }
    let session = begin(member, origin, &request).await;
    let Some(session) = session else { return };
    let response = ConnectResponse {
        protocol_version: 0,
        timeout_ms: session.map_or(0, |session| session.timeout),
        session_id: session.map_or(0, |session| session.id),
        password: Some(session.map_or([0; 16], |session| password::of(session.id)).to_vec()),
        read_only: request.read_only.map(|_| false),
    };
    let (out, outgoing) = mpsc::unbounded_channel();
    // Nothing may have come to a new connection before this.
    let connected = session.map(|session| {
        let id =
            member.with(|machine| machine.is_serving().then(|| machine.connections.add(session.id, out)));
        (session, id)
    });
    if write.write_for(origin, &packet(&response, &())).await.is_err() {
        connected.and_then(|(_, id)| id).into_iter().for_each(|id| leave(member, id));
        return;
    }
    let Some((session, Some(id))) = connected else { return };
    let (requests, queue) = mpsc::unbounded_channel();
    tokio::select! {
        biased;
        () = send(write, outgoing) => {}
        () = take_requests(member, &mut incoming, session, requests) => {}
        () = answer(member, (id, session), client, queue) => {}
    }
    leave(member, id);
}

fn leave(member: &Member, connection: u64) {
    member.with(|machine| machine.connections.remove(connection));
}

/// Begins a session, or resumes one. `Some(None)` if that is over, none if nobody knows.
async fn begin(member: &Member, origin: Origin, request: &ConnectRequest) -> Option<Option<Session>> {
    let tick = i32::try_from(member.tick.as_millis()).unwrap_or(i32::MAX);
    let timeout = request.timeout_ms.clamp(tick.saturating_mul(2), tick.saturating_mul(20));
    let id = request.session_id;
    if id == 0 {
        let id = member.with(|machine| machine.new_session());
        let asked = Asked { session: id, opcode: CREATE_SESSION, record: timeout.bytes() };
        member.ask(origin, None, asked).await.ok()?;
        return Some(Some(Session { id, timeout }));
    }
    member.with(|machine| machine.connections.close_session(id));
    if request.password.as_deref() != Some(password::of(id).as_slice()) {
        return Some(None);
    }
    let is_valid = member.revalidate(origin, id, timeout).await?;
    Some(is_valid.then_some(Session { id, timeout }))
}

/// What a connection begins with.
enum First {
    Packet(Origin, Vec<u8>),
    Word(Origin, &'static str),
}

impl Incoming {
    /// Reads more. False at the end.
    async fn more(&mut self) -> bool {
        let mut bytes = Vec::new();
        let len = self.read.read_buf(&mut bytes).await.unwrap_or(0);
        self.origins.read(len, self.read.origin());
        self.packets.extend(&bytes);
        len > 0
    }

    async fn first(&mut self) -> Option<First> {
        loop {
            if let Some(word) = self.packets.first_four().and_then(words::word) {
                return Some(First::Word(self.origins.take(4), word));
            }
            if let Some((origin, packet)) = self.next()? {
                return Some(First::Packet(origin, packet));
            }
            if !self.more().await {
                return None;
            }
        }
    }

    /// The next packet that is there; `None` if its length cannot be one.
    fn next(&mut self) -> Option<Option<Arrived>> {
        let packet = self.packets.next_packet().ok()?;
        Some(packet.map(|packet| (self.origins.take(packet.len() + 4), packet)))
    }
}

/// Sends what is to be sent, until the connection is to be closed.
async fn send(mut write: WriteHalf, mut outgoing: mpsc::UnboundedReceiver<Outgoing>) {
    while let Some(Outgoing::Packet(origin, bytes)) = outgoing.recv().await {
        // Requests of a client that is gone are carried out all the same.
        let _ = write.write_for(origin, &bytes).await;
    }
}

/// Takes requests as they come in: each is a sign of life, whenever its turn comes. A client that is silent for longer than its session lasts is
/// left.
async fn take_requests(
    member: &Member,
    incoming: &mut Incoming,
    session: Session,
    requests: mpsc::UnboundedSender<Arrived>,
) {
    let looks = LOOKS.as_millis() as u64;
    loop {
        loop {
            let Some(next) = incoming.next() else { return };
            let Some((origin, packet)) = next else { break };
            let opcode = RequestHeader::take(&mut packet.as_slice()).map(|header| header.opcode);
            let is_ping = opcode == Ok(opcode::PING);
            let of = (session.id, session.timeout);
            member.with(|machine| machine.touch(&member.host, origin, of, is_ping));
            let _ = requests.send((origin, packet));
        }
        let now = member.host.monotonic().as_millis();
        let until = ((now + u64::try_from(session.timeout).unwrap_or_default()) / looks + 1) * looks;
        let span = Duration::from_millis(until - now);
        match member.host.timeout_boxed(span, Box::pin(incoming.more())).await {
            Ok(true) => {}
            // Whoever is gone is so once all is done that it has asked for.
            Ok(false) => break,
            Err(_) => return,
        }
    }
    drop(requests);
    std::future::pending().await
}

/// Answers requests, one after the other.
async fn answer(
    member: &Member,
    (connection, session): (u64, Session),
    client: &str,
    mut queue: mpsc::UnboundedReceiver<Arrived>,
) {
    while let Some((origin, packet)) = queue.recv().await {
        let mut rest = packet.as_slice();
        let Ok(header) = RequestHeader::take(&mut rest) else { break };
        if !answer_one(member, (connection, session), client, (origin, header, rest)).await {
            break;
        }
    }
    // The answers go out first.
    member.with(|machine| machine.connections.send(connection, Outgoing::Close));
    std::future::pending().await
}

/// Answers a request. False if it is the last one.
async fn answer_one(
    member: &Member,
    (connection, session): (u64, Session),
    client: &str,
    (origin, header, record): (Origin, RequestHeader, &[u8]),
) -> bool {
    let reply_with = |xid: i32, answer: Result<Vec<u8>, i32>| {
        member.with(|machine| {
            let zxid = machine.zxid;
            machine.connections.send(connection, reply(origin, xid, zxid, answer));
        });
    };
    match header.opcode {
        opcode::PING => reply_with(xid::PING, Ok(Vec::new())),
        opcode::AUTH => return authenticate(member, connection, (origin, header.xid), record),
        opcode::CREATE
        | opcode::CREATE2
        | opcode::CREATE_CONTAINER
        | opcode::CREATE_TTL
        | opcode::DELETE
        | opcode::SET_DATA
        | opcode::SET_ACL
        | opcode::MULTI
        | opcode::CLOSE_SESSION => {
            report_rights(member, origin, header.opcode, record);
            let asked = Asked { session: session.id, opcode: header.opcode, record: record.to_vec() };
            // Without an answer the connection is closed.
            let _ = member.ask(origin, Some((connection, header.xid)), asked).await;
            return header.opcode != opcode::CLOSE_SESSION;
        }
        _ => match Request::take(header.opcode, &mut &*record) {
            Err(_) => reply_with(header.xid, Err(error::MARSHALLING)),
            Ok(Request::Sync(Path { path })) => {
                member.flush(origin).await;
                reply_with(header.xid, Ok(Path { path }.bytes()));
            }
            Ok(Request::GetEphemerals(Path { path })) => {
                let children = member.with(|machine| machine.ephemerals(session.id, &path));
                reply_with(header.xid, Ok(Children { children }.bytes()));
            }
            Ok(Request::WhoAmI(())) => {
                let who = ClientInfo { scheme: "ip".to_owned(), user: client.to_owned() };
                reply_with(header.xid, Ok(vec![who].bytes()));
            }
            Ok(Request::Other(opcode)) => {
                member.host.record(origin, What::NotModelled { name: format!("request {opcode}") });
                reply_with(header.xid, Err(error::UNIMPLEMENTED));
                return false;
            }
            Ok(request) => {
                member.with(|machine| machine.answer_read(connection, (origin, header.xid), &request));
            }
        },
    }
    true
}

/// Takes a client for whom it says it is, which gives it no rights. False if that cannot be.
fn authenticate(member: &Member, connection: u64, (origin, xid): (Origin, i32), record: &[u8]) -> bool {
    let scheme = Auth::take(&mut &*record).map(|auth| auth.scheme).unwrap_or_default();
    let is_known = matches!(scheme.as_str(), "digest" | "ip");
    let answer = if is_known { Ok(Vec::new()) } else { Err(error::AUTH_FAILED) };
    member.with(|machine| machine.connections.send(connection, reply(origin, xid, 0, answer)));
    is_known
}

/// Reports rights that are not modelled.
fn report_rights(member: &Member, origin: Origin, opcode: i32, mut record: &[u8]) {
    let acl = match Request::take(opcode, &mut record) {
        Ok(Request::Create(create) | Request::Create2(create) | Request::CreateContainer(create)) => {
            create.acl
        }
        Ok(Request::SetAcl(set)) => set.acl,
        _ => return,
    };
    if !are_modelled(&acl) {
        member.host.record(origin, What::NotModelled { name: "rights of somebody".to_owned() });
    }
}
