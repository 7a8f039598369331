//! Statements under way.

use std::collections::{BTreeSet, VecDeque};

use super::calls::Calls;
use super::hunt::Hunt;
use crate::protocol::Value;
use crate::server::data::{Place, Row, Tid};

/// A statement about rows; or one of another kind.
#[derive(Clone, Debug)]
pub(super) enum Run {
    Other,
    Query(QueryRun),
    Insert(Insertion),
    Change(Change),
}

/// A statement of WITH.
#[derive(Clone, Debug)]
pub(super) struct PartRun {
    /// None while it proceeds.
    pub(super) run: Option<Run>,
    /// Its result so far.
    pub(super) rows: Vec<Vec<Value>>,
    pub(super) done: bool,
}

/// A subquery: its run, or its rows.
#[derive(Clone, Debug)]
pub(super) enum Sub {
    Open(Box<QueryRun>),
    Done(Vec<Vec<Value>>),
}

impl Default for Sub {
    fn default() -> Sub {
        Sub::Open(Box::default())
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct QueryRun {
    /// The row around it, if it depends on that.
    pub(super) outer: Vec<Value>,
    /// The versions that are not dealt with yet; none before the beginning.
    pub(super) left: Option<VecDeque<Tid>>,
    pub(super) limit: Option<u64>,
    /// The rows that fit, with the values by which they are sorted.
    pub(super) sorting: Vec<(Vec<Value>, Tid)>,
    pub(super) sorted: bool,
    pub(super) stage: QueryStage,
    pub(super) hunt: Option<Hunt>,
    pub(super) calls: Calls,
    pub(super) rows: Vec<Vec<Value>>,
    pub(super) count: u64,
    /// How many rows are left out before the first one is shown.
    pub(super) offset: u64,
    /// The rows that were all found first; none before that.
    pub(super) found: Option<Box<Found>>,
}

/// Rows that were all found first.
#[derive(Clone, Debug, Default)]
pub(super) struct Found {
    /// Those that are left.
    pub(super) rows: VecDeque<Met>,
    /// The results so far, where each is shown once.
    pub(super) seen: BTreeSet<Vec<Value>>,
    /// How many of the locks of the first row are taken, and true if a part of it has moved meanwhile.
    pub(super) locked: (usize, bool),
    /// True once the first row has passed a filter with an effect.
    pub(super) passed: bool,
}

/// A row of several tables.
#[derive(Clone, Debug, Default)]
pub(super) struct Met {
    /// Its columns, table after table, and what comes behind them.
    pub(super) row: Vec<Value>,
    /// The part of each table.
    pub(super) parts: Vec<Side>,
}

/// The part of a table in a row of several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    /// The version of a row.
    Version(Tid),
    /// A row that is in no table.
    Made,
    /// Nulls, as no row has met.
    Nulls,
}

#[derive(Clone, Debug, Default)]
pub(super) enum QueryStage {
    #[default]
    Next,
    /// Does the row fit?
    Fit(Place),
    Lock(Place),
    /// Does the row still fit?
    FitAgain(Place),
    Show(Place),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Change {
    /// The versions that are not dealt with yet, each with the row of the other tables that it meets.
    pub(super) left: Option<VecDeque<(Tid, Row)>>,
    /// The row of the other tables.
    pub(super) beside: Row,
    pub(super) stage: ChangeStage,
    pub(super) hunt: Option<Hunt>,
    pub(super) calls: Calls,
    /// How many rows were changed.
    pub(super) count: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) enum ChangeStage {
    #[default]
    Next,
    Fit(Place),
    /// The row has moved there.
    Follow(Place),
    Compute(Place),
    /// The new values; none to delete it.
    Write(Place, Option<Row>),
    /// Into the indexes.
    Enter(Place, Row),
    Show(Row),
}

#[derive(Clone, Debug, Default)]
pub(super) struct Insertion {
    /// The rows of its SELECT, if it has one, once they are found.
    pub(super) found: Option<Vec<Vec<Value>>>,
    /// True if the row at hand was there and is changed.
    pub(super) updated: bool,
    /// How many of the rows are dealt with.
    pub(super) done: usize,
    pub(super) stage: InsertStage,
    pub(super) hunt: Option<Hunt>,
    pub(super) calls: Calls,
    /// How many rows were inserted or changed.
    pub(super) count: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) enum InsertStage {
    #[default]
    Compute,
    /// Is there a row of its key?
    Probe(Row),
    /// There is.
    Lock(Row, Place),
    Fit(Row, Place),
    Change(Row, Place),
    Write(Place, Row),
    /// Into the indexes.
    Enter(Place, Row),
    Show(Row),
    Next,
}
