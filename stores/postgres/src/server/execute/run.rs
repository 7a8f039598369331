//! A SELECT under way.

use std::collections::VecDeque;

use super::calls::Calls;
use super::hunt::Hunt;
use crate::protocol::Value;
use crate::server::data::{Place, Tid};

#[derive(Clone, Debug, Default)]
pub(super) struct QueryRun {
    /// The versions that are not dealt with yet; none before the beginning.
    pub(super) left: Option<VecDeque<Tid>>,
    pub(super) limit: Option<u64>,
    /// The rows that fit, with the values by which they are sorted.
    pub(super) sorting: Vec<(Vec<Value>, Tid)>,
    pub(super) sorted: bool,
    pub(super) stage: Stage,
    pub(super) hunt: Option<Hunt>,
    pub(super) calls: Calls,
    pub(super) rows: Vec<Vec<Value>>,
    pub(super) count: u64,
}

#[derive(Clone, Debug, Default)]
pub(super) enum Stage {
    #[default]
    Next,
    /// Does the row fit?
    Fit(Place),
    Lock(Place),
    /// Does the row still fit?
    FitAgain(Place),
    Show(Place),
}
