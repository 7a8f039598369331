//! The columns and the keys of a table.

use std::sync::Arc;

use super::rule::Rule;
use crate::protocol::{Interval, SqlError, Type, Value};

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) name: Arc<str>,
    pub(crate) columns: Vec<Column>,
    /// The unique indexes in the order of their creation.
    pub(crate) keys: Vec<Key>,
    /// The conditions of CHECK by their names, in the order of these.
    pub(crate) checks: Vec<(String, Rule)>,
    /// True if a crash leaves it empty, and no standby has its rows.
    pub(crate) unlogged: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) not_null: bool,
    pub(crate) default: Default,
    /// True if an INSERT must leave its value to the sequence.
    pub(crate) always: bool,
}

/// The value of a column that an INSERT does not give.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Default {
    Value(Value),
    /// The next value of this sequence.
    Next(String),
    /// When the transaction began.
    Now,
    /// So long after that.
    After(Interval),
    /// The time.
    Clock,
    /// A `uuid` that nobody has.
    Uuid,
}

/// A unique index; the primary key is one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) name: String,
    pub(crate) primary: bool,
    /// The indexes of its columns.
    pub(crate) columns: Vec<usize>,
    /// What it has beside columns.
    pub(crate) rules: Option<Box<KeyRules>>,
}

/// The parts of a unique index that are not columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct KeyRules {
    /// The values that come after the columns, and how PostgreSQL writes them.
    pub(crate) values: Vec<(Rule, String)>,
    /// The rows that are in it.
    pub(crate) filter: Option<Rule>,
}

impl Key {
    /// The values of a row in this index; none if one of them is null, which is like no other, or if it is not in it.
    pub(crate) fn of(&self, row: &[Value]) -> Option<Vec<Value>> {
        let value = |at: &usize| row.get(*at).filter(|value| **value != Value::Null).cloned();
        let mut values: Vec<Value> = self.columns.iter().map(value).collect::<Option<_>>()?;
        if let Some(rules) = &self.rules {
            let is_in = |filter: &Rule| filter.of(row) == Value::Bool(true);
            if !rules.filter.as_ref().is_none_or(is_in) {
                return None;
            }
            for (rule, _) in &rules.values {
                values.push(Some(rule.of(row)).filter(|value| *value != Value::Null)?);
            }
        }
        Some(values)
    }

    /// The names of its columns, as errors show them.
    pub(crate) fn shown(&self, schema: &Schema) -> String {
        let columns = self.columns.iter().filter_map(|at| schema.columns.get(*at));
        let mut names: Vec<&str> = columns.map(|column| column.name.as_str()).collect();
        names.extend(self.rules.iter().flat_map(|rules| &rules.values).map(|(_, shown)| shown.as_str()));
        names.join(", ")
    }

    /// True if it is of columns alone and of all rows.
    pub(crate) fn is_plain(&self) -> bool {
        self.rules.is_none()
    }
}

impl Schema {
    /// A row's primary key as text, its columns separated by commas; none of a table without one.
    pub(crate) fn name_of(&self, row: &[Value]) -> Option<String> {
        let key = self.keys.iter().find(|key| key.primary)?;
        let values = key.of(row)?;
        Some(values.iter().filter_map(Value::text).collect::<Vec<_>>().join(","))
    }

    /// True if a column belongs to a key: who changes it needs the strongest lock of the row.
    pub(crate) fn is_key_column(&self, at: usize) -> bool {
        self.keys.iter().any(|key| key.is_plain() && key.columns.contains(&at))
    }

    /// Refuses a row that has a null where there must be none, or that a condition does not hold for.
    pub(crate) fn check(&self, values: &[Value]) -> Result<(), SqlError> {
        let failing = || {
            let shown: Vec<String> =
                values.iter().map(|value| value.text().unwrap_or_else(|| "null".to_owned())).collect();
            format!("Failing row contains ({}).", shown.join(", "))
        };
        let table = &self.name;
        for (column, value) in self.columns.iter().zip(values) {
            if column.not_null && *value == Value::Null {
                let column = &column.name;
                let text = format!(
                    "null value in column \"{column}\" of relation \"{table}\" violates not-null constraint"
                );
                return Err(SqlError::new("23502", text).with_detail(failing()));
            }
        }
        for (name, rule) in &self.checks {
            if rule.of(values) == Value::Bool(false) {
                let text = format!("new row for relation \"{table}\" violates check constraint \"{name}\"");
                return Err(SqlError::new("23514", text).with_detail(failing()));
            }
        }
        Ok(())
    }
}
