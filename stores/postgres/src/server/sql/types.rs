//! The parser of types.

use super::cursor::Cursor;
use super::lexer::Kind;
use super::syntax::TypeName;
use crate::protocol::{Element, SqlError, Type};

/// Types that PostgreSQL has and that are not modelled.
const ALSO: [&str; 15] = [
    "numeric", "decimal", "real", "float", "float4", "date", "time", "timetz", "char", "xml", "inet",
    "money", "json", "jsonb", "bit",
];

/// A type that is known, or the name of a domain or an enum.
pub(super) fn ty(at: &mut Cursor<'_>) -> Result<TypeName, SqlError> {
    let mut name = at.name()?;
    if (name == "pg_catalog" || name == "public") && at.takes_sign(".") {
        name = at.name()?;
    }
    let ty = match name.as_str() {
        "text" => Type::Text,
        "varchar" => length(at)?,
        "character" => {
            at.word("varying")?;
            length(at)?
        }
        "smallint" | "int2" => Type::Int2,
        "int" | "integer" | "int4" => Type::Int4,
        "bigint" | "int8" => Type::Int8,
        "bool" | "boolean" => Type::Bool,
        "timestamptz" => Type::Timestamptz,
        "timestamp" if at.is_sign("(") => return Err(SqlError::unsupported("a precision of time")),
        "timestamp" if at.takes_all(&["with", "time", "zone"]) => Type::Timestamptz,
        "timestamp" => {
            at.takes_all(&["without", "time", "zone"]);
            Type::Timestamp
        }
        "interval" => Type::Interval,
        "uuid" => Type::Uuid,
        "bytea" => Type::Bytea,
        "double" => {
            at.word("precision")?;
            Type::Float8
        }
        "float8" => Type::Float8,
        "name" => Type::Name,
        "regclass" => Type::Regclass,
        "oid" => Type::Oid,
        "regtype" => Type::Regtype,
        _ if at.is_sign("(") || ALSO.contains(&name.as_str()) => {
            return Err(SqlError::unsupported(format!("type \"{name}\"")));
        }
        _ if at.takes_sign("[") => {
            at.sign("]")?;
            return Ok(TypeName::ArrayOf(name));
        }
        _ => return Ok(TypeName::Named(name)),
    };
    if at.is_sign("(") {
        return Err(SqlError::unsupported("this form of a type"));
    }
    if at.takes_sign("[") {
        at.sign("]")?;
        let element = Element::of(ty).filter(|_| !at.is_sign("["));
        let array = element.map(|element| TypeName::Known(Type::Array(element)));
        return array.ok_or_else(|| SqlError::unsupported("an array of this type"));
    }
    Ok(TypeName::Known(ty))
}

fn length(at: &mut Cursor<'_>) -> Result<Type, SqlError> {
    if !at.takes_sign("(") {
        return Ok(Type::Varchar(None));
    }
    let len = whole(at)?.filter(|len| (1..=10_485_760).contains(len));
    let len = len.ok_or_else(|| SqlError::new("22023", "length for type varchar must be at least 1"))?;
    at.sign(")")?;
    Ok(Type::Varchar(Some(len)))
}

/// A whole number; none if it is too great.
fn whole(at: &mut Cursor<'_>) -> Result<Option<u32>, SqlError> {
    let token = at.peek().filter(|token| token.kind == Kind::Number);
    let len = token.ok_or_else(|| at.error())?.text.parse().ok();
    at.step();
    Ok(len)
}
