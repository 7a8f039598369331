//! The outcome of a command: the reply, the effects on the dataset, the next act of the server.

use crate::protocol::resp::Reply;
use crate::server::store::Effects;

/// The outcome of a command, besides the reply.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Outcome {
    /// The effects on the dataset.
    pub effects: Effects,
    /// The next act of the server.
    pub next: Next,
}

/// The act of a server after a command.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Next {
    /// Nothing special.
    #[default]
    Continue,
    /// Close the connection after the reply.
    Close,
    /// Execute nothing more for the connection until a delivery resumes it.
    Blocked,
    /// Feed the replica that has come.
    Feed,
    /// Write the role to disk.
    RewriteConfig,
    /// Write the dataset to disk.
    Save(Save),
    /// Do nothing at all for so many milliseconds, then reply.
    Stall(u64),
    /// Do nothing at all for so many milliseconds; the connection waits for longer.
    Runaway(u64),
    /// Send keys to another node, and do nothing else meanwhile.
    Migrate,
    /// Stop.
    Shutdown,
}

/// In which form a dataset is written to disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Save {
    /// As a snapshot.
    Snapshot,
    /// As a snapshot, while the node goes on.
    Background,
    /// As a new append-only file, while the node goes on.
    Rewrite,
}

/// The answer of a command about the server.
pub(crate) struct Answer {
    /// The reply, if there is one now.
    pub(crate) reply: Option<Reply>,
    /// The next act of the server.
    pub(crate) next: Next,
    /// True if the reply is an error that was counted where it arose.
    pub(crate) counted: bool,
}

impl Answer {
    /// No reply, or none yet, and something that the server has to do.
    pub(crate) const fn silent(next: Next) -> Answer {
        Answer { reply: None, next, counted: false }
    }
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Answer {
        Answer { reply: Some(reply), next: Next::Continue, counted: false }
    }
}

/// The reply to a command that needs memory when there is none.
pub(crate) const OUT_OF_MEMORY: Reply =
    Reply::error("OOM command not allowed when used memory > 'maxmemory'.");
/// The reply to a write that too few replicas would get.
pub(crate) const NOT_ENOUGH_REPLICAS: Reply = Reply::error("NOREPLICAS Not enough good replicas to write.");
/// The reply on a replica that has lost its primary and must not answer with what it had then.
pub(crate) const MASTER_DOWN: Reply =
    Reply::error("MASTERDOWN Link with MASTER is down and replica-serve-stale-data is set to 'no'.");
/// The reply to a write on a replica.
pub(crate) const READ_ONLY: Reply = Reply::error("READONLY You can't write against a read only replica.");
