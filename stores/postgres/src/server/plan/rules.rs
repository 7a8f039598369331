//! The rules of tables: conditions of CHECK, partial indexes, indexes of expressions.
//!
//! A rule is decided by a row alone, so that a table keeps it without the session that has made it.

use std::sync::Arc;

use super::columns::{Named, Scope};
use super::function::Function;
use super::planner::Planner;
use super::typed::Typed;
use crate::protocol::{SqlError, Type, Value};
use crate::server::data::{Rule, Schema};
use crate::server::sql::{Check, Expr};

/// A unique index as it is written: its columns, its expressions with how PostgreSQL writes them, and the rows in it.
pub(super) struct Ruled {
    pub(super) columns: Vec<usize>,
    pub(super) values: Vec<(Rule, String)>,
    pub(super) filter: Option<Rule>,
}

impl Ruled {
    pub(super) fn of(
        planner: &mut Planner<'_>,
        schema: &Arc<Schema>,
        exprs: &[Expr],
        filter: Option<&Expr>,
    ) -> Result<Ruled, SqlError> {
        let scope = Scope::of_table(schema);
        let (mut columns, mut values) = (Vec::new(), Vec::new());
        for expr in exprs {
            if let Expr::Column { table: None, name } = expr {
                if !values.is_empty() {
                    return Err(SqlError::unsupported("an index of a column behind an expression"));
                }
                match scope.find(None, name)? {
                    Named::Column(at, _) => columns.push(at),
                    _ => return Err(SqlError::unsupported("an index of this column")),
                }
                continue;
            }
            let (value, _) = planner.expr(&scope, expr, None)?;
            let rule = rule(&value)?;
            let shown = shown(&rule, schema);
            let refused = || SqlError::unsupported("an index of this expression");
            values.push((rule, shown.ok_or_else(refused)?));
        }
        let filter = filter.map(|filter| planner.truth(&scope, filter, "WHERE")).transpose()?;
        let filter = filter.as_ref().map(rule).transpose()?;
        Ok(Ruled { columns, values, filter })
    }
}

/// The conditions of CHECK with their names, in the order of these.
pub(super) fn checks(
    planner: &mut Planner<'_>,
    schema: &Arc<Schema>,
    checks: &[Check],
) -> Result<Vec<(String, Rule)>, SqlError> {
    let scope = Scope::of_table(schema);
    let mut planned: Vec<(String, Rule)> = Vec::new();
    for Check { name, condition } in checks {
        let condition = planner.truth(&scope, condition, "CHECK")?;
        let rule = rule(&condition)?;
        let free = |name: &String| !planned.iter().any(|(known, _)| known == name);
        let name = match name {
            Some(name) if free(name) => name.clone(),
            Some(name) => {
                let text = format!("check constraint \"{name}\" already exists");
                return Err(SqlError::new("42710", text));
            }
            None => {
                let named = schema.columns.iter().enumerate().filter(|(at, _)| condition.reads(*at));
                let of = match named.map(|(_, column)| &column.name).collect::<Vec<_>>()[..] {
                    [column] => format!("{}_{column}_check", schema.name),
                    _ => format!("{}_check", schema.name),
                };
                let numbered = (1..).map(|number| format!("{of}{number}"));
                let mut names = std::iter::once(of.clone()).chain(numbered);
                names.find(free).unwrap_or(of)
            }
        };
        planned.push((name, rule));
    }
    planned.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(planned)
}

/// An expression as a rule.
fn rule(expr: &Typed) -> Result<Rule, SqlError> {
    let inner = |expr: &Typed| rule(expr).map(Box::new);
    let list = |list: &[Typed]| list.iter().map(rule).collect::<Result<Vec<_>, _>>();
    Ok(match expr {
        Typed::Const(value) => Rule::Value(value.clone()),
        Typed::Column(at) => Rule::Column(*at),
        Typed::Binary { operator, left, right, .. } if operator.compares() => {
            Rule::Compare(*operator, inner(left)?, inner(right)?)
        }
        Typed::And(left, right) => Rule::And(inner(left)?, inner(right)?),
        Typed::Or(left, right) => Rule::Or(inner(left)?, inner(right)?),
        Typed::Not(value) => Rule::Not(inner(value)?),
        Typed::IsNull(value) => Rule::IsNull(inner(value)?),
        Typed::Distinct(left, right) => Rule::Distinct(inner(left)?, inner(right)?),
        Typed::In(value, values) => Rule::In(inner(value)?, list(values)?),
        Typed::Case(arms, otherwise) => {
            let arm = |(condition, value): &(Typed, Typed)| Ok((rule(condition)?, rule(value)?));
            let arms = arms.iter().map(arm).collect::<Result<_, SqlError>>()?;
            Rule::Case(arms, otherwise.as_deref().map(inner).transpose()?)
        }
        Typed::Call(Function::Coalesce, values) => Rule::First(list(values)?),
        Typed::Call(Function::Length, values) => match &values[..] {
            [text] => Rule::Length(inner(text)?),
            _ => return Err(refused()),
        },
        // Integers have one form, whatever their width.
        Typed::Convert(value, Type::Int4 | Type::Int8) if matches!(**value, Typed::Case(..)) => rule(value)?,
        Typed::Convert(value, Type::Bool) => rule(value)?,
        _ => return Err(refused()),
    })
}

fn refused() -> SqlError {
    SqlError::unsupported("this expression in a CHECK or an index")
}

/// An expression as PostgreSQL writes it in the details of an error; none for one that this does not know.
fn shown(rule: &Rule, schema: &Schema) -> Option<String> {
    match rule {
        Rule::Column(at) => schema.columns.get(*at).map(|column| column.name.clone()),
        Rule::Value(Value::Text(text)) => Some(format!("'{}'::text", text.replace('\'', "''"))),
        Rule::First(list) => {
            let list: Vec<String> = list.iter().map(|one| shown(one, schema)).collect::<Option<_>>()?;
            Some(format!("COALESCE({})", list.join(", ")))
        }
        _ => None,
    }
}
