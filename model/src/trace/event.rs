//! The events of a run: when, where, what, and why.
//!
//! Those of a store are neutral ([`What::Created`] and its kin): every server emits them, so that an invariant knows no
//! protocol.

use serde::{Deserialize, Serialize};

use super::applied::Applied;
use super::content::Content;
use crate::ids::{ConnId, EventId, GrantId, HostId, Key, Token};
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
    /// The kind of event, with its facts.
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
        /// True if it asks for a grant that is shared.
        #[serde(default, skip_serializing_if = "is_false")]
        shared: bool,
    },
    /// The client's own code has seen the grant: its belief begins.
    Acquired {
        /// The key granted.
        key: Key,
        /// The holder, as the store knows it.
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
        /// True if that error says that the grant was not released; otherwise what became of it is not known.
        #[serde(default, skip_serializing_if = "is_false")]
        denied: bool,
    },
    /// The grant that comes next is shared: others of its kind may hold at the same time.
    Shares {
        /// The key of the grant.
        key: Key,
    },
    /// The holder learned that its grant could not be renewed, because it is lost.
    RenewalDenied {
        /// The key of the grant.
        key: Key,
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
    /// A line was given to the program that runs on this host.
    #[serde(alias = "told")]
    Asked {
        /// The line.
        line: String,
    },
    /// The program that runs on this host printed a line.
    Printed {
        /// The line.
        line: String,
        /// True if it went to standard error.
        #[serde(default, skip_serializing_if = "is_false")]
        aside: bool,
    },

    /// The process stopped running.
    Paused {
        /// The kind of halt.
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
        /// Its content, as a hash.
        content: Content,
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

    /// The network forgot the connections of this host with another one: nothing passes on them, and nobody is notified.
    ConnectionsForgotten {
        /// The other end.
        peer: HostId,
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
    /// A store still has a record that it once acknowledged, and no longer the lease of it: that was lost in a restart or a
    /// failover, and the record never runs out.
    LeaseLost {
        /// The key.
        key: Key,
    },
    /// This member leads from now on: it takes writes.
    #[serde(alias = "promoted")]
    BecameLeader,
    /// This member leads no longer.
    #[serde(alias = "demoted")]
    StoppedLeading,
    /// A simulated store refused a request that the product takes: the simulation does not have it.
    NotModelled {
        /// The command, or the part of it that is missing.
        name: String,
    },
    /// A monitor of the stores found something out or took a step of a failover.
    Noticed {
        /// What, in that server's own words.
        text: String,
    },

    /// The resource applied a read.
    ResourceRead {
        /// The register read.
        key: Key,
        /// The value that it held.
        value: i64,
        /// The token that came with the operation.
        token: Option<Token>,
    },
    /// The resource applied a write.
    ResourceWritten {
        /// The register written.
        key: Key,
        /// The value that it holds now.
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
        /// The stock that is left.
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
    /// A register lies in a store that has become what counts without all that was done before: a replica that leads from now on, or a
    /// server that has lost what was not on its disk. What came after the last write of this value is in no history any more.
    ResourceRestored {
        /// The register.
        key: Key,
        /// The value that it has there.
        value: i64,
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

    /// A fault action of the plan was applied.
    Injected {
        /// The index of the injection in the plan.
        injection: u32,
        /// The action and the hosts that it worked on.
        #[serde(flatten)]
        applied: Box<Applied>,
    },
    /// An injection made a difference: it delayed, held, lost or changed something.
    #[serde(alias = "bit")]
    TookEffect {
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands over a reference to the field")]
fn is_false(given: &bool) -> bool {
    !given
}
