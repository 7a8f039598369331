//! Rules of a table: conditions and values that a row alone decides. They stand in CHECK, in a partial index and in an index of an expression.

use super::compare::compared;
use crate::protocol::Value;
use crate::server::sql::Operator;

/// A condition or a value of a row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    Column(usize),
    Value(Value),
    Compare(Operator, Box<Rule>, Box<Rule>),
    And(Box<Rule>, Box<Rule>),
    Or(Box<Rule>, Box<Rule>),
    Not(Box<Rule>),
    IsNull(Box<Rule>),
    In(Box<Rule>, Vec<Rule>),
    /// The first value that is not null.
    First(Vec<Rule>),
    Case(Vec<(Rule, Rule)>, Option<Box<Rule>>),
    /// How many characters a text has.
    Length(Box<Rule>),
    /// True if exactly one is null or they differ.
    Distinct(Box<Rule>, Box<Rule>),
}

impl Rule {
    /// The value for a row.
    pub(crate) fn of(&self, row: &[Value]) -> Value {
        match self {
            Rule::Column(at) => row.get(*at).cloned().unwrap_or(Value::Null),
            Rule::Value(value) => value.clone(),
            Rule::Compare(operator, left, right) => compared(*operator, &left.of(row), &right.of(row)),
            Rule::And(left, right) => match (left.of(row), right.of(row)) {
                (Value::Bool(false), _) | (_, Value::Bool(false)) => Value::Bool(false),
                (Value::Bool(true), Value::Bool(true)) => Value::Bool(true),
                _ => Value::Null,
            },
            Rule::Or(left, right) => match (left.of(row), right.of(row)) {
                (Value::Bool(true), _) | (_, Value::Bool(true)) => Value::Bool(true),
                (Value::Bool(false), Value::Bool(false)) => Value::Bool(false),
                _ => Value::Null,
            },
            Rule::Not(inner) => match inner.of(row) {
                Value::Bool(value) => Value::Bool(!value),
                other => other,
            },
            Rule::IsNull(inner) => Value::Bool(inner.of(row) == Value::Null),
            Rule::In(value, list) => {
                let value = value.of(row);
                let found: Vec<Value> =
                    list.iter().map(|one| compared(Operator::Equal, &value, &one.of(row))).collect();
                if found.contains(&Value::Bool(true)) {
                    Value::Bool(true)
                } else if found.contains(&Value::Null) {
                    Value::Null
                } else {
                    Value::Bool(false)
                }
            }
            Rule::First(list) => {
                let values = list.iter().map(|one| one.of(row));
                values.into_iter().find(|value| *value != Value::Null).unwrap_or(Value::Null)
            }
            Rule::Case(arms, otherwise) => {
                let arm = arms.iter().find(|(condition, _)| condition.of(row) == Value::Bool(true));
                match (arm, otherwise) {
                    (Some((_, value)), _) => value.of(row),
                    (None, Some(value)) => value.of(row),
                    (None, None) => Value::Null,
                }
            }
            Rule::Length(text) => match text.of(row) {
                Value::Text(text) => Value::Int(i64::try_from(text.chars().count()).unwrap_or(i64::MAX)),
                _ => Value::Null,
            },
            Rule::Distinct(left, right) => Value::Bool(left.of(row) != right.of(row)),
        }
    }

    /// The conditions that all have to hold for this one to hold.
    pub(crate) fn conditions(&self) -> Vec<&Rule> {
        match self {
            Rule::And(left, right) => [left.conditions(), right.conditions()].concat(),
            one => vec![one],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn column(at: usize) -> Box<Rule> {
        Box::new(Rule::Column(at))
    }

    #[test]
    fn an_unknown_condition_is_neither_true_nor_false() {
        let is_one = Rule::Compare(Operator::Equal, column(0), Box::new(Rule::Value(Value::Int(1))));
        let both = Rule::And(Box::new(is_one.clone()), Box::new(Rule::IsNull(column(1))));
        assert_eq!(both.of(&[Value::Int(1), Value::Null]), Value::Bool(true));
        assert_eq!(both.of(&[Value::Null, Value::Null]), Value::Null);
        assert_eq!(both.of(&[Value::Null, Value::Int(1)]), Value::Bool(false));
        assert_eq!(both.conditions(), [&is_one, &Rule::IsNull(column(1))]);
        let listed = Rule::In(column(0), vec![Rule::Value(Value::Int(2)), Rule::Value(Value::Null)]);
        assert_eq!(listed.of(&[Value::Int(2)]), Value::Bool(true));
        assert_eq!(listed.of(&[Value::Int(3)]), Value::Null);
    }
}
