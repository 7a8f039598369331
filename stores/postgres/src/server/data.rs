//! Tables, their rows, and who has locked them.
//!
//! A row has its last committed version, which everybody reads, and at most one transaction that has locked it, which
//! alone sees what it has made of it. Who wants to lock a locked row stands in its queue. PostgreSQL keeps old versions
//! for transactions that began earlier; at READ COMMITTED a statement reads what is committed when it begins, so that one
//! is enough.
//!
//! The queue is first come, first served. PostgreSQL's is so too for the row as it is; after the holder changed the row
//! the waiters queue anew for its new version, in the order in which the kernel happens to run them.
//!
//! An insertion of a row whose key another transaction is just inserting, changing or deleting waits for the end of that
//! transaction; a mere lock does not concern it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use crate::protocol::{Type, Value};

/// A transaction that has an effect or waits for one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct TxnId(pub(crate) u64);

/// The values of a row, in the order of its columns.
pub(crate) type Row = Arc<[Value]>;

/// The columns and the key of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Schema {
    pub(crate) name: Arc<str>,
    pub(crate) columns: Vec<Column>,
    /// The index of the primary key.
    pub(crate) key: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Column {
    pub(crate) name: String,
    pub(crate) ty: Type,
    pub(crate) not_null: bool,
    pub(crate) default: Value,
}

/// A row by its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RowRef {
    pub(crate) table: Arc<str>,
    pub(crate) key: Value,
}

/// A row as a statement found it when it began: it is another row once it was deleted and inserted again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) row: RowRef,
    creation: Creation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Creation {
    /// Inserted by the transaction itself.
    Own,
    Committed(u64),
}

#[derive(Default)]
pub(crate) struct Database {
    tables: BTreeMap<Arc<str>, Table>,
    /// The rows that each transaction has locked, in that order.
    held: BTreeMap<TxnId, Vec<RowRef>>,
    /// The waits of transactions.
    waits: BTreeMap<TxnId, Wait>,
    creations: u64,
}

struct Table {
    schema: Arc<Schema>,
    /// The transaction that has created it, until that is committed.
    creator: Option<TxnId>,
    rows: BTreeMap<Value, Slot>,
}

#[derive(Default)]
struct Slot {
    committed: Option<Version>,
    holder: Option<Holder>,
    /// The transactions that wait to lock it.
    queue: VecDeque<TxnId>,
    /// The transactions that wait to learn whether there will be such a row.
    inserters: Vec<TxnId>,
}

struct Version {
    creation: u64,
    row: Row,
}

struct Holder {
    txn: TxnId,
    /// True once it was reported as a lock.
    reported: bool,
    pending: Pending,
}

enum Pending {
    /// Locked and not changed.
    Nothing,
    Changed(Row),
    /// New, perhaps in the place of one that the same transaction deleted.
    Inserted(Row),
    Deleted,
}

#[derive(Clone)]
struct Wait {
    row: RowRef,
    inserts: bool,
}

/// The outcome of an attempt to lock a row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Locked {
    /// It is locked by this transaction; `first` if it was not reported before.
    Yes { first: bool },
    /// Another transaction has it.
    Busy,
    /// It is not there any more.
    Gone,
}

/// The outcome of an attempt to insert a row.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Inserted {
    Yes,
    /// There is such a row.
    Conflict,
    /// Another transaction will decide whether there is.
    Busy,
}

/// A row as a committed transaction has left it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    pub(crate) row: RowRef,
    /// None if it was deleted.
    pub(crate) values: Option<Row>,
    /// True if there was no such row before.
    pub(crate) inserted: bool,
}

/// The effects of the end of a transaction.
#[derive(Default)]
pub(crate) struct Ended {
    /// The tables that it has created for good.
    pub(crate) created: Vec<Arc<Schema>>,
    /// The rows that it has changed for good.
    pub(crate) changed: Vec<Change>,
    /// The locks that were reported.
    pub(crate) unlocked: Vec<RowRef>,
    /// Whose wait is over.
    pub(crate) woken: Vec<TxnId>,
}

impl Slot {
    /// The version that a transaction sees.
    fn seen_by(&self, txn: TxnId) -> Option<(Creation, &Row)> {
        let committed = || self.committed.as_ref().map(|it| (Creation::Committed(it.creation), &it.row));
        match self.holder.as_ref().filter(|holder| holder.txn == txn).map(|holder| &holder.pending) {
            None | Some(Pending::Nothing) => committed(),
            Some(Pending::Changed(row)) => committed().map(|(creation, _)| (creation, row)),
            Some(Pending::Inserted(row)) => Some((Creation::Own, row)),
            Some(Pending::Deleted) => None,
        }
    }
}

