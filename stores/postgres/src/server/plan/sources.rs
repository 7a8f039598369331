//! The tables of a statement: those of the database, statements of WITH, subqueries, functions.

use std::sync::Arc;

use super::columns::Scope;
use super::items::{result, still};
use super::planner::Planner;
use super::typed::{Origin, Source};
use crate::protocol::{SqlError, Type};
use crate::server::data::Schema;
use crate::server::sql::{Expr, TableRef, TableSource, TypeName};

/// The tables of FROM or USING.
pub(super) fn sources(
    planner: &mut Planner<'_>,
    scope: &mut Scope,
    tables: &[TableRef],
) -> Result<Vec<Source>, SqlError> {
    tables.iter().map(|table| source(planner, scope, table, None)).collect()
}

/// A table whose columns are in sight from now on. A subquery sees those of the statement around it, and none of the tables beside it.
pub(super) fn source(
    planner: &mut Planner<'_>,
    scope: &mut Scope,
    table: &TableRef,
    outer: Option<&Scope>,
) -> Result<Source, SqlError> {
    // A table of the information schema is called by its last name.
    let name = table.name.rsplit('.').next().unwrap_or(&table.name).to_owned();
    let name = table.alias.clone().unwrap_or(name);
    let (origin, schema) = match &table.source {
        TableSource::Name => planner.source(&table.name)?,
        TableSource::Query(_) if name.is_empty() => {
            return Err(SqlError::new("42601", "subquery in FROM must have an alias"));
        }
        TableSource::Query(select) => {
            let (query, columns) = planner.query(select, outer)?;
            planner.subqueries.push(query);
            (Origin::Queries(vec![(true, planner.subqueries.len() - 1)]), result(&name, columns))
        }
        TableSource::Call { args, columns } => call(planner, &table.name, &name, args, columns)?,
    };
    let schema = renamed(&schema, &name, &table.columns)?;
    scope.add(name, &schema)?;
    Ok(Source { origin, schema, on: None, left: false })
}

/// A function whose result is rows.
fn call(
    planner: &mut Planner<'_>,
    function: &str,
    name: &str,
    args: &[Expr],
    columns: &[(String, TypeName)],
) -> Result<(Origin, Arc<Schema>), SqlError> {
    match (function, args) {
        ("unnest", [array]) if columns.is_empty() => {
            let (array, ty) = planner.expr(&Scope::default(), array, None)?;
            let Type::Array(element) = ty else {
                return Err(SqlError::unsupported("unnest of anything but an array of a known type"));
            };
            still(Some(&array))?;
            Ok((Origin::Unnest(array), result(name, vec![(name.to_owned(), element.ty())])))
        }
        _ => Err(SqlError::unsupported(format!("function {function} as a table"))),
    }
}

/// A table with other names of its columns.
pub(super) fn renamed(schema: &Arc<Schema>, name: &str, names: &[String]) -> Result<Arc<Schema>, SqlError> {
    if names.is_empty() {
        return Ok(Arc::clone(schema));
    }
    let (has, given) = (schema.columns.len(), names.len());
    if given > has {
        let text = format!("table \"{name}\" has {has} columns available but {given} columns specified");
        return Err(SqlError::new("42P10", text));
    }
    let mut renamed = Schema::clone(schema);
    for (column, name) in renamed.columns.iter_mut().zip(names) {
        column.name.clone_from(name);
    }
    Ok(Arc::new(renamed))
}
