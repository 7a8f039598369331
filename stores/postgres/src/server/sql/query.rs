//! The parser of the statements about rows: SELECT, INSERT, UPDATE, DELETE.

use super::cursor::Cursor;
use super::expr::expr;
use super::syntax::{
    Conflict, Delete, Expr, Insert, Item, Join, Order, Patience, RowLock, Select, Statement, Strength,
    TableRef, Update,
};
use crate::protocol::SqlError;

pub(super) fn insert(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    at.step();
    at.word("into")?;
    let name = at.qualified_name()?;
    let alias = if at.takes("as") { Some(at.name()?) } else { None };
    let table = TableRef { name, alias, unnests: None };
    let columns = if at.is_sign("(") { at.names()? } else { Vec::new() };
    let mut rows = Vec::new();
    if at.takes_all(&["default", "values"]) {
        rows.push(Vec::new());
        if !columns.is_empty() {
            return Err(at.error());
        }
    } else {
        at.refuse(&["select", "with", "overriding", "table"])?;
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
    let returning = returning(at)?;
    Ok(Statement::Insert(Insert { table, columns, rows, conflict, returning }))
}

fn value_or_default(at: &mut Cursor<'_>) -> Result<Option<Expr>, SqlError> {
    if at.takes("default") { Ok(None) } else { expr(at).map(Some) }
}

fn conflict(at: &mut Cursor<'_>) -> Result<Conflict, SqlError> {
    at.word("conflict")?;
    let mut columns = None;
    if at.is_sign("(") {
        columns = Some(at.names()?);
        at.refuse(&["where"])?;
    }
    if at.takes("on") {
        return Err(SqlError::unsupported("ON CONFLICT ON CONSTRAINT"));
    }
    at.word("do")?;
    if at.takes("nothing") {
        return Ok(Conflict::Nothing(columns));
    }
    at.word("update")?;
    at.word("set")?;
    let sets = sets(at)?;
    let filter = filter(at)?;
    let columns = columns.ok_or_else(|| {
        SqlError::new("42601", "ON CONFLICT DO UPDATE requires inference specification or constraint name")
    })?;
    Ok(Conflict::Update { columns, sets, filter })
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

impl Cursor<'_> {
    /// A SELECT from its first word on.
    pub(super) fn select(&mut self) -> Result<Select, SqlError> {
        select(self)
    }
}

fn select(at: &mut Cursor<'_>) -> Result<Select, SqlError> {
    at.step();
    at.refuse(&["all"])?;
    let distinct = at.takes("distinct");
    if distinct {
        at.refuse(&["on"])?;
    }
    let mut items = Vec::new();
    // A result may have no columns at all.
    if !at.is_at_end() && !at.is_sign(";") && !at.is_sign(")") && !at.is_word("from") {
        items = list(at)?;
    }
    let (mut table, mut further) = (None, Vec::new());
    if at.takes("from") {
        table = Some(table_ref(at)?);
        further = joins(at)?;
    }
    let filter = filter(at)?;
    at.refuse(&["group", "having", "window", "union", "intersect", "except"])?;
    let order = order(at)?;
    let mut select =
        Select { distinct, items, table, joins: further, filter, order, limit: None, lock: None };
    loop {
        at.refuse(&["offset", "fetch"])?;
        if at.takes("limit") {
            if select.limit.is_some() {
                return Err(SqlError::new("42601", "multiple LIMIT clauses not allowed"));
            }
            at.refuse(&["all"])?;
            select.limit = Some(expr(at)?);
        } else if at.takes("for") {
            if select.lock.is_some() {
                return Err(SqlError::unsupported("several row locks in a SELECT"));
            }
            select.lock = Some(row_lock(at)?);
        } else {
            break;
        }
    }
    if select.table.is_none()
        && (select.filter.is_some() || !select.order.is_empty() || select.limit.is_some())
    {
        return Err(SqlError::unsupported("such a clause without a table"));
    }
    Ok(select)
}

/// The tables after the first one.
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
        joins.push(Join { table, on: Some(expr(at)?), left });
    }
}

/// Tables that are separated by commas.
fn tables(at: &mut Cursor<'_>) -> Result<Vec<TableRef>, SqlError> {
    let mut tables = vec![table_ref(at)?];
    while at.takes_sign(",") {
        tables.push(table_ref(at)?);
    }
    at.refuse(&["join", "inner", "left", "right", "full", "cross", "natural", "tablesample"])?;
    Ok(tables)
}

