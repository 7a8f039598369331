//! The versions of rows, and who sees them.
//!
//! Each change of a row makes a new version, as in PostgreSQL. A version says by which transaction it was born and by which it died;
//! a snapshot sees what was committed when it was taken, and what its own transaction did in earlier statements.
//!
//! Instead of a table of the states of all transactions, the versions that a transaction has touched are stamped with a
//! number when it commits, and undone when it does not.
//!
//! Source: PostgreSQL 15, `access/heap/heapam_visibility.c`.

use std::sync::Arc;

use crate::protocol::Value;
use crate::server::sql::Strength;

/// A transaction or a part of one that began with a savepoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Xid(pub(crate) u64);

/// A version of a row, by its number in the order of their creation, which is the order of a scan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Tid(pub(crate) u64);

/// A version and its table.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Place {
    pub(crate) table: Arc<str>,
    pub(crate) tid: Tid,
}

/// The values of a row, in the order of its columns.
pub(crate) type Row = Arc<[Value]>;

/// Who changes something: the transaction, the part of it, and the number of the statement in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Actor {
    pub(crate) top: Xid,
    pub(crate) xid: Xid,
    pub(crate) command: u32,
}

/// The commits that a statement sees, and its own transaction before this command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Snapshot {
    pub(crate) commits: u64,
    pub(crate) top: Xid,
    pub(crate) command: u32,
}

/// When something happened to a version.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stamp {
    /// In the commit of this number.
    Done(u64),
    /// In a transaction that is open.
    Open { xid: Xid, top: Xid, command: u32 },
}

#[derive(Clone, Debug)]
pub(crate) struct Version {
    pub(crate) row: Row,
    pub(crate) born: Stamp,
    /// The transaction that inserted the row, rather than changing one that was there, while it is open.
    pub(crate) inserted: Option<Xid>,
    pub(crate) death: Option<Death>,
    pub(crate) marks: Vec<Mark>,
    /// In how many of the indexes of its table it stands.
    pub(crate) indexed: usize,
}

#[derive(Clone, Debug)]
pub(crate) struct Death {
    pub(crate) stamp: Stamp,
    /// The version that followed; none if the row was deleted.
    pub(crate) next: Option<Tid>,
}

/// A lock of the version by a transaction that is open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark {
    pub(crate) xid: Xid,
    pub(crate) top: Xid,
    pub(crate) strength: Strength,
}

impl Snapshot {
    fn sees_stamp(&self, stamp: Stamp) -> bool {
        match stamp {
            Stamp::Done(commit) => commit <= self.commits,
            Stamp::Open { top, command, .. } => top == self.top && command < self.command,
        }
    }

    pub(crate) fn sees(&self, version: &Version) -> bool {
        let dead = version.death.as_ref().is_some_and(|death| self.sees_stamp(death.stamp));
        self.sees_stamp(version.born) && !dead
    }
}
