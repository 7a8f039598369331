//! The versions of all rows, and the transactions under way.
//!
//! A row may be locked by several transactions (FOR SHARE), and changed by one. Who wants to lock or change it has to wait for the
//! end of those that are in its way; afterwards it finds the row unchanged, or another version of it, or none.
//!
//! An insertion waits for a transaction that is just inserting, changing or deleting a row of the same key; a mere lock does
//! not concern it.
//!
//! Source: PostgreSQL 15, `heap_lock_tuple` and `heap_update` in `access/heap/heapam.c`, `_bt_check_unique` in
//! `access/nbtree/nbtinsert.c`.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::catalogue::{Catalogue, Table};
use super::schema::{Key, Schema};
use super::version::{Actor, Death, Mark, Place, Row, Snapshot, Stamp, Tid, Version, Xid};
use crate::protocol::Value;
use crate::server::sql::Strength;

#[derive(Default)]
pub(crate) struct Heap {
    pub(crate) catalogue: Catalogue,
    open: BTreeMap<Xid, Open>,
    last_xid: u64,
    last_tid: u64,
    /// The number of the last commit.
    commits: u64,
    /// The versions that died, by the number of the commit.
    dead: VecDeque<(u64, Place)>,
}

/// A transaction or a part of one.
struct Open {
    top: Xid,
    parent: Option<Xid>,
    touched: Vec<Place>,
}

/// The outcome of an attempt to lock or to change a version.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Attempt {
    /// Nobody is in the way.
    Ready,
    /// This transaction is; `member`: the one that asks has a weaker lock of the version.
    Busy { xid: Xid, member: bool },
    /// It died, and this version followed.
    Updated(Tid),
    /// It died, and none followed.
    Deleted,
    /// The transaction itself has changed it.
    Own,
}

/// The outcome of a look into a unique index.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unique {
    Free,
    /// There is such a row.
    Taken(Tid),
    /// This transaction will decide whether there is.
    Busy(Xid),
}

/// The effects of a commit.
#[derive(Debug, Default)]
pub(crate) struct Ended {
    /// The tables that are there for good.
    pub(crate) created: Vec<Arc<Schema>>,
    /// The versions that are there for good, and true for one that replaced another.
    pub(crate) born: Vec<(Place, Row, bool)>,
    /// The versions that are gone for good.
    pub(crate) died: Vec<(Place, Row)>,
}

impl Heap {
    /// Begins a transaction, or a part of one.
    pub(crate) fn begin(&mut self, parent: Option<Xid>) -> Xid {
        self.last_xid += 1;
        let xid = Xid(self.last_xid);
        let top = parent.map_or(xid, |parent| self.top(parent).unwrap_or(parent));
        self.open.insert(xid, Open { top, parent, touched: Vec::new() });
        xid
    }

    /// The transaction that a part belongs to, while it is open.
    pub(crate) fn top(&self, xid: Xid) -> Option<Xid> {
        self.open.get(&xid).map(|open| open.top)
    }

    pub(crate) fn commits(&self) -> u64 {
        self.commits
    }

    fn touch(&mut self, xid: Xid, place: &Place) {
        if let Some(open) = self.open.get_mut(&xid) {
            open.touched.push(place.clone());
        }
    }

    /// The versions of a table that a snapshot sees: all, or those with these values in a unique index.
    pub(crate) fn scan(&self, table: &str, snapshot: &Snapshot, key: Option<(usize, &[Value])>) -> Vec<Tid> {
        let Some(table) = self.catalogue.table(table) else { return Vec::new() };
        match key {
            Some((key, values)) => {
                let found = table.indexed(key, values).iter().copied();
                found
                    .filter(|tid| table.version(*tid).is_some_and(|version| snapshot.sees(version)))
                    .collect()
            }
            None => {
                table.versions().filter(|(_, version)| snapshot.sees(version)).map(|(tid, _)| tid).collect()
            }
        }
    }

