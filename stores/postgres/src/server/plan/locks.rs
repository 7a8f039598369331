//! The row locks of a SELECT: which tables they are about, and where none may stand.
//!
//! Source: PostgreSQL 15, `CheckSelectLocking` and `transformLockingClause` in `parser/analyze.c`.

use super::aggregate::aggregates;
use super::columns::Scope;
use super::typed::{Origin, Source};
use crate::protocol::SqlError;
use crate::server::sql::{self, Item};

/// The numbers of the tables whose rows are locked, in the order of the locks. `shows` is true for a result with numbers of rows, and for one
/// with sets.
pub(super) fn locks(
    select: &sql::Select,
    scope: &Scope,
    sources: &[Source],
    shows: (bool, bool),
) -> Result<Vec<usize>, SqlError> {
    let Some(lock) = select.lock else { return Ok(Vec::new()) };
    let clause = lock.strength.clause().trim_start_matches("SELECT ");
    let counts = |item: &Item| matches!(item, Item::One { value, .. } if aggregates(value));
    let refused = match shows {
        _ if select.distinct || !select.firsts.is_empty() => Some("with DISTINCT clause"),
        _ if !select.group.is_empty() => Some("with GROUP BY clause"),
        _ if select.having.is_some() => Some("with HAVING clause"),
        _ if select.items.iter().any(counts) => Some("with aggregate functions"),
        (true, _) => Some("with window functions"),
        (_, true) => Some("with set-returning functions in the target list"),
        _ => None,
    };
    if let Some(why) = refused {
        return Err(SqlError::new("0A000", format!("{clause} is not allowed {why}")));
    }
    let mut locked = Vec::new();
    for name in &select.locks {
        let missing = || {
            let text = format!("relation \"{name}\" in {clause} clause not found in FROM clause");
            SqlError::new("42P01", text)
        };
        let at = scope.number(name).ok_or_else(missing)?;
        let cannot = |what: &str| SqlError::new("0A000", format!("{clause} cannot be applied to {what}"));
        match sources[at].origin {
            Origin::Part(_) => return Err(cannot("a WITH query")),
            Origin::Unnest(_) => return Err(cannot("a function")),
            _ => locked.push(at),
        }
    }
    if select.locks.is_empty() {
        let has_rows = |source: &Source| !matches!(source.origin, Origin::Part(_) | Origin::Unnest(_));
        locked.extend((0..sources.len()).filter(|at| has_rows(&sources[*at])));
    }
    for at in &locked {
        if sources[*at].left {
            let text = format!("{clause} cannot be applied to the nullable side of an outer join");
            return Err(SqlError::new("0A000", text));
        }
        if sources[*at].origin != Origin::Table {
            return Err(SqlError::unsupported("a row lock of a subquery or of the catalogue"));
        }
    }
    Ok(locked)
}
