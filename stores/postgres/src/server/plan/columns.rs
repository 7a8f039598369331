//! The names of columns: which are in sight, and what results are called.

use std::sync::Arc;

use super::system::is_catalogue;
use super::typed::Typed;
use crate::protocol::{SqlError, Type};
use crate::server::data::{Column, Schema};
use crate::server::sql::{Expr, Item, TableRef, TypeName};

/// The tables whose columns an expression may name. The row of several tables is their rows one after another.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    tables: Vec<(String, Arc<Schema>)>,
    /// True in ON CONFLICT DO UPDATE: `excluded` is the row that was proposed.
    excluded: bool,
    /// True in RETURNING of an INSERT: `xmax` is 0 unless a row that was there was changed.
    pub(super) inserts: bool,
    /// The arguments of a function in SQL, by their names.
    arguments: Vec<(String, Typed, Type)>,
    /// The columns of the statement around a subquery.
    outer: Option<Box<Scope>>,
}

/// A column that an expression names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Named {
    Column(usize, Type),
    Excluded(usize, Type),
    /// A column of the row around a subquery.
    Outer(usize, Type),
    /// An argument of a function in SQL.
    Argument(Typed, Type),
}

/// Columns that every table of PostgreSQL has.
const SYSTEM: [&str; 6] = ["xmin", "xmax", "cmin", "cmax", "ctid", "tableoid"];

impl Scope {
    pub(super) fn of(table: &TableRef, schema: &Arc<Schema>) -> Scope {
        Scope { tables: vec![(called(table), Arc::clone(schema))], ..Scope::default() }
    }

    /// The columns of a table by its own name.
    pub(super) fn of_table(schema: &Arc<Schema>) -> Scope {
        Scope { tables: vec![(schema.name.to_string(), Arc::clone(schema))], ..Scope::default() }
    }

    /// Adds a table that the statement calls so.
    pub(super) fn add(&mut self, name: String, schema: &Arc<Schema>) -> Result<(), SqlError> {
        if self.tables.iter().any(|(other, _)| *other == name) {
            return Err(SqlError::new("42712", format!("table name \"{name}\" specified more than once")));
        }
        self.tables.push((name, Arc::clone(schema)));
        Ok(())
    }

    pub(super) fn inserting(self) -> Scope {
        Scope { inserts: true, ..self }
    }

    pub(super) fn with_excluded(self) -> Scope {
        Scope { excluded: true, ..self }
    }

    /// Those of the body of a function.
    pub(super) fn of_arguments(arguments: Vec<(String, Typed, Type)>) -> Scope {
        Scope { arguments, ..Scope::default() }
    }

    /// How many columns the row of all tables has.
    pub(super) fn width(&self) -> usize {
        self.tables.iter().map(|(_, schema)| schema.columns.len()).sum()
    }

    /// The name of a column of these tables with that of its table.
    pub(super) fn qualified(&self, at: usize) -> String {
        self.by_place(at).map_or_else(String::new, |(table, column)| format!("{table}.{}", column.name))
    }

    fn by_place(&self, at: usize) -> Option<(&str, &Column)> {
        self.tables
            .iter()
            .flat_map(|(table, schema)| schema.columns.iter().map(move |column| (table.as_str(), column)))
            .nth(at)
    }

    /// The number of the table that is called so.
    pub(super) fn number(&self, table: &str) -> Option<usize> {
        self.tables.iter().position(|(name, _)| name == table)
    }
    pub(super) fn within(self, outer: &Scope) -> Scope {
        Scope { outer: Some(Box::new(outer.clone())), ..self }
    }

    /// The columns of all tables, or of the one of this name: their places, names and types.
    pub(super) fn all(&self, table: Option<&str>) -> Result<Vec<(usize, String, Type)>, SqlError> {
        let (mut found, mut offset, mut known) = (Vec::new(), 0, false);
        for (name, schema) in &self.tables {
            if table.is_none_or(|table| table == name) {
                known = true;
                let columns = schema.columns.iter().enumerate();
                found.extend(columns.map(|(at, column)| (offset + at, column.name.clone(), column.ty)));
            }
            offset += schema.columns.len();
        }
        match table {
            None if !known => Err(SqlError::new("42601", "SELECT * with no tables specified is not valid")),
            Some(table) if !known => Err(unknown(table)),
            _ => Ok(found),
        }
    }

