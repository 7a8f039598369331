//! The parser of expressions: one function for each level of precedence, from the loosest on.
//!
//! Source: "Operator Precedence", PostgreSQL 15 documentation, 4.1.6.

use super::cursor::Cursor;
use super::lexer::Kind;
use super::syntax::{Expr, Operator, TypeName};
use crate::protocol::{Element, SqlError, Type};

/// How deep parentheses may go.
const DEPTH_MAX: u32 = 50;

pub(super) fn expr(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    at.depth += 1;
    if at.depth > DEPTH_MAX {
        return Err(SqlError::new("54001", "stack depth limit exceeded"));
    }
    let mut left = conjunction(at)?;
    while at.takes("or") {
        left = Expr::Or(Box::new(left), Box::new(conjunction(at)?));
    }
    at.depth -= 1;
    Ok(left)
}

fn conjunction(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let mut left = negation(at)?;
    while at.takes("and") {
        left = Expr::And(Box::new(left), Box::new(negation(at)?));
    }
    Ok(left)
}

fn negation(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let mut count = 0_u32;
    while at.takes("not") {
        count += 1;
    }
    let value = test(at)?;
    Ok((0..count).fold(value, |value, _| Expr::Not(Box::new(value))))
}

/// `value IS NULL`, `value IS TRUE`.
fn test(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let mut value = comparison(at)?;
    while at.takes("is") {
        let not = at.takes("not");
        if !at.takes("null") {
            at.refuse(&["true", "false", "unknown", "distinct"])?;
            return Err(at.error());
        }
        value = Expr::IsNull(Box::new(value));
        if not {
            value = Expr::Not(Box::new(value));
        }
    }
    Ok(value)
}

const COMPARISONS: [(&str, Operator); 7] = [
    ("=", Operator::Equal),
    ("<>", Operator::Unequal),
    ("!=", Operator::Unequal),
    ("<=", Operator::LessOrEqual),
    ("<", Operator::Less),
    (">=", Operator::GreaterOrEqual),
    (">", Operator::Greater),
];

fn comparison(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let left = membership(at)?;
    let found = COMPARISONS.into_iter().find(|(sign, _)| at.takes_sign(sign));
    let Some((_, operator)) = found else { return Ok(left) };
    at.refuse(&["all", "some"])?;
    if at.takes("any") {
        at.sign("(")?;
        at.refuse(&["select"])?;
        let array = Box::new(expr(at)?);
        at.sign(")")?;
        return Ok(Expr::Any { operator, value: Box::new(left), array });
    }
    Ok(Expr::Binary { operator, left: Box::new(left), right: Box::new(membership(at)?) })
}

/// `value IN (...)`.
fn membership(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let value = concatenation(at)?;
    at.refuse(&["like", "ilike", "between", "similar"])?;
    let not = at.is_word("not");
    if not {
        at.step();
        at.refuse(&["like", "ilike", "between", "similar"])?;
        at.word("in")?;
    } else if !at.takes("in") {
        return Ok(value);
    }
    at.sign("(")?;
    let found = if at.is_word("select") {
        let select = Box::new(at.select()?);
        at.sign(")")?;
        Expr::InQuery(Box::new(value), select)
    } else {
        Expr::In(Box::new(value), list(at)?)
    };
    Ok(if not { Expr::Not(Box::new(found)) } else { found })
}

/// Expressions up to a closing parenthesis.
fn list(at: &mut Cursor<'_>) -> Result<Vec<Expr>, SqlError> {
    let mut list = vec![expr(at)?];
    while at.takes_sign(",") {
        list.push(expr(at)?);
    }
    at.sign(")")?;
    Ok(list)
}

fn concatenation(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let mut left = sum(at)?;
    while at.takes_sign("||") {
        left = Expr::Binary { operator: Operator::Concat, left: Box::new(left), right: Box::new(sum(at)?) };
    }
    Ok(left)
}

fn sum(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let mut left = product(at)?;
    loop {
        let operator = match (at.is_sign("+"), at.is_sign("-")) {
            (true, _) => Operator::Plus,
            (_, true) => Operator::Minus,
            _ => return Ok(left),
        };
        at.step();
        left = Expr::Binary { operator, left: Box::new(left), right: Box::new(product(at)?) };
    }
}

fn product(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let mut left = primary(at)?;
    loop {
        if ["/", "%", "^"].iter().any(|sign| at.is_sign(sign)) {
            return Err(SqlError::unsupported("this operator"));
        }
        if !at.takes_sign("*") {
            return Ok(left);
        }
        let right = Box::new(primary(at)?);
        left = Expr::Binary { operator: Operator::Times, left: Box::new(left), right };
    }
}

/// An operand with its casts and its time zone.
pub(super) fn primary(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let mut value = operand(at)?;
    loop {
        if at.takes_sign("::") {
            value = Expr::Cast(Box::new(value), ty(at)?);
        } else if at.takes_all(&["at", "time", "zone"]) {
            let zone = operand(at)?;
            value = Expr::Call { name: "timezone".to_owned(), args: vec![zone, value] };
        } else {
            return Ok(value);
        }
    }
}

