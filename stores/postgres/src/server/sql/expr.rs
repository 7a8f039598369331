//! The parser of expressions: one function for each level of precedence, from the loosest on.
//!
//! Source: "Operator Precedence", PostgreSQL 15 documentation, 4.1.6.

use super::cursor::Cursor;
use super::lexer::Kind;
use super::primary::primary;
use super::syntax::{Expr, Like, Operator};
use crate::protocol::SqlError;

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

/// `value IS NULL`, `value IS TRUE`, `value IS DISTINCT FROM other`.
fn test(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    let mut value = comparison(at)?;
    while at.takes("is") {
        let not = at.takes("not");
        let is =
            |value, truth| Expr::Not(Box::new(Expr::Distinct(Box::new(value), Box::new(Expr::Bool(truth)))));
        value = if at.takes("null") || at.takes("unknown") {
            Expr::IsNull(Box::new(value))
        } else if at.takes("true") {
            is(value, true)
        } else if at.takes("false") {
            is(value, false)
        } else {
            at.word("distinct")?;
            at.word("from")?;
            Expr::Distinct(Box::new(value), Box::new(comparison(at)?))
        };
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
    let Some(operator) = at.sign_of(&COMPARISONS) else { return Ok(left) };
    at.step();
    at.refuse(&["some"])?;
    let all = at.is_word("all");
    if all || at.is_word("any") {
        at.step();
        at.sign("(")?;
        at.refuse(&["select"])?;
        let array = Box::new(expr(at)?);
        at.sign(")")?;
        // What holds for all does not fail for any.
        let operator = if all { opposite(operator) } else { operator };
        let any = Expr::Any { operator, value: Box::new(left), array };
        return Ok(if all { Expr::Not(Box::new(any)) } else { any });
    }
    Ok(Expr::Binary { operator, left: Box::new(left), right: Box::new(membership(at)?) })
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
    if !matches!(at.peek().map(|token| &token.kind), Some(Kind::Word(_))) {
        return Ok(value);
    }
    let not = at.takes("not");
    at.refuse(&["similar"])?;
    let folds = at.is_word("ilike");
    if folds || at.is_word("like") {
        at.step();
        return like(at, value, Like { folds, negated: not });
    }
    if at.takes("between") {
        at.refuse(&["symmetric"])?;
        let low = Box::new(concatenation(at)?);
        at.word("and")?;
        let high = Box::new(concatenation(at)?);
        let compare =
            |operator, right| Box::new(Expr::Binary { operator, left: Box::new(value.clone()), right });
        let between = Expr::And(compare(Operator::GreaterOrEqual, low), compare(Operator::LessOrEqual, high));
        return Ok(if not { Expr::Not(Box::new(between)) } else { between });
    }
    if not {
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
        Expr::In(Box::new(value), at.list()?)
    };
    Ok(if not { Expr::Not(Box::new(found)) } else { found })
}

/// The pattern of LIKE, and the letter that takes the meaning from the next one.
fn like(at: &mut Cursor<'_>, value: Expr, operator: Like) -> Result<Expr, SqlError> {
    at.refuse(&["any", "all", "some"])?;
    let (value, pattern) = (Box::new(value), Box::new(concatenation(at)?));
    let escape = if at.takes("escape") { Some(Box::new(concatenation(at)?)) } else { None };
    Ok(Expr::Like { operator, value, pattern, escape })
}

impl Cursor<'_> {
    /// An operand, without operators.
    pub(super) fn operand(&mut self) -> Result<Expr, SqlError> {
        primary(self)
    }

    /// An expression.
    pub(super) fn expr(&mut self) -> Result<Expr, SqlError> {
        expr(self)
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

/// Operators of no other level.
const OTHERS: [(&str, Operator); 5] = [
    ("||", Operator::Concat),
    ("->", Operator::Member),
    ("->>", Operator::MemberText),
    ("?", Operator::Has),
    ("~", Operator::Matches),
];

fn concatenation(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    level(at, &OTHERS, sum)
}

fn sum(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    level(at, &[("+", Operator::Plus), ("-", Operator::Minus)], product)
}

fn product(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    level(at, &[("*", Operator::Times), ("/", Operator::Divide), ("%", Operator::Modulo)], power)
}

fn power(at: &mut Cursor<'_>) -> Result<Expr, SqlError> {
    level(at, &[("^", Operator::Power)], primary)
}

/// Operands with operators of one level between them, the first ones first.
fn level(
    at: &mut Cursor<'_>,
    operators: &[(&str, Operator)],
    operand: fn(&mut Cursor<'_>) -> Result<Expr, SqlError>,
) -> Result<Expr, SqlError> {
    let mut left = operand(at)?;
    while let Some(operator) = at.sign_of(operators) {
        at.step();
        left = Expr::Binary { operator, left: Box::new(left), right: Box::new(operand(at)?) };
    }
    Ok(left)
}
