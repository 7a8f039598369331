//! Expressions: their types, and the types of the literals and parameters in them.
//!
//! Source: "Type Conversion", PostgreSQL 15 documentation, as far as these types need it: a quoted literal and a
//! parameter without a type take the type of what they meet; integers widen; a value is converted to its column's type.

use super::columns::{Named, Scope};
use super::convert::{comparable, convert, in_range};
use super::function::Function;
use super::planner::Planner;
use super::rows::query;
use super::typed::{Aggregate, Typed};
use crate::protocol::{Element, SqlError, Type, Value};
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
        let fits = found == Type::Unknown || comparable(ty, found) || ty.is_text() && found != Type::Void;
        if !fits {
            let (ty, found) = (ty.name(), found.name());
            let text = format!("column \"{column}\" is of type {ty} but expression is of type {found}");
            return Err(SqlError::new("42804", text));
        }
        let narrows = found != ty || matches!(ty, Type::Varchar(Some(_)));
        if narrows { folded(value, ty) } else { Ok(value) }
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
        Ok(match expr {
            Expr::Null => (Typed::Const(Value::Null), wanted.unwrap_or(Type::Unknown)),
            Expr::Bool(value) => (Typed::Const(Value::Bool(*value)), Type::Bool),
            Expr::Int(value) => {
                let ty = if Type::Int4.holds(*value) { Type::Int4 } else { Type::Int8 };
                (Typed::Const(Value::Int(*value)), ty)
            }
            Expr::Quoted(text) => {
                let ty = wanted.unwrap_or(Type::Unknown);
                (Typed::Const(ty.read(text)?), ty)
            }
            Expr::Param(nth) => return self.param(*nth, wanted),
            Expr::Column { table, name } => match scope.find(table.as_deref(), name)? {
                Named::Column(..) if self.aggregates.is_some() => {
                    return Err(SqlError::unsupported("a column beside an aggregate"));
                }
                Named::Column(at, ty) => (Typed::Column(at), ty),
                Named::Outer(at, ty) => (Typed::Outer(at), ty),
                Named::Excluded(at, ty) => (Typed::Excluded(at), ty),
            },
            Expr::CountRows => return self.aggregate(scope, Aggregate::Count, None),
            Expr::Call { name, args } => match (Aggregate::named(name), &args[..]) {
                (Some(aggregate), [arg]) => return self.aggregate(scope, aggregate, Some(arg)),
                _ => return self.call(scope, name, args, wanted),
            },
            Expr::Binary { operator, left, right } => return self.binary(scope, *operator, left, right),
            Expr::And(left, right) => {
                let (left, right) = (self.truth(scope, left, "AND")?, self.truth(scope, right, "AND")?);
                (Typed::And(Box::new(left), Box::new(right)), Type::Bool)
            }
            Expr::Or(left, right) => {
                let (left, right) = (self.truth(scope, left, "OR")?, self.truth(scope, right, "OR")?);
                (Typed::Or(Box::new(left), Box::new(right)), Type::Bool)
            }
            Expr::Not(inner) => (Typed::Not(Box::new(self.truth(scope, inner, "NOT")?)), Type::Bool),
            Expr::IsNull(inner) => (Typed::IsNull(Box::new(self.expr(scope, inner, None)?.0)), Type::Bool),
            Expr::In(value, list) => {
                let (value, ty) = self.expr(scope, value, None)?;
                let ty = if ty.is_text() { Type::Text } else { ty };
                let mut planned = Vec::new();
                for one in list {
                    let (one, found) = self.expr(scope, one, Some(ty))?;
                    if !comparable(ty, found) {
                        return Err(no_operator("=", ty, found));
                    }
                    planned.push(one);
                }
                (Typed::In(Box::new(value), planned), Type::Bool)
            }
            Expr::InQuery(value, select) => {
                let (value, ty) = self.expr(scope, value, None)?;
                let (at, found) = self.column(scope, select, "subquery has too many columns")?;
                if !comparable(ty, found) {
                    return Err(no_operator("=", ty, found));
                }
                (Typed::InQuery(Box::new(value), at), Type::Bool)
            }
            Expr::Exists(select) => {
                let (query, _) = query(self, select, Some(scope))?;
                self.subqueries.push(query);
                (Typed::Exists(self.subqueries.len() - 1), Type::Bool)
            }
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
                let (value, array) = (Box::new(value), Box::new(array));
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
        let (query, columns) = query(self, select, Some(scope))?;
        let [(_, ty)] = columns[..] else {
            return Err(SqlError::new("42601", many));
        };
        self.subqueries.push(query);
        Ok((self.subqueries.len() - 1, ty))
    }

    fn aggregate(
        &mut self,
        scope: &Scope,
        aggregate: Aggregate,
        arg: Option<&Expr>,
    ) -> Result<(Typed, Type), SqlError> {
        let refused = || SqlError::unsupported("an aggregate in this place");
        let mut all = self.aggregates.take().ok_or_else(refused)?;
        let value = arg.map(|arg| self.expr(scope, arg, None)).transpose()?;
        let ty = match (aggregate, &value) {
            (Aggregate::Count, _) | (_, None) => Type::Int8,
            (_, Some((_, Type::Varchar(_)))) => Type::Text,
            (_, Some((_, ty))) if matches!(ty, Type::Bool | Type::Uuid | Type::Jsonb | Type::Void) => {
                let name = if aggregate == Aggregate::Max { "max" } else { "min" };
                let text = format!("function {name}({}) does not exist", ty.name());
                return Err(SqlError::new("42883", text));
            }
            (_, Some((_, ty))) => *ty,
        };
        if value.as_ref().is_some_and(|(value, _)| value.calls()) {
            return Err(SqlError::unsupported("a function in an aggregate"));
        }
        all.push((aggregate, value.map(|(value, _)| value)));
        self.aggregates = Some(all);
        let at = self.aggregates.as_ref().map_or(0, |all| all.len() - 1);
        Ok((Typed::Column(at), ty))
    }

    fn param(&mut self, nth: usize, wanted: Option<Type>) -> Result<(Typed, Type), SqlError> {
        if nth > PARAMS_MAX {
            return Err(SqlError::new("42P02", format!("there is no parameter ${nth}")));
        }
        if self.params.len() < nth {
            self.params.resize(nth, None);
        }
        let known = &mut self.params[nth - 1];
        let bare = |ty| if matches!(ty, Type::Varchar(_)) { Type::Varchar(None) } else { ty };
        let ty = known.or(wanted.map(bare));
        *known = ty;
        Ok((Typed::Param(nth - 1), ty.unwrap_or(Type::Unknown)))
    }

    fn cast(&mut self, scope: &Scope, inner: &Expr, ty: Type) -> Result<Typed, SqlError> {
        let (value, found) = self.expr(scope, inner, Some(ty))?;
        if found == ty && !matches!(ty, Type::Varchar(Some(_))) {
            return Ok(value);
        }
        if found == Type::Regtype && ty.is_text() {
            return Ok(Typed::Call(Function::TypeName, vec![value]));
        }
        if comparable(ty, found) || ty.is_text() || found.is_text() {
            return folded(value, ty);
        }
        Err(SqlError::new("42846", format!("cannot cast type {} to {}", found.name(), ty.name())))
    }

    fn case(
        &mut self,
        scope: &Scope,
        arms: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
        wanted: Option<Type>,
    ) -> Result<(Typed, Type), SqlError> {
        let values: Vec<&Expr> = arms.iter().map(|(_, value)| value).chain(otherwise).collect();
        let ty = self.common(scope, &values, wanted)?;
        let mut planned = Vec::new();
        for (condition, value) in arms {
            let condition = self.truth(scope, condition, "CASE/WHEN")?;
            planned.push((condition, self.like(scope, value, ty, "CASE")?));
        }
        let otherwise = match otherwise {
            Some(value) => Some(Box::new(self.like(scope, value, ty, "CASE")?)),
            None => None,
        };
        Ok((Typed::Case(planned, otherwise), ty))
    }

    /// The type that several expressions are brought to: the first that one of them has by itself.
    fn common(&mut self, scope: &Scope, values: &[&Expr], wanted: Option<Type>) -> Result<Type, SqlError> {
        let mut found: Option<Type> = None;
        for value in values.iter().filter(|value| !is_open(value)) {
            let (_, ty) = self.expr(scope, value, None)?;
            found = match found {
                Some(found) if found.widens_to(ty) => Some(ty),
                None if ty != Type::Unknown => Some(ty),
                found => found,
            };
        }
        Ok(found.or(wanted).unwrap_or(Type::Text))
    }

    /// An expression as one of several of a type.
    fn like(&mut self, scope: &Scope, value: &Expr, ty: Type, place: &str) -> Result<Typed, SqlError> {
        let (value, found) = self.expr(scope, value, Some(ty))?;
        if !comparable(ty, found) {
            let text = format!("{place} types {} and {} cannot be matched", ty.name(), found.name());
            return Err(SqlError::new("42804", text));
        }
        if found == ty { Ok(value) } else { folded(value, ty) }
    }

    fn call(
        &mut self,
        scope: &Scope,
        name: &str,
        args: &[Expr],
        wanted: Option<Type>,
    ) -> Result<(Typed, Type), SqlError> {
        let function =
            Function::named(name).ok_or_else(|| SqlError::unsupported(format!("function {name}")))?;
        if function == Function::MakeInterval && args.first().is_some_and(is_open) {
            return Err(SqlError::unsupported("make_interval of a value whose type nothing says"));
        }
        if function.forms().is_empty() {
            let values: Vec<&Expr> = args.iter().collect();
            let ty = self.common(scope, &values, wanted)?;
            let args = args.iter().map(|arg| self.like(scope, arg, ty, &name.to_uppercase()));
            let args = args.collect::<Result<_, _>>()?;
            return Ok((Typed::Call(function, args), ty));
        }
        let mut found = Vec::new();
        for arg in args {
            found.push(if is_open(arg) { Type::Unknown } else { self.expr(scope, arg, None)?.1 });
        }
        let widens = |given: Type, ty: Type| {
            given == ty || given == Type::Unknown || given.is_text() && ty.is_text() || given.widens_to(ty)
        };
        let fits = |form: &&&[Type]| {
            form.len() == found.len() && found.iter().zip(**form).all(|(given, ty)| widens(*given, *ty))
        };
        let form = function.forms().iter().find(fits).ok_or_else(|| {
            let types: Vec<&str> = found.iter().map(|ty| ty.name()).collect();
            SqlError::new("42883", format!("function {name}({}) does not exist", types.join(", ")))
        })?;
        let mut planned = Vec::new();
        for (arg, ty) in args.iter().zip(*form) {
            planned.push(self.expr(scope, arg, Some(*ty))?.0);
        }
        if let (Function::NextVal | Function::CurrVal, [Typed::Const(Value::Text(name))]) =
            (function, &planned[..])
        {
            self.sequence(name)?;
        }
        Ok((Typed::Call(function, planned), function.ty(form.last().copied())))
    }

    /// `||` where one side is a `jsonb`.
    fn json(&mut self, scope: &Scope, left: &Expr, right: &Expr) -> Result<Option<(Typed, Type)>, SqlError> {
        let mut is_json = false;
        for side in [left, right] {
            is_json |= !is_open(side) && self.expr(scope, side, None)?.1 == Type::Jsonb;
        }
        if !is_json {
            return Ok(None);
        }
        let mut sides = Vec::new();
        for side in [left, right] {
            let (value, ty) = self.expr(scope, side, Some(Type::Jsonb))?;
            if ty != Type::Jsonb {
                return Err(SqlError::unsupported("|| of a jsonb and another type"));
            }
            sides.push(value);
        }
        let (Some(right), Some(left)) = (sides.pop(), sides.pop()) else { return Ok(None) };
        Ok(Some((joined(Operator::Concat, left, right, Type::Jsonb), Type::Jsonb)))
    }

    fn binary(
        &mut self,
        scope: &Scope,
        operator: Operator,
        left: &Expr,
        right: &Expr,
    ) -> Result<(Typed, Type), SqlError> {
        if operator == Operator::Concat {
            if let Some(joined) = self.json(scope, left, right)? {
                return Ok(joined);
            }
            let left = self.cast(scope, left, Type::Text)?;
            let right = self.cast(scope, right, Type::Text)?;
            return Ok((joined(operator, left, right, Type::Text), Type::Text));
        }
        // A side whose type nothing says takes the other's, or that of a span beside a point of time.
        let meets = |ty| match (operator, ty) {
            (Operator::Plus, Type::Timestamp | Type::Timestamptz) => Type::Interval,
            (Operator::Times, Type::Interval) => Type::Int8,
            // Values of `character varying` are compared as `text`.
            (_, Type::Varchar(_)) => Type::Text,
            (_, ty) => ty,
        };
        let (left, right) = if is_open(left) {
            let right = self.expr(scope, right, None)?;
            (self.expr(scope, left, Some(meets(right.1)))?, right)
        } else {
            let left = self.expr(scope, left, None)?;
            let wanted = meets(left.1);
            (left, self.expr(scope, right, Some(wanted))?)
        };
        let ty = result_of(operator, left.1, right.1);
        let ty = ty.ok_or_else(|| no_operator(operator.sign(), left.1, right.1))?;
        let fixed = match (&left.0, &right.0) {
            (Typed::Const(left), Typed::Const(right)) if !operator.compares() && ty.is_integer() => {
                Some(integers(operator, left, right, ty)?)
            }
            _ => None,
        };
        Ok((fixed.map_or_else(|| joined(operator, left.0, right.0, ty), Typed::Const), ty))
    }
}

