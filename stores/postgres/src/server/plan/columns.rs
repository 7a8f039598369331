//! The names of columns: which are in sight, and what results are called.

use std::sync::Arc;

use crate::protocol::{SqlError, Type};
use crate::server::data::Schema;
use crate::server::sql::{Expr, TableRef};

/// The tables whose columns an expression may name.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    table: Option<(String, Arc<Schema>)>,
    /// True in ON CONFLICT DO UPDATE: `excluded` is the row that was proposed.
    excluded: bool,
    /// The columns of the statement around a subquery.
    outer: Option<Box<Scope>>,
}

/// A column that an expression names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Column(usize, Type),
    Excluded(usize, Type),
}

/// Columns that every table of PostgreSQL has.
const SYSTEM: [&str; 6] = ["xmin", "xmax", "cmin", "cmax", "ctid", "tableoid"];

impl Scope {
    pub(super) fn of(table: &TableRef, schema: &Arc<Schema>) -> Scope {
        let name = table.alias.as_ref().unwrap_or(&table.name).clone();
        Scope { table: Some((name, Arc::clone(schema))), ..Scope::default() }
    }

    pub(super) fn with_excluded(self) -> Scope {
        Scope { excluded: true, ..self }
    }

    pub(super) fn within(self, outer: &Scope) -> Scope {
        Scope { outer: Some(Box::new(outer.clone())), ..self }
    }

    pub(super) fn schema(&self) -> Option<&Arc<Schema>> {
        self.table.as_ref().map(|(_, schema)| schema)
    }

    pub(super) fn find(&self, table: Option<&str>, name: &str) -> Result<Named, SqlError> {
        if SYSTEM.contains(&name) {
            return Err(SqlError::unsupported(format!("the system column {name}")));
        }
        let found = self.look(table, name);
        if found.is_err() && self.outer.as_ref().is_some_and(|outer| outer.find(table, name).is_ok()) {
            return Err(SqlError::unsupported("a subquery that depends on the row around it"));
        }
        found
    }

    fn look(&self, table: Option<&str>, name: &str) -> Result<Named, SqlError> {
        let missing = || {
            let text = match table {
                Some(table) => format!("column {table}.{name} does not exist"),
                None => format!("column \"{name}\" does not exist"),
            };
            SqlError::new("42703", text)
        };
        let unknown =
            |table: &str| SqlError::new("42P01", format!("missing FROM-clause entry for table \"{table}\""));
        let Some((own, schema)) = &self.table else { return Err(table.map_or_else(missing, unknown)) };
        let at = || schema.columns.iter().position(|column| column.name == name);
        match table {
            Some("excluded") if self.excluded => {
                let at = at().ok_or_else(missing)?;
                Ok(Named::Excluded(at, schema.columns[at].ty))
            }
            Some(table) if table != own => Err(unknown(table)),
            _ => {
                let at = at().ok_or_else(missing)?;
                if table.is_none() && self.excluded {
                    return Err(SqlError::new("42702", format!("column reference \"{name}\" is ambiguous")));
                }
                Ok(Named::Column(at, schema.columns[at].ty))
            }
        }
    }
}

pub(super) fn column_index(schema: &Schema, name: &str) -> Result<usize, SqlError> {
    let missing = || SqlError::new("42703", format!("column \"{name}\" does not exist"));
    schema.columns.iter().position(|column| column.name == name).ok_or_else(missing)
}

/// The same for the target of a change, where the message says of which table.
pub(super) fn target_index(schema: &Schema, name: &str) -> Result<usize, SqlError> {
    let text = || format!("column \"{name}\" of relation \"{}\" does not exist", schema.name);
    column_index(schema, name).map_err(|error| SqlError { message: text(), ..error })
}

/// The name of a column of a result that is not given one.
pub(super) fn name_of(expr: &Expr) -> String {
    let none = || "?column?".to_owned();
    match expr {
        Expr::Column { name, .. } | Expr::Call { name, .. } => name.clone(),
        Expr::Case { otherwise, .. } => match otherwise.as_deref().map(name_of) {
            Some(name) if name != "?column?" => name,
            _ => "case".to_owned(),
        },
        Expr::Cast(inner, ty) => match name_of(inner) {
            name if name == "?column?" => cast_name(*ty).to_owned(),
            name => name,
        },
        Expr::Subquery(select) => match select.items.first() {
            Some(crate::server::sql::Item::One { name: Some(name), .. }) => name.clone(),
            Some(crate::server::sql::Item::One { value, name: None }) => name_of(value),
            _ => none(),
        },
        _ => none(),
    }
}

/// The name that a cast gives to the column of its result.
fn cast_name(ty: Type) -> &'static str {
    match ty {
        Type::Bool => "bool",
        Type::Int2 => "int2",
        Type::Int4 => "int4",
        Type::Int8 => "int8",
        Type::Text | Type::Unknown => "text",
        Type::Varchar(_) => "varchar",
        Type::Timestamp => "timestamp",
        Type::Timestamptz => "timestamptz",
        Type::Interval => "interval",
        Type::Uuid => "uuid",
        Type::Void => "void",
    }
}
