//! The calls of functions while an expression is computed, and the rows that it is computed of.

use crate::protocol::Value;

/// The results of the functions that vary, in the order of their calls for one row.
#[derive(Clone, Debug, Default)]
pub(super) struct Calls {
    done: Vec<Value>,
    next: usize,
    /// True if the last call waits.
    pub(super) waits: bool,
}

impl Calls {
    /// Begins the computation anew.
    pub(super) fn again(&mut self) {
        self.next = 0;
    }

    /// Forgets the calls: the next computation is another one.
    pub(super) fn clear(&mut self) {
        *self = Calls::default();
    }

    pub(super) fn recall(&mut self) -> Option<Value> {
        let value = self.done.get(self.next).cloned();
        self.next += usize::from(value.is_some());
        value
    }

    pub(super) fn note(&mut self, value: &Value) {
        self.done.push(value.clone());
        self.next = self.done.len();
    }
}

/// The rows that columns are taken from.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rows<'a> {
    pub(super) row: &'a [Value],
    pub(super) excluded: &'a [Value],
    /// The row around a subquery.
    pub(super) outer: &'a [Value],
    /// True if the row was there, and an INSERT has changed it.
    pub(super) updated: bool,
}

impl<'a> Rows<'a> {
    pub(super) fn of(row: &'a [Value]) -> Rows<'a> {
        Rows { row, ..Rows::default() }
    }
}
