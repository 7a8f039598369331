//! The plan of SELECT.

use std::sync::Arc;

use super::aggregate::aggregates;
use super::columns::Scope;
use super::grouping::{dependent, grouped, keys};
use super::items::{items, sort_value, still};
use super::locks::locks;
use super::planner::Planner;
use super::sources::source;
use super::typed::{Columns, From, Grouping, Origin, Query, SortKey, Source, Typed, Wide};
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
        self.deeper(|planner| match select.unions.is_empty() {
            true => single(planner, select, outer, &[]),
            false => planner.union(select, outer),
        })
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
    let sources = tables(planner, &mut scope, select, outer)?;
    let groups = is_grouped(select);
    planner.aggregates = groups.then(Vec::new);
    planner.sets = (!groups).then(Vec::new);
    planner.numbers = (!groups).then(Vec::new);
    planner.width = scope.width();
    let (mut items, columns) = items(planner, &scope, &select.items, wanted)?;
    let sets = planner.sets.take().unwrap_or_default();
    let numbers = planner.numbers.take().unwrap_or_default();
    if !sets.is_empty() && !numbers.is_empty() {
        return Err(SqlError::unsupported("row_number beside unnest"));
    }
    let (aggregates, place) = (planner.aggregates.take(), std::mem::replace(&mut planner.place, "WHERE"));
    let filter = filter(planner, &scope, select.filter.as_ref())?;
    (planner.aggregates, planner.place) = (aggregates, place);
    if !select.order.is_empty() && still(filter.as_ref()).is_err() {
        // PostgreSQL sorts before or after it calls the function, as its statistics have it.
        return Err(SqlError::unsupported("a function with an effect in the WHERE of a sorted SELECT"));
    }
    let having =
        select.having.as_deref().map(|having| planner.truth(&scope, having, "HAVING")).transpose()?;
    let (mut order, firsts) = sorting(planner, &scope, select, (&items, &columns))?;
    let grouping = match planner.aggregates.take() {
        None => None,
        Some(aggregates) => {
            let place = std::mem::replace(&mut planner.place, "GROUP BY");
            let mut keys = keys(planner, &scope, &select.group, (&items, &columns))?;
            planner.place = place;
            keys.extend(dependent(&sources, &keys));
            let subqueries = &planner.subqueries;
            let grouped = |expr: Typed| grouped(expr, &scope, &keys, subqueries);
            items = items.into_iter().map(grouped).collect::<Result<_, _>>()?;
            for key in &mut order {
                key.value = grouped(key.value.clone())?;
            }
            let having = having.map(grouped).transpose()?;
            still(having.as_ref())?;
            Some(Grouping { keys, aggregates, having, whole: select.group.is_empty() })
        }
    };
    let limits = (
        limit(planner, select.limit.as_ref(), "LIMIT")?,
        limit(planner, select.offset.as_deref(), "OFFSET")?,
    );
    (planner.aggregates, planner.sets, planner.numbers, planner.width) = around;
    let locks = locks(select, &scope, &sources, (!numbers.is_empty(), !sets.is_empty()))?;
    let is_plain = matches!(&sources[..], [Source { origin: Origin::Table, .. }])
        && grouping.is_none()
        && !select.distinct
        && firsts == 0
        && sets.is_empty()
        && numbers.is_empty();
    let has_values = select.distinct || firsts > 0 || !sets.is_empty() || !numbers.is_empty();
    let mut query = Query { items, from: None, wide: None, depends: false };
    let (limit, offset) = limits;
    if is_plain {
        let schema = Arc::clone(&sources[0].schema);
        query.from = Some(From { schema, filter, order, limit, offset, lock: select.lock });
        if query.reads_around() {
            query.widen(sources)?;
        }
    } else if !sources.is_empty() || grouping.is_some() || has_values || has_clauses(select) {
        query.depends = sources.iter().any(|source| planner.depends(source));
        let (distinct, lock) = (select.distinct, select.lock);
        let one_by_one = grouping.is_none() && !has_values && lock.is_none() && is_ready(&sources);
        let (filter, late) = match still(filter.as_ref()) {
            Err(_) if one_by_one => (None, filter),
            _ => (filter, None),
        };
        let wide = Wide {
            filter,
            late,
            grouping,
            numbers,
            sets,
            distinct,
            firsts,
            order,
            limit,
            offset,
            locks,
            lock,
            ..Wide::of(sources)
        };
        check(planner, &wide)?;
        query.wide = Some(Box::new(wide));
    }
    query.depends |= query.reads_around();
    if query.depends && query.locks() {
        return Err(SqlError::unsupported("a subquery with an effect that depends on the row around it"));
    }
    Ok((query, columns))
}

