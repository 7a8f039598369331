//! Casts, and expressions that are brought to one type.

use super::columns::Scope;
use super::convert::{castable, comparable, convert};
use super::function::Function;
use super::planner::Planner;
use super::pure::pure;
use super::typed::Typed;
use crate::protocol::{Element, SqlError, Type, Value};
use crate::server::sql::Expr;

impl Planner<'_> {
    pub(super) fn cast(&mut self, scope: &Scope, inner: &Expr, ty: Type) -> Result<Typed, SqlError> {
        if ty == Type::Regclass {
            let Expr::Quoted(text) = inner else {
                return Err(SqlError::unsupported("regclass of anything but a literal"));
            };
            let missing = || SqlError::new("42P01", format!("relation \"{text}\" does not exist"));
            return self.relation(text).map(|_| Typed::Const(Value::Text(text.clone()))).ok_or_else(missing);
        }
        if let (Type::Bit(len), Expr::Quoted(_)) = (ty, inner) {
            let (text, _) = self.expr(scope, inner, Some(Type::Text))?;
            return made(Function::ToBits, vec![text, Typed::Const(Value::Int(i64::from(len)))]);
        }
        let (value, found) = self.expr(scope, inner, Some(ty))?;
        if found == ty && !is_limited(ty) {
            return Ok(value);
        }
        if found == Type::Regtype && ty.is_text() {
            return Ok(Typed::Call(Function::TypeName, vec![value]));
        }
        if castable(found, ty) {
            return match ty {
                // A cast cuts off what is too long.
                Type::Varchar(Some(len)) => {
                    let value = folded(value, Type::Text)?;
                    let len = Typed::Const(Value::Int(i64::from(len)));
                    made(Function::Left, vec![value, len])
                }
                Type::Bit(len) if found.is_text() => {
                    made(Function::ToBits, vec![value, Typed::Const(Value::Int(i64::from(len)))])
                }
                Type::Array(Element::Varchar(Some(len))) => {
                    let value = folded(value, ty.bare())?;
                    let len = Typed::Const(Value::Int(i64::from(len)));
                    made(Function::LeftAll, vec![value, len])
                }
                ty => folded(value, ty),
            };
        }
        Err(SqlError::new("42846", format!("cannot cast type {} to {}", found.name(), ty.name())))
    }

    pub(super) fn case(
        &mut self,
        scope: &Scope,
        arms: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
        wanted: Option<Type>,
    ) -> Result<(Typed, Type), SqlError> {
        let (sets, place) = (self.sets.take(), std::mem::replace(&mut self.place, "CASE"));
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
        (self.sets, self.place) = (sets, place);
        Ok((Typed::Case(planned, otherwise), ty))
    }

    /// The type that several expressions are brought to: the first that one of them has by itself.
    pub(super) fn common(
        &mut self,
        scope: &Scope,
        values: &[&Expr],
        wanted: Option<Type>,
    ) -> Result<Type, SqlError> {
        let mut found: Option<Type> = None;
        for value in values.iter().filter(|value| !is_open(value)) {
            let (_, ty) = self.expr(scope, value, None)?;
            found = match found {
                Some(found) if found.widens_to(ty) || found.is_text() && ty == Type::Text => Some(ty),
                None if ty != Type::Unknown => Some(ty),
                found => found,
            };
        }
        Ok(found.or(wanted).unwrap_or(Type::Text))
    }

    /// An expression as one of several of a type.
    pub(super) fn like(
        &mut self,
        scope: &Scope,
        value: &Expr,
        ty: Type,
        place: &str,
    ) -> Result<Typed, SqlError> {
        let (value, found) = self.expr(scope, value, Some(ty))?;
        if !comparable(ty, found) {
            let text = format!("{place} types {} and {} cannot be matched", ty.name(), found.name());
            return Err(SqlError::new("42804", text));
        }
        if found == ty || found.is_text() && ty.is_text() { Ok(value) } else { folded(value, ty) }
    }
}

/// True for a type with a greatest length.
fn is_limited(ty: Type) -> bool {
    matches!(ty, Type::Varchar(Some(_)) | Type::Array(Element::Varchar(Some(_))))
}

/// True if nothing in an expression says its type.
pub(super) fn is_open(expr: &Expr) -> bool {
    matches!(expr, Expr::Quoted(_) | Expr::Null | Expr::Param(_))
}

/// A call; one of constants that always has the same value is carried out at once.
pub(super) fn made(function: Function, args: Vec<Typed>) -> Result<Typed, SqlError> {
    let constant = |arg: &Typed| match arg {
        Typed::Const(value) => Some(value.clone()),
        _ => None,
    };
    match args.iter().map(constant).collect::<Option<Vec<_>>>().filter(|_| function.is_immutable()) {
        Some(values) if function.is_strict() && values.contains(&Value::Null) => {
            Ok(Typed::Const(Value::Null))
        }
        Some(values) => pure(function, &values).map(Typed::Const),
        None => Ok(Typed::Call(function, args)),
    }
}

/// A conversion, carried out at once on a constant.
pub(super) fn folded(value: Typed, ty: Type) -> Result<Typed, SqlError> {
    match value {
        // The labels of an enum may change: a text is read as one when the statement is executed.
        Typed::Const(Value::Text(text)) if matches!(ty, Type::Enum(_)) => {
            Ok(Typed::Convert(Box::new(Typed::Const(Value::Text(text))), ty))
        }
        Typed::Const(value) => convert(value, ty).map(Typed::Const),
        value => Ok(Typed::Convert(Box::new(value), ty)),
    }
}