/// True if nothing in an expression says its type.
fn is_open(expr: &Expr) -> bool {
    matches!(expr, Expr::Quoted(_) | Expr::Null | Expr::Param(_))
}

fn joined(operator: Operator, left: Typed, right: Typed, ty: Type) -> Typed {
    Typed::Binary { operator, left: Box::new(left), right: Box::new(right), ty }
}

/// A conversion, carried out at once on a constant.
fn folded(value: Typed, ty: Type) -> Result<Typed, SqlError> {
    match value {
        Typed::Const(value) => convert(value, ty).map(Typed::Const),
        value => Ok(Typed::Convert(Box::new(value), ty)),
    }
}

/// The type of the result of an operator; none if there is no such operator.
fn result_of(operator: Operator, left: Type, right: Type) -> Option<Type> {
    let is_point = |ty| matches!(ty, Type::Timestamp | Type::Timestamptz);
    if operator.compares() {
        let fits = comparable(left, right) || comparable(right, left);
        return (fits && left != Type::Void).then_some(Type::Bool);
    }
    if left.is_integer() && right.is_integer() {
        return Some(if left.widens_to(right) { right } else { left });
    }
    match (operator, left, right) {
        (Operator::Plus | Operator::Minus, Type::Interval, Type::Interval) => Some(Type::Interval),
        (Operator::Plus | Operator::Minus, point, Type::Interval) if is_point(point) => Some(point),
        (Operator::Plus, Type::Interval, point) if is_point(point) => Some(point),
        (Operator::Minus, left, right) if is_point(left) && is_point(right) => Some(Type::Interval),
        (Operator::Times, Type::Interval, ty) | (Operator::Times, ty, Type::Interval) if ty.is_integer() => {
            Some(Type::Interval)
        }
        _ => None,
    }
}

/// The result of an operator on integers; null of null.
pub(super) fn integers(operator: Operator, left: &Value, right: &Value, ty: Type) -> Result<Value, SqlError> {
    let (Value::Int(left), Value::Int(right)) = (left, right) else { return Ok(Value::Null) };
    let result = match operator {
        Operator::Plus => left.checked_add(*right),
        Operator::Minus => left.checked_sub(*right),
        _ => left.checked_mul(*right),
    };
    in_range(result, ty)
}

fn no_operator(sign: &str, left: Type, right: Type) -> SqlError {
    let text = format!("operator does not exist: {} {sign} {}", left.name(), right.name());
    SqlError::new("42883", text)
}
