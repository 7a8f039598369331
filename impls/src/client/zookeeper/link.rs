//! The task that keeps a session: it connects, listens, says that the client is there, and gives up a silent member.
//!
//! *Source:* `ClientCnxn.java` of ZooKeeper 3.8.

use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use picklock_model::time::Monotonic;
use picklock_sim::host::Host;
use picklock_sim::stream::ReadHalf;
use picklock_zookeeper::CLIENT_PORT;
use picklock_zookeeper::jute::{Malformed, Packets, Record, packet};
use picklock_zookeeper::messages::{ConnectRequest, ConnectResponse, ReplyHeader, Request, WatchEvent, xid};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::members::Members;
use super::state::{Failure, Pending, Rules, Shared};

/// The longest wait before a client that was connected once connects again.
const AGAIN: Duration = Duration::from_secs(1);

/// How many bytes the password of a session has.
const PASSWORD_LEN: usize = 16;

/// The task that keeps a session.
pub(super) struct Keeper {
    pub(super) host: Host,
    pub(super) members: Members,
    /// The session's time that is asked for.
    pub(super) asked: Duration,
    pub(super) rules: Rules,
    pub(super) shared: Arc<Shared>,
}

/// A connection that a member has accepted for the session.
struct Connection {
    read: ReadHalf,
    packets: Packets,
}

impl Keeper {
    pub(super) async fn keep(self) {
        let (shared, host, loses) = (Arc::clone(&self.shared), self.host.clone(), self.rules.loses);
        let why = tokio::select! {
            biased;
            why = self.connections() => why,
            () = lost(&host, &shared, loses) => Failure::Over,
        };
        shared.end(why);
    }

    /// One connection after the other, until the session is over.
    async fn connections(mut self) -> Failure {
        let mut had_one = false;
        loop {
            let (member, wait) = self.members.next();
            let more = if had_one { self.host.rng().span(Duration::ZERO, AGAIN) } else { Duration::ZERO };
            self.host.sleep(wait + more).await;
            match self.connect(&member, &mut had_one).await {
                Ok(connection) => {
                    self.members.connected();
                    // How it ended does not matter: the next one is tried.
                    let _ = self.listen(connection).await;
                }
                Err(Failure::Expired) => return Failure::Expired,
                Err(_) => {}
            }
            self.shared.disconnected();
        }
    }

    /// Resumes the session at this member, or asks for one.
    async fn connect(&self, member: &str, had_one: &mut bool) -> Result<Connection, Failure> {
        let timeout = self.shared.state().timeout / self.members.len();
        let connected = self.host.timeout(timeout, self.host.connect(member, CLIENT_PORT)).await;
        let Ok(Ok(stream)) = connected else { return Err(Failure::ConnectionLoss) };
        *had_one = true;
        let (mut read, mut write) = stream.into_split();
        let sent = self.host.monotonic();
        write.write_all(&packet(&(), &self.request())).await.map_err(|_| Failure::ConnectionLoss)?;
        let mut packets = Packets::default();
        let answer = self.host.timeout(timeout, first_packet(&mut read, &mut packets)).await;
        let answer = answer.map_err(|_| Failure::ConnectionLoss)??;
        let granted = ConnectResponse::whole(&answer).map_err(|_| Failure::Malformed)?;
        if granted.timeout_ms <= 0 {
            return Err(Failure::Expired);
        }
        let again = {
            let state = self.shared.state();
            state.watches.again(state.last_zxid)
        };
        if let Some(again) = again {
            let request = Request::SetWatches(again).packet(xid::SET_WATCHES);
            write.write_all(&request).await.map_err(|_| Failure::ConnectionLoss)?;
            let pending = Pending { xid: xid::SET_WATCHES, sent: self.host.monotonic(), caller: None };
            self.shared.state().pending.push_back(pending);
        }
        self.shared.connected(write, granted, sent);
        Ok(Connection { read, packets })
    }

