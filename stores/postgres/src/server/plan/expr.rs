//! Expressions: their types, and the types of the literals and parameters in them.
//!
//! Source: "Type Conversion", PostgreSQL 15 documentation, as far as these types need it: a quoted literal and a
//! parameter without a type take the type of what they meet; integers widen; a value is converted to its column's type.

use super::cast::{folded, is_open};
use super::columns::{Named, Scope};
use super::convert::comparable;
use super::operators::no_operator;
use super::planner::Planner;
use super::typed::{Aggregate, Typed};
use crate::protocol::{Element, Interval, SqlError, Type, Value};
use crate::server::deep::{Child, Children};
use crate::server::sql::{Expr, Operator, Select};

/// The most parameters that a statement may have, as in PostgreSQL.
const PARAMS_MAX: usize = 65_535;

impl Planner<'_> {
    /// An expression as the value of a column.
    pub(super) fn assigned(
        &mut self,
        scope: &Scope,
        expr: &Expr,
        column: &str,
        ty: Type,
    ) -> Result<Typed, SqlError> {
        let (value, found) = self.expr(scope, expr, Some(ty))?;
        assigned(value, found, column, ty)
    }

    /// An expression that is true or false.
    pub(super) fn truth(&mut self, scope: &Scope, expr: &Expr, place: &str) -> Result<Typed, SqlError> {
        let (value, ty) = self.expr(scope, expr, Some(Type::Bool))?;
        if ty != Type::Bool {
            let text = format!("argument of {place} must be type boolean, not type {}", ty.name());
            return Err(SqlError::new("42804", text));
        }
        Ok(value)
    }

    /// An expression and its type; `wanted` is the type of what it meets.
    pub(super) fn expr(
        &mut self,
        scope: &Scope,
        expr: &Expr,
        wanted: Option<Type>,
    ) -> Result<(Typed, Type), SqlError> {
        self.deeper(|planner| planner.expr_within(scope, expr, wanted))
    }

    fn expr_within(
        &mut self,
        scope: &Scope,
        expr: &Expr,
        wanted: Option<Type>,
    ) -> Result<(Typed, Type), SqlError> {
        Ok(match expr {
            Expr::Null => (Typed::Const(Value::Null), wanted.unwrap_or(Type::Unknown)),
            Expr::Bool(value) => (Typed::Const(Value::Bool(*value)), Type::Bool),
            Expr::Int(value) => {
                let ty = if Type::Int4.holds(*value) { Type::Int4 } else { Type::Int8 };
                (Typed::Const(Value::Int(*value)), ty)
            }
            Expr::Decimal(text) => {
                let refused = || SqlError::unsupported("a number with so many digits behind its point");
                let millionths = Interval::read(text).filter(|span| span.days == 0 && span.months == 0);
                let fraction = text.split_once('.').map_or(0, |(_, fraction)| fraction.len());
                let millionths = millionths.filter(|_| fraction <= 6).ok_or_else(refused)?.micros;
                (Typed::Const(Value::Numeric(millionths)), Type::Numeric)
            }
            Expr::Quoted(text) => {
                let ty = wanted.unwrap_or(Type::Unknown);
                (Typed::Const(ty.read(text)?), ty)
            }
            Expr::Param(nth) => return self.param(*nth, wanted),
            Expr::Column { table, name } => match scope.find(table.as_deref(), name)? {
                Named::Column(at, ty) => (Typed::Column(at), ty),
                Named::Outer(at, ty) => (Typed::Outer(at), ty),
                Named::Excluded(at, ty) => (Typed::Excluded(at), ty),
                Named::Argument(value, ty) => (value, ty),
            },
            Expr::Binary { operator: Operator::Equal | Operator::Unequal, left, right }
                if scope.inserts && is_xmax(left) && **right == Expr::Int(0) =>
            {
                let unequal = matches!(expr, Expr::Binary { operator: Operator::Unequal, .. });
                let updated = Typed::Updated;
                (if unequal { updated } else { Typed::Not(Child::of(updated)?) }, Type::Bool)
            }
            Expr::RowNumber(partition, order) => {
                return self.row_number(scope, partition, order, false);
            }
            Expr::CountOver(partition) => return self.row_number(scope, partition, &[], true),
            Expr::CountRows => return self.aggregate(scope, Aggregate::Count, None, false),
            Expr::OfDistinct { name, arg } => match Aggregate::named(name) {
                Some(aggregate) => return self.aggregate(scope, aggregate, Some(arg), true),
                None => return Err(SqlError::unsupported(format!("DISTINCT in {name}"))),
            },
            Expr::Call { name, args } => match (Aggregate::named(name), &args[..]) {
                (Some(aggregate), [arg]) => return self.aggregate(scope, aggregate, Some(arg), false),
                _ => return self.call(scope, name, args, wanted),
            },
            Expr::Binary { operator, left, right } => return self.binary(scope, *operator, left, right),
            Expr::And(left, right) => {
                let (left, right) = (self.truth(scope, left, "AND")?, self.truth(scope, right, "AND")?);
                (Typed::And(Child::of(left)?, Child::of(right)?), Type::Bool)
            }
            Expr::Or(left, right) => {
                let (left, right) = (self.truth(scope, left, "OR")?, self.truth(scope, right, "OR")?);
                (Typed::Or(Child::of(left)?, Child::of(right)?), Type::Bool)
            }
            Expr::Not(inner) => (Typed::Not(Child::of(self.truth(scope, inner, "NOT")?)?), Type::Bool),
            Expr::IsNull(inner) => (Typed::IsNull(Child::of(self.expr(scope, inner, None)?.0)?), Type::Bool),
            Expr::In(value, list) => {
                let (value, ty) = self.expr(scope, value, None)?;
                let ty = if ty.is_text() { Type::Text } else { ty };
                let mut planned = Vec::new();
                for one in list {
                    let (one, found) = self.expr(scope, one, Some(ty))?;
                    if !comparable(ty, found) {
                        return Err(no_operator("=", ty, found));
                    }
                    let differs = found.is_number() && found.is_integer() != ty.is_integer();
                    if differs {
                        return Err(SqlError::unsupported("IN with numbers of different kinds"));
                    }
                    planned.push(one);
                }
                (Typed::In(Child::of(value)?, Children::all(planned)?), Type::Bool)
            }
            Expr::InQuery(value, select) => {
                let (value, ty) = self.expr(scope, value, None)?;
                let (at, found) = self.column(scope, select, "subquery has too many columns")?;
                if !comparable(ty, found) {
                    return Err(no_operator("=", ty, found));
                }
                (Typed::InQuery(Child::of(value)?, at), Type::Bool)
            }
            Expr::Exists(select) => {
                let (query, _) = self.query(select, Some(scope))?;
                self.subqueries.push(query);
                (Typed::Exists(self.subqueries.len() - 1), Type::Bool)
            }
            Expr::Distinct(left, right) => {
                let (operator, sides) = (Operator::Equal, self.sides(scope, Operator::Equal, left, right)?);
                let (left, right) = sides;
                if !comparable(left.1, right.1) && !comparable(right.1, left.1) {
                    return Err(no_operator(operator.sign(), left.1, right.1));
                }
                (Typed::Distinct(Child::of(left.0)?, Child::of(right.0)?), Type::Bool)
            }
            Expr::Array(values) => return self.array(scope, values, wanted),
            Expr::ArrayQuery(select) => {
                let (at, ty) = self.column(scope, select, "subquery must return only one column")?;
                let refused = || SqlError::unsupported("an array of values of this type");
                let element = Element::of(if ty == Type::Unknown { Type::Text } else { ty });
                (Typed::ArrayQuery(at), Type::Array(element.ok_or_else(refused)?))
            }
            Expr::Element(array, place) => return self.element(scope, array, place),
            Expr::Slice(array, from, to) => return self.slice(scope, array, from.as_deref(), to.as_deref()),
            Expr::Any { operator, value, array } => {
                // A value whose type nothing says takes that of the elements.
                let wanted = match self.expr(scope, array, None) {
                    Ok((_, Type::Array(element))) if is_open(value) => Some(element.ty()),
                    _ => None,
                };
                let (value, ty) = self.expr(scope, value, wanted)?;
                let refused = || SqlError::unsupported("ANY beside a value of this type");
                // Values of `character varying` are compared as `text`.
                let element = Element::of(if ty.is_text() { Type::Text } else { ty }).ok_or_else(refused)?;
                let (array, found) = self.expr(scope, array, Some(Type::Array(element)))?;
                let Type::Array(element) = found else {
                    let text = "op ANY/ALL (array) requires array on right side";
                    return Err(SqlError::new("42809", text));
                };
                if !comparable(ty, element.ty()) {
                    return Err(no_operator(operator.sign(), ty, element.ty()));
                }
                let (value, array) = (Child::of(value)?, Child::of(array)?);
                (Typed::AnyOf { operator: *operator, value, array }, Type::Bool)
            }
            Expr::Case { arms, otherwise } => return self.case(scope, arms, otherwise.as_deref(), wanted),
            Expr::Cast(inner, ty) => {
                let ty = self.known.ty(ty)?;
                (self.cast(scope, inner, ty)?, ty)
            }
            Expr::Subquery(select) => {
                let (at, ty) = self.column(scope, select, "subquery must return only one column")?;
                (Typed::Subquery(at), ty)
            }
        })
    }

    /// A subquery of one column: its number, and the type of that; `many` is the error for more columns.
    fn column(&mut self, scope: &Scope, select: &Select, many: &str) -> Result<(usize, Type), SqlError> {
        let (query, columns) = self.query(select, Some(scope))?;
        let [(_, ty)] = columns[..] else {
            return Err(SqlError::new("42601", many));
        };
        self.subqueries.push(query);
        Ok((self.subqueries.len() - 1, ty))
    }

    fn param(&mut self, nth: usize, wanted: Option<Type>) -> Result<(Typed, Type), SqlError> {
        if nth > PARAMS_MAX {
            return Err(SqlError::new("42P02", format!("there is no parameter ${nth}")));
        }
        if self.params.len() < nth {
            self.params.resize(nth, None);
        }
        let known = &mut self.params[nth - 1];
        let ty = known.or(wanted.map(Type::bare));
        *known = ty;
        Ok((Typed::Param(nth - 1), ty.unwrap_or(Type::Unknown)))
    }
}

/// True for the column `xmax`.
fn is_xmax(expr: &Expr) -> bool {
    matches!(expr, Expr::Column { name, .. } if name == "xmax")
}

/// A value of a type as the value of a column.
pub(super) fn assigned(value: Typed, found: Type, column: &str, ty: Type) -> Result<Typed, SqlError> {
    let fits = found == Type::Unknown || comparable(ty, found) || ty.is_text() && found != Type::Void;
    if !fits {
        let (ty, found) = (ty.name(), found.name());
        let text = format!("column \"{column}\" is of type {ty} but expression is of type {found}");
        return Err(SqlError::new("42804", text));
    }
    let narrows =
        found != ty || matches!(ty, Type::Varchar(Some(_)) | Type::Array(Element::Varchar(Some(_))));
    if narrows { folded(value, ty) } else { Ok(value) }
}
