//! The parser of INSERT, UPDATE and DELETE.

use super::cursor::Cursor;
use super::statement::Statement;
use super::syntax::{Conflict, Delete, Expr, Insert, TableRef, TableSource, Target, Update};
use crate::protocol::SqlError;
use crate::server::deep::Child;

pub(super) fn insert(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    at.step();
    at.word("into")?;
    let name = at.qualified_name()?;
    let alias = if at.takes("as") { Some(at.name()?) } else { None };
    let table = TableRef { name, alias, source: TableSource::Name, columns: Vec::new() };
    let columns = if at.is_sign("(") { at.names()? } else { Vec::new() };
    let (mut rows, mut query) = (Vec::new(), None);
    if at.takes_all(&["default", "values"]) {
        rows.push(Vec::new());
        if !columns.is_empty() {
            return Err(at.error());
        }
    } else if at.is_word("select") {
        query = Some(Child::of(at.select()?)?);
    } else {
        at.refuse(&["with", "overriding", "table"])?;
        at.word("values")?;
        loop {
            at.sign("(")?;
            let mut row = vec![value_or_default(at)?];
            while at.takes_sign(",") {
                row.push(value_or_default(at)?);
            }
            at.sign(")")?;
            rows.push(row);
            if !at.takes_sign(",") {
                break;
            }
        }
    }
    let conflict = if at.takes("on") { conflict(at)? } else { Conflict::Fail };
    let returning = at.returning()?;
    Ok(Statement::Insert(Insert { table, columns, rows, query, conflict, returning }))
}

fn value_or_default(at: &mut Cursor<'_>) -> Result<Option<Expr>, SqlError> {
    if at.takes("default") { Ok(None) } else { at.expr().map(Some) }
}

fn conflict(at: &mut Cursor<'_>) -> Result<Conflict, SqlError> {
    at.word("conflict")?;
    let mut target = None;
    if at.takes_sign("(") {
        let columns = at.list()?;
        target = Some(Target { columns, filter: at.filter()? });
    }
    if at.takes("on") {
        return Err(SqlError::unsupported("ON CONFLICT ON CONSTRAINT"));
    }
    at.word("do")?;
    if at.takes("nothing") {
        return Ok(Conflict::Nothing(target));
    }
    at.word("update")?;
    at.word("set")?;
    let sets = sets(at)?;
    let filter = at.filter()?;
    let target = target.ok_or_else(|| {
        SqlError::new("42601", "ON CONFLICT DO UPDATE requires inference specification or constraint name")
    })?;
    Ok(Conflict::Update { target, sets, filter })
}

fn sets(at: &mut Cursor<'_>) -> Result<Vec<(String, Option<Expr>)>, SqlError> {
    let mut sets = Vec::new();
    loop {
        if at.is_sign("(") {
            return Err(SqlError::unsupported("an assignment to several columns at once"));
        }
        let column = at.name()?;
        at.sign("=")?;
        sets.push((column, value_or_default(at)?));
        if !at.takes_sign(",") {
            return Ok(sets);
        }
    }
}

pub(super) fn update(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    at.step();
    let table = at.table_ref()?;
    at.word("set")?;
    let sets = sets(at)?;
    let from = if at.takes("from") { at.tables()? } else { Vec::new() };
    let filter = at.filter()?;
    let returning = at.returning()?;
    Ok(Statement::Update(Update { table, sets, from, filter, returning }))
}

pub(super) fn delete(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    at.step();
    at.word("from")?;
    let table = at.table_ref()?;
    let from = if at.takes("using") { at.tables()? } else { Vec::new() };
    let filter = at.filter()?;
    let returning = at.returning()?;
    Ok(Statement::Delete(Delete { table, from, filter, returning }))
}