fn row_lock(at: &mut Cursor<'_>) -> Result<RowLock, SqlError> {
    at.refuse(&["key"])?;
    let strength = if at.takes("share") {
        Strength::Share
    } else if at.takes("no") {
        at.word("key")?;
        at.word("update")?;
        Strength::NoKeyUpdate
    } else {
        at.word("update")?;
        Strength::Update
    };
    at.refuse(&["of"])?;
    let patience = if at.takes("nowait") {
        Patience::NoWait
    } else if at.takes_all(&["skip", "locked"]) {
        Patience::Skip
    } else {
        Patience::Wait
    };
    Ok(RowLock { strength, patience })
}

fn order(at: &mut Cursor<'_>) -> Result<Vec<Order>, SqlError> {
    let mut order = Vec::new();
    if !at.takes("order") {
        return Ok(order);
    }
    at.word("by")?;
    loop {
        let value = expr(at)?;
        let descends = at.takes("desc");
        if !descends {
            at.takes("asc");
        }
        at.refuse(&["using"])?;
        let mut nulls_first = descends;
        if at.takes("nulls") {
            nulls_first = at.takes("first");
            if !nulls_first {
                at.word("last")?;
            }
        }
        order.push(Order { value, descends, nulls_first });
        if !at.takes_sign(",") {
            return Ok(order);
        }
    }
}

fn list(at: &mut Cursor<'_>) -> Result<Vec<Item>, SqlError> {
    let mut items = vec![item(at)?];
    while at.takes_sign(",") {
        items.push(item(at)?);
    }
    Ok(items)
}

fn item(at: &mut Cursor<'_>) -> Result<Item, SqlError> {
    if at.takes_sign("*") {
        return Ok(Item::All);
    }
    if at.is_sign_after(".")
        && let Some(table) = at.star_of()
    {
        return Ok(Item::AllOf(table));
    }
    let value = expr(at)?;
    let named = at.takes("as") || at.name_if_any().is_some();
    let name = if named { Some(at.name()?) } else { None };
    Ok(Item::One { value, name })
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

/// A table with its alias.
fn table_ref(at: &mut Cursor<'_>) -> Result<TableRef, SqlError> {
    at.refuse(&["only"])?;
    if at.is_sign("(") {
        return Err(SqlError::unsupported("a subquery as a table"));
    }
    let name = at.qualified_name()?;
    let mut unnests = None;
    if at.takes_sign("(") {
        if name != "unnest" {
            return Err(SqlError::unsupported("a function as a table"));
        }
        let array = expr(at)?;
        at.refuse(&["with"])?;
        at.sign(")")?;
        unnests = Some((Box::new(array), None));
    }
    let begins_a_clause = NO_ALIAS.iter().any(|word| at.is_word(word));
    let alias = at.takes("as") || (!begins_a_clause && at.name_if_any().is_some());
    let alias = if alias { Some(at.name()?) } else { None };
    if let (Some((_, column)), true) = (&mut unnests, at.is_sign("(")) {
        let mut names = at.names()?;
        *column = names.pop().filter(|_| names.is_empty());
        if column.is_none() {
            return Err(SqlError::unsupported("several columns of a function"));
        }
    }
    Ok(TableRef { name, alias, unnests })
}

pub(super) fn update(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    at.step();
    let table = table_ref(at)?;
    at.word("set")?;
    let sets = sets(at)?;
    let from = if at.takes("from") { tables(at)? } else { Vec::new() };
    let filter = filter(at)?;
    let returning = returning(at)?;
    Ok(Statement::Update(Update { table, sets, from, filter, returning }))
}

pub(super) fn delete(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    at.step();
    at.word("from")?;
    let table = table_ref(at)?;
    let from = if at.takes("using") { tables(at)? } else { Vec::new() };
    let filter = filter(at)?;
    let returning = returning(at)?;
    Ok(Statement::Delete(Delete { table, from, filter, returning }))
}

fn filter(at: &mut Cursor<'_>) -> Result<Option<Expr>, SqlError> {
    if !at.takes("where") {
        return Ok(None);
    }
    at.refuse(&["current"])?;
    expr(at).map(Some)
}

fn returning(at: &mut Cursor<'_>) -> Result<Option<Vec<Item>>, SqlError> {
    if at.takes("returning") { list(at).map(Some) } else { Ok(None) }
}
