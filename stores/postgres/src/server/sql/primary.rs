//! The parser of operands: literals, parameters, columns, calls, and what begins with a word of the language.

use super::cursor::Cursor;
use super::lexer::Kind;
use super::syntax::{Expr, Operator, Order, TypeName};
use super::types::ty;
use crate::protocol::{SqlError, Type};
use crate::server::deep::{Child, Children, Extent, Tree as _};

/// An operand with its casts and its time zone.
pub(super) fn primary(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let mut value = operand(at)?;
    loop {
        if at.takes_sign("::") {
            value = Expr::Cast(Child::of(value)?, ty(at)?);
        } else if at.takes_sign("[") {
            value = subscript(at, value)?;
        } else if at.takes_all(&["at", "time", "zone"]) {
            value = in_zone(at, value)?;
        } else {
            return Ok(value);
        }
    }
}

#[inline(never)]
fn in_zone(at: &mut Cursor<'_>, time: Expr) -> Result<Expr, SqlError> {
    let zone = operand(at)?;
    called("timezone", vec![zone, time])
}

/// An element or a slice of an array, from behind its opening bracket on.
#[inline(never)]
fn subscript(at: &mut Cursor<'_>, array: Expr) -> Result<Expr, SqlError> {
    let array = Child::of(array)?;
    let from = if at.is_sign(":") { None } else { Some(Child::of(at.expr()?)?) };
    if !at.takes_sign(":") {
        at.sign("]")?;
        return from.map(|place| Expr::Element(array, place)).ok_or_else(|| at.error());
    }
    let to = if at.is_sign("]") { None } else { Some(Child::of(at.expr()?)?) };
    at.sign("]")?;
    Ok(Expr::Slice(array, from, to))
}

#[inline(never)]
fn operand(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    if at.is_sign("(") {
        return parenthesized(at);
    }
    if matches!(at.peek().map(|token| &token.kind), Some(Kind::Word(_) | Kind::Name(_))) {
        return named(at);
    }
    literal(at)
}

/// An expression or a SELECT in parentheses. Each form of an operand is a function of its own, so that nested ones take little stack.
#[inline(never)]
fn parenthesized(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    at.step();
    if at.is_word("select") {
        let inner = Expr::Subquery(Child::of(at.select()?)?);
        at.sign(")")?;
        return Ok(inner);
    }
    let inner = at.expr()?;
    if at.is_sign(",") {
        return Err(SqlError::unsupported("a row of values"));
    }
    at.sign(")")?;
    Ok(inner)
}

#[inline(never)]
fn literal(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
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
        Kind::Param(nth) if at.in_body => {
            at.step();
            Ok(Expr::Column { table: None, name: format!("${nth}") })
        }
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
        Kind::Sign | Kind::Word(_) | Kind::Name(_) => Err(at.error()),
    }
}

