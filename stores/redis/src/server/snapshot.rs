//! Snapshots of nodes: a dataset with its place in the replication stream, and back.

use crate::server::node::Node;
pub(crate) use crate::server::rdb::StreamAt;
use crate::server::rdb::{Aux, Content, RdbError, Saved, decode, encode};
use crate::server::store::{DATABASES, Entry, Store};

/// A dataset from a snapshot.
#[derive(Debug)]
pub(crate) struct Copy {
    pub(crate) store: Store,
    /// The moment of the replication stream that it is.
    pub(crate) stream: Option<StreamAt>,
}

/// A snapshot of a node.
pub(crate) fn of_node(node: &Node, aof_base: bool) -> Vec<u8> {
    let history = &node.replication.history;
    let upstream = node.replication.upstream.as_ref();
    // A replica resumes its primary's stream, which has selected a database; a primary says it anew.
    let selected = upstream.map_or_else(|| history.selected().unwrap_or(0), |upstream| upstream.selected);
    let stream = history.is_kept().then(|| StreamAt {
        db: u32::try_from(selected).ok(),
        id: history.id().as_bytes().to_vec(),
        offset: history.offset(),
    });
    let aux = Aux { ctime: node.now_s(), stream, aof_base };
    let mut databases: Vec<Vec<Saved<'_>>> = vec![Vec::new(); DATABASES];
    for (database, key, Entry { value, expires, record, .. }) in node.store.all() {
        databases[database].push(Saved { key, value, expires: *expires, record: *record });
    }
    encode(&aux, (0..).zip(databases.iter().map(|entries| entries.iter().copied())))
}

/// Reads a snapshot into an empty dataset. A primary leaves out what is dead by its clock.
pub(crate) fn load(bytes: &[u8], mut store: Store, primary: bool) -> Result<Copy, RdbError> {
    let Content { aux, entries } = decode(bytes)?;
    let now_ms = store.now_ms();
    for entry in entries {
        let database = usize::try_from(entry.db).ok().filter(|database| *database < DATABASES);
        store.selected =
            database.ok_or(RdbError::Corrupt("the snapshot has more databases than this node"))?;
        if primary && entry.expires.is_some_and(|when| when < now_ms) {
            continue;
        }
        store.put(&entry.key, Entry::new(entry.value, entry.expires, entry.record));
    }
    store.selected = 0;
    store.effects = Default::default();
    store.changes.clear();
    Ok(Copy { store, stream: aux.stream })
}
