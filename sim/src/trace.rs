//! What happened in a run: events in true time, each with its cause, and a running digest over them.
//!
//! Events of a store are neutral ([`What::Created`] and its kin): every server emits them, so that an invariant
//! knows no protocol. The digest is taken over the events in the order of their emission; two runs with the same
//! digest did the same things at the same true times for the same reasons.

use std::fmt;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use crate::ids::{ConnId, EventId, GrantId, HostId, Key, Token};
use crate::lock::Belief;
use crate::time::TrueTime;

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Event {
    /// When it happened, in true time.
    pub at: TrueTime,
    /// Its name; causes refer to it.
    pub id: EventId,
    /// Where it happened.
    pub host: HostId,
    /// The event that made it happen, where one did.
    pub cause: Option<EventId>,
    /// The connection it concerns, if it is about a message.
    pub conn: Option<ConnId>,
    /// The grant in whose service it happened, by causal origin.
    pub grant: Option<GrantId>,
    /// What happened.
    pub what: What,
}

/// The kinds of events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum What {
    /// A section began to ask for the lock.
    Waiting {
        /// The key it asks for.
        key: Key,
    },
    /// The client's own code has seen the grant: its belief begins.
    Acquired {
        /// The key granted.
        key: Key,
        /// Who holds it, as the store knows it.
        owner: String,
        /// The fencing token, if the design hands one out.
        token: Option<Token>,
        /// The advertised deadline mapped to true time at this moment, if there is one.
        deadline: Option<TrueTime>,
    },
    /// A section gave up asking, or the lock answered with an error.
    NotAcquired {
        /// The key it asked for.
        key: Key,
        /// Why not.
        why: String,
    },
    /// The deadline that was advertised with the grant has passed on the holder's clock.
    DeadlinePassed {
        /// The key of the grant.
        key: Key,
    },
    /// The holder noticed that its deadline had passed and gave the section up.
    Aborted {
        /// The key of the grant.
        key: Key,
    },
    /// The holder's release call began: its belief ends.
    Releasing {
        /// The key of the grant.
        key: Key,
    },
    /// The release call returned.
    Released {
        /// The key of the grant.
        key: Key,
        /// The error it returned with, if any.
        error: Option<String>,
    },
    /// The holder renewed its grant at a checkpoint of its work and knows that it was.
    Renewed {
        /// The key of the grant.
        key: Key,
        /// The advertised deadline mapped to true time at this moment, if there is one.
        deadline: Option<TrueTime>,
    },
    /// The holder acquired what it holds once more.
    Reentered {
        /// The key of the grant.
        key: Key,
        /// How often it holds it now; 2 after the first re-entry.
        depth: u32,
    },
    /// The holder's acquire of what it holds already did not bring it a grant.
    NotReentered {
        /// The key of the grant.
        key: Key,
        /// Why not.
        why: String,
    },
    /// The holder released once what it had acquired more than once.
    Left {
        /// The key of the grant.
        key: Key,
        /// How often it holds it still.
        depth: u32,
        /// The error with which the release returned, if any.
        error: Option<String>,
    },
    /// All sections of a client are over.
    Finished,

    /// The process stopped running.
    Paused {
        /// What kind of halt it is.
        kind: Halt,
        /// When it will run again.
        until: TrueTime,
    },
    /// The process runs again.
    Resumed,
    /// The process died.
    Crashed {
        /// True if its connections were not closed: the peers learn nothing.
        power_loss: bool,
    },
    /// The process was started anew.
    Restarted,

    /// A connect began.
    Connecting {
        /// The host it is for.
        peer: HostId,
    },
    /// A segment was sent.
    Sent {
        /// The receiver.
        peer: HostId,
        /// Its number on this connection and direction, from 0.
        segment: u32,
        /// Its payload in bytes.
        bytes: u32,
    },
    /// A segment arrived in the receiver's socket buffer.
    Delivered {
        /// The sender.
        peer: HostId,
        /// Its number on this connection and direction, from 0.
        segment: u32,
    },
    /// A connection ended for this host.
    Disconnected {
        /// The other end.
        peer: HostId,
        /// How it ended.
        why: Disconnect,
    },

    /// The wall clock was moved.
    ClockStepped {
        /// By how much, in nanoseconds.
        by_ns: i64,
    },
    /// The rate of the clocks was changed.
    DriftSet {
        /// The new error in parts per million.
        ppm: i64,
    },

    /// A store created the record of a lock.
    Created {
        /// The key.
        key: Key,
    },
    /// A store extended the lease of a record.
    Extended {
        /// The key.
        key: Key,
    },
    /// A store deleted a record because it was asked to.
    Deleted {
        /// The key.
        key: Key,
    },
    /// A store dropped a record because its lease ran out.
    Expired {
        /// The key.
        key: Key,
        /// For how long it had run out by then, in nanoseconds of the store's wall clock: stores drop what nobody asks
        /// for a little late.
        overdue_ns: u64,
    },
    /// A store no longer has a record that it once acknowledged: restart, failover, eviction.
    Lost {
        /// The key.
        key: Key,
    },
    /// A replica was promoted to be the primary.
    Promoted,
    /// A returned primary was made a replica.
    Demoted,
    /// Who watches the stores found something out or took a step of a failover.
    Noticed {
        /// What, in that server's own words.
        text: String,
    },

    /// The resource applied a read.
    ResourceRead {
        /// The register read.
        key: Key,
        /// What it held.
        value: i64,
        /// The token that came with the operation.
        token: Option<Token>,
    },
    /// The resource applied a write.
    ResourceWritten {
        /// The register written.
        key: Key,
        /// What it holds now.
        value: i64,
        /// The token that came with the operation.
        token: Option<Token>,
    },
    /// The resource took from the stock, or refused because too little was left.
    ResourceTaken {
        /// The stock counter.
        key: Key,
        /// How much was asked for.
        amount: i64,
        /// What is left.
        left: i64,
        /// False if too little was left.
        taken: bool,
    },
    /// The resource refused an operation because of its token.
    ResourceRefused {
        /// The register.
        key: Key,
        /// The token that came with the operation.
        token: Token,
        /// The highest token the resource had seen.
        highest: Token,
    },
    /// The client learned that its change was applied.
    WriteAcknowledged {
        /// The register or stock.
        key: Key,
    },
    /// The client sent a change and will never learn whether it was applied.
    WriteUnknown {
        /// The register or stock.
        key: Key,
    },
    /// The client learned that its change was refused.
    WriteRefused {
        /// The register or stock.
        key: Key,
    },

    /// A lever of the plan was pulled.
    Injected {
        /// The index of the injection in the plan.
        injection: u32,
        /// What it did, in words.
        text: String,
    },
    /// An injection made a difference: it delayed, held, lost or changed something.
    Bit {
        /// The index of the injection in the plan.
        injection: u32,
    },
    /// The last effect of an injection ended: the process resumed, the network healed.
    Healed {
        /// The index of the injection in the plan.
        injection: u32,
    },
}

