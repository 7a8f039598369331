//! The plan of SELECT.

use std::sync::Arc;

use super::aggregate::aggregates;
use super::columns::Scope;
use super::items::{items, sort_value, still};
use super::planner::Planner;
use super::sources::source;
use super::typed::{Columns, From, Origin, Query, SortKey, Source, Typed, Wide};
use super::write::filter;
use crate::protocol::{SqlError, Type};
use crate::server::sql::{self, Expr, Item};

impl Planner<'_> {
    /// A SELECT, perhaps within another statement.
    pub(super) fn query(
        &mut self,
        select: &sql::Select,
        outer: Option<&Scope>,
    ) -> Result<(Query, Columns), SqlError> {
        match select.unions.is_empty() {
            true => single(self, select, outer, &[]),
            false => self.union(select, outer),
        }
    }

    /// A SELECT whose values are for columns of these types.
    pub(super) fn query_for(
        &mut self,
        select: &sql::Select,
        wanted: &[Type],
    ) -> Result<(Query, Columns), SqlError> {
        match select.unions.is_empty() {
            true => single(self, select, None, wanted),
            false => self.union(select, None),
        }
    }

    /// One SELECT of a UNION.
    pub(super) fn branch(
        &mut self,
        select: &sql::Select,
        outer: Option<&Scope>,
        wanted: &[Type],
    ) -> Result<(Query, Columns), SqlError> {
        single(self, select, outer, wanted)
    }

    /// True if the rows of a table depend on the row around its SELECT.
    fn depends(&self, source: &Source) -> bool {
        match &source.origin {
            Origin::Queries(list) => list.iter().any(|(_, at)| self.subqueries[*at].depends),
            _ => false,
        }
    }
}

/// A SELECT without UNION.
fn single(
    planner: &mut Planner<'_>,
    select: &sql::Select,
    outer: Option<&Scope>,
    wanted: &[Type],
) -> Result<(Query, Columns), SqlError> {
    let around = (planner.aggregates.take(), planner.sets.take(), planner.numbers.take(), planner.width);
    let mut scope = outer.map_or_else(Scope::default, |outer| Scope::default().within(outer));
    let mut sources = Vec::new();
    if let Some(table) = &select.table {
        sources.push(source(planner, &mut scope, table, outer)?);
    }
    for join in &select.joins {
        let mut source = source(planner, &mut scope, &join.table, outer)?;
        source.left = join.left;
        source.on = join.on.as_ref().map(|on| planner.truth(&scope, on, "JOIN/ON")).transpose()?;
        still(source.on.as_ref())?;
        sources.push(source);
    }
    let counts = select.items.iter().any(|item| matches!(item, Item::One { value, .. } if aggregates(value)));
    planner.aggregates = counts.then(Vec::new);
    planner.sets = (!counts).then(Vec::new);
    planner.numbers = (!counts).then(Vec::new);
    planner.width = scope.width();
    let (values, columns) = items(planner, &scope, &select.items, wanted)?;
    let aggregates = planner.aggregates.take().unwrap_or_default();
    let sets = planner.sets.take().unwrap_or_default();
    let numbers = planner.numbers.take().unwrap_or_default();
    if !sets.is_empty() && !numbers.is_empty() {
        return Err(SqlError::unsupported("row_number beside unnest"));
    }
    let place = std::mem::replace(&mut planner.place, "WHERE");
    let filter = filter(planner, &scope, select.filter.as_ref())?;
    planner.place = place;
    if !select.order.is_empty() && still(filter.as_ref()).is_err() {
        // PostgreSQL sorts before or after it calls the function, as its statistics have it.
        return Err(SqlError::unsupported("a function with an effect in the WHERE of a sorted SELECT"));
    }
    if counts && !select.order.is_empty() {
        return Err(SqlError::unsupported("ORDER BY beside an aggregate"));
    }
    let mut order = Vec::new();
    for key in &select.order {
        let value = sort_value(planner, &scope, &key.value, &values, &columns)?;
        if select.distinct && !values.contains(&value) {
            let text = "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
            return Err(SqlError::new("42P10", text));
        }
        order.push(SortKey { value, descends: key.descends, nulls_first: key.nulls_first });
    }
    let limit = limit(planner, select.limit.as_ref())?;
    (planner.aggregates, planner.sets, planner.numbers, planner.width) = around;
    if let Some(name) = select.locks.iter().find(|name| !scope.has(name)) {
        let text = format!("relation \"{name}\" in FOR UPDATE clause not found in FROM clause");
        return Err(SqlError::new("42P01", text));
    }
    if select.distinct && columns.iter().any(|(_, ty)| *ty == Type::Json) {
        return Err(no_equality());
    }
    let refused = match select.lock {
        Some(_) if counts => Some("with aggregate functions"),
        Some(_) if select.distinct => Some("with DISTINCT clause"),
        Some(_) if !numbers.is_empty() => Some("with window functions"),
        Some(_) if !sets.is_empty() => Some("with set-returning functions in the target list"),
        _ => None,
    };
    if let (Some(why), Some(lock)) = (refused, select.lock) {
        let clause = lock.strength.clause().trim_start_matches("SELECT ");
        return Err(SqlError::new("0A000", format!("{clause} is not allowed {why}")));
    }
    let is_plain = matches!(&sources[..], [Source { origin: Origin::Table, .. }]);
    let mut query = Query { items: values, from: None, wide: None, depends: false };
    if is_plain && !counts && !select.distinct && sets.is_empty() && numbers.is_empty() {
        let schema = Arc::clone(&sources[0].schema);
        query.from = Some(From { schema, filter, order, limit, lock: select.lock });
        if query.reads_around() {
            query.widen(sources)?;
        }
    } else if !sources.is_empty()
        || counts
        || select.distinct
        || !sets.is_empty()
        || !numbers.is_empty()
        || has_clauses(select)
    {
        query.depends = sources.iter().any(|source| planner.depends(source));
        let distinct = select.distinct;
        let wide = Wide { sources, filter, aggregates, numbers, sets, distinct, order, limit };
        check(planner, &wide, select.lock.is_some())?;
        query.wide = Some(wide);
    }
    query.depends |= query.reads_around();
    Ok((query, columns))
}

