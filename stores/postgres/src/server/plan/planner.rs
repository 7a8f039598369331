//! The state of planning: tables that are found, parameters whose types are found, subqueries.

use std::sync::Arc;

use super::typed::Query;
use crate::protocol::{SqlError, Type};
use crate::server::data::Schema;

/// The tables that a transaction sees, and the names of sequences.
#[derive(Clone, Copy)]
pub(crate) struct Known<'a> {
    pub(crate) table: &'a dyn Fn(&str) -> Option<Arc<Schema>>,
    pub(crate) sequence: &'a dyn Fn(&str) -> bool,
}

/// The state while a statement is planned.
pub(super) struct Planner<'a> {
    known: Known<'a>,
    pub(super) params: Vec<Option<Type>>,
    pub(super) subqueries: Vec<Query>,
}

impl<'a> Planner<'a> {
    pub(super) fn new(known: Known<'a>, params: &[Option<Type>]) -> Planner<'a> {
        Planner { known, params: params.to_vec(), subqueries: Vec::new() }
    }

    pub(super) fn table(&self, name: &str) -> Result<Arc<Schema>, SqlError> {
        let missing = || SqlError::new("42P01", format!("relation \"{name}\" does not exist"));
        (self.known.table)(name).ok_or_else(missing)
    }

    /// Refuses the name of a sequence that is not there.
    pub(super) fn sequence(&self, name: &str) -> Result<(), SqlError> {
        let missing = || SqlError::new("42P01", format!("relation \"{name}\" does not exist"));
        (self.known.sequence)(name).then_some(()).ok_or_else(missing)
    }
}