    pub(crate) fn row(&self, place: &Place) -> Option<Row> {
        self.catalogue.version(place).map(|version| Arc::clone(&version.row))
    }

    /// Asks whether a transaction can lock a version so strongly.
    pub(crate) fn attempt(&self, top: Xid, place: &Place, strength: Strength) -> Attempt {
        let Some(version) = self.catalogue.version(place) else { return Attempt::Deleted };
        let member = version.marks.iter().any(|mark| mark.top == top);
        if let Some(death) = &version.death {
            return match death.stamp {
                Stamp::Done(_) => death.next.map_or(Attempt::Deleted, Attempt::Updated),
                Stamp::Open { top: other, .. } if other == top => Attempt::Own,
                Stamp::Open { xid, .. } => Attempt::Busy { xid, member },
            };
        }
        if version.marks.iter().any(|mark| mark.top == top && mark.strength >= strength) {
            return Attempt::Ready;
        }
        let blocks = |mark: &&Mark| mark.top != top && mark.strength.conflicts(strength);
        match version.marks.iter().find(blocks) {
            Some(mark) => Attempt::Busy { xid: mark.xid, member },
            None => Attempt::Ready,
        }
    }

    /// The transaction that is just changing or deleting a version.
    pub(crate) fn changer(&self, top: Xid, place: &Place) -> Option<Xid> {
        match self.catalogue.version(place)?.death.as_ref()?.stamp {
            Stamp::Open { xid, top: other, .. } if other != top => Some(xid),
            _ => None,
        }
    }

    /// True if the transaction's own statement of this number, or a later one, made the version.
    pub(crate) fn is_of_command(&self, actor: Actor, place: &Place) -> bool {
        let born = self.catalogue.version(place).map(|version| version.born);
        matches!(born, Some(Stamp::Open { top, command, .. }) if top == actor.top && command >= actor.command)
    }

    /// True if a snapshot sees the version.
    pub(crate) fn sees(&self, snapshot: &Snapshot, place: &Place) -> bool {
        self.catalogue.version(place).is_some_and(|version| snapshot.sees(version))
    }

    /// Locks a version.
    pub(crate) fn mark(&mut self, actor: Actor, place: &Place, strength: Strength) {
        let Some(version) = self.catalogue.version_mut(place) else { return };
        let has = |mark: &Mark| mark.top == actor.top && mark.strength >= strength;
        if !version.marks.iter().any(has) {
            version.marks.push(Mark { xid: actor.xid, top: actor.top, strength });
            self.touch(actor.xid, place);
        }
    }

    /// Replaces a version, or deletes it: the version that follows.
    pub(crate) fn change(&mut self, actor: Actor, place: &Place, row: Option<Row>) -> Option<Tid> {
        let stamp = Stamp::Open { xid: actor.xid, top: actor.top, command: actor.command };
        let next = match row {
            None => None,
            Some(row) => {
                let inserted = self.catalogue.version(place)?.inserted.filter(|top| *top == actor.top);
                Some(self.add(actor, &place.table, row, inserted)?)
            }
        };
        let version = self.catalogue.version_mut(place)?;
        version.death = Some(Death { stamp, next });
        self.touch(actor.xid, place);
        next
    }

    /// Inserts a row that stands in no index yet.
    pub(crate) fn insert(&mut self, actor: Actor, table: &Arc<str>, row: Row) -> Option<Tid> {
        self.add(actor, table, row, Some(actor.top))
    }

    fn add(&mut self, actor: Actor, table: &Arc<str>, row: Row, inserted: Option<Xid>) -> Option<Tid> {
        self.last_tid += 1;
        let tid = Tid(self.last_tid);
        let born = Stamp::Open { xid: actor.xid, top: actor.top, command: actor.command };
        let version = Version { row, born, inserted, death: None, marks: Vec::new(), indexed: 0 };
        self.catalogue.table_mut(table)?.add(tid, version);
        self.touch(actor.xid, &Place { table: Arc::clone(table), tid });
        Some(tid)
    }

