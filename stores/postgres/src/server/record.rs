//! The records of the log: committed changes, and their bytes.

use std::sync::Arc;

use crate::protocol::{Type, Value};
use crate::server::codec::{Reader, default, number, rule, rules, text, ty, value};
use crate::server::data::{Heap, Place, Routine, Row, Schema, Sequence, Sequences, Tid};

/// A committed change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record(Entry);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Table(Arc<Schema>),
    Sequence(String, Sequence),
    /// A domain or an enum.
    Type(String, Type),
    Routine(Arc<Routine>),
    /// A version of a row; none if it is gone.
    Row {
        place: Place,
        values: Option<Row>,
    },
    /// The transaction whose rows came before it is committed.
    Commit,
}

impl Record {
    pub(crate) fn table(schema: Arc<Schema>) -> Record {
        Record(Entry::Table(schema))
    }

    pub(crate) fn sequence(name: String, sequence: Sequence) -> Record {
        Record(Entry::Sequence(name, sequence))
    }

    pub(crate) fn ty(name: String, ty: Type) -> Record {
        Record(Entry::Type(name, ty))
    }

    pub(crate) fn routine(routine: Arc<Routine>) -> Record {
        Record(Entry::Routine(routine))
    }

    pub(crate) fn row(place: Place, values: Option<Row>) -> Record {
        Record(Entry::Row { place, values })
    }

    /// The end of a transaction.
    pub(crate) fn commit() -> Record {
        Record(Entry::Commit)
    }

    /// The place of the row that it is about, and what that holds now.
    pub(crate) fn as_row(&self) -> Option<(&Place, Option<&Row>)> {
        match &self.0 {
            Entry::Row { place, values } => Some((place, values.as_ref())),
            _ => None,
        }
    }

    pub(crate) fn is_commit(&self) -> bool {
        matches!(self.0, Entry::Commit)
    }

    /// The records in these bytes, as far as they can be read.
    pub(crate) fn decode(bytes: &[u8]) -> Vec<Record> {
        let mut reader = Reader(bytes);
        std::iter::from_fn(|| reader.record()).collect()
    }

    /// The bytes of these records.
    pub(crate) fn encode_all(records: &[Record]) -> Vec<u8> {
        let mut bytes = Vec::new();
        records.iter().for_each(|record| record.encode(&mut bytes));
        bytes
    }

    /// Carries the change out on what was there before.
    pub(crate) fn restore(self, heap: &mut Heap, sequences: &mut Sequences) {
        match self.0 {
            Entry::Table(schema) => {
                let known = heap.catalogue.any_schema(&schema.name).map_or(0, |known| known.keys.len());
                if heap.catalogue.table(&schema.name).is_none() {
                    heap.create(None, schema);
                } else {
                    // It is there, and has a key more.
                    schema.keys.iter().skip(known).for_each(|key| heap.add_key(&schema.name, key.clone()));
                }
            }
            Entry::Sequence(name, sequence) => sequences.create(name, sequence),
            Entry::Type(name, ty) => heap.catalogue.define(name, ty),
            Entry::Routine(routine) => heap.catalogue.add_routine(routine),
            Entry::Row { place, values } => heap.restore(&place, values),
            Entry::Commit => {}
        }
    }

    /// Records that make what is committed.
    pub(crate) fn all(heap: &Heap, sequences: &Sequences) -> Vec<Record> {
        let mut records = Vec::new();
        for (name, sequence) in sequences.all() {
            records.push(Record::sequence(name.clone(), sequence.clone()));
        }
        records.extend(heap.catalogue.types().map(|(name, ty)| Record::ty(name.clone(), *ty)));
        records.extend(heap.catalogue.routines().map(|routine| Record::routine(Arc::clone(routine))));
        for (schema, rows) in heap.catalogue.committed() {
            records.push(Record::table(Arc::clone(schema)));
            let rows = rows.filter(|_| !schema.unlogged);
            records.extend(rows.map(|(tid, row)| {
                let place = Place { table: Arc::clone(&schema.name), tid };
                Record::row(place, Some(Arc::clone(row)))
            }));
        }
        records
    }

    pub(super) fn encode(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Entry::Table(schema) => {
                out.push(b'T');
                text(out, &schema.name);
                number(out, schema.columns.len() as i64);
                for column in &schema.columns {
                    text(out, &column.name);
                    ty(out, column.ty);
                    out.extend([u8::from(column.not_null), u8::from(column.always)]);
                    default(out, &column.default);
                }
                number(out, schema.keys.len() as i64);
                for key in &schema.keys {
                    text(out, &key.name);
                    out.push(u8::from(key.primary));
                    number(out, key.columns.len() as i64);
                    key.columns.iter().for_each(|at| number(out, *at as i64));
                    rules(out, key.rules.as_deref());
                }
                number(out, schema.checks.len() as i64);
                for (name, condition) in &schema.checks {
                    text(out, name);
                    rule(out, condition);
                }
                out.push(u8::from(schema.unlogged));
            }
            Entry::Sequence(name, sequence) => {
                out.push(b'S');
                text(out, name);
                number(out, sequence.start);
                number(out, sequence.increment);
                out.push(u8::from(sequence.cycles));
                value(out, &sequence.last.map_or(Value::Null, Value::Int));
            }
            Entry::Type(name, one) => {
                out.push(b'D');
                text(out, name);
                ty(out, *one);
            }
            Entry::Routine(routine) => {
                out.push(b'F');
                text(out, &routine.name);
                number(out, routine.params.len() as i64);
                for (name, one) in &routine.params {
                    text(out, name);
                    ty(out, *one);
                }
                ty(out, routine.returns);
                text(out, &routine.body);
            }
            Entry::Row { place, values } => {
                out.push(b'R');
                text(out, &place.table);
                number(out, place.tid.0.cast_signed());
                number(out, values.as_ref().map_or(-1, |values| values.len() as i64));
                values.iter().flat_map(|values| values.iter()).for_each(|one| value(out, one));
            }
            Entry::Commit => out.push(b'C'),
        }
    }
}

