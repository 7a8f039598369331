//! The sessions that wait, and the keys that they wait for.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::sync::Arc;

use super::ids::{KeptCommand, SessionId};
use crate::protocol::resp::Reply;
use crate::server::store::Store;

/// The elements that a session takes from a key that it waited for. The session brings this along: the commands stand
/// upon the node, and it knows none of them.
pub(crate) trait Take: Debug + Send + Sync {
    /// Takes from a key; `None` if there is nothing for it.
    fn serve(&self, store: &mut Store, key: &[u8]) -> Option<Reply>;
}

/// The wait of a session.
#[derive(Clone, Debug)]
pub(crate) struct Waiting {
    pub(crate) cause: Cause,
    /// The last millisecond of the wall clock that it waits through; none without limit.
    pub(crate) deadline_ms: Option<i64>,
}

#[derive(Clone, Debug)]
pub(crate) enum Cause {
    /// So many replicas that have acknowledged the effects up to an offset.
    Replicas { count: usize, offset: u64 },
    /// Append-only files that are synced; whether the node's own is.
    Disk { logs: bool },
    /// Elements in one of these keys.
    Keys { takes: Arc<dyn Take>, database: usize, keys: Vec<Vec<u8>> },
    /// The end of a pause; then this command is executed.
    Pause { command: KeptCommand },
    /// The end of its own script, which takes too long.
    Script,
}

/// The sessions that wait.
#[derive(Debug, Default)]
pub(crate) struct Queues {
    /// The deadlines in order.
    pub(super) deadlines: BTreeSet<(i64, SessionId)>,
    /// Those that wait for replicas, the first to wait first.
    pub(super) replicas: Vec<SessionId>,
    /// Those that wait for the end of a pause.
    pub(super) paused: Vec<SessionId>,
    /// Those that wait for a key of a database.
    pub(crate) keys: BTreeMap<(usize, Vec<u8>), Vec<SessionId>>,
    /// The keys that somebody waits for and that were changed.
    pub(crate) ready: Vec<(usize, Vec<u8>)>,
    /// How many sessions wait for keys, replicas or the disk.
    pub(crate) blocked: usize,
}

impl Cause {
    /// True if it waits because of its own command, and may be unblocked.
    pub(super) fn is_blocking(&self) -> bool {
        matches!(self, Cause::Replicas { .. } | Cause::Disk { .. } | Cause::Keys { .. })
    }
}