/// The tables of FROM, which are in sight from then on.
fn tables(
    planner: &mut Planner<'_>,
    scope: &mut Scope,
    select: &sql::Select,
    outer: Option<&Scope>,
) -> Result<Vec<Source>, SqlError> {
    let mut sources = Vec::new();
    if let Some(table) = &select.table {
        sources.push(source(planner, scope, table, outer)?);
    }
    for join in &select.joins {
        let mut source = source(planner, scope, &join.table, outer)?;
        source.left = join.left;
        let place = std::mem::replace(&mut planner.place, "JOIN conditions");
        source.on = join.on.as_ref().map(|on| planner.truth(scope, on, "JOIN/ON")).transpose()?;
        planner.place = place;
        still(source.on.as_ref())?;
        sources.push(source);
    }
    Ok(sources)
}

/// True if rows are put together.
fn is_grouped(select: &sql::Select) -> bool {
    let shows = |item: &Item| matches!(item, Item::One { value, .. } if aggregates(value));
    !select.group.is_empty()
        || select.having.is_some()
        || select.items.iter().any(shows)
        || select.order.iter().any(|key| aggregates(&key.value))
}

/// What rows are sorted by, and how many of these keys are those of DISTINCT ON.
fn sorting(
    planner: &mut Planner<'_>,
    scope: &Scope,
    select: &sql::Select,
    result: (&[Typed], &Columns),
) -> Result<(Vec<SortKey>, usize), SqlError> {
    let mut order = Vec::new();
    for key in &select.order {
        let value = sort_value(planner, scope, &key.value, result, "ORDER BY")?;
        if select.distinct && !result.0.contains(&value) {
            let text = "for SELECT DISTINCT, ORDER BY expressions must appear in select list";
            return Err(SqlError::new("42P10", text));
        }
        order.push(SortKey { value, descends: key.descends, nulls_first: key.nulls_first });
    }
    let mut firsts: Vec<Typed> = Vec::new();
    for expr in &select.firsts {
        let value = sort_value(planner, scope, expr, result, "DISTINCT ON")?;
        if !firsts.contains(&value) {
            firsts.push(value);
        }
    }
    let leading = order.iter().take_while(|key| firsts.contains(&key.value)).count();
    let led = |value: &Typed| order[..leading].iter().any(|key| key.value == *value);
    if leading < order.len() && !firsts.iter().all(led) {
        let text = "SELECT DISTINCT ON expressions must match initial ORDER BY expressions";
        return Err(SqlError::new("42P10", text));
    }
    let others: Vec<Typed> = firsts.into_iter().filter(|value| !led(value)).collect();
    let count = leading + others.len();
    order.extend(others.into_iter().map(|value| SortKey { value, descends: false, nulls_first: false }));
    Ok((order, if select.firsts.is_empty() { 0 } else { count }))
}

/// True if a SELECT without a table has a clause all the same.
fn has_clauses(select: &sql::Select) -> bool {
    select.filter.is_some() || select.limit.is_some() || select.offset.is_some() || !select.order.is_empty()
}

impl Query {
    /// Finds its rows before the first is shown, as a SELECT does that depends on the row around it.
    fn widen(&mut self, sources: Vec<Source>) -> Result<(), SqlError> {
        let Some(From { filter, order, limit, offset, lock, .. }) = self.from.take() else { return Ok(()) };
        still(filter.as_ref())?;
        if lock.is_some() || self.items.iter().any(|item| still(Some(item)).is_err()) {
            return Err(SqlError::unsupported("a subquery with an effect that depends on the row around it"));
        }
        self.wide = Some(Box::new(Wide { filter, order, limit, offset, ..Wide::of(sources) }));
        Ok(())
    }
}

/// True if the rows are there whatever a filter does: one row without a table, or those of a statement of WITH.
fn is_ready(sources: &[Source]) -> bool {
    matches!(sources, [] | [Source { origin: Origin::Part(_), .. }])
}

/// Refuses what a SELECT of rows that are all found first does not do.
fn check(planner: &Planner<'_>, wide: &Wide) -> Result<(), SqlError> {
    still(wide.filter.as_ref())?;
    let lazy = |source: &Source| matches!(source.origin, Origin::Part(at) if planner.parts[at].2);
    if (wide.limit.is_some() || wide.offset.is_some()) && wide.sources.iter().any(lazy) {
        // PostgreSQL would lock no more rows than it shows.
        return Err(SqlError::unsupported("LIMIT of a statement of WITH that locks rows"));
    }
    Ok(())
}

/// The number of LIMIT or OFFSET.
pub(super) fn limit(
    planner: &mut Planner<'_>,
    limit: Option<&Expr>,
    clause: &str,
) -> Result<Option<Typed>, SqlError> {
    let Some(limit) = limit else { return Ok(None) };
    let (value, ty) = planner.expr(&Scope::default(), limit, Some(Type::Int8))?;
    if !ty.is_integer() {
        let text = format!("argument of {clause} must be type bigint, not type {}", ty.name());
        return Err(SqlError::new("42804", text));
    }
    Ok(Some(value))
}