/// How a process is kept from running.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Halt {
    /// Stop-the-world pause: nothing runs, clocks go on (F1).
    Pause,
    /// Suspension: nothing runs and the monotonic clock stands still (F3).
    Suspend,
    /// Only the critical section stands still, background tasks go on (F2).
    Stall,
}

/// How a connection ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Disconnect {
    /// The peer closed it in good order.
    Closed,
    /// It was reset: the peer's process is gone, or a fault killed it.
    Reset,
    /// Nobody listens there.
    Refused,
    /// Segments went unacknowledged for too long.
    TimedOut,
}

/// What a host is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Role {
    /// Runs a client of the lock.
    Client,
    /// A store that takes writes from the start; its index among the independent stores.
    Store,
    /// A replica of a store.
    Replica,
    /// Watches a store together with others, and promotes one of its replicas.
    Sentinel,
    /// The guarded resource.
    Resource,
}

/// A host as a trace names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostInfo {
    /// Its name, such as `client-1`.
    pub name: String,
    /// What it is for.
    pub role: Role,
}

/// The whole record of one run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Trace {
    /// The hosts; a [`HostId`] is an index into them.
    pub hosts: Vec<HostInfo>,
    /// How the design's holders come to believe.
    pub belief: Belief,
    /// How many stores must have created the record before the lock is granted; 0 for a design without stores.
    pub quorum: u32,
    /// The design's lease time in nanoseconds.
    #[serde(rename = "ttl_ns", with = "crate::time::serde_ns")]
    pub ttl: Duration,
    /// After the last fault has healed, a waiter gets the lock within this span, or it is a deadlock.
    #[serde(rename = "progress_bound_ns", with = "crate::time::serde_ns")]
    pub progress_bound: Duration,
    /// The end of the run.
    pub end: TrueTime,
    /// The fault names of the plan's injections, by index.
    pub faults: Vec<String>,
    /// The events in true-time order; those of one instant in order of emission.
    pub events: Vec<Event>,
    /// The digest of the events.
    pub digest: Digest,
}

