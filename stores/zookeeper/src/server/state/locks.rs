//! The locks that stand in the tree, for the trace: a lock is a node with sequential ephemeral nodes under it, and the one with the lowest number
//! holds it; any other ephemeral node is a lock of its own.
//!
//! *Source:* ZooKeeper's recipes for locks and leader election: each makes a node, and waits until those before it are gone.

use std::collections::BTreeMap;

use picklock_model::ids::{Key, Origin};
use picklock_model::trace::What;

use super::paths;
use super::tree::{Change, Tree};
use crate::messages::event;

/// The locks of a store, as far as they are held.
#[derive(Debug, Default)]
pub(crate) struct Locks {
    /// The node that holds each of them, by the path of the lock.
    held: BTreeMap<String, String>,
    /// The messages that have made the nodes.
    made_by: BTreeMap<String, Origin>,
}

/// What brings a change about.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cause {
    /// The message.
    pub(crate) origin: Origin,
    /// How long ago the session ran out whose end it is, in nanoseconds. None for another change.
    pub(crate) overdue_ns: Option<u64>,
}

/// The lock that a node is for.
fn lock_of(path: &str) -> Option<String> {
    let (parent, name) = paths::split(path)?;
    Some(if paths::sequence(name).is_some() { parent.to_owned() } else { path.to_owned() })
}

/// The name of a lock: its path without the first slash.
fn named(lock: &str) -> Key {
    Key::new(lock.strip_prefix('/').unwrap_or(lock))
}

/// The node that holds a lock.
fn holder(tree: &Tree, lock: &str) -> Option<String> {
    let is_ephemeral = |path: &str| tree.get(path).is_some_and(|node| node.owner > 0);
    if is_ephemeral(lock) {
        return Some(lock.to_owned());
    }
    let prefix = lock.strip_suffix('/').unwrap_or(lock);
    let children = tree.get(lock)?.children.iter();
    let numbered = children.filter_map(|name| Some((paths::sequence(name)?, format!("{prefix}/{name}"))));
    numbered.filter(|(_, path)| is_ephemeral(path)).min().map(|(_, path)| path)
}

impl Locks {
    /// What these changes mean for locks.
    pub(crate) fn after(&mut self, tree: &Tree, changes: &[Change], by: Cause) -> Vec<(Origin, What)> {
        let mut touched: Vec<String> = Vec::new();
        let nodes = changes.iter().filter(|change| matches!(change.kind, event::CREATED | event::DELETED));
        for Change { kind, path, .. } in nodes {
            let Some(lock) = lock_of(path) else { continue };
            if *kind == event::CREATED {
                if tree.get(path).is_none_or(|node| node.owner <= 0) {
                    continue;
                }
                self.made_by.insert(path.clone(), by.origin);
            } else if !self.held.contains_key(&lock) {
                continue;
            }
            if !touched.contains(&lock) {
                touched.push(lock);
            }
        }
        let said: Vec<(Origin, What)> =
            touched.iter().flat_map(|lock| self.look_at(tree, lock, by)).collect();
        if !touched.is_empty() {
            self.made_by.retain(|path, _| tree.get(path).is_some());
        }
        said
    }

    /// All locks of a tree that comes from elsewhere.
    pub(crate) fn anew(&mut self, tree: &Tree) -> Vec<(Origin, What)> {
        let ephemeral = tree.all().filter(|(_, node)| node.owner > 0);
        let mut locks: Vec<String> = ephemeral.filter_map(|(path, _)| lock_of(path)).collect();
        locks.extend(self.held.keys().cloned());
        locks.sort_unstable();
        locks.dedup();
        locks.iter().flat_map(|lock| self.look_at(tree, lock, Cause::default())).collect()
    }

    /// Who holds a lock now, and what has changed by that.
    fn look_at(&mut self, tree: &Tree, lock: &str, by: Cause) -> Vec<(Origin, What)> {
        let first = holder(tree, lock);
        let before = self.held.get(lock);
        if before == first.as_ref() {
            return Vec::new();
        }
        let mut said = Vec::new();
        if before.is_some() {
            let key = named(lock);
            said.push(match by.overdue_ns {
                Some(overdue_ns) => (Origin::default(), What::Expired { key, overdue_ns }),
                None => (by.origin, What::Deleted { key }),
            });
        }
        match first {
            Some(first) => {
                let made_by = self.made_by.get(&first).copied().unwrap_or_default();
                said.push((made_by, What::Created { key: named(lock) }));
                self.held.insert(lock.to_owned(), first);
            }
            None => drop(self.held.remove(lock)),
        }
        said
    }

    /// The locks that a session holds, which this message keeps alive, each with in whose service that is: a session is kept alive for all that
    /// hangs on it, so a sign of life of the client that has made a node is in the service of what it has made it for.
    pub(crate) fn of_session(&self, tree: &Tree, session: i64, by: Origin) -> Vec<(Origin, Key)> {
        let held = tree.ephemerals(session).filter_map(|path| {
            let lock = lock_of(path).filter(|lock| self.held.get(lock).is_some_and(|held| held == path))?;
            let made = self.made_by.get(path).and_then(|origin| origin.grant);
            let is_own = made.zip(by.grant).is_some_and(|(made, by)| made.client == by.client);
            Some((Origin { grant: if is_own { made } else { by.grant }, ..by }, named(&lock)))
        });
        held.collect()
    }
}
