//! The parser of CREATE.

use super::cursor::Cursor;
use super::lexer::Kind;
use super::statement::{Check, Column, Generated, Key, Sequence, Statement};
use super::syntax::{Expr, TypeName};
use super::types::ty;
use crate::protocol::{SqlError, Type};

pub(super) fn create(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    at.step();
    if at.takes_all(&["unlogged", "table"]) {
        return table(at, true);
    }
    if at.takes("table") {
        return table(at, false);
    }
    if at.takes("sequence") {
        return sequence(at);
    }
    if at.takes("domain") {
        return domain(at);
    }
    if at.takes("type") {
        return enumeration(at);
    }
    let replaces = at.takes_all(&["or", "replace"]);
    if at.takes("function") {
        return routine(at, replaces);
    }
    let unique = at.takes("unique");
    if at.takes("index") {
        return index(at, unique);
    }
    Err(SqlError::unsupported(
        "CREATE of anything but a table, a sequence, an index, a domain, an enum or a function",
    ))
}

fn table(at: &mut Cursor<'_>, unlogged: bool) -> Result<Statement, SqlError> {
    let if_not_exists = at.takes_all(&["if", "not", "exists"]);
    let table = at.qualified_name()?;
    at.sign("(")?;
    let (mut columns, mut keys, mut checks) = (Vec::new(), Vec::new(), Vec::new());
    loop {
        at.refuse(&["foreign", "exclude", "like"])?;
        let name = if at.takes("constraint") { Some(at.name()?) } else { None };
        if at.is_word("primary") || at.is_word("unique") {
            let primary = at.is_word("primary");
            at.step();
            if primary {
                at.word("key")?;
            }
            let columns = at.names()?.into_iter().map(named).collect();
            keys.push(Key { name, primary, columns, filter: None });
        } else if at.takes("check") {
            checks.push(check(at, name)?);
        } else if name.is_some() {
            return Err(SqlError::unsupported("this constraint"));
        } else {
            let column = column(at, &mut keys, &mut checks)?;
            columns.push(column);
        }
        if !at.takes_sign(",") {
            break;
        }
    }
    at.sign(")")?;
    at.refuse(&["with", "inherits", "partition", "tablespace", "on"])?;
    Ok(Statement::CreateTable { table, if_not_exists, columns, keys, checks, unlogged })
}

fn named(name: String) -> Expr {
    Expr::Column { table: None, name }
}

/// What comes after CHECK.
fn check(at: &mut Cursor<'_>, name: Option<String>) -> Result<Check, SqlError> {
    at.sign("(")?;
    let condition = at.expr()?;
    at.sign(")")?;
    if at.is_word("no") {
        return Err(SqlError::unsupported("NO INHERIT"));
    }
    Ok(Check { name, condition })
}

fn column(at: &mut Cursor<'_>, keys: &mut Vec<Key>, checks: &mut Vec<Check>) -> Result<Column, SqlError> {
    let name = at.name()?;
    let serial =
        [("serial", Type::Int4), ("serial4", Type::Int4), ("bigserial", Type::Int8), ("serial8", Type::Int8)];
    let (ty, generated) = match serial.into_iter().find(|(word, _)| at.takes(word)) {
        Some((_, ty)) => (TypeName::Known(ty), Some(Generated::Serial)),
        None => (ty(at)?, None),
    };
    let not_null = generated.is_some();
    let mut column = Column { name, ty, not_null, default: None, generated };
    loop {
        let constraint = if at.takes("constraint") { Some(at.name()?) } else { None };
        if at.is_word("primary") || at.is_word("unique") {
            let primary = at.is_word("primary");
            at.step();
            if primary {
                at.word("key")?;
            }
            let columns = vec![named(column.name.clone())];
            keys.push(Key { name: constraint, primary, columns, filter: None });
        } else if at.takes("check") {
            checks.push(check(at, constraint)?);
        } else if constraint.is_some() {
            return Err(SqlError::unsupported("this constraint"));
        } else if at.takes("not") {
            at.word("null")?;
            column.not_null = true;
        } else if at.takes("default") {
            column.default = Some(at.plain_expr()?);
        } else if at.takes("generated") {
            column.generated = Some(generation(at)?);
            column.not_null = true;
        } else if ["references", "collate"].iter().any(|word| at.is_word(word)) {
            return Err(SqlError::unsupported("this constraint"));
        } else if !at.takes("null") {
            return Ok(column);
        }
    }
}

/// What comes after GENERATED.
fn generation(at: &mut Cursor<'_>) -> Result<Generated, SqlError> {
    let generated = if at.takes("always") {
        Generated::Always
    } else {
        at.word("by")?;
        at.word("default")?;
        Generated::ByDefault
    };
    at.word("as")?;
    if at.is_sign("(") {
        return Err(SqlError::unsupported("a generated column"));
    }
    at.word("identity")?;
    if at.is_sign("(") {
        return Err(SqlError::unsupported("options of an identity column"));
    }
    Ok(generated)
}

/// A domain without conditions.
fn domain(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    let name = at.qualified_name()?;
    at.takes("as");
    match ty(at)? {
        TypeName::Known(ty @ (Type::Text | Type::Varchar(None))) => {
            at.refuse(&["check", "not", "default", "constraint", "collate", "null"])?;
            Ok(Statement::CreateDomain { name, ty })
        }
        _ => Err(SqlError::unsupported("a domain of anything but text")),
    }
}