/// True if a SELECT without a table has a clause all the same.
fn has_clauses(select: &sql::Select) -> bool {
    select.filter.is_some() || select.limit.is_some() || !select.order.is_empty()
}

pub(super) fn no_equality() -> SqlError {
    SqlError::new("42883", "could not identify an equality operator for type json")
}

impl Query {
    /// Finds its rows before the first is shown, as a SELECT does that depends on the row around it.
    fn widen(&mut self, sources: Vec<Source>) -> Result<(), SqlError> {
        let Some(From { filter, order, limit, lock, .. }) = self.from.take() else { return Ok(()) };
        still(filter.as_ref())?;
        if lock.is_some() || self.items.iter().any(|item| still(Some(item)).is_err()) {
            return Err(SqlError::unsupported("a subquery with an effect that depends on the row around it"));
        }
        let (aggregates, numbers, sets) = (Vec::new(), Vec::new(), Vec::new());
        self.wide = Some(Wide { sources, filter, aggregates, numbers, sets, distinct: false, order, limit });
        Ok(())
    }
}

/// Refuses what a SELECT of rows that are all found first does not do.
fn check(planner: &Planner<'_>, wide: &Wide, locks: bool) -> Result<(), SqlError> {
    if locks {
        return Err(SqlError::unsupported("a row lock in a SELECT of anything but one table"));
    }
    still(wide.filter.as_ref())?;
    let lazy = |source: &Source| matches!(source.origin, Origin::Part(at) if planner.parts[at].2);
    if wide.limit.is_some() && wide.sources.iter().any(lazy) {
        // PostgreSQL would lock no more rows than it shows.
        return Err(SqlError::unsupported("LIMIT of a statement of WITH that locks rows"));
    }
    Ok(())
}

pub(super) fn limit(planner: &mut Planner<'_>, limit: Option<&Expr>) -> Result<Option<Typed>, SqlError> {
    let Some(limit) = limit else { return Ok(None) };
    let (value, ty) = planner.expr(&Scope::default(), limit, Some(Type::Int8))?;
    if !ty.is_integer() {
        let text = format!("argument of LIMIT must be type bigint, not type {}", ty.name());
        return Err(SqlError::new("42804", text));
    }
    Ok(Some(value))
}