impl Database {
    /// The table of this name that a transaction sees.
    pub(crate) fn schema(&self, txn: TxnId, table: &str) -> Option<&Arc<Schema>> {
        let table = self.tables.get(table)?;
        table.creator.is_none_or(|creator| creator == txn).then_some(&table.schema)
    }

    /// The table of this name, whoever sees it.
    pub(crate) fn any_schema(&self, table: &str) -> Option<&Schema> {
        self.tables.get(table).map(|table| &*table.schema)
    }

    /// True if another transaction has created a table of this name and is not committed.
    pub(crate) fn is_being_created(&self, table: &str) -> bool {
        self.tables.get(table).is_some_and(|table| table.creator.is_some())
    }

    /// Creates a table; by no transaction if it was there before.
    pub(crate) fn create(&mut self, creator: Option<TxnId>, schema: Arc<Schema>) {
        let name = Arc::clone(&schema.name);
        self.tables.insert(name, Table { schema, creator, rows: BTreeMap::new() });
    }

    /// Puts a committed row in its place.
    pub(crate) fn restore(&mut self, row: RowRef, values: Option<Row>) {
        self.creations += 1;
        let creation = self.creations;
        let Some(table) = self.tables.get_mut(&row.table) else { return };
        match values {
            Some(values) => {
                let committed = Some(Version { creation, row: values });
                table.rows.insert(row.key, Slot { committed, ..Slot::default() });
            }
            None => {
                table.rows.remove(&row.key);
            }
        }
    }

    /// Every table and every committed row in it.
    pub(crate) fn committed(&self) -> impl Iterator<Item = (&Arc<Schema>, impl Iterator<Item = &Row>)> {
        let tables = self.tables.values().filter(|table| table.creator.is_none());
        tables.map(|table| {
            let rows = table.rows.values().filter_map(|slot| Some(&slot.committed.as_ref()?.row));
            (&table.schema, rows)
        })
    }

    /// The rows that a transaction sees, by key: all, or that of one key.
    pub(crate) fn rows(&self, txn: TxnId, table: &Arc<str>, key: Option<&Value>) -> Vec<(Found, Row)> {
        let Some(rows) = self.tables.get(table).map(|table| &table.rows) else { return Vec::new() };
        let found = |(key, slot): (&Value, &Slot)| {
            let (creation, row) = slot.seen_by(txn)?;
            let name = RowRef { table: Arc::clone(table), key: key.clone() };
            Some((Found { row: name, creation }, Arc::clone(row)))
        };
        match key {
            Some(key) => rows.get_key_value(key).and_then(found).into_iter().collect(),
            None => rows.iter().filter_map(found).collect(),
        }
    }

    /// The row as a transaction sees it now.
    pub(crate) fn seen(&self, txn: TxnId, row: &RowRef) -> Option<Row> {
        self.slot(row)?.seen_by(txn).map(|(_, row)| Arc::clone(row))
    }

    fn slot(&self, row: &RowRef) -> Option<&Slot> {
        self.tables.get(&row.table)?.rows.get(&row.key)
    }

    fn slot_mut(&mut self, row: &RowRef) -> Option<&mut Slot> {
        self.tables.get_mut(&row.table)?.rows.get_mut(&row.key)
    }

    /// Locks a row if it is free. `reports`: by a statement whose purpose that is.
    pub(crate) fn lock(&mut self, txn: TxnId, found: &Found, reports: bool) -> Locked {
        let Some(slot) = self.slot_mut(&found.row) else { return Locked::Gone };
        let first = match &mut slot.holder {
            Some(holder) if holder.txn == txn => reports && !std::mem::replace(&mut holder.reported, true),
            _ if slot.committed.as_ref().map(|it| Creation::Committed(it.creation))
                != Some(found.creation) =>
            {
                return Locked::Gone;
            }
            Some(_) => return Locked::Busy,
            None => {
                slot.holder = Some(Holder { txn, reported: reports, pending: Pending::Nothing });
                self.held.entry(txn).or_default().push(found.row.clone());
                reports
            }
        };
        Locked::Yes { first }
    }

    /// Changes a row that the transaction has locked, or deletes it.
    pub(crate) fn write(&mut self, txn: TxnId, row: &RowRef, values: Option<Row>) {
        let Some(holder) = self.slot_mut(row).and_then(|slot| slot.holder.as_mut()) else { return };
        debug_assert_eq!(holder.txn, txn, "only the holder of a row's lock changes it");
        holder.pending = match (values, &holder.pending) {
            (Some(values), Pending::Inserted(_)) => Pending::Inserted(values),
            (Some(values), _) => Pending::Changed(values),
            (None, _) => Pending::Deleted,
        };
    }

