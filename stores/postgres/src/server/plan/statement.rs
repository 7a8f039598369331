//! The plan of a statement.

use std::sync::Arc;

use super::columns::Scope;
use super::insert::insert;
use super::items::{result, returning, still};
use super::planned::{Kind, Part, Plan};
use super::planner::{Known, Planner};
use super::sources::{renamed, sources};
use super::tables::{new_index, new_routine, new_schema};
use super::typed::Columns;
use super::write::{filter, write};
use crate::protocol::{SqlError, Type};
use crate::server::data::Schema;
use crate::server::deep::{DEPTH_MAX, too_deep};
use crate::server::sql::Statement;

/// Finds the meaning of a statement. `types` are those that the client gave its first parameters.
pub(crate) fn plan(
    statement: &Statement,
    types: &[Option<Type>],
    known: Known<'_>,
) -> Result<Plan, SqlError> {
    let mut planner = Planner::new(known, types);
    let (mut parts, mut statement) = (Vec::new(), statement);
    if let Statement::With { parts: list, main } = statement {
        // A part may read the one before it, which is executed within it.
        if list.len() > usize::from(DEPTH_MAX) {
            return Err(too_deep());
        }
        statement = main;
        for part in list {
            let (kind, columns) = kind(&mut planner, &part.statement, known)?;
            let columns = columns.unwrap_or_default();
            let schema = renamed(&result(&part.name, columns), &part.name, &part.columns)?;
            let locks = match &kind {
                Kind::Query(query) => query.locks(),
                _ => false,
            };
            planner.parts.push((part.name.clone(), Arc::clone(&schema), locks));
            parts.push(Part { schema, kind });
        }
    }
    let (kind, columns) = kind(&mut planner, statement, known)?;
    // A parameter whose type nothing says is text.
    let params = planner.params.into_iter().map(|ty| ty.unwrap_or(Type::Text)).collect();
    Ok(Plan { kind, subqueries: planner.subqueries, parts, columns, params })
}

/// The meaning of one statement, and the columns of its result.
fn kind(
    planner: &mut Planner<'_>,
    statement: &Statement,
    known: Known<'_>,
) -> Result<(Kind, Option<Columns>), SqlError> {
    let mut columns = None;
    let kind = match statement {
        Statement::CreateTable { table, if_not_exists, columns, keys, checks, unlogged } => {
            let (schema, sequences) = new_schema(known, table, columns, keys, checks)?;
            let schema = Schema { unlogged: *unlogged, ..schema };
            Kind::CreateTable { schema: Arc::new(schema), if_not_exists: *if_not_exists, sequences }
        }
        Statement::CreateDomain { name, ty } => Kind::CreateDomain { name: name.clone(), ty: *ty },
        Statement::CreateSequence { sequence, if_not_exists } => {
            Kind::CreateSequence { sequence: sequence.clone(), if_not_exists: *if_not_exists }
        }
        Statement::CreateIndex { table, if_not_exists, unique, key } => {
            let schema = planner.table(table)?;
            let key = new_index(planner, &schema, *unique, key)?;
            Kind::CreateIndex { schema, key, if_not_exists: *if_not_exists }
        }
        Statement::CreateEnum { name, labels } => {
            Kind::CreateEnum { name: name.clone(), labels: labels.clone() }
        }
        Statement::CreateRoutine { name, replaces, params, returns, body } => {
            let routine = new_routine(planner, name, params, returns, body)?;
            Kind::CreateRoutine { routine: Arc::new(routine), replaces: *replaces }
        }
        Statement::Insert(statement) => {
            let (planned, named) = insert(planner, statement)?;
            columns = named;
            Kind::Insert(planned)
        }
        Statement::Select(select) => {
            let (query, named) = planner.query(select, None)?;
            columns = Some(named);
            Kind::Query(query)
        }
        Statement::Update(update) => {
            let schema = planner.table(&update.table.name)?;
            let mut scope = Scope::of(&update.table, &schema);
            let from = sources(planner, &mut scope, &update.from)?;
            let write = write(planner, &scope, &schema, &update.sets, update.filter.as_ref())?;
            still(write.filter.as_ref().filter(|_| !from.is_empty()))?;
            let (returning, named) = returning(planner, &scope, update.returning.as_deref())?;
            columns = named;
            Kind::Update { write, from, returning }
        }
        Statement::Delete(delete) => {
            let schema = planner.table(&delete.table.name)?;
            let mut scope = Scope::of(&delete.table, &schema);
            let from = sources(planner, &mut scope, &delete.from)?;
            let filter = filter(planner, &scope, delete.filter.as_ref())?;
            still(filter.as_ref().filter(|_| !from.is_empty()))?;
            let (returning, named) = returning(planner, &scope, delete.returning.as_deref())?;
            columns = named;
            Kind::Delete { schema, from, filter, returning }
        }
        control => {
            if let Statement::Show(name) = control {
                columns = Some(vec![(shown_name(name), Type::Text)]);
            }
            Kind::Control(control.clone())
        }
    };
    Ok((kind, columns))
}

/// The name of the column in which SHOW shows a parameter.
fn shown_name(name: &str) -> String {
    match name {
        "timezone" => "TimeZone".to_owned(),
        _ => name.to_owned(),
    }
}