impl Trace {
    /// The name of a host; `?` if the trace does not know it (a damaged file).
    #[must_use]
    pub fn host_name(&self, host: HostId) -> &str {
        self.hosts.get(usize::from(host.0)).map_or("?", |info| info.name.as_str())
    }

    /// The role of a host.
    #[must_use]
    pub fn role(&self, host: HostId) -> Option<Role> {
        self.hosts.get(usize::from(host.0)).map(|info| info.role)
    }
}

/// A 128-bit digest (XXH3) of a trace, printed as 32 hexadecimal digits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest(pub u128);

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

impl Serialize for Digest {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Digest, D::Error> {
        let text = String::deserialize(from)?;
        u128::from_str_radix(&text, 16)
            .map(Digest)
            .map_err(|_| serde::de::Error::custom(format!("`{text}` is not a digest of hexadecimal digits")))
    }
}

/// Takes the digest of events as they are emitted.
#[derive(Default)]
pub(crate) struct DigestTaker {
    state: Xxh3,
    /// The encoding of the event at hand, kept to reuse its allocation.
    line: Vec<u8>,
}

impl DigestTaker {
    pub(crate) fn take(&mut self, event: &Event) {
        encode::event(&mut self.line, event);
        self.state.update(&self.line);
        self.line.clear();
    }

    pub(crate) fn digest(&self) -> Digest {
        Digest(self.state.digest128())
    }
}

/// The byte encoding that digests are taken over: fixed-width little-endian numbers and length-prefixed texts.
/// It is part of what makes a capsule comparable years later: change it only together with the capsule's version.
mod encode {
    use super::{Disconnect, Event, Halt, What};
    use crate::ids::{Key, Token};

    pub(super) fn event(out: &mut Vec<u8>, event: &Event) {
        number(out, event.at.0);
        small(out, u32::from(event.host.0));
        small(out, event.cause.map_or(u32::MAX, |id| id.0));
        small(out, event.conn.map_or(u32::MAX, |id| id.0));
        match event.grant {
            None => small(out, u32::MAX),
            Some(grant) => {
                small(out, u32::from(grant.client.0));
                small(out, grant.section);
            }
        }
        what(out, &event.what);
    }

