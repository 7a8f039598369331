//! The parser of CREATE.

use super::cursor::Cursor;
use super::expr::{expr, primary, ty};
use super::syntax::{Column, Expr, Generated, Key, Sequence, Statement, TypeName};
use crate::protocol::{SqlError, Type};

pub(super) fn create(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    at.step();
    if at.takes("table") {
        return table(at);
    }
    if at.takes("sequence") {
        return sequence(at);
    }
    if at.takes_all(&["unique", "index"]) {
        return index(at);
    }
    if at.takes("domain") {
        return domain(at);
    }
    Err(SqlError::unsupported("CREATE of anything but a table, a sequence, a unique index or a domain"))
}

fn table(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    let if_not_exists = at.takes_all(&["if", "not", "exists"]);
    let table = at.qualified_name()?;
    at.sign("(")?;
    let (mut columns, mut keys): (Vec<Column>, Vec<Key>) = (Vec::new(), Vec::new());
    loop {
        at.refuse(&["check", "foreign", "exclude", "like"])?;
        let name = if at.takes("constraint") { Some(at.name()?) } else { None };
        if at.is_word("primary") || at.is_word("unique") {
            let primary = at.is_word("primary");
            at.step();
            if primary {
                at.word("key")?;
            }
            keys.push(Key { name, primary, columns: at.names()? });
        } else if name.is_some() {
            return Err(SqlError::unsupported("this constraint"));
        } else {
            let column = column(at, &mut keys)?;
            columns.push(column);
        }
        if !at.takes_sign(",") {
            break;
        }
    }
    at.sign(")")?;
    at.refuse(&["with", "inherits", "partition", "tablespace", "on"])?;
    Ok(Statement::CreateTable { table, if_not_exists, columns, keys })
}

fn column(at: &mut Cursor<'_>, keys: &mut Vec<Key>) -> Result<Column, SqlError> {
    let name = at.name()?;
    let serial =
        [("serial", Type::Int4), ("serial4", Type::Int4), ("bigserial", Type::Int8), ("serial8", Type::Int8)];
    let (ty, generated) = match serial.into_iter().find(|(word, _)| at.takes(word)) {
        Some((_, ty)) => (TypeName::Known(ty), Some(Generated::Serial)),
        None => (ty(at)?, None),
    };
    let not_null = generated.is_some();
    let mut column = Column { name, ty, not_null, default: None, generated };
    let key = |primary| Key { name: None, primary, columns: vec![column.name.clone()] };
    let (primary_key, unique) = (key(true), key(false));
    loop {
        if at.takes("primary") {
            at.word("key")?;
            keys.push(primary_key.clone());
        } else if at.takes("unique") {
            keys.push(unique.clone());
        } else if at.takes("not") {
            at.word("null")?;
            column.not_null = true;
        } else if at.takes("default") {
            column.default = Some(default(at)?);
        } else if at.takes("generated") {
            column.generated = Some(generation(at)?);
            column.not_null = true;
        } else if ["check", "references", "constraint", "collate"].iter().any(|word| at.is_word(word)) {
            return Err(SqlError::unsupported("this constraint"));
        } else if !at.takes("null") {
            return Ok(column);
        }
    }
}

/// An expression without operators that could be taken for the next constraint.
fn default(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    primary(at)
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
    match expr(at)? {
        Expr::Int(number) => Ok(number),
        _ => Err(at.error()),
    }
}

fn index(at: &mut Cursor<'_>) -> Result<Statement, SqlError> {
    at.refuse(&["concurrently"])?;
    let if_not_exists = at.takes_all(&["if", "not", "exists"]);
    let name = if at.is_word("on") { None } else { Some(at.name()?) };
    at.word("on")?;
    let table = at.qualified_name()?;
    at.refuse(&["using"])?;
    let columns = at.names()?;
    at.refuse(&["where", "include", "with", "nulls"])?;
    Ok(Statement::CreateIndex { table, if_not_exists, key: Key { name, primary: false, columns } })
}
