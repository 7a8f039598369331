//! The data: tables, the versions of their rows, sequences, and the transactions that change them.

mod catalogue;
mod compare;
mod heap;
mod routine;
mod rule;
mod schema;
mod sequence;
mod version;

pub(crate) use compare::{compared, order};
pub(crate) use heap::{Attempt, Ended, Heap, Unique};
pub(crate) use routine::Routine;
pub(crate) use rule::Rule;
pub(crate) use schema::{Column, Default as ColumnDefault, Key, KeyRules, Schema};
pub(crate) use sequence::{Sequence, Sequences};
pub(crate) use version::{Actor, Place, Row, Snapshot, Tid, Xid};
