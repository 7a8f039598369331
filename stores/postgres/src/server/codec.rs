//! Values, types and rules in the bytes of the log.

use crate::protocol::{Element, Enumeration, Float, Interval, Type, Value};
use crate::server::data::{Column, ColumnDefault, Key as TableKey, KeyRules, Rule};
use crate::server::sql::Operator;

/// The comparisons by their numbers.
const COMPARISONS: [Operator; 6] = [
    Operator::Equal,
    Operator::Unequal,
    Operator::Less,
    Operator::LessOrEqual,
    Operator::Greater,
    Operator::GreaterOrEqual,
];

pub(super) fn default(out: &mut Vec<u8>, default: &ColumnDefault) {
    match default {
        ColumnDefault::Value(constant) => {
            out.push(0);
            value(out, constant);
        }
        ColumnDefault::Next(sequence) => {
            out.push(1);
            text(out, sequence);
        }
        ColumnDefault::Now => out.push(2),
        ColumnDefault::Clock => out.push(3),
        ColumnDefault::After(after) => {
            out.push(4);
            span(out, *after);
        }
        ColumnDefault::Uuid => out.push(5),
    }
}

pub(super) fn number(out: &mut Vec<u8>, number: i64) {
    out.extend(number.to_le_bytes());
}

pub(super) fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as i64);
    out.extend_from_slice(text.as_bytes());
}

pub(super) fn value(out: &mut Vec<u8>, one: &Value) {
    match one {
        Value::Null => out.push(0),
        Value::Bool(value) => out.extend([1, u8::from(*value)]),
        Value::Int(value) => {
            out.push(2);
            number(out, *value);
        }
        Value::Text(value) => {
            out.push(3);
            text(out, value);
        }
        Value::Time(value) => {
            out.push(4);
            number(out, *value);
        }
        Value::Stamp(value) => {
            out.push(5);
            number(out, *value);
        }
        Value::Span(value) => {
            out.push(6);
            span(out, *value);
        }
        Value::Uuid(bits) => {
            out.push(7);
            out.extend(bits.to_le_bytes());
        }
        Value::Void => out.push(8),
        Value::Bytes(bytes) => {
            out.push(9);
            number(out, bytes.len() as i64);
            out.extend_from_slice(bytes);
        }
        Value::Array(values) => {
            out.push(11);
            number(out, values.len() as i64);
            values.iter().for_each(|each| value(out, each));
        }
        Value::Float(Float(value)) => {
            out.push(12);
            out.extend(value.to_le_bytes());
        }
        Value::Numeric(value) => {
            out.push(13);
            number(out, *value);
        }
        Value::Label(place, label) => {
            out.push(15);
            number(out, i64::from(*place));
            text(out, label);
        }
    }
}

fn span(out: &mut Vec<u8>, span: Interval) {
    let Interval { months, days, micros } = span;
    [i64::from(months), i64::from(days), micros].into_iter().for_each(|part| number(out, part));
}

/// A type; one that somebody has created with its definition.
pub(super) fn ty(out: &mut Vec<u8>, ty: Type) {
    let (kind, made) = match ty {
        Type::Enum(made) => (1, Some(made)),
        Type::Array(Element::Enum(made)) => (2, Some(made)),
        _ => (0, None),
    };
    out.push(kind);
    number(out, i64::from(made.map_or(ty.oid(), |made| made.oid)));
    number(out, i64::from(ty.modifier()));
    if let Some(made) = made {
        text(out, &made.name);
        number(out, made.labels.len() as i64);
        made.labels.iter().for_each(|label| text(out, label));
    }
}

pub(super) fn rules(out: &mut Vec<u8>, rules: Option<&KeyRules>) {
    out.push(u8::from(rules.is_some()));
    let Some(KeyRules { values, filter }) = rules else { return };
    number(out, values.len() as i64);
    for (value, shown) in values {
        rule(out, value);
        text(out, shown);
    }
    out.push(u8::from(filter.is_some()));
    filter.iter().for_each(|filter| rule(out, filter));
}

pub(super) fn rule(out: &mut Vec<u8>, one: &Rule) {
    let mut all = |kind: u8, inner: &[&Rule]| {
        out.push(kind);
        inner.iter().for_each(|inner| rule(out, inner));
    };
    match one {
        Rule::And(left, right) => all(3, &[left, right]),
        Rule::Or(left, right) => all(4, &[left, right]),
        Rule::Not(inner) => all(5, &[inner]),
        Rule::IsNull(inner) => all(6, &[inner]),
        Rule::Length(inner) => all(11, &[inner]),
        Rule::Distinct(left, right) => all(12, &[left, right]),
        Rule::Column(at) => {
            out.push(0);
            number(out, *at as i64);
        }
        Rule::Value(constant) => {
            out.push(1);
            value(out, constant);
        }
        Rule::Compare(operator, left, right) => {
            let number = COMPARISONS.iter().position(|known| known == operator).unwrap_or(0);
            out.extend([2, number as u8]);
            rule(out, left);
            rule(out, right);
        }
        Rule::In(inner, list) => {
            out.push(7);
            rule(out, inner);
            many(out, list);
        }
        Rule::First(list) => {
            out.push(8);
            many(out, list);
        }
        Rule::Case(arms, otherwise) => {
            out.push(9);
            number(out, arms.len() as i64);
            for (condition, value) in arms {
                rule(out, condition);
                rule(out, value);
            }
            out.push(u8::from(otherwise.is_some()));
            otherwise.iter().for_each(|value| rule(out, value));
        }
    }
}

