//! The plan of a statement.

use std::sync::Arc;

use super::columns::Scope;
use super::planner::{Known, Planner};
use super::rows;
use super::tables::{new_index, new_schema};
use super::typed::{Kind, Plan};
use crate::protocol::{SqlError, Type};
use crate::server::sql::Statement;

/// Finds the meaning of a statement. `types` are those that the client gave its first parameters.
pub(crate) fn plan(
    statement: &Statement,
    types: &[Option<Type>],
    known: Known<'_>,
) -> Result<Plan, SqlError> {
    let mut planner = Planner::new(known, types);
    let mut columns = None;
    let kind = match statement {
        Statement::CreateTable { table, if_not_exists, columns, keys } => {
            let (schema, sequences) = new_schema(known, table, columns, keys)?;
            Kind::CreateTable { schema: Arc::new(schema), if_not_exists: *if_not_exists, sequences }
        }
        Statement::CreateSequence { sequence, if_not_exists } => {
            Kind::CreateSequence { sequence: sequence.clone(), if_not_exists: *if_not_exists }
        }
        Statement::CreateIndex { table, if_not_exists, key } => {
            let schema = planner.table(table)?;
            let key = new_index(&schema, key)?;
            Kind::CreateIndex { schema, key, if_not_exists: *if_not_exists }
        }
        Statement::Insert(insert) => {
            let (insert, named) = rows::insert(&mut planner, insert)?;
            columns = named;
            Kind::Insert(insert)
        }
        Statement::Select(select) => {
            let (query, named) = rows::query(&mut planner, select, None)?;
            columns = Some(named);
            Kind::Query(query)
        }
        Statement::Update(update) => {
            let schema = planner.table(&update.table.name)?;
            let scope = Scope::of(&update.table, &schema);
            let write = rows::write(&mut planner, &scope, &schema, &update.sets, update.filter.as_ref())?;
            let (returning, named) = rows::returning(&mut planner, &scope, update.returning.as_deref())?;
            columns = named;
            Kind::Update { write, returning }
        }
        Statement::Delete(delete) => {
            let schema = planner.table(&delete.table.name)?;
            let scope = Scope::of(&delete.table, &schema);
            let filter = rows::filter(&mut planner, &scope, delete.filter.as_ref())?;
            let (returning, named) = rows::returning(&mut planner, &scope, delete.returning.as_deref())?;
            columns = named;
            Kind::Delete { schema, filter, returning }
        }
        control => {
            if let Statement::Show(name) = control {
                columns = Some(vec![(shown_name(name), Type::Text)]);
            }
            Kind::Control(control.clone())
        }
    };
    // A parameter whose type nothing says is text.
    let params = planner.params.into_iter().map(|ty| ty.unwrap_or(Type::Text)).collect();
    Ok(Plan { kind, subqueries: planner.subqueries, columns, params })
}

/// The name of the column in which SHOW shows a parameter.
fn shown_name(name: &str) -> String {
    match name {
        "timezone" => "TimeZone".to_owned(),
        _ => name.to_owned(),
    }
}