    pub(super) fn find(&self, table: Option<&str>, name: &str) -> Result<Named, SqlError> {
        if !self.arguments.is_empty() && table.is_none() {
            let number = name.strip_prefix('$').and_then(|number| number.parse::<usize>().ok());
            let at = match number.and_then(|number| number.checked_sub(1)) {
                Some(at) => Some(at),
                None => self.arguments.iter().position(|(own, ..)| own == name),
            };
            if let Some((_, value, ty)) = at.and_then(|at| self.arguments.get(at)) {
                return Ok(Named::Argument(value.clone(), *ty));
            }
        }
        if SYSTEM.contains(&name) {
            return Err(SqlError::unsupported(format!("the system column {name}")));
        }
        let found = self.look(table, name);
        let Some(outer) = self.outer.as_ref().filter(|_| found.is_err()) else { return found };
        match outer.find(table, name) {
            Ok(Named::Column(at, ty)) if found.as_ref().is_err_and(|error| error.code != "42702") => {
                Ok(Named::Outer(at, ty))
            }
            Ok(_) => Err(SqlError::unsupported("a subquery that depends on this row around it")),
            Err(_) => found,
        }
    }

    fn look(&self, table: Option<&str>, name: &str) -> Result<Named, SqlError> {
        let missing = || {
            let in_sight = |(own, _): &&(String, Arc<Schema>)| table.is_none_or(|table| table == own);
            let system = self.tables.iter().filter(in_sight).find(|(_, schema)| is_catalogue(schema));
            if let Some((_, schema)) = system {
                return SqlError::unsupported(format!("the column {name} of {}", schema.name));
            }
            let text = match table {
                Some(table) => format!("column {table}.{name} does not exist"),
                None => format!("column \"{name}\" does not exist"),
            };
            SqlError::new("42703", text)
        };
        let ambiguous = || SqlError::new("42702", format!("column reference \"{name}\" is ambiguous"));
        let at = |schema: &Schema| schema.columns.iter().position(|column| column.name == name);
        if table == Some("excluded") && self.excluded {
            let schema = self.tables.first().map(|(_, schema)| schema).ok_or_else(missing)?;
            let at = at(schema).ok_or_else(missing)?;
            return Ok(Named::Excluded(at, schema.columns[at].ty));
        }
        let (mut found, mut offset, mut known) = (None, 0, false);
        for (own, schema) in &self.tables {
            if table.is_none_or(|table| table == own) {
                known = true;
                if let Some(at) = at(schema) {
                    let same = schema.columns.iter().filter(|column| column.name == name).count();
                    if found.is_some() || same > 1 {
                        return Err(ambiguous());
                    }
                    found = Some(Named::Column(offset + at, schema.columns[at].ty));
                }
            }
            offset += schema.columns.len();
        }
        match table {
            Some(table) if !known => Err(unknown(table)),
            None if found.is_some() && self.excluded => Err(ambiguous()),
            _ => found.ok_or_else(missing),
        }
    }
}

/// The name by which a statement calls a table.
fn called(table: &TableRef) -> String {
    table.alias.as_ref().unwrap_or(&table.name).clone()
}

fn unknown(table: &str) -> SqlError {
    SqlError::new("42P01", format!("missing FROM-clause entry for table \"{table}\""))
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
    naming(expr).map_or_else(|| "?column?".to_owned(), |(name, _)| name)
}

/// The name that an expression gives to its column; true for one that a cast around it does not replace.
fn naming(expr: &Expr) -> Option<(String, bool)> {
    let firm = |name: &str| Some((name.to_owned(), true));
    match expr {
        Expr::Column { name, .. } | Expr::Call { name, .. } => firm(name),
        Expr::CountRows | Expr::CountOver(_) => firm("count"),
        Expr::OfDistinct { name, .. } => firm(name),
        Expr::RowNumber(..) => firm("row_number"),
        Expr::Exists(_) => firm("exists"),
        Expr::Array(_) | Expr::ArrayQuery(_) => firm("array"),
        Expr::Case { otherwise, .. } => match otherwise.as_deref().and_then(naming) {
            Some((name, true)) => Some((name, true)),
            _ => Some(("case".to_owned(), false)),
        },
        Expr::Cast(inner, ty) => match naming(inner) {
            Some((name, true)) => Some((name, true)),
            _ => match ty {
                TypeName::Known(ty) => Some((ty.short_name().to_owned(), false)),
                TypeName::Named(name) | TypeName::ArrayOf(name) => Some((name.clone(), false)),
            },
        },
        Expr::Element(array, _) | Expr::Slice(array, _, _) => naming(array),
        Expr::Subquery(select) => match select.items.first() {
            Some(Item::One { name: Some(name), .. }) => firm(name),
            Some(Item::One { value, name: None }) => naming(value),
            _ => None,
        },
        _ => None,
    }
}
