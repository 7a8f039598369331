//! The files of the database: the changes of each committed transaction, written and synced before anybody hears of
//! the commit, unless the server is configured to sync later (`synchronous_commit = off`) or not at all (`fsync = off`).
//!
//! So a restart loses nothing but transactions that were not committed, and with them all row locks. Which rows were
//! locked is kept in a second file, only so that the simulator can report which locks a restart has lost.
//!
//! A place in the log is the number of records before it. The log of a server with a standby is kept whole; that of another one is written
//! anew at each start.
//!
//! Left out on purpose: checkpoints, and that recovery takes time. With `fsync = off` a real server may come back with damaged files; this one
//! comes back with an earlier state.

use std::collections::BTreeSet;
use std::sync::Arc;

use picklock_model::ids::Key;
use picklock_model::trace::What;
use picklock_sim::disk::Disk;

use crate::protocol::{Interval, Type, Value};
use crate::server::data::{
    Column, ColumnDefault, Heap, Key as TableKey, Place, Row, Schema, Sequence, Sequences, Tid,
};

const LOG: &str = "pg_wal";
const LOCKS: &str = "locks-of-this-life";
/// It is there once the server was promoted.
const PROMOTED: &str = "promoted";
/// It is there once the server was started.
const STARTED: &str = "started";

/// A committed change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record(Entry);

#[derive(Clone, Debug, PartialEq, Eq)]
enum Entry {
    Table(Arc<Schema>),
    Sequence(String, Sequence),
    Domain(String, Type),
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

    pub(crate) fn domain(name: String, ty: Type) -> Record {
        Record(Entry::Domain(name, ty))
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
            Entry::Domain(name, ty) => heap.catalogue.define(name, ty),
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
        records.extend(heap.catalogue.domains().map(|(name, ty)| Record::domain(name.clone(), *ty)));
        for (schema, rows) in heap.catalogue.committed() {
            records.push(Record::table(Arc::clone(schema)));
            records.extend(rows.map(|(tid, row)| {
                let place = Place { table: Arc::clone(&schema.name), tid };
                Record::row(place, Some(Arc::clone(row)))
            }));
        }
        records
    }