fn operand(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let Some(token) = at.peek().cloned() else { return Err(at.error()) };
    match token.kind {
        Kind::Number => {
            at.step();
            number(token.text)
        }
        Kind::Quoted(text) => {
            at.step();
            Ok(Expr::Quoted(text))
        }
        Kind::Param(0) => Err(SqlError::new("42P02", "there is no parameter $0")),
        Kind::Param(nth) => {
            at.step();
            Ok(Expr::Param(nth))
        }
        Kind::Sign if token.text == "-" => {
            at.step();
            match at.peek().map(|token| (token.kind == Kind::Number, token.text)) {
                Some((true, digits)) => {
                    at.step();
                    number(&format!("-{digits}"))
                }
                _ => Err(SqlError::unsupported("a sign before anything but a number")),
            }
        }
        Kind::Sign if token.text == "(" => {
            at.step();
            if at.is_word("select") {
                let inner = Expr::Subquery(Box::new(at.select()?));
                at.sign(")")?;
                return Ok(inner);
            }
            let inner = expr(at)?;
            if at.is_sign(",") {
                return Err(SqlError::unsupported("a row of values"));
            }
            at.sign(")")?;
            Ok(inner)
        }
        Kind::Sign => Err(at.error()),
        Kind::Word(_) | Kind::Name(_) => named(at),
    }
}

/// A truth value, a function, a column, or what begins with a word of the language.
fn named(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    for (word, value) in [("null", Expr::Null), ("true", Expr::Bool(true)), ("false", Expr::Bool(false))] {
        if at.takes(word) {
            return Ok(value);
        }
    }
    if at.takes("exists") {
        at.sign("(")?;
        if !at.is_word("select") {
            return Err(at.error());
        }
        let select = Box::new(at.select()?);
        at.sign(")")?;
        return Ok(Expr::Exists(select));
    }
    at.refuse(&["array", "row", "any", "extract", "not"])?;
    if at.takes("current_timestamp") {
        return Ok(Expr::Call { name: "current_timestamp".to_owned(), args: Vec::new() });
    }
    if at.takes("case") {
        return case(at);
    }
    if at.is_word("cast") && at.is_sign_after("(") {
        at.step();
        at.step();
        let value = expr(at)?;
        at.word("as")?;
        let ty = ty(at)?;
        at.sign(")")?;
        return Ok(Expr::Cast(Box::new(value), ty));
    }
    for (word, ty) in [
        ("interval", Type::Interval),
        ("timestamp", Type::Timestamp),
        ("timestamptz", Type::Timestamptz),
        ("uuid", Type::Uuid),
    ] {
        if at.is_word(word)
            && let Some(text) = at.quoted_after().map(str::to_owned)
        {
            at.step();
            at.step();
            return Ok(Expr::Cast(Box::new(Expr::Quoted(text)), TypeName::Known(ty)));
        }
    }
    let mut name = at.name()?;
    if name == "pg_catalog" && at.takes_sign(".") {
        name = at.name()?;
        if !at.is_sign("(") {
            return Err(SqlError::unsupported("a qualified name of this form"));
        }
    }
    if at.takes_sign("(") {
        return call(at, name);
    }
    if at.takes_sign(".") {
        if at.is_sign("*") {
            return Err(SqlError::unsupported("all columns of a named table"));
        }
        let column = at.name()?;
        if at.is_sign("(") || at.is_sign(".") {
            return Err(SqlError::unsupported("a qualified name of this form"));
        }
        return Ok(Expr::Column { table: Some(name), name: column });
    }
    Ok(Expr::Column { table: None, name })
}

/// A call, from behind its opening parenthesis on.
fn call(at: &mut Cursor<'_>, name: String) -> Result<Expr, SqlError> {
    if name == "make_interval" {
        // Of its arguments this one alone.
        if !at.takes("secs") || !at.takes_sign("=>") {
            return Err(SqlError::unsupported("make_interval of anything but secs"));
        }
    }
    if name == "count" && at.takes_sign("*") {
        at.sign(")")?;
        at.refuse(&["filter", "over"])?;
        return Ok(Expr::CountRows);
    }
    at.refuse(&["distinct"])?;
    let args = if at.takes_sign(")") { Vec::new() } else { list(at)? };
    at.refuse(&["filter", "over", "within"])?;
    Ok(Expr::Call { name, args })
}

fn case(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    if !at.is_word("when") {
        return Err(SqlError::unsupported("CASE of a value"));
    }
    let mut arms = Vec::new();
    while at.takes("when") {
        let condition = expr(at)?;
        at.word("then")?;
        arms.push((condition, expr(at)?));
    }
    let otherwise = if at.takes("else") { Some(Box::new(expr(at)?)) } else { None };
    at.word("end")?;
    Ok(Expr::Case { arms, otherwise })
}

/// A type that is known, or the name of a domain.
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
        "jsonb" => Type::Jsonb,
        "oid" => Type::Oid,
        "regtype" => Type::Regtype,
        _ if at.is_sign("[") || at.is_sign("(") => {
            return Err(SqlError::unsupported(format!("type \"{name}\"")));
        }
        _ => return Ok(TypeName::Domain(name)),
    };
    if at.is_sign("(") {
        return Err(SqlError::unsupported("this form of a type"));
    }
    if at.takes_sign("[") {
        at.sign("]")?;
        let bare = !matches!(ty, Type::Varchar(Some(_)));
        let element = Element::of(ty).filter(|_| bare && !at.is_sign("["));
        let array = element.map(|element| TypeName::Known(Type::Array(element)));
        return array.ok_or_else(|| SqlError::unsupported("an array of this type"));
    }
    Ok(TypeName::Known(ty))
}

fn length(at: &mut Cursor<'_>) -> Result<Type, SqlError> {
    if !at.takes_sign("(") {
        return Ok(Type::Varchar(None));
    }
    let len = match primary(at)? {
        Expr::Int(len) => u32::try_from(len).ok().filter(|len| (1..=10_485_760).contains(len)),
        _ => None,
    };
    let len = len.ok_or_else(|| SqlError::new("22023", "length for type varchar must be at least 1"))?;
    at.sign(")")?;
    Ok(Type::Varchar(Some(len)))
}

fn number(digits: &str) -> Result<Expr, SqlError> {
    digits.parse().map(Expr::Int).map_err(|_| SqlError::unsupported("a number that is no bigint"))
}
