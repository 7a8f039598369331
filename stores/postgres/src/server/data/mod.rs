//! The data: tables, the versions of their rows, sequences, and the transactions that change them.

mod catalogue;
mod heap;
mod schema;
mod sequence;
mod version;

pub(crate) use heap::{Attempt, Ended, Heap, Unique};
pub(crate) use schema::{Column, Default as ColumnDefault, Key, Schema};
pub(crate) use sequence::{Sequence, Sequences};
pub(crate) use version::{Actor, Place, Row, Snapshot, Tid, Xid};
