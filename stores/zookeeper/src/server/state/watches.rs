//! The watches of nodes. A watch ends with the first event, unless it was asked to stay; the watches of a connection end with it.
//!
//! *Source:* `WatchManager`, `DataTree.setWatches` of ZooKeeper 3.8 and 3.9.

use std::collections::{BTreeMap, BTreeSet};

use super::tree::Change;
use crate::messages::{event, watch_kind, watch_mode};
use crate::version::Version;

/// How long a watch stays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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

/// The watches of one kind: by path, who watches and how long. Up to 3.8 a connection has one mode on a path, that of its last watch.
#[derive(Clone, Debug, Default)]
pub(crate) struct Table {
    by_path: BTreeMap<String, BTreeMap<u64, BTreeSet<Mode>>>,
    version: Version,
}

/// All watches of a member.
#[derive(Clone, Debug, Default)]
pub(crate) struct Watches {
    /// Of nodes, whether they are there or not.
    pub(crate) data: Table,
    /// Of the children of nodes.
    pub(crate) children: Table,
    version: Version,
}

impl Table {
    pub(crate) fn add(&mut self, path: &str, connection: u64, mode: Mode) {
        let modes = self.by_path.entry(path.to_owned()).or_default().entry(connection).or_default();
        if self.version == Version::V38 {
            modes.clear();
        }
        modes.insert(mode);
    }

    /// Removes the watches of a mode, or all.
    fn remove(&mut self, path: &str, connection: u64, mode: Option<Mode>) -> bool {
        let Some(of_path) = self.by_path.get_mut(path) else { return false };
        let Some(modes) = of_path.get_mut(&connection) else { return false };
        let before = modes.len();
        modes.retain(|other| mode.is_some_and(|mode| mode != *other));
        let were_there = modes.len() < before;
        self.tidy(path);
        were_there
    }

    /// Forgets a path that nobody watches, and those who do not watch it any more.
    fn tidy(&mut self, path: &str) {
        if let Some(of_path) = self.by_path.get_mut(path) {
            of_path.retain(|_, modes| !modes.is_empty());
            if of_path.is_empty() {
                self.by_path.remove(path);
            }
        }
    }

    /// True if a connection watches the path, in this mode or in any. Up to 3.8 the real one looks no closer than whether anybody does.
    fn has(&self, path: &str, connection: u64, mode: Option<Mode>) -> bool {
        let Some(of_path) = self.by_path.get(path) else { return false };
        let of_connection = of_path.get(&connection);
        self.version == Version::V38
            || of_connection.is_some_and(|modes| mode.is_none_or(|mode| modes.contains(&mode)))
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
            let is_meant = |mode: &Mode| *mode != Mode::Recursive || kind != event::CHILDREN_CHANGED;
            let meant = of_path.iter().filter(|(_, modes)| modes.iter().any(is_meant));
            hear.extend(meant.map(|(connection, _)| *connection));
            of_path.values_mut().for_each(|modes| _ = modes.remove(&Mode::Once));
            self.tidy(path);
        }
        if kind != event::CHILDREN_CHANGED {
            for of_path in parents(path).filter_map(|parent| self.by_path.get(parent)) {
                let recursive = of_path.iter().filter(|(_, modes)| modes.contains(&Mode::Recursive));
                hear.extend(recursive.map(|(connection, _)| *connection));
            }
        }
        hear
    }
}

/// The watches of a table that a kind means: none of them, those of any mode (`Some(None)`), or those of one.
type Meant = Option<Option<Mode>>;

impl Watches {
    pub(crate) fn new(version: Version) -> Watches {
        let table = || Table { version, ..Table::default() };
        Watches { data: table(), children: table(), version }
    }

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
        if self.version == Version::V38 || mode != Mode::Recursive {
            self.children.add(path, connection, mode);
        }
    }

    /// Removes watches of a kind. False if there were none; none if there is no such kind.
    pub(crate) fn remove(&mut self, path: &str, kind: i32, connection: u64) -> Option<bool> {
        let (children, data) = self.meant(kind)?;
        let of_children = children.is_some_and(|mode| self.children.remove(path, connection, mode));
        Some(data.is_some_and(|mode| self.data.remove(path, connection, mode)) || of_children)
    }

    /// True if there are watches of a kind; none if there is no such kind.
    pub(crate) fn has(&self, path: &str, kind: i32, connection: u64) -> Option<bool> {
        let (children, data) = self.meant(kind)?;
        let of_children = children.is_some_and(|mode| self.children.has(path, connection, mode));
        Some(data.is_some_and(|mode| self.data.has(path, connection, mode)) || of_children)
    }

    /// Which watches of children and which of data a kind means: those of a mode, or of any. Up to 3.8 there are no modes among the kinds.
    fn meant(&self, kind: i32) -> Option<(Meant, Meant)> {
        let once = (self.version == Version::V39).then_some(Mode::Once);
        match kind {
            watch_kind::CHILDREN => Some((Some(once), None)),
            watch_kind::DATA => Some((None, Some(once))),
            watch_kind::ANY => Some((Some(None), Some(None))),
            watch_kind::PERSISTENT if self.version == Version::V39 => {
                Some((Some(Some(Mode::Persistent)), Some(Some(Mode::Persistent))))
            }
            watch_kind::PERSISTENT_RECURSIVE if self.version == Version::V39 => {
                Some((None, Some(Some(Mode::Recursive))))
            }
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

    #[test]
    fn from_3_9_on_each_mode_stands_for_itself() {
        for (version, hears_again) in [(Version::V38, false), (Version::V39, true)] {
            let mut watches = Watches::new(version);
            watches.stay("/a", 1, Mode::Persistent);
            watches.data.add("/a", 1, Mode::Once);
            assert_eq!(watches.has("/a", watch_kind::DATA, 1), Some(true));
            assert_eq!(watches.hear_of(&change(event::DATA_CHANGED, "/a")), BTreeSet::from([1]));
            let again = watches.hear_of(&change(event::DATA_CHANGED, "/a"));
            assert_eq!(again.contains(&1), hears_again);
            assert_eq!(watches.has("/a", watch_kind::PERSISTENT, 1), hears_again.then_some(true));
        }
    }
}