    fn encode(&self, out: &mut Vec<u8>) {
        match &self.0 {
            Entry::Table(schema) => {
                out.push(b'T');
                text(out, &schema.name);
                number(out, schema.columns.len() as i64);
                for column in &schema.columns {
                    text(out, &column.name);
                    number(out, i64::from(column.ty.oid()));
                    number(out, i64::from(column.ty.modifier()));
                    out.extend([u8::from(column.not_null), u8::from(column.always)]);
                    default(out, &column.default);
                }
                number(out, schema.keys.len() as i64);
                for key in &schema.keys {
                    text(out, &key.name);
                    out.push(u8::from(key.primary));
                    number(out, key.columns.len() as i64);
                    key.columns.iter().for_each(|at| number(out, *at as i64));
                }
            }
            Entry::Sequence(name, sequence) => {
                out.push(b'S');
                text(out, name);
                number(out, sequence.start);
                number(out, sequence.increment);
                out.push(u8::from(sequence.cycles));
                value(out, &sequence.last.map_or(Value::Null, Value::Int));
            }
            Entry::Domain(name, ty) => {
                out.push(b'D');
                text(out, name);
                number(out, i64::from(ty.oid()));
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

fn default(out: &mut Vec<u8>, default: &ColumnDefault) {
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
    }
}

fn number(out: &mut Vec<u8>, number: i64) {
    out.extend(number.to_le_bytes());
}

fn text(out: &mut Vec<u8>, text: &str) {
    number(out, text.len() as i64);
    out.extend_from_slice(text.as_bytes());
}

fn value(out: &mut Vec<u8>, one: &Value) {
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
        Value::Span(Interval { months, days, micros }) => {
            out.push(6);
            [i64::from(*months), i64::from(*days), *micros].into_iter().for_each(|part| number(out, part));
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
        Value::Json(json) => {
            out.push(10);
            text(out, json);
        }
        Value::Array(values) => {
            out.push(11);
            number(out, values.len() as i64);
            values.iter().for_each(|each| value(out, each));
        }
    }
}

/// The rest of a log.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn record(&mut self) -> Option<Record> {
        match self.byte()? {
            b'T' => {
                let (name, count) = (self.text()?, self.count()?);
                let columns = (0..count).map(|_| self.column()).collect::<Option<_>>()?;
                let count = self.count()?;
                let keys = (0..count).map(|_| self.key()).collect::<Option<_>>()?;
                Some(Record::table(Arc::new(Schema { name: name.into(), columns, keys })))
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
                Some(Record::domain(name, Type::of_oid(u32::try_from(self.number()?).ok()?).ok()??))
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

    fn key(&mut self) -> Option<TableKey> {
        let (name, primary, count) = (self.text()?, self.byte()? == 1, self.count()?);
        let columns = (0..count).map(|_| self.count()).collect::<Option<_>>()?;
        Some(TableKey { name, primary, columns })
    }

    fn default(&mut self) -> Option<ColumnDefault> {
        Some(match self.byte()? {
            0 => ColumnDefault::Value(self.value()?),
            1 => ColumnDefault::Next(self.text()?),
            2 => ColumnDefault::Now,
            _ => ColumnDefault::Clock,
        })
    }

    fn column(&mut self) -> Option<Column> {
        let name = self.text()?;
        let ty = Type::of_oid(u32::try_from(self.number()?).ok()?).ok()??;
        let modifier = self.number()?;
        let ty = match ty {
            Type::Varchar(_) => Type::Varchar(u32::try_from(modifier - 4).ok()),
            ty => ty,
        };
        let (not_null, always) = (self.byte()? == 1, self.byte()? == 1);
        Some(Column { name, ty, not_null, default: self.default()?, always })
    }

    fn value(&mut self) -> Option<Value> {
        Some(match self.byte()? {
            0 => Value::Null,
            1 => Value::Bool(self.byte()? == 1),
            2 => Value::Int(self.number()?),
            3 => Value::Text(self.text()?),
            4 => Value::Time(self.number()?),
            5 => Value::Stamp(self.number()?),
            6 => {
                let (months, days) = (self.number()?.try_into().ok()?, self.number()?.try_into().ok()?);
                Value::Span(Interval { months, days, micros: self.number()? })
            }
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
            10 => Value::Json(self.text()?),
            11 => {
                let count = self.count()?;
                Value::Array((0..count).map(|_| self.value()).collect::<Option<_>>()?)
            }
            _ => Value::Void,
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
    /// True if the disk never syncs.
    forgets: bool,
    /// The end of the log that is in memory only: a server that dies loses it.
    buffer: Vec<u8>,
}

impl Journal {
    /// The files on this disk; with `forgets` it never syncs.
    pub(crate) fn new(disk: Disk, forgets: bool) -> Journal {
        Journal { disk, locks: BTreeSet::new(), forgets, buffer: Vec::new() }
    }

    /// The changes that were committed in earlier lives, in order.
    pub(crate) fn records(&self) -> Vec<Record> {
        Record::decode(&self.disk.read(LOG))
    }

    /// The bytes of the log from its record of this number on, and how many records it has.
    pub(crate) fn tail(&self, from: u64) -> (Vec<u8>, u64) {
        let bytes = self.disk.read(LOG);
        let (mut reader, mut count, mut start) = (Reader(&bytes), 0, None);
        loop {
            if count == from {
                start = Some(bytes.len() - reader.0.len());
            }
            if reader.record().is_none() {
                break;
            }
            count += 1;
        }
        (bytes[start.unwrap_or(bytes.len())..].to_vec(), count)
    }

    /// The locks that were held at the end of the last life.
    pub(crate) fn locked(&self) -> Vec<Key> {
        let bytes = self.disk.read(LOCKS);
        let mut reader = Reader(&bytes);
        std::iter::from_fn(|| reader.text()).map(|key| Key::new(&key)).collect()
    }

    /// Begins a life with these records as its log, and with the locks that were noted before.
    pub(crate) fn begin(&self, records: &[Record]) {
        self.disk.write(LOG, &Record::encode_all(records));
        if !self.forgets {
            self.disk.sync(LOG);
        }
        self.keep_locks();
    }

    /// Begins a life with the log as it is.
    pub(crate) fn resume(&self) {
        self.keep_locks();
    }

    /// Adds records to the log, in memory.
    pub(crate) fn append(&mut self, records: &[Record]) {
        records.iter().for_each(|record| record.encode(&mut self.buffer));
    }

    /// Brings the log to the disk: what was not there yet.
    pub(crate) fn flush(&mut self) -> Vec<u8> {
        let bytes = std::mem::take(&mut self.buffer);
        if !bytes.is_empty() {
            self.disk.append(LOG, &bytes);
            if !self.forgets {
                self.disk.sync(LOG);
            }
        }
        bytes
    }

    /// Notes that the server leads from now on.
    pub(crate) fn promote(&self) {
        self.disk.write(PROMOTED, b"2");
        self.disk.sync(PROMOTED);
    }

    /// True if this is the first life of the server; it is no more by that.
    pub(crate) fn begins(&self) -> bool {
        let is_first = self.disk.read(STARTED).is_empty();
        self.disk.write(STARTED, b"yes");
        self.disk.sync(STARTED);
        is_first
    }

    /// True if it was promoted in an earlier life.
    pub(crate) fn was_promoted(&self) -> bool {
        !self.disk.read(PROMOTED).is_empty()
    }

    /// Notes a lock that was taken or given back.
    pub(crate) fn note(&mut self, event: &What) {
        let changed = match event {
            What::Created { key } => self.locks.insert(key.clone()),
            What::Deleted { key } | What::Expired { key, .. } => self.locks.remove(key),
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
        ];
        let keys = vec![TableKey { name: "t_pkey".into(), primary: true, columns: vec![0] }];
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
            Value::Json("{}".into()),
            Value::Array(vec![Value::Int(1), Value::Null]),
        ];
        let records = [
            Record::table(Arc::new(Schema { name: "t".into(), columns, keys })),
            Record::sequence("s".into(), Sequence::new(1, 2, Some(34)).cycling(true)),
            Record::domain("d".into(), Type::Text),
            Record::row(place.clone(), Some(values.into())),
            Record::row(place, None),
            Record::commit(),
        ];
        assert_eq!(Record::decode(&Record::encode_all(&records)), records);
    }
}
