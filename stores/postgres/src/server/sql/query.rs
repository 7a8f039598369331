//! The parser of SELECT, with UNION, ORDER BY, LIMIT and row locks.

use super::cursor::Cursor;
use super::syntax::{Expr, Item, Order, Patience, RowLock, Select, Strength};
use crate::protocol::SqlError;

impl Cursor<'_> {
    /// A SELECT from its first word on.
    pub(super) fn select(&mut self) -> Result<Select, SqlError> {
        select(self)
    }

    /// ORDER BY, if it comes next.
    pub(super) fn order(&mut self) -> Result<Vec<Order>, SqlError> {
        order(self)
    }

    /// WHERE, if it comes next.
    pub(super) fn filter(&mut self) -> Result<Option<Expr>, SqlError> {
        if !self.takes("where") {
            return Ok(None);
        }
        self.refuse(&["current"])?;
        self.expr().map(Some)
    }

    /// RETURNING, if it comes next.
    pub(super) fn returning(&mut self) -> Result<Option<Vec<Item>>, SqlError> {
        if self.takes("returning") { list(self).map(Some) } else { Ok(None) }
    }
}

fn select(at: &mut Cursor<'_>) -> Result<Select, SqlError> {
    let mut select = core(at)?;
    while at.takes("union") {
        let all = at.takes("all");
        if !all {
            at.takes("distinct");
        }
        if !at.is_word("select") {
            return Err(SqlError::unsupported("anything but a SELECT after UNION"));
        }
        select.unions.push((all, core(at)?));
    }
    at.refuse(&["intersect", "except"])?;
    select.order = order(at)?;
    loop {
        at.refuse(&["offset", "fetch"])?;
        if at.takes("limit") {
            if select.limit.is_some() {
                return Err(SqlError::new("42601", "multiple LIMIT clauses not allowed"));
            }
            at.refuse(&["all"])?;
            select.limit = Some(at.expr()?);
        } else if at.takes("for") {
            if select.lock.is_some() {
                return Err(SqlError::unsupported("several row locks in a SELECT"));
            }
            select.lock = Some(row_lock(at, &mut select.locks)?);
        } else {
            return Ok(select);
        }
    }
}

/// A SELECT up to its conditions.
fn core(at: &mut Cursor<'_>) -> Result<Select, SqlError> {
    at.step();
    at.refuse(&["all"])?;
    let distinct = at.takes("distinct");
    if distinct {
        at.refuse(&["on"])?;
    }
    let mut select = Select { distinct, ..Select::default() };
    // A result may have no columns at all.
    if !at.is_at_end() && !at.is_sign(";") && !at.is_sign(")") && !at.is_word("from") {
        select.items = list(at)?;
    }
    if at.takes("from") {
        select.table = Some(at.table_ref()?);
        select.joins = at.joins()?;
    }
    select.filter = at.filter()?;
    at.refuse(&["group", "having", "window"])?;
    Ok(select)
}

/// What comes after FOR; `of` are the tables that it names.
fn row_lock(at: &mut Cursor<'_>, of: &mut Vec<String>) -> Result<RowLock, SqlError> {
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
    if at.takes("of") {
        of.push(at.name()?);
        while at.takes_sign(",") {
            of.push(at.name()?);
        }
    }
    let patience = if at.takes("nowait") {
        Patience::NoWait
    } else if at.takes_all(&["skip", "locked"]) {
        Patience::Skip
    } else {
        Patience::Wait
    };
    Ok(RowLock { strength, patience })
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
    let value = at.expr()?;
    let name = match at.takes("as") {
        true => Some(at.label()?),
        false if at.name_if_any().is_some() => Some(at.name()?),
        false => None,
    };
    Ok(Item::One { value, name })
}

fn order(at: &mut Cursor<'_>) -> Result<Vec<Order>, SqlError> {
    let mut order = Vec::new();
    if !at.takes("order") {
        return Ok(order);
    }
    at.word("by")?;
    loop {
        let value = at.expr()?;
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
