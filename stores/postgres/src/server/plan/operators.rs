//! Operators: the types of their sides and of their results.

use super::cast::{converted, folded, is_open};
use super::columns::Scope;
use super::convert::{comparable, in_range};
use super::planner::Planner;
use super::typed::Typed;
use crate::protocol::{SqlError, Type, Value};
use crate::server::deep::Child;
use crate::server::sql::{Expr, Operator};

/// The two sides of an operator, with their types.
type Sides = ((Typed, Type), (Typed, Type));

impl Planner<'_> {
    /// Two expressions beside an operator.
    pub(super) fn sides(
        &mut self,
        scope: &Scope,
        operator: Operator,
        left: &Expr,
        right: &Expr,
    ) -> Result<Sides, SqlError> {
        // A side whose type nothing says takes the other's, or that of a span beside a point of time.
        let meets = |ty| match (operator, ty) {
            (Operator::Plus, Type::Timestamp | Type::Timestamptz) => Type::Interval,
            (Operator::Times, Type::Interval) => Type::Float8,
            // Values of `character varying` are compared as `text`.
            (_, Type::Varchar(_)) => Type::Text,
            (_, ty) => ty,
        };
        let sides = if is_open(left) {
            let right = self.expr(scope, right, None)?;
            (self.expr(scope, left, Some(meets(right.1)))?, right)
        } else {
            let left = self.expr(scope, left, None)?;
            let wanted = meets(left.1);
            (left, self.expr(scope, right, Some(wanted))?)
        };
        numbers(sides.0, sides.1)
    }

    pub(super) fn binary(
        &mut self,
        scope: &Scope,
        operator: Operator,
        left: &Expr,
        right: &Expr,
    ) -> Result<(Typed, Type), SqlError> {
        if operator == Operator::Concat {
            return self.concat(scope, left, right);
        }
        let (left, right) = self.sides(scope, operator, left, right)?;
        let ty = result_of(operator, left.1, right.1);
        let ty = ty.ok_or_else(|| no_operator(operator.sign(), left.1, right.1))?;
        if ty == Type::Numeric {
            return Err(SqlError::unsupported("an operator on numeric"));
        }
        let divides = matches!(operator, Operator::Divide | Operator::Modulo);
        let fixed = match (&left.0, &right.0) {
            (Typed::Const(left), Typed::Const(right))
                if !operator.compares() && !divides && ty.is_integer() =>
            {
                Some(integers(operator, left, right, ty)?)
            }
            _ => None,
        };
        let value = match fixed {
            Some(value) => Typed::Const(value),
            None => joined(operator, left.0, right.0, ty)?,
        };
        Ok((value, ty))
    }

    /// `||` of texts.
    fn concat(&mut self, scope: &Scope, left: &Expr, right: &Expr) -> Result<(Typed, Type), SqlError> {
        let (left, right) = (self.alone(scope, left)?, self.alone(scope, right)?);
        let types = [left.ty(), right.ty()];
        if types.iter().any(|ty| matches!(ty, Type::Array(_))) {
            return Err(SqlError::unsupported("|| of an array"));
        }
        let (left, found) = self.placed(scope, left, Type::Text)?;
        let left = converted(left, found, Type::Text)?;
        let (right, found) = self.placed(scope, right, Type::Text)?;
        let right = converted(right, found, Type::Text)?;
        let text = match (left, right) {
            (Typed::Const(Value::Text(left)), Typed::Const(Value::Text(right))) => {
                Typed::Const(Value::Text(left + &right))
            }
            (left, right) => joined(Operator::Concat, left, right, Type::Text)?,
        };
        Ok((text, Type::Text))
    }
}

/// Numbers of different kinds as numbers of the wider one.
fn numbers(left: (Typed, Type), right: (Typed, Type)) -> Result<Sides, SqlError> {
    let is_mixed =
        left.1.is_number() && right.1.is_number() && !(left.1.is_integer() && right.1.is_integer());
    if !is_mixed || left.1 == right.1 {
        return Ok((left, right));
    }
    let ty = if left.1.widens_to(right.1) { right.1 } else { left.1 };
    Ok(((folded(left.0, ty)?, ty), (folded(right.0, ty)?, ty)))
}

fn joined(operator: Operator, left: Typed, right: Typed, ty: Type) -> Result<Typed, SqlError> {
    Ok(Typed::Binary { operator, left: Child::of(left)?, right: Child::of(right)?, ty })
}

/// The type of the result of an operator; none if there is no such operator.
fn result_of(operator: Operator, left: Type, right: Type) -> Option<Type> {
    let is_point = |ty| matches!(ty, Type::Timestamp | Type::Timestamptz);
    if operator.compares() {
        let fits = comparable(left, right) || comparable(right, left);
        return (fits && left != Type::Void).then_some(Type::Bool);
    }
    if left.is_number() && right.is_number() {
        let ty = if left.widens_to(right) { right } else { left };
        return (operator != Operator::Modulo || ty.is_integer()).then_some(ty);
    }
    let counts = |ty: Type| ty.is_integer() || ty == Type::Float8;
    match (operator, left, right) {
        (Operator::Plus | Operator::Minus, Type::Interval, Type::Interval) => Some(Type::Interval),
        (Operator::Plus | Operator::Minus, point, Type::Interval) if is_point(point) => Some(point),
        (Operator::Plus, Type::Interval, point) if is_point(point) => Some(point),
        (Operator::Minus, left, right) if is_point(left) && is_point(right) => Some(Type::Interval),
        (Operator::Times, Type::Interval, ty) | (Operator::Times, ty, Type::Interval) if counts(ty) => {
            Some(Type::Interval)
        }
        _ => None,
    }
}

/// The result of an operator on integers; null of null.
fn integers(operator: Operator, left: &Value, right: &Value, ty: Type) -> Result<Value, SqlError> {
    let (Value::Int(left), Value::Int(right)) = (left, right) else { return Ok(Value::Null) };
    let result = match operator {
        Operator::Plus => left.checked_add(*right),
        Operator::Minus => left.checked_sub(*right),
        _ => left.checked_mul(*right),
    };
    in_range(result, ty)
}

pub(super) fn no_operator(sign: &str, left: Type, right: Type) -> SqlError {
    // PostgreSQL multiplies and divides a span by any number.
    let span = |one: Type, other: Type| one == Type::Interval && other.is_number();
    if sign == "*" && span(right, left) || ["*", "/"].contains(&sign) && span(left, right) {
        return SqlError::unsupported(format!("{} {sign} {}", left.name(), right.name()));
    }
    let text = format!("operator does not exist: {} {sign} {}", left.name(), right.name());
    SqlError::new("42883", text)
}