    /// Enters a version in the next index of its table.
    pub(crate) fn enter(&mut self, place: &Place) {
        if let Some(table) = self.catalogue.table_mut(&place.table) {
            table.enter(place.tid);
        }
    }

    /// In how many indexes a version stands.
    pub(crate) fn indexed(&self, place: &Place) -> usize {
        self.catalogue.version(place).map_or(0, |version| version.indexed)
    }

    /// Looks for another row with these values in a unique index.
    pub(crate) fn unique(
        &self,
        top: Xid,
        table: &str,
        key: usize,
        values: &[Value],
        but: Option<Tid>,
    ) -> Unique {
        let Some(table) = self.catalogue.table(table) else { return Unique::Free };
        for tid in table.indexed(key, values).iter().filter(|tid| Some(**tid) != but) {
            let Some(version) = table.version(*tid) else { continue };
            match version.born {
                Stamp::Open { xid, top: other, .. } if other != top => return Unique::Busy(xid),
                _ => {}
            }
            match version.death.as_ref().map(|death| death.stamp) {
                None => return Unique::Taken(*tid),
                Some(Stamp::Open { xid, top: other, .. }) if other != top => return Unique::Busy(xid),
                Some(_) => {}
            }
        }
        Unique::Free
    }

    /// True if no other transaction has touched a table.
    pub(crate) fn is_quiet(&self, top: Xid, table: &str) -> bool {
        let others = self.open.values().filter(|open| open.top != top);
        others.flat_map(|open| &open.touched).all(|place| *place.table != *table)
    }

    /// Creates a table; by no transaction if it was there before.
    pub(crate) fn create(&mut self, creator: Option<Actor>, schema: Arc<Schema>) {
        let creator = creator.map(|actor| (actor.top, actor.xid));
        self.catalogue.tables_mut().insert(Arc::clone(&schema.name), Table::new(schema, creator));
    }

    pub(crate) fn add_key(&mut self, table: &str, key: Key) {
        if let Some(table) = self.catalogue.table_mut(table) {
            table.add_key(key);
        }
    }

    /// Puts a committed version in its place, or takes it away.
    pub(crate) fn restore(&mut self, place: &Place, row: Option<Row>) {
        self.last_tid = self.last_tid.max(place.tid.0);
        let Some(table) = self.catalogue.table_mut(&place.table) else { return };
        let Some(row) = row else { return table.remove(place.tid) };
        let born = Stamp::Done(0);
        table.add(
            place.tid,
            Version { row, born, inserted: None, death: None, marks: Vec::new(), indexed: 0 },
        );
        for _ in 0..table.schema.keys.len() {
            table.enter(place.tid);
        }
    }

    /// True if a transaction has changed or locked a row, or made a table: it has a number of its own on a real server.
    pub(crate) fn has_touched(&self, top: Xid) -> bool {
        let made = |table: &Table| table.creator.is_some_and(|(creator, _)| creator == top);
        self.open.values().any(|open| open.top == top && !open.touched.is_empty())
            || self.catalogue.tables().any(made)
    }

    /// The effects that a transaction would have if it were committed now.
    pub(crate) fn pending(&self, top: Xid) -> Ended {
        let mut ended = Ended::default();
        let is_own = |stamp| matches!(stamp, Stamp::Open { top: other, .. } if other == top);
        let mut seen = Vec::new();
        for place in self.open.values().filter(|open| open.top == top).flat_map(|open| &open.touched) {
            let Some(version) = self.catalogue.version(place) else { continue };
            if seen.contains(&place) {
                continue;
            }
            seen.push(place);
            match (is_own(version.born), &version.death) {
                (true, None) => {
                    ended.born.push((place.clone(), Arc::clone(&version.row), version.inserted.is_none()));
                }
                (false, Some(death)) if is_own(death.stamp) => {
                    ended.died.push((place.clone(), Arc::clone(&version.row)));
                }
                _ => {}
            }
        }
        let made = |table: &&Table| table.creator.is_some_and(|(creator, _)| creator == top);
        ended.created.extend(self.catalogue.tables().filter(made).map(|table| Arc::clone(&table.schema)));
        ended
    }

