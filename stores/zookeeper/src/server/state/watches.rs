//! The watches of nodes. A watch ends with the first event, unless it was asked to stay; the watches of a connection end with it.
//!
//! *Source:* `WatchManager`, `DataTree.setWatches` of ZooKeeper 3.8.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Change;
use crate::messages::{event, watch_kind, watch_mode};

/// How long a watch stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Until the first event.
    Once,
    Persistent,
    /// Also for all nodes below, as far as they come, go and change.
    Recursive,
}

impl Mode {
    /// The mode of this number, for one that stays.
    pub(crate) fn of(number: i32) -> Option<Mode> {
        match number {
            watch_mode::PERSISTENT => Some(Mode::Persistent),
            watch_mode::PERSISTENT_RECURSIVE => Some(Mode::Recursive),
            _ => None,
        }
    }
}

/// The watches of one kind: by path, who watches and how long.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    by_path: BTreeMap<String, BTreeMap<u64, Mode>>,
}

/// All watches of a member.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    /// Of nodes, whether they are there or not.
    pub(crate) data: Table,
    /// Of the children of nodes.
    pub(crate) children: Table,
}

impl Table {
    pub(crate) fn add(&mut self, path: &str, connection: u64, mode: Mode) {
        self.by_path.entry(path.to_owned()).or_default().insert(connection, mode);
    }

    fn remove(&mut self, path: &str, connection: u64) -> bool {
        let Some(of_path) = self.by_path.get_mut(path) else { return false };
        let was_there = of_path.remove(&connection).is_some();
        if of_path.is_empty() {
            self.by_path.remove(path);
        }
        was_there
    }

    /// True if anybody watches the path: the real one looks no closer.
    fn has(&self, path: &str) -> bool {
        self.by_path.contains_key(path)
    }

    fn forget(&mut self, connection: u64) {
        self.by_path.retain(|_, of_path| {
            of_path.remove(&connection);
            !of_path.is_empty()
        });
    }

    /// Who hears of an event at this path; those who asked for one event are forgotten.
    fn trigger(&mut self, path: &str, kind: i32) -> BTreeSet<u64> {
        let mut hear = BTreeSet::new();
        if let Some(of_path) = self.by_path.get_mut(path) {
            let is_meant = |mode: Mode| mode != Mode::Recursive || kind != event::CHILDREN_CHANGED;
            hear.extend(
                of_path.iter().filter(|(_, mode)| is_meant(**mode)).map(|(connection, _)| *connection),
            );
            of_path.retain(|_, mode| *mode != Mode::Once);
            if of_path.is_empty() {
                self.by_path.remove(path);
            }
        }
        if kind != event::CHILDREN_CHANGED {
            for of_path in parents(path).filter_map(|parent| self.by_path.get(parent)) {
                let recursive = of_path.iter().filter(|(_, mode)| **mode == Mode::Recursive);
                hear.extend(recursive.map(|(connection, _)| *connection));
            }
        }
        hear
    }
}

impl Watches {
    /// Who hears of a change.
    pub(crate) fn hear_of(&mut self, change: &Change) -> BTreeSet<u64> {
        match change.kind {
            event::CHILDREN_CHANGED => self.children.trigger(&change.path, change.kind),
            event::DELETED => {
                let mut hear = self.data.trigger(&change.path, change.kind);
                hear.extend(self.children.trigger(&change.path, change.kind));
                hear
            }
            _ => self.data.trigger(&change.path, change.kind),
        }
    }

    pub(crate) fn stay(&mut self, path: &str, connection: u64, mode: Mode) {
        self.data.add(path, connection, mode);
        self.children.add(path, connection, mode);
    }

    /// Removes watches of a kind. False if there were none; none if there is no such kind.
    pub(crate) fn remove(&mut self, path: &str, kind: i32, connection: u64) -> Option<bool> {
        match kind {
            watch_kind::CHILDREN => Some(self.children.remove(path, connection)),
            watch_kind::DATA => Some(self.data.remove(path, connection)),
            watch_kind::ANY => {
                let of_children = self.children.remove(path, connection);
                Some(self.data.remove(path, connection) || of_children)
            }
            _ => None,
        }
    }

    /// True if there are watches of a kind; none if there is no such kind.
    pub(crate) fn has(&self, path: &str, kind: i32) -> Option<bool> {
        match kind {
            watch_kind::CHILDREN => Some(self.children.has(path)),
            watch_kind::DATA => Some(self.data.has(path)),
            watch_kind::ANY => Some(self.children.has(path) || self.data.has(path)),
            _ => None,
        }
    }

    pub(crate) fn forget(&mut self, connection: u64) {
        self.data.forget(connection);
        self.children.forget(connection);
    }
}

/// The paths above a path, the nearest first.
fn parents(path: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(parent(path), |path| parent(path))
}

fn parent(path: &str) -> Option<&str> {
    match path.rfind('/')? {
        0 if path.len() == 1 => None,
        0 => Some("/"),
        at => Some(&path[..at]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(kind: i32, path: &str) -> Change {
        Change { kind, path: path.to_owned(), is_readable: true }
    }

    #[test]
    fn a_watch_ends_with_its_first_event_unless_it_stays() {
        let mut watches = Watches::default();
        watches.data.add("/a", 1, Mode::Once);
        watches.stay("/a", 2, Mode::Persistent);
        assert_eq!(watches.hear_of(&change(event::DATA_CHANGED, "/a")), BTreeSet::from([1, 2]));
        assert_eq!(watches.hear_of(&change(event::DATA_CHANGED, "/a")), BTreeSet::from([2]));
    }

    #[test]
    fn a_recursive_watch_hears_of_all_below_but_of_no_children() {
        let mut watches = Watches::default();
        watches.stay("/", 1, Mode::Recursive);
        assert_eq!(watches.hear_of(&change(event::CREATED, "/a/b")), BTreeSet::from([1]));
        assert_eq!(watches.hear_of(&change(event::CHILDREN_CHANGED, "/a")), BTreeSet::new());
        assert_eq!(watches.hear_of(&change(event::CHILDREN_CHANGED, "/")), BTreeSet::new());
    }

    #[test]
    fn who_watches_a_node_and_its_children_hears_once_of_its_end() {
        let mut watches = Watches::default();
        watches.data.add("/a", 1, Mode::Once);
        watches.children.add("/a", 1, Mode::Once);
        assert_eq!(watches.hear_of(&change(event::DELETED, "/a")), BTreeSet::from([1]));
        assert_eq!(watches.hear_of(&change(event::CHILDREN_CHANGED, "/a")), BTreeSet::new());
    }
}