    fn request(&self) -> ConnectRequest {
        let state = self.shared.state();
        let granted = state.granted.as_ref();
        ConnectRequest {
            protocol_version: 0,
            last_zxid_seen: state.last_zxid,
            timeout_ms: i32::try_from(self.asked.as_millis()).unwrap_or(i32::MAX),
            session_id: granted.map_or(0, |granted| granted.session_id),
            password: Some(
                granted.and_then(|granted| granted.password.clone()).unwrap_or_else(|| vec![0; PASSWORD_LEN]),
            ),
            read_only: Some(false),
        }
    }

    /// Handles what comes, until the connection ends or the member is silent for too long.
    async fn listen(&self, Connection { mut read, mut packets }: Connection) -> Result<(), Malformed> {
        let mut bytes = [0; 4096];
        while let Some(packet) = packets.next_packet()? {
            self.handle(&packet)?;
        }
        loop {
            let (ping, give_up) = self.due();
            tokio::select! {
                biased;
                taken = read.read(&mut bytes) => {
                    let Ok(taken @ 1..) = taken else { return Ok(()) };
                    packets.extend(&bytes[..taken]);
                    self.shared.state().last_heard = self.host.monotonic();
                    while let Some(packet) = packets.next_packet()? {
                        self.handle(&packet)?;
                    }
                }
                () = self.host.sleep_until(ping.min(give_up)) => {
                    let now = self.host.monotonic();
                    let (ping, give_up) = self.due();
                    if now >= give_up || (now >= ping && self.ping().await.is_err()) {
                        return Ok(());
                    }
                }
            }
        }
    }

    /// When the client is to say that it is there, and when the member is given up.
    fn due(&self) -> (Monotonic, Monotonic) {
        let state = self.shared.state();
        let silence = state.timeout * 2 / 3;
        (state.last_sent + silence / 2, state.last_heard + silence)
    }

    async fn ping(&self) -> Result<(), Failure> {
        let writer = self.shared.state().writer().ok_or(Failure::ConnectionLoss)?;
        let mut writer = writer.lock().await;
        let sent = self.host.monotonic();
        let ping = Request::Ping(()).packet(xid::PING);
        writer.write_all(&ping).await.map_err(|_| Failure::ConnectionLoss)?;
        let mut state = self.shared.state();
        state.last_sent = sent;
        state.pings.push_back(sent);
        Ok(())
    }

    fn handle(&self, packet: &[u8]) -> Result<(), Malformed> {
        let mut rest = packet;
        let header = ReplyHeader::take(&mut rest)?;
        let now = self.host.monotonic();
        let mut state = self.shared.state();
        match header.xid {
            xid::PING => {
                if let Some(sent) = state.pings.pop_front() {
                    state.renewed = (sent.max(state.renewed.0), now);
                }
            }
            xid::AUTH => {}
            xid::EVENT => state.watches.fire(&WatchEvent::take(&mut rest)?),
            _ if state.answered(header, rest, now) => {}
            // Answers come in the order of the requests.
            _ => return Err(Malformed),
        }
        Ok(())
    }
}

/// The first packet of a connection.
async fn first_packet(read: &mut ReadHalf, packets: &mut Packets) -> Result<Vec<u8>, Failure> {
    let mut bytes = [0; 256];
    loop {
        if let Some(packet) = packets.next_packet().map_err(|_| Failure::Malformed)? {
            return Ok(packet);
        }
        let Ok(taken @ 1..) = read.read(&mut bytes).await else { return Err(Failure::ConnectionLoss) };
        packets.extend(&bytes[..taken]);
    }
}

/// Ends when the client has been without a connection for as long as the session lasts, if it minds.
async fn lost(host: &Host, shared: &Shared, loses: bool) {
    if !loses {
        return pending().await;
    }
    loop {
        let changed = shared.changed.notified();
        let since = {
            let state = shared.state();
            state.suspended.map(|since| since + state.timeout)
        };
        let Some(until) = since else {
            changed.await;
            continue;
        };
        tokio::select! {
            biased;
            () = changed => {}
            () = host.sleep_until(until) => return,
        }
    }
}