impl Reader<'_> {
    pub(super) fn record(&mut self) -> Option<Record> {
        match self.byte()? {
            b'T' => {
                let (name, count) = (self.text()?, self.count()?);
                let columns = (0..count).map(|_| self.column()).collect::<Option<_>>()?;
                let count = self.count()?;
                let keys = (0..count).map(|_| self.key()).collect::<Option<_>>()?;
                let count = self.count()?;
                let checks = (0..count).map(|_| Some((self.text()?, self.rule()?))).collect::<Option<_>>()?;
                let unlogged = self.byte()? == 1;
                Some(Record::table(Arc::new(Schema { name: name.into(), columns, keys, checks, unlogged })))
            }
            b'S' => {
                let (name, start, increment) = (self.text()?, self.number()?, self.number()?);
                let cycles = self.byte()? == 1;
                let last = match self.value()? {
                    Value::Int(last) => Some(last),
                    _ => None,
                };
                Some(Record::sequence(name, Sequence::new(start, increment, last).cycling(cycles)))
            }
            b'C' => Some(Record::commit()),
            b'D' => {
                let name = self.text()?;
                Some(Record::ty(name, self.ty()?))
            }
            b'F' => {
                let (name, count) = (self.text()?, self.count()?);
                let params = (0..count).map(|_| Some((self.text()?, self.ty()?))).collect::<Option<_>>()?;
                let routine = Routine { name, params, returns: self.ty()?, body: self.text()? };
                Some(Record::routine(Arc::new(routine)))
            }
            _ => {
                let place = Place { table: self.text()?.into(), tid: Tid(self.number()?.cast_unsigned()) };
                let values = match self.number()? {
                    -1 => None,
                    count => Some((0..count).map(|_| self.value()).collect::<Option<_>>()?),
                };
                Some(Record::row(place, values))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::{Element, Enumeration, Float, Interval};
    use crate::server::data::{Column, ColumnDefault, Key as TableKey, KeyRules, Rule};
    use crate::server::sql::Operator;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let column = |name: &str, ty, default| Column {
            name: name.into(),
            ty,
            not_null: true,
            default,
            always: false,
        };
        let columns = vec![
            column("key", Type::Varchar(Some(9)), ColumnDefault::Value(Value::Null)),
            column("value", Type::Int8, ColumnDefault::Next("s".into())),
            column("at", Type::Timestamptz, ColumnDefault::Now),
            column(
                "later",
                Type::Timestamptz,
                ColumnDefault::After(Interval { months: 1, days: 2, micros: 3 }),
            ),
            column("id", Type::Uuid, ColumnDefault::Uuid),
            column(
                "mood",
                Type::Array(
                    Element::of(Type::Enum(Enumeration::of(16_384, "mood", &["sad", "glad"]))).unwrap(),
                ),
                ColumnDefault::Clock,
            ),
            column("tags", Type::Array(Element::Varchar(Some(255))), ColumnDefault::Clock),
        ];
        let enumeration = Type::Enum(Enumeration::of(16_384, "mood", &["sad", "glad"]));
        let label = || enumeration.read("glad").unwrap();
        let filter = Rule::And(
            Box::new(Rule::Compare(
                Operator::Less,
                Box::new(Rule::Column(1)),
                Box::new(Rule::Value(label())),
            )),
            Box::new(Rule::Not(Box::new(Rule::IsNull(Box::new(Rule::Column(0)))))),
        );
        let arms = vec![(filter.clone(), Rule::Length(Box::new(Rule::Column(0))))];
        let case =
            Rule::Case(arms, Some(Box::new(Rule::In(Box::new(Rule::Column(2)), vec![Rule::Column(1)]))));
        let values = vec![(Rule::First(vec![Rule::Column(0), case.clone()]), "COALESCE(key)".to_owned())];
        let rules = Some(Box::new(KeyRules { values, filter: Some(filter) }));
        let keys = vec![
            TableKey { name: "t_pkey".into(), primary: true, columns: vec![0], rules: None },
            TableKey { name: "t_i1".into(), primary: false, columns: vec![1], rules },
        ];
        let checks = vec![("c".to_owned(), case)];
        let place = Place { table: "t".into(), tid: Tid(7) };
        let span = Interval { months: 1, days: -2, micros: 3 };
        let values = [
            Value::Text("ü".into()),
            Value::Time(5),
            Value::Bool(true),
            Value::Null,
            Value::Span(span),
            Value::Uuid(9),
            Value::Stamp(-5),
            Value::Bytes(vec![0, 255]),
            Value::Array(vec![Value::Int(1), Value::Null]),
            Value::Float(Float(0.5)),
            label(),
        ];
        let records = [
            Record::table(Arc::new(Schema { name: "t".into(), columns, keys, checks, unlogged: true })),
            Record::sequence("s".into(), Sequence::new(1, 2, Some(34)).cycling(true)),
            Record::ty("d".into(), Type::Text),
            Record::ty("mood".into(), enumeration),
            Record::routine(Arc::new(Routine {
                name: "f".into(),
                params: vec![("a".into(), Type::Int4), (String::new(), enumeration)],
                returns: Type::Bool,
                body: "SELECT true".into(),
            })),
            Record::row(place.clone(), Some(values.into())),
            Record::row(place, None),
            Record::commit(),
        ];
        assert_eq!(Record::decode(&Record::encode_all(&records)), records);
    }
}
