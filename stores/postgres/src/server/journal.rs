//! The files of the database: the changes of each committed transaction, written and synced before anybody hears of
//! the commit (`fsync = on`, `synchronous_commit = on`).
//!
//! So a restart loses nothing but transactions that were not committed, and with them all row locks. Which rows were
//! locked is kept in a second file, only so that the simulator can report which locks a restart has lost.
//!
//! Left out on purpose: checkpoints (the log is written anew at each start), and that recovery takes time.

use std::collections::BTreeSet;
use std::sync::Arc;

use picklock_model::ids::Key;
use picklock_model::trace::What;
use picklock_sim::disk::Disk;

use crate::protocol::{Type, Value};
use crate::server::data::{Column, Database, Row, RowRef, Schema};

const LOG: &str = "pg_wal";
const LOCKS: &str = "locks-of-this-life";

/// A committed change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record(Entry);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Table(Arc<Schema>),
    /// A row as it is now; none if it is gone.
    Row {
        row: RowRef,
        values: Option<Row>,
    },
}

impl Record {
    pub(crate) fn table(schema: Arc<Schema>) -> Record {
        Record(Entry::Table(schema))
    }

    pub(crate) fn row(row: RowRef, values: Option<Row>) -> Record {
        Record(Entry::Row { row, values })
    }

    /// Carries the change out on what was there before.
    pub(crate) fn restore(self, data: &mut Database) {
        match self.0 {
            Entry::Table(schema) => data.create(None, schema),
            Entry::Row { row, values } => data.restore(row, values),
        }
    }

    /// Records that make what is committed.
    pub(crate) fn all(data: &Database) -> Vec<Record> {
        let mut records = Vec::new();
        for (schema, rows) in data.committed() {
            records.push(Record::table(Arc::clone(schema)));
            records.extend(rows.map(|row| {
                let name = RowRef { table: Arc::clone(&schema.name), key: row[schema.key].clone() };
                Record::row(name, Some(Arc::clone(row)))
            }));
        }
        records
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Entry::Table(schema) => {
                out.push(b'T');
                text(out, &schema.name);
                number(out, schema.key as i64);
                number(out, schema.columns.len() as i64);
                for column in &schema.columns {
                    text(out, &column.name);
                    number(out, i64::from(column.ty.oid()));
                    number(out, i64::from(column.ty.modifier()));
                    out.push(u8::from(column.not_null));
                    value(out, &column.default);
                }
            }
            Entry::Row { row, values } => {
                out.push(b'R');
                text(out, &row.table);
                value(out, &row.key);
                number(out, values.as_ref().map_or(-1, |values| values.len() as i64));
                values.iter().flat_map(|values| values.iter()).for_each(|one| value(out, one));
            }
        }
    }
}

fn number(out: &mut Vec<u8>, number: i64) {
    out.extend(number.to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as i64);
    out.extend_from_slice(text.as_bytes());
}

fn value(out: &mut Vec<u8>, value: &Value) {
    match value {
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
    }
}

/// The rest of a log.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn record(&mut self) -> Option<Record> {
        match self.byte()? {
            b'T' => {
                let (name, key, count) = (self.text()?, self.count()?, self.count()?);
                let columns = (0..count).map(|_| self.column()).collect::<Option<_>>()?;
                Some(Record::table(Arc::new(Schema { name: name.into(), columns, key })))
            }
            _ => {
                let row = RowRef { table: self.text()?.into(), key: self.value()? };
                let values = match self.number()? {
                    -1 => None,
                    count => Some((0..count).map(|_| self.value()).collect::<Option<_>>()?),
                };
                Some(Record::row(row, values))
            }
        }
    }

    fn column(&mut self) -> Option<Column> {
        let name = self.text()?;
        let ty = Type::of_oid(u32::try_from(self.number()?).ok()?).ok()??;
        let modifier = self.number()?;
        let ty = match ty {
            Type::Varchar(_) => Type::Varchar(u32::try_from(modifier - 4).ok()),
            ty => ty,
        };
        Some(Column { name, ty, not_null: self.byte()? == 1, default: self.value()? })
    }

    fn value(&mut self) -> Option<Value> {
        Some(match self.byte()? {
            0 => Value::Null,
            1 => Value::Bool(self.byte()? == 1),
            2 => Value::Int(self.number()?),
            3 => Value::Text(self.text()?),
            _ => Value::Time(self.number()?),
        })
    }

    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn number(&mut self) -> Option<i64> {
        let (bytes, rest) = self.0.split_first_chunk::<8>()?;
        self.0 = rest;
        Some(i64::from_le_bytes(*bytes))
    }

    fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok()
    }

    fn text(&mut self) -> Option<String> {
        let len = self.count()?;
        let (bytes, rest) = self.0.split_at_checked(len)?;
        self.0 = rest;
        String::from_utf8(bytes.to_vec()).ok()
    }
}

