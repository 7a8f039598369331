//! The parser of expressions: one function for each level of precedence, from the loosest on.
//!
//! Source: "Operator Precedence", PostgreSQL 15 documentation, 4.1.6.

use super::cursor::Cursor;
use super::lexer::Kind;
use super::primary::primary;
use super::syntax::{Expr, Operator};
use crate::protocol::SqlError;
use crate::server::deep::{Child, Children};

fn expr(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let mut left = conjunction(at)?;
    while at.takes("or") {
        left = Expr::Or(Child::of(left)?, Child::of(conjunction(at)?)?);
    }
    Ok(left)
}

fn conjunction(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let mut left = negation(at)?;
    while at.takes("and") {
        left = Expr::And(Child::of(left)?, Child::of(negation(at)?)?);
    }
    Ok(left)
}

fn negation(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let mut count = 0_u32;
    while at.takes("not") {
        count += 1;
    }
    let value = test(at)?;
    (0..count).try_fold(value, |value, _| not(value))
}

fn not(value: Expr) -> Result<Expr, SqlError> {
    Ok(Expr::Not(Child::of(value)?))
}

/// `value IS NULL`, `value IS TRUE`, `value IS DISTINCT FROM other`.
fn test(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let mut value = comparison(at)?;
    while at.takes("is") {
        value = is(at, value)?;
    }
    Ok(value)
}

/// The same from behind IS on.
#[inline(never)]
fn is(at: &mut Cursor<'_>, value: Expr) -> Result<Expr, SqlError> {
    let negated = at.takes("not");
    let is_so = |value, truth| not(Expr::Distinct(Child::of(value)?, Child::of(Expr::Bool(truth))?));
    let value = if at.takes("null") || at.takes("unknown") {
        Expr::IsNull(Child::of(value)?)
    } else if at.takes("true") {
        is_so(value, true)?
    } else if at.takes("false") {
        is_so(value, false)?
    } else {
        at.word("distinct")?;
        at.word("from")?;
        Expr::Distinct(Child::of(value)?, Child::of(comparison(at)?)?)
    };
    if negated { not(value) } else { Ok(value) }
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
    match at.sign_of(&COMPARISONS) {
        Some(operator) => compared(at, left, operator),
        None => Ok(left),
    }
}

/// The same from behind the left side on.
#[inline(never)]
fn compared(at: &mut Cursor<'_>, left: Expr, operator: Operator) -> Result<Expr, SqlError> {
    at.step();
    at.refuse(&["some"])?;
    let all = at.is_word("all");
    if all || at.is_word("any") {
        at.step();
        at.sign("(")?;
        at.refuse(&["select"])?;
        let array = Child::of(at.expr()?)?;
        at.sign(")")?;
        // What holds for all does not fail for any.
        let operator = if all { opposite(operator) } else { operator };
        let any = Expr::Any { operator, value: Child::of(left)?, array };
        return if all { not(any) } else { Ok(any) };
    }
    Ok(Expr::Binary { operator, left: Child::of(left)?, right: Child::of(membership(at)?)? })
}

fn opposite(operator: Operator) -> Operator {
    match operator {
        Operator::Equal => Operator::Unequal,
        Operator::Unequal => Operator::Equal,
        Operator::Less => Operator::GreaterOrEqual,
        Operator::LessOrEqual => Operator::Greater,
        Operator::Greater => Operator::LessOrEqual,
        _ => Operator::Less,
    }
}

/// `value IN (...)`, `value BETWEEN low AND high`, `value LIKE pattern`.
fn membership(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let value = concatenation(at)?;
    match at.peek().map(|token| &token.kind) {
        Some(Kind::Word(word)) if MEMBERSHIP.contains(&word.as_str()) => member(at, value),
        _ => Ok(value),
    }
}

/// The words that may come behind a value there.
const MEMBERSHIP: [&str; 6] = ["not", "in", "between", "like", "ilike", "similar"];

/// The same from behind the value on. It is a function of its own because nested parentheses take the stack of all levels, and few
/// have one of these words.
#[inline(never)]
fn member(at: &mut Cursor<'_>, value: Expr) -> Result<Expr, SqlError> {
    let negated = at.takes("not");
    at.refuse(&["similar", "like", "ilike"])?;
    if at.takes("between") {
        at.refuse(&["symmetric"])?;
        let low = Child::of(concatenation(at)?)?;
        at.word("and")?;
        let high = Child::of(concatenation(at)?)?;
        let value = Child::of(value)?;
        let compare = |operator, right| Child::of(Expr::Binary { operator, left: value.clone(), right });
        let between =
            Expr::And(compare(Operator::GreaterOrEqual, low)?, compare(Operator::LessOrEqual, high)?);
        return if negated { not(between) } else { Ok(between) };
    }
    if negated {
        at.word("in")?;
    } else if !at.takes("in") {
        return Ok(value);
    }
    at.sign("(")?;
    let found = if at.is_word("select") {
        let select = Child::of(at.select()?)?;
        at.sign(")")?;
        Expr::InQuery(Child::of(value)?, select)
    } else {
        Expr::In(Child::of(value)?, Children::all(at.list()?)?)
    };
    if negated { not(found) } else { Ok(found) }
}

impl Cursor<'_> {
    /// An operand, without operators.
    pub(super) fn operand(&mut self) -> Result<Expr, SqlError> {
        primary(self)
    }

    /// An expression.
    pub(super) fn expr(&mut self) -> Result<Expr, SqlError> {
        self.deeper(expr)
    }

    /// An expression without comparisons and truth values, as it may stand before a constraint.
    pub(super) fn plain_expr(&mut self) -> Result<Expr, SqlError> {
        concatenation(self)
    }

    /// Expressions up to a closing parenthesis.
    pub(super) fn list(&mut self) -> Result<Vec<Expr>, SqlError> {
        let mut list = vec![self.expr()?];
        while self.takes_sign(",") {
            list.push(self.expr()?);
        }
        self.sign(")")?;
        Ok(list)
    }
}

/// The operators between operands by their levels, from the loosest on. The first level has those of no other one.
const LEVELS: [&[(&str, Operator)]; 3] = [
    &[("||", Operator::Concat)],
    &[("+", Operator::Plus), ("-", Operator::Minus)],
    &[("*", Operator::Times), ("/", Operator::Divide), ("%", Operator::Modulo)],
];

fn concatenation(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    operators(at, 0)
}

/// Operands with operators of these levels between them, the first ones first. Tighter operators are read by a call for each, so
/// that an operand without any takes one call.
fn operators(at: &mut Cursor<'_>, loosest: usize) -> Result<Expr, SqlError> {
    let mut left = primary(at)?;
    loop {
        let next = LEVELS.iter().enumerate().skip(loosest);
        let found = next.rev().find_map(|(level, signs)| Some((level, at.sign_of(signs)?)));
        let Some((level, operator)) = found else { return Ok(left) };
        at.step();
        let right = operators(at, level + 1)?;
        left = Expr::Binary { operator, left: Child::of(left)?, right: Child::of(right)? };
    }
}