fn many(out: &mut Vec<u8>, list: &[Rule]) {
    number(out, list.len() as i64);
    list.iter().for_each(|one| rule(out, one));
}

/// The rest of a log.
pub(super) struct Reader<'a>(pub(super) &'a [u8]);

impl Reader<'_> {
    pub(super) fn key(&mut self) -> Option<TableKey> {
        let (name, primary, count) = (self.text()?, self.byte()? == 1, self.count()?);
        let columns = (0..count).map(|_| self.count()).collect::<Option<_>>()?;
        Some(TableKey { name, primary, columns, rules: self.rules()? })
    }

    pub(super) fn default(&mut self) -> Option<ColumnDefault> {
        Some(match self.byte()? {
            0 => ColumnDefault::Value(self.value()?),
            1 => ColumnDefault::Next(self.text()?),
            2 => ColumnDefault::Now,
            4 => ColumnDefault::After(self.span()?),
            5 => ColumnDefault::Uuid,
            _ => ColumnDefault::Clock,
        })
    }

    pub(super) fn column(&mut self) -> Option<Column> {
        let name = self.text()?;
        let ty = self.ty()?;
        let (not_null, always) = (self.byte()? == 1, self.byte()? == 1);
        Some(Column { name, ty, not_null, default: self.default()?, always })
    }

    pub(super) fn value(&mut self) -> Option<Value> {
        Some(match self.byte()? {
            0 => Value::Null,
            1 => Value::Bool(self.byte()? == 1),
            2 => Value::Int(self.number()?),
            3 => Value::Text(self.text()?),
            4 => Value::Time(self.number()?),
            5 => Value::Stamp(self.number()?),
            6 => Value::Span(self.span()?),
            7 => {
                let (bytes, rest) = self.0.split_first_chunk::<16>()?;
                self.0 = rest;
                Value::Uuid(u128::from_le_bytes(*bytes))
            }
            9 => {
                let len = self.count()?;
                let (bytes, rest) = self.0.split_at_checked(len)?;
                self.0 = rest;
                Value::Bytes(bytes.to_vec())
            }
            11 => {
                let count = self.count()?;
                Value::Array((0..count).map(|_| self.value()).collect::<Option<_>>()?)
            }
            12 => {
                let (bytes, rest) = self.0.split_first_chunk::<8>()?;
                self.0 = rest;
                Value::Float(Float(f64::from_le_bytes(*bytes)))
            }
            13 => Value::Numeric(self.number()?),
            15 => Value::Label(u32::try_from(self.number()?).ok()?, self.text()?.into()),
            _ => Value::Void,
        })
    }

    fn span(&mut self) -> Option<Interval> {
        let (months, days) = (self.number()?.try_into().ok()?, self.number()?.try_into().ok()?);
        Some(Interval { months, days, micros: self.number()? })
    }

    /// A type, with its definition if somebody has created it.
    pub(super) fn ty(&mut self) -> Option<Type> {
        let (kind, oid, modifier) = (self.byte()?, u32::try_from(self.number()?).ok()?, self.number()?);
        if kind == 0 {
            return Some(Type::of_oid(oid).ok()??.modified(i32::try_from(modifier).ok()?));
        }
        let (name, count) = (self.text()?, self.count()?);
        let labels = (0..count).map(|_| self.text()).collect::<Option<Vec<_>>>()?;
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let ty = Type::Enum(Enumeration::of(oid, &name, &labels));
        if kind == 1 { Some(ty) } else { Element::of(ty).map(Type::Array) }
    }

    fn rules(&mut self) -> Option<Option<Box<KeyRules>>> {
        if self.byte()? == 0 {
            return Some(None);
        }
        let count = self.count()?;
        let values = (0..count).map(|_| Some((self.rule()?, self.text()?))).collect::<Option<_>>()?;
        let filter = if self.byte()? == 1 { Some(self.rule()?) } else { None };
        Some(Some(Box::new(KeyRules { values, filter })))
    }

    pub(super) fn rule(&mut self) -> Option<Rule> {
        Some(match self.byte()? {
            0 => Rule::Column(self.count()?),
            1 => Rule::Value(self.value()?),
            2 => Rule::Compare(self.operator()?, self.inner()?, self.inner()?),
            3 => Rule::And(self.inner()?, self.inner()?),
            4 => Rule::Or(self.inner()?, self.inner()?),
            5 => Rule::Not(self.inner()?),
            6 => Rule::IsNull(self.inner()?),
            7 => Rule::In(self.inner()?, self.list()?),
            8 => Rule::First(self.list()?),
            9 => {
                let count = self.count()?;
                let arms = (0..count).map(|_| Some((self.rule()?, self.rule()?))).collect::<Option<_>>()?;
                Rule::Case(arms, if self.byte()? == 1 { Some(self.inner()?) } else { None })
            }
            11 => Rule::Length(self.inner()?),
            _ => Rule::Distinct(self.inner()?, self.inner()?),
        })
    }

    fn inner(&mut self) -> Option<Box<Rule>> {
        self.rule().map(Box::new)
    }

    fn list(&mut self) -> Option<Vec<Rule>> {
        let count = self.count()?;
        (0..count).map(|_| self.rule()).collect()
    }

    fn operator(&mut self) -> Option<Operator> {
        COMPARISONS.get(usize::from(self.byte()?)).copied()
    }

    pub(super) fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    pub(super) fn number(&mut self) -> Option<i64> {
        let (bytes, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(i64::from_le_bytes(*bytes))
    }

    pub(super) fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    pub(super) fn text(&mut self) -> Option<String> {
        let len = self.count()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        String::from_utf8(bytes.to_vec()).ok()
    }
}
