//! Functions in SQL of one expression, which stands in the place of their calls.
//!
//! PostgreSQL puts the expressions of such functions in the place of their calls as well, where that changes nothing.

use crate::protocol::Type;

/// A function of CREATE FUNCTION ... LANGUAGE sql.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Routine {
    pub(crate) name: String,
    /// The names of its arguments, empty for none, and their types.
    pub(crate) params: Vec<(String, Type)>,
    pub(crate) returns: Type,
    /// A SELECT of one value.
    pub(crate) body: String,
}
