//! The primary's end: it answers PSYNC, feeds its replicas, and knows what they have acknowledged.
//!
//! A replica that feeds others does the same with the bytes that it gets itself.

use std::net::SocketAddr;
use std::sync::Arc;

use picklock_model::time::WallTime;

use crate::protocol::resp::{self, Reply};
use crate::server::node::{Delivery, FedReplica, Feeding, Introduced, LinkState, Node, SessionId, Then};
use crate::server::snapshot;
use crate::server::store::Effects;
use crate::server::stream::ReplicationId;

/// The reply to a replica that comes while this node has lost its own primary.
const NO_PRIMARY_LINK: Reply = Reply::error("NOMASTERLINK Can't SYNC while not connected with my master");

/// The reply to a replica that comes while this node hands over to another.
const FAILING_OVER: Reply = Reply::error("NOMASTERLINK Can't SYNC while failing over");

impl Node {
    /// Notes what a connection says about itself.
    pub(crate) fn introduce(&mut self, id: SessionId, fact: Fact<'_>) {
        let introduced = self.replication.introduced.entry(id).or_default();
        match fact {
            Fact::Port(port) => introduced.port = port,
            Fact::Address(address) => introduced.address = address.to_vec(),
            Fact::Psync2 => introduced.psync2 = true,
            Fact::Eof => introduced.eof = true,
        }
    }

    /// Makes a session a replica's link, which has the stream of history `id` up to byte `from`: what it lacks, or a full
    /// copy. The error is what PSYNC is answered with.
    pub(crate) fn feed(&mut self, session: SessionId, id: &[u8], from: Option<u64>) -> Result<(), Reply> {
        if self.is_fed(session) {
            return Ok(());
        }
        self.can_feed()?;
        let introduced = self.replication.introduced.remove(&session).unwrap_or_default();
        let history = &self.replication.history;
        let Some(missing) = from.and_then(|from| history.since(id, from)) else {
            self.stats.full_copies += 1;
            self.stats.not_resumed += u64::from(id != b"?");
            self.feed_anew(session, introduced);
            return Ok(());
        };
        self.stats.resumed += 1;
        let mut bytes = if introduced.psync2 {
            format!("+CONTINUE {}\r\n", history.id())
        } else {
            "+CONTINUE\r\n".to_owned()
        }
        .into_bytes();
        bytes.extend_from_slice(&missing);
        self.send(session, &bytes);
        self.add_replica(session, introduced, Feeding::Sent);
        Ok(())
    }

    /// The same for one who knows nothing of histories: a full copy and what comes after it. The error is what SYNC is
    /// answered with.
    pub(crate) fn feed_from_now(&mut self, session: SessionId) -> Result<(), Reply> {
        if self.is_fed(session) {
            return Ok(());
        }
        self.can_feed()?;
        let introduced = self.replication.introduced.remove(&session).unwrap_or_default();
        self.stats.full_copies += 1;
        self.begin_history();
        let copy = snapshot::of_node(self, false);
        self.send(session, &[format!("${}\r\n", copy.len()).as_bytes(), &copy].concat());
        self.add_replica(session, introduced, Feeding::Sent);
        self.has_sent_copy(session, copy.len());
        Ok(())
    }

    /// Counts a copy that a replica was sent.
    pub(super) fn has_sent_copy(&mut self, session: SessionId, len: usize) {
        let mut replicas = self.replication.replicas.iter_mut();
        if let Some(replica) = replicas.find(|replica| replica.session == session) {
            replica.copied += len as u64;
        }
    }

    fn can_feed(&self) -> Result<(), Reply> {
        if self.replication.failover.is_some() {
            return Err(FAILING_OVER);
        }
        let lost = self.replication.upstream.as_ref().is_some_and(|up| up.link != LinkState::Up);
        if lost { Err(NO_PRIMARY_LINK) } else { Ok(()) }
    }

    pub(super) fn add_replica(&mut self, session: SessionId, introduced: Introduced, feeding: Feeding) {
        let now_s = self.now_s();
        let address = if introduced.address.is_empty() {
            host_of(&self.session(session).peer)
        } else {
            String::from_utf8_lossy(&introduced.address).into_owned()
        };
        let replica = FedReplica {
            session,
            address,
            port: introduced.port,
            acked: 0,
            acked_s: now_s,
            copied: 0,
            feeding,
        };
        self.replication.replicas.push(replica);
        self.replication.deserted_s = None;
        self.replication.count_good(now_s);
    }

    /// A session has gone: it may have been a replica's.
    pub(crate) fn lose_replica(&mut self, session: SessionId) {
        self.replication.introduced.remove(&session);
        let replicas = &mut self.replication.replicas;
        let before = replicas.len();
        replicas.retain(|replica| replica.session != session);
        if replicas.len() != before {
            let now_s = self.now_s();
            self.deserted(now_s);
        }
    }

    fn deserted(&mut self, now_s: i64) {
        if self.replication.replicas.is_empty() {
            self.replication.deserted_s = Some(now_s);
        }
        self.replication.count_good(now_s);
    }