    /// Inserts a row unless there is one of its key.
    pub(crate) fn insert(&mut self, txn: TxnId, row: &RowRef, values: &Row) -> Inserted {
        let Some(table) = self.tables.get_mut(&row.table) else { return Inserted::Conflict };
        let slot = table.rows.entry(row.key.clone()).or_default();
        let pending = Pending::Inserted(Arc::clone(values));
        match &mut slot.holder {
            Some(holder) if holder.txn == txn => match holder.pending {
                Pending::Deleted => {
                    holder.pending = pending;
                    Inserted::Yes
                }
                _ => Inserted::Conflict,
            },
            Some(Holder { pending: Pending::Nothing, .. }) => Inserted::Conflict,
            Some(_) => Inserted::Busy,
            None if slot.committed.is_some() => Inserted::Conflict,
            None => {
                slot.holder = Some(Holder { txn, reported: false, pending });
                self.held.entry(txn).or_default().push(row.clone());
                Inserted::Yes
            }
        }
    }

    /// The transaction waits for a row: to lock it, or to learn whether it can insert it.
    pub(crate) fn wait(&mut self, txn: TxnId, row: &RowRef, inserts: bool) {
        let Some(slot) = self.slot_mut(row) else { return };
        if inserts {
            slot.inserters.push(txn);
        } else {
            slot.queue.push_back(txn);
        }
        self.waits.insert(txn, Wait { row: row.clone(), inserts });
    }

    /// The transaction waits no longer.
    fn leave(&mut self, txn: TxnId) {
        let Some(wait) = self.waits.remove(&txn) else { return };
        if let Some(slot) = self.slot_mut(&wait.row) {
            slot.queue.retain(|waiter| *waiter != txn);
            slot.inserters.retain(|waiter| *waiter != txn);
        }
    }

    /// True if the transaction waits, over others that wait, for itself.
    pub(crate) fn is_deadlocked(&self, txn: TxnId) -> bool {
        let mut reached = self.blockers(txn);
        let mut next = 0;
        while let Some(blocker) = reached.get(next).copied() {
            if blocker == txn {
                return true;
            }
            for further in self.blockers(blocker) {
                if !reached.contains(&further) {
                    reached.push(further);
                }
            }
            next += 1;
        }
        false
    }

    /// Those who must end before the transaction's wait does: the holder, and who stands before it in the queue.
    fn blockers(&self, txn: TxnId) -> Vec<TxnId> {
        let Some((wait, slot)) = self.waits.get(&txn).and_then(|wait| Some((wait, self.slot(&wait.row)?)))
        else {
            return Vec::new();
        };
        let ahead = slot.queue.iter().take_while(|waiter| !wait.inserts && **waiter != txn);
        slot.holder.iter().map(|holder| holder.txn).chain(ahead.copied()).collect()
    }

    /// Ends a transaction: what it made is there for everybody, or was never there.
    pub(crate) fn end(&mut self, txn: TxnId, commits: bool) -> Ended {
        let mut ended = Ended::default();
        self.leave(txn);
        for table in self.tables.values_mut().filter(|table| table.creator == Some(txn)) {
            if commits {
                table.creator = None;
                ended.created.push(Arc::clone(&table.schema));
            }
        }
        for row in self.held.remove(&txn).unwrap_or_default() {
            self.let_go(row, commits, &mut ended);
        }
        self.tables.retain(|_, table| table.creator != Some(txn));
        ended
    }