fn sequence(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    let if_not_exists = at.takes_all(&["if", "not", "exists"]);
    let mut sequence = Sequence { name: at.qualified_name()?, start: 1, increment: 1, cycles: false };
    loop {
        if at.takes("start") {
            at.takes("with");
            sequence.start = whole(at)?;
        } else if at.takes("cycle") {
            sequence.cycles = true;
        } else if at.takes_all(&["owned", "by"]) {
            // Whose column it is matters when that is dropped, which is not modelled.
            at.name()?;
            at.sign(".")?;
            at.name()?;
        } else if at.takes("increment") {
            at.takes("by");
            sequence.increment = whole(at)?;
            if sequence.increment < 1 {
                return Err(SqlError::unsupported("a sequence that does not ascend"));
            }
        } else {
            at.refuse(&["minvalue", "maxvalue", "no", "cache", "owned", "as"])?;
            return Ok(Statement::CreateSequence { sequence, if_not_exists });
        }
    }
}

fn whole(at: &mut Cursor<'_>) -> Result<i64, SqlError> {
    match at.expr()? {
        Expr::Int(number) => Ok(number),
        _ => Err(at.error()),
    }
}

/// An index, from its name on. What order it has does not show.
fn index(at: &mut Cursor<'_>, unique: bool) -> Result<Statement, SqlError> {
    at.refuse(&["concurrently"])?;
    let if_not_exists = at.takes_all(&["if", "not", "exists"]);
    let name = if at.is_word("on") { None } else { Some(at.name()?) };
    at.word("on")?;
    let table = at.qualified_name()?;
    if at.takes("using") {
        at.name()?;
    }
    at.sign("(")?;
    let mut columns = Vec::new();
    loop {
        columns.push(at.plain_expr()?);
        at.refuse(&["collate"])?;
        if !at.is_word("nulls") && at.name_if_any().is_some() {
            // A class of operators.
            at.step();
        }
        at.takes_any(&["asc", "desc"]);
        if at.takes("nulls") && !at.takes_any(&["first", "last"]) {
            return Err(at.error());
        }
        if !at.takes_sign(",") {
            break;
        }
    }
    at.sign(")")?;
    if at.takes("include") {
        at.names()?;
    }
    at.refuse(&["with", "nulls", "tablespace"])?;
    let filter = at.filter()?;
    let key = Key { name, primary: false, columns, filter };
    Ok(Statement::CreateIndex { table, if_not_exists, unique, key })
}

/// A type with labels, from its name on.
fn enumeration(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    let name = at.qualified_name()?;
    at.word("as")?;
    if !at.takes("enum") {
        return Err(SqlError::unsupported("CREATE TYPE of anything but an enum"));
    }
    at.sign("(")?;
    let mut labels: Vec<String> = Vec::new();
    while !at.takes_sign(")") {
        if !labels.is_empty() {
            at.sign(",")?;
        }
        labels.push(quoted(at)?);
    }
    Ok(Statement::CreateEnum { name, labels })
}

fn quoted(at: &mut Cursor<'_>) -> Result<String, SqlError> {
    match at.peek().map(|token| token.kind.clone()) {
        Some(Kind::Quoted(text)) => {
            at.step();
            Ok(text)
        }
        _ => Err(at.error()),
    }
}

/// A function in SQL, from its name on.
fn routine(at: &mut Cursor<'_>, replaces: bool) -> Result<Statement, SqlError> {
    let name = at.qualified_name()?;
    at.sign("(")?;
    let mut params = Vec::new();
    while !at.takes_sign(")") {
        if !params.is_empty() {
            at.sign(",")?;
        }
        at.refuse(&["out", "inout", "variadic"])?;
        at.takes("in");
        params.push(param(at)?);
        at.refuse(&["default"])?;
    }
    at.word("returns")?;
    at.refuse(&["setof", "table", "trigger", "void"])?;
    let returns = ty(at)?;
    let (mut body, mut is_sql) = (None, false);
    loop {
        if at.takes("language") {
            is_sql = at.takes("sql");
            if !is_sql {
                return Err(SqlError::unsupported("a function in another language than SQL"));
            }
        } else if at.takes("as") {
            body = Some(quoted(at)?);
        } else if at.takes("parallel") {
            at.name()?;
        } else if !at.takes_any(&["immutable", "stable", "volatile"]) {
            break;
        }
    }
    at.refuse(&["strict", "returns", "called", "cost", "security", "set", "leakproof", "return", "begin"])?;
    match body {
        Some(body) if is_sql => Ok(Statement::CreateRoutine { name, replaces, params, returns, body }),
        _ => Err(at.error()),
    }
}

/// An argument of a function: its type, perhaps with a name before it.
fn param(at: &mut Cursor<'_>) -> Result<(String, TypeName), SqlError> {
    let from = at.place();
    let name = at.name()?;
    if [",", ")", "[", "("].iter().any(|sign| at.is_sign(sign)) {
        at.back_to(from);
        return Ok((String::new(), ty(at)?));
    }
    Ok((name, ty(at)?))
}