    /// A replica says how far it is.
    pub(crate) fn acknowledge(&mut self, session: SessionId, offset: Option<u64>) {
        let now_s = self.now_s();
        let Some(replica) = self.replication.replicas.iter_mut().find(|replica| replica.session == session)
        else {
            return;
        };
        replica.acked = replica.acked.max(offset.unwrap_or(0));
        replica.acked_s = now_s;
        if let Feeding::KeptCommand(stream) = &mut replica.feeding {
            let stream = std::mem::take(stream);
            replica.feeding = Feeding::Sent;
            self.deliver(session, stream.into(), Then::Same);
        }
        self.serve_acknowledged();
        self.tend_failover();
    }

    /// True while there are replicas to look after, or a backlog to drop in time.
    pub(crate) fn needs_beats(&self) -> bool {
        let replication = &self.replication;
        let fades = replication.deserted_s.is_some() && replication.history.is_kept() && !self.is_replica();
        !replication.replicas.is_empty() || fades
    }

    /// Puts the effects of a command on this node into the stream.
    pub(crate) fn propagate(&mut self, effects: &Effects) {
        self.feed_slots(effects);
        if self.replication.upstream.is_none()
            && self.replication.history.is_kept()
            && !effects.writes.is_empty()
        {
            let bytes = self.replication.history.write(effects);
            self.feed_all(&bytes);
        }
    }

    /// Asks the replicas how far they are, if a command has asked for that.
    pub(crate) fn ask_for_acks(&mut self) {
        // Not during a pause: the question would be one more thing for the replicas to have.
        if self.paused().is_none()
            && std::mem::take(&mut self.replication.wants_acks)
            && self.replication.upstream.is_none()
        {
            self.say(&[b"REPLCONF", b"GETACK", b"*"]);
        }
    }

    /// Puts a command into the stream that is no effect.
    pub(super) fn say(&mut self, args: &[&[u8]]) {
        if !self.replication.replicas.is_empty() {
            let mut bytes = Vec::new();
            resp::request(&mut bytes, args);
            self.replication.history.append(&bytes);
            self.feed_all(&bytes);
        }
    }

    /// Sends bytes of the stream to all replicas.
    pub(crate) fn feed_all(&mut self, bytes: &[u8]) {
        if !self.replication.replicas.is_empty() && !bytes.is_empty() {
            let bytes: Arc<[u8]> = bytes.into();
            for replica in &mut self.replication.replicas {
                match &mut replica.feeding {
                    Feeding::InTheCopy { .. } => {}
                    Feeding::KeptCommand(stream) => stream.extend_from_slice(&bytes),
                    Feeding::Sent => self.deliveries.push(Delivery {
                        session: replica.session,
                        bytes: Arc::clone(&bytes),
                        then: Then::Same,
                    }),
                }
            }
        }
    }

    /// Closes the links of all replicas: they have to ask anew how to go on.
    pub(crate) fn cut_replicas(&mut self) {
        let nothing: Arc<[u8]> = Arc::default();
        for replica in std::mem::take(&mut self.replication.replicas) {
            self.deliver(replica.session, Arc::clone(&nothing), Then::Close);
        }
        let now_s = self.now_s();
        self.deserted(now_s);
    }

    /// The work of a node for replication, once a second, when the wall clock shows `now`.
    pub(crate) fn beat(&mut self, now: WallTime) -> Effects {
        self.store.now = now;
        self.tend_replicas();
        self.ask_for_acks();
        std::mem::take(&mut self.store.effects)
    }

    /// The primary's part of the replication cron, once a second.
    pub(super) fn tend_replicas(&mut self) {
        let now_s = self.now_s();
        let timeout_s = self.replication.settings.timeout_s;
        let beats = self.replication.beats;
        self.replication.beats += 1;
        let is_primary = self.replication.upstream.is_none();
        let hurries =
            self.replication.failover.as_ref().is_some_and(|failover| failover.deadline_ms.is_some());
        if is_primary && !hurries && beats.is_multiple_of(self.replication.settings.ping_period_s.max(1)) {
            self.say(&[b"ping"]);
        }
        self.copy_when_due();
        let nothing: Arc<[u8]> = Arc::default();
        let silent = |replica: &&FedReplica| now_s - replica.acked_s > timeout_s;
        for session in
            self.replication.replicas.iter().filter(silent).map(|replica| replica.session).collect::<Vec<_>>()
        {
            self.deliver(session, Arc::clone(&nothing), Then::Close);
            self.lose_replica(session);
        }
        let ttl_s = self.replication.settings.backlog_ttl_s;
        if is_primary
            && ttl_s > 0
            && self.replication.history.is_kept()
            && self.replication.deserted_s.is_some_and(|since| now_s - since > ttl_s)
        {
            let name = self.replication.new_name();
            self.replication.history.forget(name);
        }
        self.replication.count_good(now_s);
    }
}

/// Something that a connection says about itself.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fact<'a> {
    Port(u16),
    Address(&'a [u8]),
    Psync2,
    Eof,
}

/// The host of a peer: a real one comes from an address with a port, which is not the port that it listens on.
fn host_of(peer: &str) -> String {
    peer.parse().map_or_else(|_| peer.to_owned(), |address: SocketAddr| address.ip().to_string())
}

/// The identifier as INFO shows it when there is none.
pub(crate) fn shown(second: Option<(ReplicationId, u64)>) -> (ReplicationId, i64) {
    match second {
        Some((id, offset)) => (id, i64::try_from(offset).unwrap_or(i64::MAX)),
        None => (ReplicationId::NONE, -1),
    }
}