/// A server's files.
pub(crate) struct Journal {
    disk: Disk,
    /// The rows that are locked.
    locks: BTreeSet<Key>,
}

impl Journal {
    pub(crate) fn new(disk: Disk) -> Journal {
        Journal { disk, locks: BTreeSet::new() }
    }

    /// The changes that were committed in earlier lives, in order.
    pub(crate) fn records(&self) -> Vec<Record> {
        let bytes = self.disk.read(LOG);
        let mut reader = Reader(&bytes);
        std::iter::from_fn(|| reader.record()).collect()
    }

    /// The locks that were lost with the last life.
    pub(crate) fn lost(&self) -> Vec<What> {
        let bytes = self.disk.read(LOCKS);
        let mut reader = Reader(&bytes);
        std::iter::from_fn(|| reader.text()).map(|key| What::Lost { key: Key::new(&key) }).collect()
    }

    /// Begins a life with these records and without a lock.
    pub(crate) fn begin(&self, records: &[Record]) {
        let mut bytes = Vec::new();
        records.iter().for_each(|record| record.encode(&mut bytes));
        self.disk.write(LOG, &bytes);
        self.disk.sync(LOG);
        self.keep_locks();
    }

    /// Keeps what a transaction has committed.
    pub(crate) fn append(&self, records: &[Record]) {
        let mut bytes = Vec::new();
        records.iter().for_each(|record| record.encode(&mut bytes));
        if !bytes.is_empty() {
            self.disk.append(LOG, &bytes);
            self.disk.sync(LOG);
        }
    }

    /// Notes a lock that was taken or given back.
    pub(crate) fn note(&mut self, event: &What) {
        let changed = match event {
            What::Created { key } => self.locks.insert(key.clone()),
            What::Deleted { key } => self.locks.remove(key),
            _ => false,
        };
        if changed {
            self.keep_locks();
        }
    }

    fn keep_locks(&self) {
        let mut bytes = Vec::new();
        self.locks.iter().for_each(|key| text(&mut bytes, key.as_str()));
        self.disk.write(LOCKS, &bytes);
        self.disk.sync(LOCKS);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_as_it_was_written() {
        let column = |name: &str, ty, default| Column { name: name.into(), ty, not_null: true, default };
        let columns = vec![
            column("key", Type::Varchar(Some(9)), Value::Null),
            column("value", Type::Int8, Value::Int(-7)),
        ];
        let row = RowRef { table: "t".into(), key: Value::Text("ü".into()) };
        let values = [row.key.clone(), Value::Time(5), Value::Bool(true), Value::Null];
        let records = [
            Record::table(Arc::new(Schema { name: "t".into(), columns, key: 0 })),
            Record::row(row.clone(), Some(values.into())),
            Record::row(row, None),
        ];
        let mut bytes = Vec::new();
        records.iter().for_each(|record| record.encode(&mut bytes));
        let mut reader = Reader(&bytes);
        assert_eq!(std::iter::from_fn(|| reader.record()).collect::<Vec<_>>(), records);
    }
}
