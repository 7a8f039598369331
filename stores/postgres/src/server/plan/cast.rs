//! Casts, and expressions that are brought to one type.

use super::columns::Scope;
use super::convert::{castable, comparable, convert};
use super::function::Function;
use super::planner::Planner;
use super::pure::pure;
use super::system::is_of_catalogue;
use super::typed::Typed;
use crate::protocol::{Element, SqlError, Type, Value};
use crate::server::deep::{Child, Children};
use crate::server::sql::Expr;

impl Planner<'_> {
    pub(super) fn cast(&mut self, scope: &Scope, inner: &Expr, ty: Type) -> Result<Typed, SqlError> {
        if ty == Type::Regclass {
            let Expr::Quoted(text) = inner else {
                return Err(SqlError::unsupported("regclass of anything but a literal"));
            };
            let missing = || match is_of_catalogue(text) {
                true => SqlError::unsupported(format!("the table {text} of the catalogue")),
                false => SqlError::new("42P01", format!("relation \"{text}\" does not exist")),
            };
            return self.relation(text).map(|_| Typed::Const(Value::Text(text.clone()))).ok_or_else(missing);
        }
        let (value, found) = self.expr(scope, inner, Some(ty))?;
        converted(value, found, ty)
    }

    /// Plans an expression on its own, to find its type; an open one has none there.
    pub(super) fn alone<'e>(&mut self, scope: &Scope, expr: &'e Expr) -> Result<Alone<'e>, SqlError> {
        let planned = if is_open(expr) { None } else { Some(self.expr(scope, expr, None)?) };
        Ok(Alone { expr, planned })
    }

    /// An expression, whose type is known, in a place for this type.
    pub(super) fn placed(
        &mut self,
        scope: &Scope,
        alone: Alone<'_>,
        ty: Type,
    ) -> Result<(Typed, Type), SqlError> {
        match alone.planned {
            Some(planned) if !depends(alone.expr) => Ok(planned),
            _ => self.expr(scope, alone.expr, Some(ty)),
        }
    }

    pub(super) fn case(
        &mut self,
        scope: &Scope,
        arms: &[(Expr, Expr)],
        otherwise: Option<&Expr>,
        wanted: Option<Type>,
    ) -> Result<(Typed, Type), SqlError> {
        let (sets, place) = (self.sets.take(), std::mem::replace(&mut self.place, "CASE"));
        let values = arms.iter().map(|(_, value)| value).chain(otherwise);
        let (ty, values) = self.common(scope, values, wanted)?;
        let mut values = values.into_iter();
        let mut planned = Vec::new();
        for ((condition, _), value) in arms.iter().zip(values.by_ref()) {
            let condition = self.truth(scope, condition, "CASE/WHEN")?;
            planned.push((condition, self.like(scope, value, ty, "CASE")?));
        }
        let otherwise = match values.next() {
            Some(value) => Some(Child::of(self.like(scope, value, ty, "CASE")?)?),
            None => None,
        };
        (self.sets, self.place) = (sets, place);
        Ok((Typed::Case(Children::all(planned)?, otherwise), ty))
    }

    /// The type that several expressions are brought to: the first that one of them has by itself. And the expressions on their own.
    pub(super) fn common<'e>(
        &mut self,
        scope: &Scope,
        values: impl Iterator<Item = &'e Expr>,
        wanted: Option<Type>,
    ) -> Result<(Type, Vec<Alone<'e>>), SqlError> {
        let (mut found, mut all): (Option<Type>, _) = (None, Vec::new());
        for value in values {
            let value = self.alone(scope, value)?;
            let ty = value.ty();
            found = match found {
                found if value.is_open() => found,
                Some(found) if found.widens_to(ty) || found.is_text() && ty == Type::Text => Some(ty),
                None if ty != Type::Unknown => Some(ty),
                found => found,
            };
            all.push(value);
        }
        Ok((found.or(wanted).unwrap_or(Type::Text), all))
    }

    /// An expression as one of several of a type.
    pub(super) fn like(
        &mut self,
        scope: &Scope,
        value: Alone<'_>,
        ty: Type,
        place: &str,
    ) -> Result<Typed, SqlError> {
        let (value, found) = self.placed(scope, value, ty)?;
        if !comparable(ty, found) {
            let text = format!("{place} types {} and {} cannot be matched", ty.name(), found.name());
            return Err(SqlError::new("42804", text));
        }
        if found == ty || found.is_text() && ty.is_text() { Ok(value) } else { folded(value, ty) }
    }
}

/// An expression that was planned on its own.
pub(super) struct Alone<'e> {
    expr: &'e Expr,
    /// None for an open expression.
    planned: Option<(Typed, Type)>,
}

impl Alone<'_> {
    pub(super) fn is_open(&self) -> bool {
        self.planned.is_none()
    }

    /// The type on its own.
    pub(super) fn ty(&self) -> Type {
        self.planned.as_ref().map_or(Type::Unknown, |(_, ty)| *ty)
    }
}

/// True if the type of an expression that is not open still depends on its place: its values are all open.
fn depends(expr: &Expr) -> bool {
    match expr {
        Expr::Array(values) => values.iter().all(is_open),
        Expr::Case { arms, otherwise } => {
            arms.iter().all(|(_, value)| is_open(value)) && otherwise.as_deref().is_none_or(is_open)
        }
        Expr::Call { name, args } if args.iter().all(is_open) => {
            let function = Function::named(name);
            function.is_some_and(|it| matches!(it, Function::Coalesce | Function::Greatest | Function::Least))
        }
        _ => false,
    }
}

/// A planned value cast to a type.
pub(super) fn converted(value: Typed, found: Type, ty: Type) -> Result<Typed, SqlError> {
    if found == ty && !is_limited(ty) {
        return Ok(value);
    }
    if found == Type::Regtype && ty.is_text() {
        return called(Function::TypeName, vec![value]);
    }
    if !castable(found, ty) {
        let text = format!("cannot cast type {} to {}", found.name(), ty.name());
        return Err(SqlError::new("42846", text));
    }
    match ty {
        // A cast cuts off what is too long.
        Type::Varchar(Some(len)) => {
            let value = folded(value, Type::Text)?;
            let len = Typed::Const(Value::Int(i64::from(len)));
            made(Function::Left, vec![value, len])
        }
        Type::Array(Element::Varchar(Some(len))) => {
            let value = folded(value, ty.bare())?;
            let len = Typed::Const(Value::Int(i64::from(len)));
            made(Function::LeftAll, vec![value, len])
        }
        ty => folded(value, ty),
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
        None => called(function, args),
    }
}

pub(super) fn called(function: Function, args: Vec<Typed>) -> Result<Typed, SqlError> {
    Ok(Typed::Call(function, Children::all(args)?))
}

/// A conversion, carried out at once on a constant.
pub(super) fn folded(value: Typed, ty: Type) -> Result<Typed, SqlError> {
    match value {
        // The labels of an enum may change: a text is read as one when the statement is executed.
        Typed::Const(Value::Text(text)) if matches!(ty, Type::Enum(_)) => {
            Ok(Typed::Convert(Child::of(Typed::Const(Value::Text(text)))?, ty))
        }
        Typed::Const(value) => convert(value, ty).map(Typed::Const),
        value => Ok(Typed::Convert(Child::of(value)?, ty)),
    }
}