    fn let_go(&mut self, row: RowRef, commits: bool, ended: &mut Ended) {
        let creation = self.creations + 1;
        let Some(slot) = self.slot_mut(&row) else { return };
        let Some(holder) = slot.holder.take() else { return };
        if holder.reported {
            ended.unlocked.push(row.clone());
        }
        let mut same = slot.committed.is_some();
        match holder.pending {
            Pending::Changed(values) if commits => {
                let kept = Some(Arc::clone(&values));
                ended.changed.push(Change { row: row.clone(), values: kept, inserted: false });
                if let Some(version) = &mut slot.committed {
                    version.row = values;
                }
            }
            Pending::Inserted(values) if commits => {
                let (kept, inserted) = (Some(Arc::clone(&values)), slot.committed.is_none());
                ended.changed.push(Change { row: row.clone(), values: kept, inserted });
                slot.committed = Some(Version { creation, row: values });
                same = false;
            }
            Pending::Deleted if commits => {
                if slot.committed.take().is_some() {
                    ended.changed.push(Change { row: row.clone(), values: None, inserted: false });
                }
                same = false;
            }
            _ => {}
        }
        let mut over = std::mem::take(&mut slot.inserters);
        let mut heir = None;
        if same {
            heir = slot.queue.pop_front();
        } else {
            // What they wait for is not there any more: each has to see that.
            over.extend(slot.queue.drain(..));
        }
        if let Some(txn) = heir {
            slot.holder = Some(Holder { txn, reported: false, pending: Pending::Nothing });
        }
        let empty = slot.committed.is_none() && slot.holder.is_none();
        if empty && let Some(table) = self.tables.get_mut(&row.table) {
            table.rows.remove(&row.key);
        }
        self.creations = creation;
        if let Some(txn) = heir {
            self.held.entry(txn).or_default().push(row);
            over.push(txn);
        }
        for txn in over {
            self.waits.remove(&txn);
            ended.woken.push(txn);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: TxnId = TxnId(1);
    const B: TxnId = TxnId(2);
    const C: TxnId = TxnId(3);

    fn database() -> (Database, Arc<str>) {
        let name: Arc<str> = "t".into();
        let column = Column { name: "key".into(), ty: Type::Int8, not_null: true, default: Value::Null };
        let mut database = Database::default();
        let schema = Schema { name: Arc::clone(&name), columns: vec![column], key: 0 };
        database.create(None, Arc::new(schema));
        for key in [1, 2] {
            let row = RowRef { table: Arc::clone(&name), key: Value::Int(key) };
            database.restore(row, Some([Value::Int(key)].into()));
        }
        (database, name)
    }

    fn found(database: &Database, txn: TxnId, table: &Arc<str>, key: i64) -> Found {
        database.rows(txn, table, Some(&Value::Int(key))).remove(0).0
    }

    #[test]
    fn waiters_are_served_in_the_order_in_which_they_came() {
        let (mut database, table) = database();
        let row = found(&database, A, &table, 1);
        assert_eq!(database.lock(A, &row, true), Locked::Yes { first: true });
        assert_eq!(database.lock(A, &row, true), Locked::Yes { first: false });
        for waiter in [C, B] {
            assert_eq!(database.lock(waiter, &row, true), Locked::Busy);
            database.wait(waiter, &row.row, false);
        }
        assert_eq!(database.end(A, true).woken, [C]);
        assert_eq!(database.lock(C, &row, true), Locked::Yes { first: true });
        assert_eq!(database.end(C, false).woken, [B]);
    }

    #[test]
    fn a_row_inserted_again_is_another_row() {
        let (mut database, table) = database();
        let row = found(&database, A, &table, 1);
        database.lock(A, &row, false);
        database.write(A, &row.row, None);
        assert_eq!(database.insert(A, &row.row, &[Value::Int(1)].into()), Inserted::Yes);
        database.wait(B, &row.row, false);
        database.wait(C, &row.row, true);
        assert_eq!(database.end(A, true).woken, [C, B]);
        assert_eq!(database.lock(B, &row, true), Locked::Gone);
        assert_eq!(database.insert(C, &row.row, &[Value::Int(1)].into()), Inserted::Conflict);
    }

    #[test]
    fn a_cycle_of_waiters_is_a_deadlock_and_a_line_is_none() {
        let (mut database, table) = database();
        let (one, two) = (found(&database, A, &table, 1), found(&database, A, &table, 2));
        database.lock(A, &one, true);
        database.lock(B, &two, true);
        database.wait(A, &two.row, false);
        assert!(!database.is_deadlocked(A));
        database.wait(B, &one.row, false);
        database.wait(C, &one.row, false);
        assert!([A, B].iter().all(|txn| database.is_deadlocked(*txn)));
        assert!(!database.is_deadlocked(C), "it waits for a deadlock and is no part of it");
    }

    #[test]
    fn what_was_rolled_back_never_was() {
        let (mut database, table) = database();
        let row = RowRef { table: Arc::clone(&table), key: Value::Int(3) };
        assert_eq!(database.insert(A, &row, &[Value::Int(3)].into()), Inserted::Yes);
        assert_eq!(database.insert(B, &row, &[Value::Int(3)].into()), Inserted::Busy);
        database.wait(B, &row, true);
        assert_eq!(database.rows(B, &table, None).len(), 2);
        assert_eq!(database.end(A, false).woken, [B]);
        assert_eq!(database.insert(B, &row, &[Value::Int(3)].into()), Inserted::Yes);
    }
}