    /// Commits a transaction.
    pub(crate) fn commit(&mut self, top: Xid) -> Ended {
        self.commits += 1;
        let mut ended = Ended::default();
        for place in self.take(&|_, open| open.top == top).into_iter().flat_map(|(_, open)| open.touched) {
            let commit = self.commits;
            let Some(version) = self.catalogue.version_mut(&place) else { continue };
            version.marks.retain(|mark| mark.top != top);
            let is_own = |stamp| matches!(stamp, Stamp::Open { top: other, .. } if other == top);
            let born = is_own(version.born);
            let died = version.death.as_ref().is_some_and(|death| is_own(death.stamp));
            if born {
                version.born = Stamp::Done(commit);
            }
            if let Some(death) = version.death.as_mut().filter(|_| died) {
                death.stamp = Stamp::Done(commit);
                self.dead.push_back((commit, place.clone()));
            }
            let inserted = version.inserted.take().is_some();
            match (born, version.death.is_some()) {
                (true, false) => ended.born.push((place, Arc::clone(&version.row), !inserted)),
                (false, true) if died => ended.died.push((place, Arc::clone(&version.row))),
                // It was born and it died in the same commit, or it was only locked.
                _ => {}
            }
        }
        for table in self.catalogue.tables_mut().values_mut() {
            if table.creator.is_some_and(|(creator, _)| creator == top) {
                table.creator = None;
                ended.created.push(Arc::clone(&table.schema));
            }
        }
        ended
    }

    /// Undoes a transaction, or a part of one with the parts in it: these were its parts.
    pub(crate) fn abort(&mut self, xid: Xid) -> Vec<Xid> {
        let mut gone = vec![xid];
        // A part is younger than what it is a part of.
        for (part, open) in &self.open {
            if open.parent.is_some_and(|parent| gone.contains(&parent)) {
                gone.push(*part);
            }
        }
        let parts = self.take(&|xid, _| gone.contains(&xid));
        for place in parts.into_iter().rev().flat_map(|(_, open)| open.touched.into_iter().rev()) {
            let Some(table) = self.catalogue.table_mut(&place.table) else { continue };
            let Some(version) = table.version_mut(place.tid) else { continue };
            let is_gone = |stamp| matches!(stamp, Stamp::Open { xid, .. } if gone.contains(&xid));
            if is_gone(version.born) {
                table.remove(place.tid);
                continue;
            }
            version.marks.retain(|mark| !gone.contains(&mark.xid));
            if version.death.as_ref().is_some_and(|death| is_gone(death.stamp)) {
                version.death = None;
            }
        }
        let stays = |table: &Table| table.creator.is_none_or(|(_, creator)| !gone.contains(&creator));
        self.catalogue.tables_mut().retain(|_, table| stays(table));
        gone
    }

    /// Takes transactions and parts out of those that are open.
    fn take(&mut self, which: &dyn Fn(Xid, &Open) -> bool) -> Vec<(Xid, Open)> {
        let xids: Vec<Xid> =
            self.open.iter().filter(|(xid, open)| which(**xid, open)).map(|(xid, _)| *xid).collect();
        xids.into_iter().filter_map(|xid| Some((xid, self.open.remove(&xid)?))).collect()
    }

    /// Removes dead versions that no snapshot sees; `oldest` is the number of commits that the oldest one sees.
    pub(crate) fn vacuum(&mut self, oldest: Option<u64>) {
        let oldest = oldest.unwrap_or(self.commits);
        while let Some((_, place)) = self.dead.pop_front_if(|(commit, _)| *commit <= oldest) {
            if let Some(table) = self.catalogue.table_mut(&place.table) {
                table.remove(place.tid);
            }
        }
    }
}
