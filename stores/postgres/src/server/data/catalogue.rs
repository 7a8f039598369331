//! The tables of a database and the versions in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::routine::Routine;
use super::schema::{Key, Schema};
use super::version::{Place, Row, Stamp, Tid, Version, Xid};
use crate::protocol::{Type, Value};

/// The versions in an index, by their values.
type Index = BTreeMap<Vec<Value>, Vec<Tid>>;

/// The OID of the first thing that somebody creates.
const FIRST_OID: u32 = 16_384;

pub(crate) struct Table {
    pub(crate) schema: Arc<Schema>,
    /// The transaction that has created it, and the part of it, until that is committed.
    pub(crate) creator: Option<(Xid, Xid)>,
    versions: BTreeMap<Tid, Version>,
    indexes: Vec<Index>,
}

#[derive(Default)]
pub(crate) struct Catalogue {
    tables: BTreeMap<Arc<str>, Table>,
    /// The domains and enums.
    types: BTreeMap<String, Type>,
    routines: BTreeMap<String, Arc<Routine>>,
}

impl Table {
    pub(super) fn new(schema: Arc<Schema>, creator: Option<(Xid, Xid)>) -> Table {
        let indexes = schema.keys.iter().map(|_| Index::new()).collect();
        Table { schema, creator, versions: BTreeMap::new(), indexes }
    }

    pub(super) fn versions(&self) -> impl Iterator<Item = (Tid, &Version)> {
        self.versions.iter().map(|(tid, version)| (*tid, version))
    }

    pub(super) fn version(&self, tid: Tid) -> Option<&Version> {
        self.versions.get(&tid)
    }

    pub(super) fn version_mut(&mut self, tid: Tid) -> Option<&mut Version> {
        self.versions.get_mut(&tid)
    }

    /// The versions with these values in the index of this number.
    pub(super) fn indexed(&self, key: usize, values: &[Value]) -> &[Tid] {
        self.indexes.get(key).and_then(|index| index.get(values)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn add(&mut self, tid: Tid, version: Version) {
        self.versions.insert(tid, version);
    }

    /// Enters a version in the next index.
    pub(super) fn enter(&mut self, tid: Tid) {
        let Some(version) = self.versions.get_mut(&tid) else { return };
        let at = version.indexed;
        version.indexed += 1;
        let values = self.schema.keys.get(at).and_then(|key| key.of(&version.row));
        if let (Some(values), Some(index)) = (values, self.indexes.get_mut(at)) {
            index.entry(values).or_default().push(tid);
        }
    }

    pub(super) fn remove(&mut self, tid: Tid) {
        let Some(version) = self.versions.remove(&tid) else { return };
        for (key, index) in self.schema.keys.iter().zip(&mut self.indexes).take(version.indexed) {
            let Some(values) = key.of(&version.row) else { continue };
            if let Some(tids) = index.get_mut(&values) {
                tids.retain(|other| *other != tid);
                if tids.is_empty() {
                    index.remove(&values);
                }
            }
        }
    }

    /// Adds an index with what is in the table.
    pub(super) fn add_key(&mut self, key: Key) {
        let mut index = Index::new();
        for (tid, version) in &mut self.versions {
            version.indexed += 1;
            if let Some(values) = key.of(&version.row) {
                index.entry(values).or_default().push(*tid);
            }
        }
        self.indexes.push(index);
        let mut schema = Schema::clone(&self.schema);
        schema.keys.push(key);
        self.schema = Arc::new(schema);
    }
}

impl Catalogue {
    /// The domain or enum of this name.
    pub(crate) fn ty(&self, name: &str) -> Option<Type> {
        self.types.get(name).copied()
    }

    pub(crate) fn define(&mut self, name: String, ty: Type) {
        self.types.insert(name, ty);
    }

    /// The OID of the next enum. A real server numbers other things besides.
    pub(crate) fn next_oid(&self) -> u32 {
        let oid = |ty: &Type| match ty {
            Type::Enum(enumeration) => Some(enumeration.oid),
            _ => None,
        };
        self.types.values().filter_map(oid).max().map_or(FIRST_OID, |last| last + 2)
    }

    pub(crate) fn types(&self) -> impl Iterator<Item = (&String, &Type)> {
        self.types.iter()
    }

    /// The function of this name that somebody has created.
    pub(crate) fn routine(&self, name: &str) -> Option<&Arc<Routine>> {
        self.routines.get(name)
    }

    pub(crate) fn add_routine(&mut self, routine: Arc<Routine>) {
        self.routines.insert(routine.name.clone(), routine);
    }

    pub(crate) fn routines(&self) -> impl Iterator<Item = &Arc<Routine>> {
        self.routines.values()
    }

    pub(crate) fn table(&self, name: &str) -> Option<&Table> {
        self.tables.get(name)
    }

    pub(super) fn table_mut(&mut self, name: &str) -> Option<&mut Table> {
        self.tables.get_mut(name)
    }

    pub(super) fn tables(&self) -> impl Iterator<Item = &Table> {
        self.tables.values()
    }

    pub(super) fn tables_mut(&mut self) -> &mut BTreeMap<Arc<str>, Table> {
        &mut self.tables
    }

    /// The table of this name that a transaction sees.
    pub(crate) fn schema(&self, top: Xid, name: &str) -> Option<&Arc<Schema>> {
        let table = self.tables.get(name)?;
        table.creator.is_none_or(|(creator, _)| creator == top).then_some(&table.schema)
    }

    /// The tables that a transaction sees.
    pub(crate) fn seen(&self, top: Xid) -> impl Iterator<Item = &Arc<Schema>> {
        let is_seen = move |table: &&Table| table.creator.is_none_or(|(creator, _)| creator == top);
        self.tables.values().filter(is_seen).map(|table| &table.schema)
    }

    /// The table of this name, whoever sees it.
    pub(crate) fn any_schema(&self, name: &str) -> Option<&Schema> {
        self.tables.get(name).map(|table| &*table.schema)
    }

    pub(crate) fn version(&self, place: &Place) -> Option<&Version> {
        self.tables.get(&place.table)?.version(place.tid)
    }

    pub(super) fn version_mut(&mut self, place: &Place) -> Option<&mut Version> {
        self.tables.get_mut(&place.table)?.version_mut(place.tid)
    }

    /// Every table and every committed row in it.
    pub(crate) fn committed(
        &self,
    ) -> impl Iterator<Item = (&Arc<Schema>, impl Iterator<Item = (Tid, &Row)>)> {
        let tables = self.tables.values().filter(|table| table.creator.is_none());
        tables.map(|table| {
            let alive = |version: &Version| {
                let dead = |stamp| matches!(stamp, Stamp::Done(_));
                dead(version.born) && !version.death.as_ref().is_some_and(|death| dead(death.stamp))
            };
            let rows = table.versions().filter(move |(_, version)| alive(version));
            (&table.schema, rows.map(|(tid, version)| (tid, &version.row)))
        })
    }
}
