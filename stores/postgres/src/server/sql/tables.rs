//! The parser of the tables of a statement: names, subqueries, functions, joins.

use super::cursor::Cursor;
use super::syntax::{Join, TableRef, TableSource};
use super::types::ty;
use crate::protocol::SqlError;
use crate::server::deep::{Child, Children};

impl Cursor<'_> {
    /// A table with its alias.
    pub(super) fn table_ref(&mut self) -> Result<TableRef, SqlError> {
        table_ref(self)
    }

    /// The tables after the first one.
    pub(super) fn joins(&mut self) -> Result<Vec<Join>, SqlError> {
        joins(self)
    }

    /// Tables that are separated by commas.
    pub(super) fn tables(&mut self) -> Result<Vec<TableRef>, SqlError> {
        tables(self)
    }
}

fn joins(at: &mut Cursor<'_>) -> Result<Vec<Join>, SqlError> {
    let mut joins = Vec::new();
    loop {
        at.refuse(&["natural", "tablesample", "right", "full"])?;
        if at.takes_sign(",") || at.takes_all(&["cross", "join"]) {
            joins.push(Join { table: table_ref(at)?, on: None, left: false });
            continue;
        }
        let left = at.takes_all(&["left", "join"]) || at.takes_all(&["left", "outer", "join"]);
        if !left && !at.takes_all(&["inner", "join"]) && !at.takes("join") {
            return Ok(joins);
        }
        let table = table_ref(at)?;
        at.refuse(&["using"])?;
        at.word("on")?;
        joins.push(Join { table, on: Some(at.expr()?), left });
    }
}

fn tables(at: &mut Cursor<'_>) -> Result<Vec<TableRef>, SqlError> {
    let mut tables = vec![table_ref(at)?];
    while at.takes_sign(",") {
        tables.push(table_ref(at)?);
    }
    at.refuse(&["join", "inner", "left", "right", "full", "cross", "natural", "tablesample"])?;
    Ok(tables)
}

/// Words that begin the next clause, and so are no alias.
const NO_ALIAS: [&str; 11] = [
    "set",
    "join",
    "inner",
    "left",
    "right",
    "full",
    "cross",
    "natural",
    "tablesample",
    "intersect",
    "except",
];

fn table_ref(at: &mut Cursor<'_>) -> Result<TableRef, SqlError> {
    at.refuse(&["only", "lateral"])?;
    let (mut name, mut source) = (String::new(), TableSource::Name);
    if at.takes_sign("(") {
        if !at.is_word("select") {
            return Err(SqlError::unsupported("anything but a SELECT in parentheses as a table"));
        }
        source = TableSource::Query(Child::of(at.select()?)?);
        at.sign(")")?;
    } else {
        name = at.qualified_name()?;
        if at.takes_sign("(") {
            let args = if at.takes_sign(")") { Vec::new() } else { at.list()? };
            at.refuse(&["with"])?;
            source = TableSource::Call { args: Children::all(args)?, columns: Vec::new() };
        }
    }
    let begins_a_clause = NO_ALIAS.iter().any(|word| at.is_word(word));
    let alias = at.takes("as") || (!begins_a_clause && at.name_if_any().is_some());
    let alias = if alias { Some(at.name()?) } else { None };
    let mut columns = Vec::new();
    if alias.is_some() && at.takes_sign("(") {
        loop {
            let column = at.name()?;
            match &mut source {
                TableSource::Call { columns, .. } if !at.is_sign(",") && !at.is_sign(")") => {
                    columns.push((column, ty(at)?));
                }
                _ => columns.push(column),
            }
            if !at.takes_sign(",") {
                break;
            }
        }
        at.sign(")")?;
    }
    Ok(TableRef { name, alias, source, columns })
}
