//! Functions whose types depend on those of their arguments: of arrays, of any values, of sets; and functions in SQL.

use super::call::missing;
use super::cast::{Alone, called, folded, is_open, made};
use super::columns::Scope;
use super::convert::comparable;
use super::function::Function;
use super::operators::no_operator;
use super::planner::Planner;
use super::typed::Typed;
use crate::protocol::{Element, SqlError, Type, Value};
use crate::server::data::Routine;
use crate::server::deep::{Child, too_deep};
use crate::server::sql::{Expr, Item, Operator, Statement, parse_body};

/// How deep functions in SQL may call each other.
const DEPTH_MAX: u32 = 8;

impl Planner<'_> {
    pub(super) fn polymorphic(
        &mut self,
        scope: &Scope,
        function: Function,
        name: &str,
        args: &[Expr],
    ) -> Result<(Typed, Type), SqlError> {
        match (function, args) {
            (Function::NullIf, [left, right]) => {
                let (left, right) = self.sides(scope, Operator::Equal, left, right)?;
                if !comparable(left.1, right.1) && !comparable(right.1, left.1) {
                    return Err(no_operator("=", left.1, right.1));
                }
                let ty = if left.1 == Type::Unknown { Type::Text } else { left.1 };
                Ok((made(function, vec![left.0, right.0])?, ty))
            }
            (Function::ArrayAppend, [array, value]) => {
                let (array, ty) = self.expr(scope, array, None)?;
                let Type::Array(element) = ty else {
                    let (_, found) = self.expr(scope, value, None)?;
                    return Err(missing(name, &[ty, found]));
                };
                let (value, found) = self.expr(scope, value, Some(element.ty().bare()))?;
                let is_like = found == Type::Unknown
                    || found == element.ty()
                    || found.is_text() && element.ty().is_text();
                if !is_like {
                    let text = format!("function {name}({}, {}) does not exist", ty.name(), found.name());
                    return Err(SqlError::new("42883", text));
                }
                Ok((made(function, vec![array, value])?, ty.bare()))
            }
            (Function::ArrayLength, [array, dimension]) => {
                let (array, ty) = self.expr(scope, array, None)?;
                let (dimension, found) = self.expr(scope, dimension, Some(Type::Int4))?;
                if !matches!(ty, Type::Array(_)) || !found.is_integer() {
                    return Err(missing(name, &[ty, found]));
                }
                Ok((made(function, vec![array, dimension])?, Type::Int4))
            }
            (Function::Cardinality, [array]) => {
                let (array, ty) = self.expr(scope, array, None)?;
                if !matches!(ty, Type::Array(_)) {
                    return Err(missing(name, &[ty]));
                }
                Ok((made(function, vec![array])?, Type::Int4))
            }
            (Function::Concat, []) => Err(missing(name, &[])),
            (Function::Concat, args) => {
                let mut planned = Vec::new();
                for arg in args {
                    planned.push(self.expr(scope, arg, is_open(arg).then_some(Type::Text))?.0);
                }
                Ok((called(function, planned)?, function.ty(None)))
            }
            (_, args) => {
                let mut found = Vec::new();
                for arg in args {
                    found.push(self.expr(scope, arg, None)?.1);
                }
                Err(missing(name, &found))
            }
        }
    }

    /// `ARRAY[...]`.
    pub(super) fn array(
        &mut self,
        scope: &Scope,
        values: &[Expr],
        wanted: Option<Type>,
    ) -> Result<(Typed, Type), SqlError> {
        let element = match wanted {
            Some(Type::Array(element)) => Some(element.ty()),
            _ => None,
        };
        if values.is_empty() && element.is_none() {
            let text = "cannot determine type of empty array";
            return Err(SqlError::new("42P18", text));
        }
        let (ty, values) = self.common(scope, values.iter(), element)?;
        let planned = values.into_iter().map(|value| self.like(scope, value, ty, "ARRAY"));
        let planned = planned.collect::<Result<Vec<_>, _>>()?;
        let refused = || SqlError::unsupported("an array of values of this type");
        let ty = Type::Array(Element::of(ty.bare()).ok_or_else(refused)?);
        Ok((made(Function::Array, planned)?, ty))
    }

    /// `array[place]`.
    pub(super) fn element(
        &mut self,
        scope: &Scope,
        array: &Expr,
        place: &Expr,
    ) -> Result<(Typed, Type), SqlError> {
        let (array, element) = self.subscripted(scope, array)?;
        let place = self.place(scope, place)?;
        Ok((made(Function::Element, vec![array, place])?, element.ty()))
    }

    /// `array[from:to]`.
    pub(super) fn slice(
        &mut self,
        scope: &Scope,
        array: &Expr,
        from: Option<&Expr>,
        to: Option<&Expr>,
    ) -> Result<(Typed, Type), SqlError> {
        let (array, element) = self.subscripted(scope, array)?;
        let mut bound = |bound: Option<&Expr>, otherwise| match bound {
            Some(bound) => self.place(scope, bound),
            None => Ok(Typed::Const(Value::Int(otherwise))),
        };
        let (from, to) = (bound(from, i64::from(i32::MIN))?, bound(to, i64::from(i32::MAX))?);
        Ok((made(Function::Slice, vec![array, from, to])?, Type::Array(element)))
    }

    fn subscripted(&mut self, scope: &Scope, array: &Expr) -> Result<(Typed, Element), SqlError> {
        match self.expr(scope, array, None)? {
            (array, Type::Array(element)) => Ok((array, element)),
            (_, ty) => {
                let text =
                    format!("cannot subscript type {} because it does not support subscripting", ty.name());
                Err(SqlError::new("42804", text))
            }
        }
    }

    fn place(&mut self, scope: &Scope, place: &Expr) -> Result<Typed, SqlError> {
        let (place, ty) = self.expr(scope, place, Some(Type::Int4))?;
        match ty.is_integer() {
            true => folded(place, Type::Int4),
            false => Err(SqlError::new("42804", "array subscript must have type integer")),
        }
    }

    /// A call of `unnest` in the list of a SELECT, or of a function in SQL.
    pub(super) fn other(
        &mut self,
        scope: &Scope,
        name: &str,
        args: &[Expr],
    ) -> Result<(Typed, Type), SqlError> {
        if let ("unnest", [array]) = (name, args) {
            let refused = |place: &str| match place {
                "" => SqlError::unsupported("unnest in this place"),
                place => {
                    let text = format!("set-returning functions are not allowed in {place}");
                    SqlError::new("0A000", text)
                }
            };
            if self.place == "aggregate" {
                let text = "aggregate function calls cannot contain set-returning function calls";
                return Err(SqlError::new("0A000", text));
            }
            let mut sets = self.sets.take().ok_or_else(|| refused(self.place))?;
            let (array, ty) = self.expr(scope, array, None)?;
            let Type::Array(element) = ty else { return Err(missing(name, &[ty])) };
            let at = match sets.iter().position(|known| *known == array && !array.calls()) {
                Some(at) => at,
                None => {
                    sets.push(array);
                    sets.len() - 1
                }
            };
            self.sets = Some(sets);
            return Ok((Typed::Column(self.width + at), element.ty()));
        }
        let unknown = || SqlError::unsupported(format!("function {name}"));
        let routine = (self.known.routine)(name).ok_or_else(unknown)?;
        self.routine(scope, &routine, args)
    }

    /// The expression of a function in SQL with its arguments in their places.
    pub(super) fn routine(
        &mut self,
        scope: &Scope,
        routine: &Routine,
        args: &[Expr],
    ) -> Result<(Typed, Type), SqlError> {
        if self.depth >= DEPTH_MAX {
            return Err(too_deep());
        }
        let alone = args.iter().map(|arg| self.alone(scope, arg)).collect::<Result<Vec<_>, _>>()?;
        let found: Vec<Type> = alone.iter().map(Alone::ty).collect();
        let fits =
            |((_, ty), found): (&(String, Type), &Type)| *found == Type::Unknown || comparable(*ty, *found);
        if found.len() != routine.params.len() || !routine.params.iter().zip(&found).all(fits) {
            return Err(missing(&routine.name, &found));
        }
        let mut arguments = Vec::new();
        for ((name, ty), arg) in routine.params.iter().zip(alone) {
            let (value, found) = self.placed(scope, arg, *ty)?;
            if value.any(&|part| matches!(part, Typed::Call(function, _) if function.is_volatile())) {
                return Err(SqlError::unsupported("a function with an effect as an argument of one in SQL"));
            }
            let value = if found == *ty { value } else { folded(value, *ty)? };
            arguments.push((name.clone(), value, *ty));
        }
        self.depth += 1;
        let body = expression_of(&routine.body)?;
        let sets = self.sets.take();
        let body = Expr::Cast(Child::of(body)?, crate::server::sql::TypeName::Known(routine.returns));
        let planned = self.expr(&Scope::of_arguments(arguments), &body, Some(routine.returns));
        self.sets = sets;
        self.depth -= 1;
        planned
    }
}

/// The one expression of the body of a function in SQL.
fn expression_of(body: &str) -> Result<Expr, SqlError> {
    let refused = || SqlError::unsupported("a function in SQL of anything but one expression");
    match parse_body(body)?.as_slice() {
        [Statement::Select(select)] => {
            let is_bare = select.table.is_none() && select.filter.is_none() && select.unions.is_empty();
            match select.items.as_slice() {
                [Item::One { value, .. }] if is_bare && select.limit.is_none() => Ok(value.clone()),
                _ => Err(refused()),
            }
        }
        _ => Err(refused()),
    }
}
