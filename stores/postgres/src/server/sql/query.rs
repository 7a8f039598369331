//! The parser of SELECT, with UNION, GROUP BY, ORDER BY, LIMIT, OFFSET and row locks.

use super::cursor::Cursor;
use super::syntax::{Expr, Item, Order, Patience, RowLock, Select, Strength};
use crate::protocol::SqlError;
use crate::server::deep::Child;

impl Cursor<'_> {
    /// A SELECT from its first word on.
    pub(super) fn select(&mut self) -> Result<Select, SqlError> {
        self.deeper(select)
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
        select.unions.push((all, Child::of(core(at)?)?));
    }
    at.refuse(&["intersect", "except"])?;
    select.order = order(at)?;
    let mut counts = true;
    loop {
        if counts && ["limit", "offset", "fetch"].iter().any(|word| at.is_word(word)) {
            limits(at, &mut select)?;
            counts = false;
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

/// LIMIT and OFFSET, in either order.
fn limits(at: &mut Cursor<'_>, select: &mut Select) -> Result<(), SqlError> {
    loop {
        if select.limit.is_none() && at.takes("limit") {
            at.refuse(&["all"])?;
            select.limit = Some(at.expr()?);
        } else if select.limit.is_none() && at.takes("fetch") {
            select.limit = Some(first(at)?);
        } else if select.offset.is_none() && at.takes("offset") {
            select.offset = Some(Child::of(at.expr()?)?);
            at.takes_any(&["row", "rows"]);
        } else {
            return Ok(());
        }
    }
}

/// The number of rows of FETCH FIRST, which is LIMIT in the words of the standard.
fn first(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    if !at.takes("first") {
        at.word("next")?;
    }
    let is_one = at.is_word("row") || at.is_word("rows");
    let limit = if is_one { Expr::Int(1) } else { at.operand()? };
    if !at.takes("row") {
        at.word("rows")?;
    }
    at.refuse(&["with"])?;
    at.word("only")?;
    Ok(limit)
}

/// A SELECT up to its groups.
fn core(at: &mut Cursor<'_>) -> Result<Select, SqlError> {
    at.step();
    at.refuse(&["all"])?;
    let distinct = at.takes("distinct");
    let mut select = Select { distinct, ..Select::default() };
    if distinct && at.takes("on") {
        at.sign("(")?;
        (select.distinct, select.firsts) = (false, at.list()?);
    }
    // A result may have no columns at all.
    if !at.is_at_end() && !at.is_sign(";") && !at.is_sign(")") && !at.is_word("from") {
        select.items = list(at)?;
    }
    if at.takes("from") {
        select.table = Some(at.table_ref()?);
        select.joins = at.joins()?;
    }
    select.filter = at.filter()?;
    if at.takes("group") {
        at.word("by")?;
        select.group = group(at)?;
    }
    if at.takes("having") {
        select.having = Some(Child::of(at.expr()?)?);
    }
    at.refuse(&["window"])?;
    Ok(select)
}

/// The expressions of GROUP BY.
fn group(at: &mut Cursor<'_>) -> Result<Vec<Expr>, SqlError> {
    let mut group = Vec::new();
    loop {
        at.refuse(&["all", "distinct"])?;
        if at.is_sign_after("(") {
            at.refuse(&["rollup", "cube"])?;
        }
        if at.takes_all(&["grouping", "sets"]) {
            return Err(SqlError::unsupported("GROUPING SETS"));
        }
        group.push(at.expr()?);
        if !at.takes_sign(",") {
            return Ok(group);
        }
    }
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
