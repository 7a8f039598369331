//! Calls of functions: the forms of one function that fit its arguments.

use super::cast::{Alone, called, folded, made};
use super::columns::Scope;
use super::function::Function;
use super::planner::Planner;
use super::typed::Typed;
use crate::protocol::{SqlError, Type, Value};
use crate::server::deep::Child;
use crate::server::sql::Expr;

impl Planner<'_> {
    pub(super) fn call(
        &mut self,
        scope: &Scope,
        name: &str,
        args: &[Expr],
        wanted: Option<Type>,
    ) -> Result<(Typed, Type), SqlError> {
        if let ("extract" | "date_part", [Expr::Quoted(field), value]) = (name, args) {
            return self.part(scope, name, field, value);
        }
        let Some(function) = Function::named(name) else {
            return self.other(scope, name, args);
        };
        if matches!(function, Function::Coalesce | Function::Greatest | Function::Least) {
            let upper = [(Function::Greatest, "GREATEST"), (Function::Least, "LEAST")];
            let named =
                upper.iter().find(|(known, _)| *known == function).map_or("COALESCE", |(_, name)| name);
            let (sets, place) = (self.sets.take(), std::mem::replace(&mut self.place, named));
            let (ty, args) = self.common(scope, args.iter(), wanted)?;
            let args = args.into_iter().map(|arg| self.like(scope, arg, ty, named));
            let args = args.collect::<Result<_, _>>()?;
            (self.sets, self.place) = (sets, place);
            return Ok((called(function, args)?, ty));
        }
        if function.forms().is_empty() {
            return self.polymorphic(scope, function, name, args);
        }
        self.formed(scope, function, name, args)
    }

    /// A part of a point of time or of a span: a `numeric` by EXTRACT, a `double precision` by `date_part`.
    fn part(
        &mut self,
        scope: &Scope,
        name: &str,
        field: &str,
        value: &Expr,
    ) -> Result<(Typed, Type), SqlError> {
        if !field.eq_ignore_ascii_case("epoch") {
            return Err(SqlError::unsupported("a part of a time other than epoch"));
        }
        let (value, ty) = self.expr(scope, value, None)?;
        if !matches!(ty, Type::Timestamptz | Type::Timestamp | Type::Interval) {
            return Err(missing(&format!("pg_catalog.{name}"), &[Type::Unknown, ty]));
        }
        let epoch = called(Function::Epoch, vec![value])?;
        Ok(match name {
            "extract" => (epoch, Type::Numeric),
            _ => (Typed::Convert(Child::of(epoch)?, Type::Float8), Type::Float8),
        })
    }

    /// A call of a function whose forms are listed.
    fn formed(
        &mut self,
        scope: &Scope,
        function: Function,
        name: &str,
        args: &[Expr],
    ) -> Result<(Typed, Type), SqlError> {
        let alone = args.iter().map(|arg| self.alone(scope, arg)).collect::<Result<Vec<_>, _>>()?;
        let found: Vec<Type> = alone.iter().map(Alone::ty).collect();
        let fits = |form: &&&[Type]| {
            form.len() == found.len() && found.iter().zip(**form).all(|(given, ty)| becomes(*given, *ty))
        };
        let refused = || match function.has_further(&found) {
            true => SqlError::unsupported(format!("function {name} of these arguments")),
            false => missing(name, &found),
        };
        let form = function.forms().iter().find(fits).ok_or_else(refused)?;
        let mut planned = Vec::new();
        for (arg, ty) in alone.into_iter().zip(*form) {
            let (value, found) = self.placed(scope, arg, *ty)?;
            let is_float = *ty == Type::Float8 && found != Type::Float8 && found != Type::Unknown;
            planned.push(if is_float { folded(value, *ty)? } else { value });
        }
        if let (Function::NextVal | Function::CurrVal, [Typed::Const(Value::Text(name))]) =
            (function, &planned[..])
        {
            self.sequence(name)?;
        }
        Ok((made(function, planned)?, function.ty(form.last().copied())))
    }
}

/// True if a value of the one type can be the argument of the other.
fn becomes(given: Type, ty: Type) -> bool {
    given == ty
        || given == Type::Unknown
        || given.is_text() && ty.is_text()
        || given.widens_to(ty)
        || given == Type::Regclass && ty == Type::Text
        || given.bare() == ty.bare()
        || matches!((given, ty), (Type::Array(given), Type::Array(ty)) if given.ty().is_text() && ty.ty().is_text())
}

/// The error of a function that is not there with such arguments.
pub(super) fn missing(name: &str, found: &[Type]) -> SqlError {
    let types: Vec<&str> = found.iter().map(|ty| ty.name()).collect();
    SqlError::new("42883", format!("function {name}({}) does not exist", types.join(", ")))
}
