//! The plan of INSERT.

use super::columns::{Scope, target_index};
use super::expr::assigned;
use super::items::returning;
use super::planned::{Arbiter, Insert};
use super::planner::Planner;
use super::rules::Ruled;
use super::typed::{Columns, Typed};
use super::write::{default_of, write};
use crate::protocol::{SqlError, Type};
use crate::server::data::{Key, Schema};
use crate::server::sql::{self, Conflict, Expr, Target};

pub(super) fn insert(
    planner: &mut Planner<'_>,
    insert: &sql::Insert,
) -> Result<(Insert, Option<Columns>), SqlError> {
    let schema = planner.table(&insert.table.name)?;
    let scope = Scope::of(&insert.table, &schema);
    let targets = targets(&schema, &insert.columns)?;
    let (rows, from) = match &insert.query {
        None => (values(planner, &schema, &targets, &insert.rows, !insert.columns.is_empty())?, None),
        Some(select) => {
            let (row, from) = of_query(planner, &schema, &targets, select, !insert.columns.is_empty())?;
            (vec![row], Some(from))
        }
    };
    let arbiter = match &insert.conflict {
        Conflict::Fail => Arbiter::None,
        Conflict::Nothing(None) => Arbiter::Nothing(None),
        Conflict::Nothing(Some(target)) => Arbiter::Nothing(Some(key_of(planner, &schema, target)?)),
        Conflict::Update { target, sets, filter } => {
            let key = key_of(planner, &schema, target)?;
            let scope = scope.clone().with_excluded();
            Arbiter::Update(key, write(planner, &scope, &schema, sets, filter.as_ref())?)
        }
    };
    let scope = scope.inserting();
    let (returning, columns) = returning(planner, &scope, insert.returning.as_deref())?;
    Ok((Insert { schema, rows, from, arbiter, returning }, columns))
}

/// The unique index that is meant: the one over these columns and expressions, whose rows are among those that are named.
fn key_of(
    planner: &mut Planner<'_>,
    schema: &std::sync::Arc<Schema>,
    target: &Target,
) -> Result<usize, SqlError> {
    let ruled = Ruled::of(planner, schema, &target.columns, target.filter.as_ref())?;
    let (mut wanted, values) = (ruled.columns, ruled.values);
    wanted.sort_unstable();
    wanted.dedup();
    let named: Vec<_> = ruled.filter.iter().flat_map(|filter| filter.conditions()).collect();
    let is_meant = |key: &Key| {
        let mut columns = key.columns.clone();
        columns.sort_unstable();
        let rules = key.rules.as_deref();
        let own: Vec<_> =
            rules.map(|rules| rules.values.iter().map(|(value, _)| value).collect()).unwrap_or_default();
        let filter = rules.and_then(|rules| rules.filter.as_ref());
        columns == wanted
            && own.len() == values.len()
            && own.iter().all(|value| values.iter().any(|(other, _)| other == *value))
            && filter.is_none_or(|filter| filter.conditions().iter().all(|one| named.contains(one)))
    };
    schema.keys.iter().position(is_meant).ok_or_else(|| {
        let text = "there is no unique or exclusion constraint matching the ON CONFLICT specification";
        SqlError::new("42P10", text)
    })
}

/// The places of these columns; of all without any.
fn targets(schema: &Schema, names: &[String]) -> Result<Vec<usize>, SqlError> {
    let mut targets = Vec::new();
    for name in names {
        let at = target_index(schema, name)?;
        if targets.contains(&at) {
            return Err(SqlError::new("42701", format!("column \"{name}\" specified more than once")));
        }
        targets.push(at);
    }
    if names.is_empty() {
        targets = (0..schema.columns.len()).collect();
    }
    Ok(targets)
}

/// Refuses another number of values than of columns; without names there may be less.
fn count(found: usize, targets: &[usize], named: bool) -> Result<(), SqlError> {
    if found > targets.len() {
        return Err(SqlError::new("42601", "INSERT has more expressions than target columns"));
    }
    if found < targets.len() && named {
        return Err(SqlError::new("42601", "INSERT has more target columns than expressions"));
    }
    Ok(())
}

fn always(schema: &Schema, at: usize) -> Result<(), SqlError> {
    let column = &schema.columns[at];
    if column.always {
        let text = format!("cannot insert a non-DEFAULT value into column \"{}\"", column.name);
        return Err(SqlError::new("428C9", text));
    }
    Ok(())
}

fn values(
    planner: &mut Planner<'_>,
    schema: &Schema,
    targets: &[usize],
    rows: &[Vec<Option<Expr>>],
    named: bool,
) -> Result<Vec<Vec<Typed>>, SqlError> {
    if rows.iter().any(|row| row.len() != rows[0].len()) {
        return Err(SqlError::new("42601", "VALUES lists must all be the same length"));
    }
    let mut all = Vec::new();
    for row in rows {
        count(row.len(), targets, named)?;
        let mut values: Vec<Typed> = schema.columns.iter().map(default_of).collect::<Result<_, _>>()?;
        for (expr, at) in row.iter().zip(targets) {
            let column = &schema.columns[*at];
            let Some(expr) = expr else { continue };
            always(schema, *at)?;
            values[*at] = planner.assigned(&Scope::default(), expr, &column.name, column.ty)?;
        }
        all.push(values);
    }
    Ok(all)
}

/// A row that is computed of each row of a SELECT, and the number of that.
fn of_query(
    planner: &mut Planner<'_>,
    schema: &Schema,
    targets: &[usize],
    select: &sql::Select,
    named: bool,
) -> Result<(Vec<Typed>, usize), SqlError> {
    let wanted: Vec<Type> = targets.iter().map(|at| schema.columns[*at].ty).collect();
    let (query, columns) = planner.query_for(select, &wanted)?;
    count(columns.len(), targets, named)?;
    let mut values: Vec<Typed> = schema.columns.iter().map(default_of).collect::<Result<_, _>>()?;
    for (from, ((_, ty), at)) in columns.iter().zip(targets).enumerate() {
        always(schema, *at)?;
        let column = &schema.columns[*at];
        values[*at] = assigned(Typed::Column(from), *ty, &column.name, column.ty)?;
    }
    planner.subqueries.push(query);
    Ok((values, planner.subqueries.len() - 1))
}