    fn what(out: &mut Vec<u8>, what: &What) {
        match what {
            What::Waiting { key } => tagged(out, 0, key),
            What::Acquired { key, owner, token: with, deadline } => {
                tagged(out, 1, key);
                text(out, owner);
                token(out, *with);
                number(out, deadline.map_or(u64::MAX, |at| at.0));
            }
            What::NotAcquired { key, why } => {
                tagged(out, 2, key);
                text(out, why);
            }
            What::DeadlinePassed { key } => tagged(out, 3, key),
            What::Aborted { key } => tagged(out, 4, key),
            What::Releasing { key } => tagged(out, 5, key),
            What::Released { key, error } => {
                tagged(out, 6, key);
                text(out, error.as_deref().unwrap_or(""));
            }
            What::Finished => out.push(7),
            What::Paused { kind, until } => {
                out.extend([8, halt(*kind)]);
                number(out, until.0);
            }
            What::Resumed => out.push(9),
            What::Crashed { power_loss } => out.extend([10, u8::from(*power_loss)]),
            What::Restarted => out.push(11),
            What::Connecting { peer } => {
                out.push(12);
                small(out, u32::from(peer.0));
            }
            What::Sent { peer, segment, bytes } => {
                out.push(13);
                small(out, u32::from(peer.0));
                small(out, *segment);
                small(out, *bytes);
            }
            What::Delivered { peer, segment } => {
                out.push(14);
                small(out, u32::from(peer.0));
                small(out, *segment);
            }
            What::Disconnected { peer, why } => {
                out.extend([15, disconnect(*why)]);
                small(out, u32::from(peer.0));
            }
            What::ClockStepped { by_ns } => {
                out.push(16);
                number(out, by_ns.cast_unsigned());
            }
            What::DriftSet { ppm } => {
                out.push(17);
                number(out, ppm.cast_unsigned());
            }
            What::Created { key } => tagged(out, 18, key),
            What::Extended { key } => tagged(out, 19, key),
            What::Deleted { key } => tagged(out, 20, key),
            What::Expired { key, overdue_ns } => {
                tagged(out, 21, key);
                number(out, *overdue_ns);
            }
            What::Lost { key } => tagged(out, 22, key),
            What::Promoted => out.push(23),
            What::Demoted => out.push(24),
            What::ResourceRead { key, value, token: with } => {
                tagged(out, 25, key);
                number(out, value.cast_unsigned());
                token(out, *with);
            }
            What::ResourceWritten { key, value, token: with } => {
                tagged(out, 26, key);
                number(out, value.cast_unsigned());
                token(out, *with);
            }
            What::ResourceTaken { key, amount, left, taken } => {
                tagged(out, 27, key);
                number(out, amount.cast_unsigned());
                number(out, left.cast_unsigned());
                out.push(u8::from(*taken));
            }
            What::ResourceRefused { key, token: with, highest } => {
                tagged(out, 28, key);
                number(out, with.0);
                number(out, highest.0);
            }
            What::WriteAcknowledged { key } => tagged(out, 29, key),
            What::WriteUnknown { key } => tagged(out, 30, key),
            What::WriteRefused { key } => tagged(out, 31, key),
            What::Injected { injection, text: words } => {
                out.push(32);
                small(out, *injection);
                text(out, words);
            }
            What::Bit { injection } => {
                out.push(33);
                small(out, *injection);
            }
            What::Healed { injection } => {
                out.push(34);
                small(out, *injection);
            }
            What::Noticed { text: words } => {
                out.push(35);
                text(out, words);
            }
            What::Renewed { key, deadline } => {
                tagged(out, 36, key);
                number(out, deadline.map_or(u64::MAX, |at| at.0));
            }
            What::Reentered { key, depth } => {
                tagged(out, 37, key);
                small(out, *depth);
            }
            What::NotReentered { key, why } => {
                tagged(out, 38, key);
                text(out, why);
            }
            What::Left { key, depth, error } => {
                tagged(out, 39, key);
                small(out, *depth);
                text(out, error.as_deref().unwrap_or(""));
            }
        }
    }

    fn halt(kind: Halt) -> u8 {
        match kind {
            Halt::Pause => 0,
            Halt::Suspend => 1,
            Halt::Stall => 2,
        }
    }

    fn disconnect(why: Disconnect) -> u8 {
        match why {
            Disconnect::Closed => 0,
            Disconnect::Reset => 1,
            Disconnect::Refused => 2,
            Disconnect::TimedOut => 3,
        }
    }

    fn tagged(out: &mut Vec<u8>, tag: u8, key: &Key) {
        out.push(tag);
        text(out, key.as_str());
    }

    fn token(out: &mut Vec<u8>, token: Option<Token>) {
        number(out, token.map_or(u64::MAX, |token| token.0));
    }

    fn text(out: &mut Vec<u8>, words: &str) {
        small(out, words.len() as u32);
        out.extend_from_slice(words.as_bytes());
    }

    fn small(out: &mut Vec<u8>, value: u32) {
        out.extend_from_slice(&value.to_le_bytes());
    }

    fn number(out: &mut Vec<u8>, value: u64) {
        out.extend_from_slice(&value.to_le_bytes());
    }
}
