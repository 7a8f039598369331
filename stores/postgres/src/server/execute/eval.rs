//! The values of expressions.
//!
//! An expression may call a function that waits. Then it is computed again from its beginning; functions that were called
//! before keep the results that they gave.

use super::calls::{Calls, Rows};
use super::functions::call;
use super::operators::binary;
use super::run::{PartRun, QueryRun, Sub};
use super::scene::{Scene, Stop};
use crate::protocol::{SqlError, Value};
use crate::server::data::compared;
use crate::server::plan::{Function, Plan, Typed, convert};
use crate::server::sql::Operator;

/// The things that an expression may ask for.
pub(super) struct Context<'a, 'b> {
    pub(super) scene: &'a mut Scene<'b>,
    pub(super) plan: &'a Plan,
    pub(super) params: &'a [Value],
    pub(super) subs: &'a mut Vec<Sub>,
    pub(super) parts: &'a mut Vec<PartRun>,
}

impl Context<'_, '_> {
    pub(super) fn row(
        &mut self,
        calls: &mut Calls,
        items: &[Typed],
        rows: Rows<'_>,
    ) -> Result<Vec<Value>, Stop> {
        calls.again();
        let values = items.iter().map(|item| self.eval(calls, item, rows)).collect::<Result<_, _>>()?;
        calls.clear();
        Ok(values)
    }

    /// True if a row fits a filter.
    pub(super) fn fits(
        &mut self,
        calls: &mut Calls,
        filter: Option<&Typed>,
        rows: Rows<'_>,
    ) -> Result<bool, Stop> {
        let Some(filter) = filter else { return Ok(true) };
        calls.again();
        let fits = self.eval(calls, filter, rows)? == Value::Bool(true);
        calls.clear();
        Ok(fits)
    }