/// A truth value, a function, a column, or what begins with a word of the language.
#[inline(never)]
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
        let select = Child::of(at.select()?)?;
        at.sign(")")?;
        return Ok(Expr::Exists(select));
    }
    at.refuse(&["row", "any", "not"])?;
    if at.is_word("array") {
        return array(at);
    }
    if at.is_word("extract") && at.is_sign_after("(") {
        return extract(at);
    }
    if at.takes("current_timestamp") {
        return called("current_timestamp", Vec::new());
    }
    if at.takes("case") {
        return case(at);
    }
    if at.is_word("cast") && at.is_sign_after("(") {
        at.step();
        at.step();
        let value = at.expr()?;
        at.word("as")?;
        let ty = ty(at)?;
        at.sign(")")?;
        return Ok(Expr::Cast(Child::of(value)?, ty));
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
            return Ok(Expr::Cast(Child::of(Expr::Quoted(text))?, TypeName::Known(ty)));
        }
    }
    if let Some(word) = CALLED.iter().find(|word| at.is_word(word)) {
        let is_call = *word == "current_schema" && at.is_sign_after("(");
        if !is_call {
            return Err(SqlError::unsupported(word));
        }
    }
    let mut name = at.name()?;
    if (name == "pg_catalog" || name == "public") && at.takes_sign(".") {
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

/// Words that PostgreSQL calls as functions without parentheses, and that no column has as its name.
const CALLED: [&str; 10] = [
    "current_catalog",
    "current_date",
    "current_role",
    "current_schema",
    "current_time",
    "current_user",
    "localtime",
    "localtimestamp",
    "session_user",
    "user",
];

/// A call, from behind its opening parenthesis on.
#[inline(never)]
fn call(at: &mut Cursor<'_>, name: String) -> Result<Expr, SqlError> {
    if matches!(name.as_str(), "substring" | "trim" | "overlay" | "position") {
        return Err(SqlError::unsupported(format!("function {name}")));
    }
    if name == "make_interval" {
        // Of its arguments this one alone.
        if !at.takes("secs") || !at.takes_sign("=>") {
            return Err(SqlError::unsupported("make_interval of anything but secs"));
        }
    }
    if name == "count" && at.takes_sign("*") {
        at.sign(")")?;
        if at.is_word("over") && at.is_sign_after("(") {
            let (partition, order) = window(at)?;
            if !order.is_empty() {
                return Err(SqlError::unsupported("count of the rows so far"));
            }
            return Ok(Expr::CountOver(Children::all(partition)?));
        }
        let Some(filter) = only(at)? else { return Ok(Expr::CountRows) };
        // What is null is not counted.
        return called(&name, vec![only_where(filter, Expr::Bool(true))?]);
    }
    if at.takes("distinct") {
        let mut args = at.list()?;
        at.refuse(&["filter", "over", "within"])?;
        let arg = args.pop().filter(|_| args.is_empty());
        let refused = || SqlError::unsupported("an aggregate of several values that are different");
        return Ok(Expr::OfDistinct { name, arg: Child::of(arg.ok_or_else(refused)?)? });
    }
    let mut args = if at.takes_sign(")") { Vec::new() } else { at.list()? };
    if name == "row_number" && args.is_empty() && at.is_word("over") && at.is_sign_after("(") {
        let (partition, order) = window(at)?;
        return Ok(Expr::RowNumber(Children::all(partition)?, Children::all(order)?));
    }
    // What is null is not looked at by these.
    if matches!(name.as_str(), "count" | "max" | "min" | "sum")
        && let [arg] = &mut args[..]
        && let Some(filter) = only(at)?
    {
        let value = std::mem::replace(arg, Expr::Null);
        *arg = only_where(filter, value)?;
    }
    at.refuse(&["filter", "over", "within"])?;
    called(&name, args)
}

fn called(name: &str, args: Vec<Expr>) -> Result<Expr, SqlError> {
    Ok(Expr::Call { name: name.to_owned(), args: Children::all(args)? })
}

/// The value where a filter holds, null elsewhere.
fn only_where(filter: Expr, value: Expr) -> Result<Expr, SqlError> {
    Ok(Expr::Case { arms: Children::all(vec![(filter, value)])?, otherwise: None })
}

/// The rows of a window function and their order, after its call.
fn window(at: &mut Cursor<'_>) -> Result<(Vec<Expr>, Vec<Order>), SqlError> {
    at.step();
    at.step();
    let mut partition = Vec::new();
    if at.takes("partition") {
        at.word("by")?;
        partition.push(at.expr()?);
        while at.takes_sign(",") {
            partition.push(at.expr()?);
        }
    }
    let order = at.order()?;
    at.refuse(&["rows", "range", "groups"])?;
    at.sign(")")?;
    Ok((partition, order))
}

/// FILTER of an aggregate, if it comes next.
fn only(at: &mut Cursor<'_>) -> Result<Option<Expr>, SqlError> {
    if !at.is_word("filter") || !at.is_sign_after("(") {
        return Ok(None);
    }
    at.step();
    at.step();
    at.word("where")?;
    let condition = at.expr()?;
    at.sign(")")?;
    Ok(Some(condition))
}

/// `ARRAY[...]` or `ARRAY(SELECT ...)`.
fn array(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    at.step();
    if at.takes_sign("(") {
        if !at.is_word("select") {
            return Err(at.error());
        }
        let select = Child::of(at.select()?)?;
        at.sign(")")?;
        return Ok(Expr::ArrayQuery(select));
    }
    at.sign("[")?;
    let mut values = Vec::new();
    while !at.takes_sign("]") {
        if !values.is_empty() {
            at.sign(",")?;
        }
        values.push(at.expr()?);
    }
    Ok(Expr::Array(Children::all(values)?))
}

/// `EXTRACT(field FROM value)`.
fn extract(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    at.step();
    at.step();
    let field = match at.peek().map(|token| token.kind.clone()) {
        Some(Kind::Word(field) | Kind::Quoted(field)) => field,
        _ => return Err(at.error()),
    };
    at.step();
    at.word("from")?;
    let value = at.expr()?;
    at.sign(")")?;
    called("extract", vec![Expr::Quoted(field), value])
}

fn case(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let value = if at.is_word("when") { None } else { Some(Child::of(at.expr()?)?) };
    let (mut arms, mut extent) = (Vec::new(), Extent::default());
    while at.takes("when") {
        let condition = at.expr()?;
        let condition = match &value {
            None => condition,
            Some(value) => {
                Expr::Binary { operator: Operator::Equal, left: value.clone(), right: Child::of(condition)? }
            }
        };
        // Each arm has a copy of the value.
        extent = extent.and(condition.extent()).admitted()?;
        at.word("then")?;
        arms.push((condition, at.expr()?));
    }
    let otherwise = if at.takes("else") { Some(Child::of(at.expr()?)?) } else { None };
    at.word("end")?;
    if arms.is_empty() {
        return Err(at.error());
    }
    Ok(Expr::Case { arms: Children::all(arms)?, otherwise })
}

fn number(digits: &str) -> Result<Expr, SqlError> {
    let refused = || SqlError::unsupported("a number that is no bigint");
    match digits.split_once('.') {
        None => digits.parse().map(Expr::Int).map_err(|_| refused()),
        Some((whole, fraction)) if whole.len() <= 12 && !fraction.is_empty() && !fraction.contains('.') => {
            Ok(Expr::Decimal(digits.to_owned()))
        }
        Some(_) => Err(refused()),
    }
}
