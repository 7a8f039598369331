//! The state of one server in a Sentinel: a primary, one of its replicas, or another Sentinel.

use std::collections::VecDeque;

use bstr::ByteSlice as _;

use super::ids::{InstanceId, LinkId};

/// The messages that a server is to be sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct DueMessages {
    pub(super) info: bool,
    pub(super) ping: bool,
    pub(super) greeting: bool,
}

/// Where a server listens.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Address {
    /// The name of its host.
    pub host: String,
    /// Its port; 0 for a server that is no longer there.
    pub port: u16,
}

impl Address {
    /// A port of a host.
    #[must_use]
    pub fn new(host: impl Into<String>, port: u16) -> Address {
        Address { host: host.into(), port }
    }

    /// The same with a text of the port.
    pub(super) fn parse(host: &[u8], port: &[u8]) -> Option<Address> {
        let port = std::str::from_utf8(port).ok()?.parse().ok()?;
        Some(Address::new(host.to_str_lossy(), port))
    }
}

/// The part that a server plays.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Part {
    Primary(Box<super::primary::Primary>),
    Replica(Replica),
    Sentinel(Peer),
}

/// The role that a server says it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    Primary,
    Replica,
}

/// A server.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Instance {
    pub(super) id: InstanceId,
    /// The name that it is known by: a primary's own, else its address or run identifier.
    pub(super) name: String,
    pub(super) address: Address,
    /// The identifier that it gave itself; empty if it did not say.
    pub(super) run_id: String,
    pub(super) part: Part,
    /// The primary that it belongs to; itself for a primary.
    pub(super) primary: InstanceId,
    pub(super) wire: Wire,
    pub(super) is_down: bool,
    /// When it was last found to be down; 0 for never.
    pub(super) down_since: i64,
    /// When INFO was last answered; 0 for never.
    pub(super) informed: i64,
    /// The answer of that time.
    pub(super) info: Option<Vec<u8>>,
    /// A primary that has restarted, and did not answer a ping since: when that was noticed.
    pub(super) rebooted: Option<i64>,
    /// It was ordered to end a script that takes too long, in its present time of being down.
    pub(super) script_killed: bool,
    pub(super) role: Role,
    pub(super) role_since: i64,
    /// When a greeting was last published there.
    pub(super) greeted: i64,
}

/// The state of a replica.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Replica {
    pub(super) priority: u64,
    pub(super) offset: u64,
    /// The primary that it says it follows, and since when.
    pub(super) follows: Option<Address>,
    pub(super) follows_since: i64,
    pub(super) is_linked: bool,
    /// For how long it has been without its primary, in milliseconds.
    pub(super) link_down_ms: i64,
    pub(super) is_promoted: bool,
    pub(super) reconfiguration: Reconfiguration,
    pub(super) reconfigured_at: i64,
    /// False if it asks not to be listed.
    pub(super) is_announced: bool,
}

/// How far a replica is in taking a new primary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reconfiguration {
    None,
    Sent,
    InProgress,
    Done,
}

impl Default for Replica {
    fn default() -> Replica {
        Replica {
            priority: 100,
            offset: 0,
            follows: None,
            follows_since: 0,
            is_linked: false,
            link_down_ms: 0,
            is_promoted: false,
            reconfiguration: Reconfiguration::None,
            reconfigured_at: 0,
            is_announced: true,
        }
    }
}

/// The state of another Sentinel.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Peer {
    /// It says that the primary is down.
    pub(super) sees_down: bool,
    /// When it last answered the question about that.
    pub(super) answered: i64,
    /// Whom it voted for, and in which epoch.
    pub(super) leader: Option<String>,
    pub(super) leader_epoch: u64,
    /// When it was last heard of by a greeting.
    pub(super) hello: i64,
    /// Its last greeting that said something new and was heeded.
    pub(super) greeting: Option<String>,
}

/// The connections to a server, and its signs of life.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wire {
    pub(super) commands: Option<LinkId>,
    pub(super) messages: Option<LinkId>,
    /// True while a connection is missing that should be there.
    pub(super) is_broken: bool,
    /// The answers that are awaited, in order.
    pub(super) awaited: VecDeque<Awaited>,
    pub(super) commands_since: i64,
    pub(super) messages_since: i64,
    pub(super) last_message: i64,
    /// The ping that has waited longest for its answer; 0 if none waits.
    pub(super) waiting_since: i64,
    pub(super) pinged: i64,
    pub(super) available: i64,
    pub(super) ponged: i64,
    pub(super) reconnected: i64,
}

/// The request whose answer is awaited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Awaited {
    Ping,
    Info,
    Greeting,
    Question,
    Order,
}

impl Wire {
    /// A server that was never reached counts as silent from now on.
    pub(super) fn new(now: i64) -> Wire {
        Wire {
            commands: None,
            messages: None,
            is_broken: true,
            awaited: VecDeque::new(),
            commands_since: 0,
            messages_since: 0,
            last_message: 0,
            waiting_since: now,
            pinged: 0,
            available: now,
            ponged: now,
            reconnected: 0,
        }
    }
}

impl Instance {
    pub(super) fn replica(&self) -> Option<&Replica> {
        if let Part::Replica(replica) = &self.part { Some(replica) } else { None }
    }

    pub(super) fn replica_mut(&mut self) -> Option<&mut Replica> {
        if let Part::Replica(replica) = &mut self.part { Some(replica) } else { None }
    }

    pub(super) fn peer(&self) -> Option<&Peer> {
        if let Part::Sentinel(peer) = &self.part { Some(peer) } else { None }
    }

    pub(super) fn peer_mut(&mut self) -> Option<&mut Peer> {
        if let Part::Sentinel(peer) = &mut self.part { Some(peer) } else { None }
    }

    pub(super) fn is_primary(&self) -> bool {
        matches!(self.part, Part::Primary(_))
    }

    pub(super) fn is_sentinel(&self) -> bool {
        matches!(self.part, Part::Sentinel(_))
    }

    /// The kind of server as events name it.
    pub(super) fn kind(&self) -> &'static str {
        match self.part {
            Part::Primary(_) => "master",
            Part::Replica(_) => "slave",
            Part::Sentinel(_) => "sentinel",
        }
    }
}