    pub(super) fn eval(&mut self, calls: &mut Calls, expr: &Typed, rows: Rows<'_>) -> Result<Value, Stop> {
        Ok(match expr {
            Typed::Const(value) => value.clone(),
            Typed::Param(at) => self.params.get(*at).cloned().unwrap_or(Value::Null),
            Typed::Column(at) => rows.row.get(*at).cloned().unwrap_or(Value::Null),
            Typed::Outer(at) => rows.outer.get(*at).cloned().unwrap_or(Value::Null),
            Typed::Excluded(at) => rows.excluded.get(*at).cloned().unwrap_or(Value::Null),
            Typed::Updated => Value::Bool(rows.updated),
            // What comes after the first value is not computed.
            Typed::Call(Function::Coalesce, args) => {
                for arg in args {
                    let value = self.eval(calls, arg, rows)?;
                    if value != Value::Null {
                        return Ok(value);
                    }
                }
                Value::Null
            }
            Typed::Call(function, args) => {
                let args =
                    args.iter().map(|arg| self.eval(calls, arg, rows)).collect::<Result<Vec<_>, _>>()?;
                call(self.scene, calls, *function, &args)?
            }
            Typed::Binary { operator, left, right, ty } => {
                let (left, right) = (self.eval(calls, left, rows)?, self.eval(calls, right, rows)?);
                binary(*operator, left, right, *ty)?
            }
            Typed::And(left, right) => match self.eval(calls, left, rows)? {
                Value::Bool(false) => Value::Bool(false),
                left => match (left, self.eval(calls, right, rows)?) {
                    (_, Value::Bool(false)) => Value::Bool(false),
                    (Value::Bool(true), Value::Bool(true)) => Value::Bool(true),
                    _ => Value::Null,
                },
            },
            Typed::Or(left, right) => match self.eval(calls, left, rows)? {
                Value::Bool(true) => Value::Bool(true),
                left => match (left, self.eval(calls, right, rows)?) {
                    (_, Value::Bool(true)) => Value::Bool(true),
                    (Value::Bool(false), Value::Bool(false)) => Value::Bool(false),
                    _ => Value::Null,
                },
            },
            Typed::Not(inner) => match self.eval(calls, inner, rows)? {
                Value::Bool(value) => Value::Bool(!value),
                other => other,
            },
            Typed::Distinct(left, right) => {
                let (left, right) = (self.eval(calls, left, rows)?, self.eval(calls, right, rows)?);
                Value::Bool(left != right)
            }
            Typed::IsNull(inner) => Value::Bool(self.eval(calls, inner, rows)? == Value::Null),
            Typed::In(value, list) => {
                let value = self.eval(calls, value, rows)?;
                let mut unknown = value == Value::Null;
                for one in list {
                    let one = self.eval(calls, one, rows)?;
                    match compared(Operator::Equal, &value, &one) {
                        Value::Bool(true) => return Ok(Value::Bool(true)),
                        Value::Null => unknown = true,
                        _ => {}
                    }
                }
                if unknown { Value::Null } else { Value::Bool(false) }
            }
            Typed::AnyOf { operator, value, array } => {
                let (value, array) = (self.eval(calls, value, rows)?, self.eval(calls, array, rows)?);
                match array {
                    Value::Array(list) => any(*operator, &value, list.iter()),
                    _ => Value::Null,
                }
            }
            Typed::InQuery(value, at) => {
                let value = self.eval(calls, value, rows)?;
                let list = self.subquery(*at, rows)?;
                any(Operator::Equal, &value, list.iter().filter_map(|row| row.first()))
            }
            Typed::ArrayQuery(at) => {
                let list = self.subquery(*at, rows)?;
                Value::Array(list.into_iter().filter_map(|mut row| row.pop()).collect())
            }
            Typed::Exists(at) => Value::Bool(!self.subquery(*at, rows)?.is_empty()),
            Typed::Case(arms, otherwise) => {
                for (condition, value) in arms {
                    if self.eval(calls, condition, rows)? == Value::Bool(true) {
                        return self.eval(calls, value, rows);
                    }
                }
                match otherwise {
                    Some(value) => self.eval(calls, value, rows)?,
                    None => Value::Null,
                }
            }
            Typed::Convert(inner, ty) => convert(self.eval(calls, inner, rows)?, *ty)?,
            Typed::Subquery(at) => {
                let mut found = self.subquery(*at, rows)?;
                if found.len() > 1 {
                    let text = "more than one row returned by a subquery used as an expression";
                    return Err(SqlError::new("21000", text).into());
                }
                found.pop().and_then(|mut row| row.pop()).unwrap_or(Value::Null)
            }
        })
    }

    /// The rows of a subquery. They are found once, unless they depend on the row around it.
    pub(super) fn subquery(&mut self, at: usize, rows: Rows<'_>) -> Result<Vec<Vec<Value>>, Stop> {
        let plan = self.plan;
        let Some(query) = plan.subqueries.get(at) else { return Ok(Vec::new()) };
        if query.depends {
            let mut run = QueryRun { outer: rows.row.to_vec(), ..QueryRun::default() };
            run.proceed(self, query)?;
            return Ok(run.rows);
        }
        let Some(sub) = self.subs.get_mut(at) else { return Ok(Vec::new()) };
        let mut run = match sub {
            Sub::Done(rows) => return Ok(rows.clone()),
            Sub::Open(run) => std::mem::take(run),
        };
        if let Err(stop) = run.proceed(self, query) {
            self.subs[at] = Sub::Open(run);
            return Err(stop);
        }
        self.subs[at] = Sub::Done(run.rows.clone());
        Ok(run.rows)
    }
}

/// True if a comparison holds for one of several values; null if that is not known.
fn any<'a>(operator: Operator, value: &Value, list: impl Iterator<Item = &'a Value>) -> Value {
    let mut unknown = false;
    for one in list {
        match compared(operator, value, one) {
            Value::Bool(true) => return Value::Bool(true),
            Value::Null => unknown = true,
            _ => {}
        }
    }
    if unknown { Value::Null } else { Value::Bool(false) }
}
