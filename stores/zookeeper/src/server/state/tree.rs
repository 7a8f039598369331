//! The tree of nodes, and the changes of it: each takes effect as a whole, or is refused.
//!
//! *Source:* `PrepRequestProcessor.pRequest2Txn`, for what is refused and in which order, and `DataTree.processTxn` of ZooKeeper 3.8.

use std::collections::{BTreeMap, BTreeSet};

use super::nodes::{CONTAINER, Node};
use super::paths::{self, RESERVED, ROOT};
use super::rights;
use crate::messages::{Acl, Create, Op, OpResult, Path, PathStat, Stat, error, event, flags};
use crate::version::Version;

/// What happened to a node: what those who watch it hear of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Change {
    /// As [`event`] numbers it.
    pub(crate) kind: i32,
    pub(crate) path: String,
    /// True if the node may be read by who watches it. Its watch ends all the same.
    pub(crate) is_readable: bool,
}

/// The transaction that makes a change.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Transaction {
    pub(crate) zxid: i64,
    /// The leader's wall clock when it took the request, in milliseconds.
    pub(crate) time: i64,
    pub(crate) session: i64,
}

/// All nodes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tree {
    nodes: BTreeMap<String, Node>,
    /// The nodes that end with a session.
    ephemerals: BTreeMap<i64, BTreeSet<String>>,
    /// Inside a transaction of several operations: each node that was changed, as it was before.
    undo: Option<Vec<(String, Option<Node>)>>,
}

impl Default for Tree {
    fn default() -> Tree {
        let mut nodes = BTreeMap::new();
        for path in RESERVED {
            let mut node = Node::reserved();
            if path == "/zookeeper/config" {
                // As if its rights had been set at version -1.
                (node.acl, node.aversion) = (rights::readable(), -1);
            }
            nodes.insert(path.to_owned(), node);
        }
        let mut add = |parent: &str, name: &str| {
            nodes.get_mut(parent).into_iter().for_each(|node| _ = node.children.insert(name.to_owned()));
        };
        add(ROOT, "zookeeper");
        add("/zookeeper", "quota");
        add("/zookeeper", "config");
        Tree { nodes, ephemerals: BTreeMap::new(), undo: None }
    }
}

impl Tree {
    pub(crate) fn get(&self, path: &str) -> Option<&Node> {
        self.nodes.get(paths::kept(path))
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&str, &Node)> {
        self.nodes.iter().map(|(path, node)| (path.as_str(), node))
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The nodes that end with a session.
    pub(crate) fn ephemerals(&self, session: i64) -> impl Iterator<Item = &str> {
        self.ephemerals.get(&session).into_iter().flatten().map(String::as_str)
    }

    /// How many nodes there are below a path.
    pub(crate) fn below(&self, path: &str) -> usize {
        if path == ROOT {
            return self.nodes.len() - 1;
        }
        let prefix = format!("{path}/");
        self.nodes.range(prefix.clone()..).take_while(|(path, _)| path.starts_with(&prefix)).count()
    }

    /// The containers that had children and have none.
    pub(crate) fn empty_containers(&self) -> Vec<String> {
        let is_over = |node: &Node| node.owner == CONTAINER && node.children.is_empty() && node.creations > 0;
        self.all().filter(|(_, node)| is_over(node)).map(|(path, _)| path.to_owned()).collect()
    }

    /// Has operations carried out, all or none.
    pub(crate) fn carry_out_all(
        &mut self,
        ops: &[Op],
        (by, version): (Transaction, Version),
        changes: &mut Vec<Change>,
    ) -> Vec<OpResult> {
        self.undo = Some(Vec::new());
        let mut results = Vec::new();
        let mut failed = None;
        let mut made = Vec::new();
        for op in ops {
            match self.carry_out(&among_several(op, version), by, &mut made) {
                Ok(result) => results.push(result),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        let undo = self.undo.take().unwrap_or_default();
        let Some(error) = failed else {
            changes.append(&mut made);
            return results;
        };
        undo.into_iter().rev().for_each(|(path, node)| self.put(&path, node));
        let at = results.len();
        let result = |place: usize| match place.cmp(&at) {
            std::cmp::Ordering::Less => error::OK,
            std::cmp::Ordering::Equal => error,
            std::cmp::Ordering::Greater => error::RUNTIME_INCONSISTENCY,
        };
        (0..ops.len()).map(|place| OpResult::Error(result(place))).collect()
    }

    /// Carries out one operation.
    ///
    /// # Errors
    /// The number of what is wrong with it; nothing is changed then.
    pub(crate) fn carry_out(
        &mut self,
        op: &Op,
        by: Transaction,
        changes: &mut Vec<Change>,
    ) -> Result<OpResult, i32> {
        match op {
            Op::Create(create) => {
                let (path, _) = self.create(create, false, by, changes)?;
                Ok(OpResult::Create(Path { path }))
            }
            Op::Create2(create) => {
                let (path, stat) = self.create(create, false, by, changes)?;
                Ok(OpResult::Create2(PathStat { path, stat }))
            }
            Op::CreateContainer(create) => {
                let (path, stat) = self.create(create, true, by, changes)?;
                Ok(OpResult::Create2(PathStat { path, stat }))
            }
            // Extended types are off unless they are asked for.
            Op::CreateTtl(create) if create.flags > flags::CONTAINER => Err(error::UNIMPLEMENTED),
            Op::CreateTtl(_) => Err(error::BAD_ARGUMENTS),
            Op::Delete(delete) => {
                self.delete(&delete.path, delete.version, by, changes)?;
                Ok(OpResult::Delete)
            }
            Op::SetData(set) => {
                let node = self.writable(&set.path)?;
                check_version(node.version, set.version)?;
                let stat = self.change(&set.path, |node| {
                    node.data.clone_from(&set.data);
                    node.version = node.version.wrapping_add(1);
                    (node.mtime, node.mzxid) = (by.time, by.zxid);
                });
                let is_readable = self.is_readable(&set.path);
                changes.push(Change { kind: event::DATA_CHANGED, path: set.path.clone(), is_readable });
                Ok(OpResult::SetData(stat))
            }
            Op::Check(check) => {
                let node = self.there(&check.path)?;
                rights::check(&node.acl, rights::READ)?;
                check_version(node.version, check.version)?;
                Ok(OpResult::Check)
            }
            Op::GetChildren(_) | Op::GetData(_) => Err(error::MARSHALLING),
        }
    }

    /// Replaces the rights on a node.
    ///
    /// # Errors
    /// As [`carry_out`](Tree::carry_out).
    pub(crate) fn set_acl(&mut self, path: &str, acl: &[Acl], version: i32) -> Result<Stat, i32> {
        if !paths::is_valid(path) {
            return Err(error::BAD_ARGUMENTS);
        }
        let acl = rights::checked(acl)?;
        let node = self.get(path).ok_or(error::NO_NODE)?;
        rights::check(&node.acl, rights::ADMIN)?;
        check_version(node.aversion, version)?;
        Ok(self.change(path, |node| {
            node.acl = acl;
            node.aversion = node.aversion.wrapping_add(1);
        }))
    }

    /// Deletes a container that has no children, if it had any.
    pub(crate) fn delete_container(
        &mut self,
        path: &str,
        by: Transaction,
        changes: &mut Vec<Change>,
    ) -> Result<(), i32> {
        let (parent, name) = paths::split(path).ok_or(error::BAD_ARGUMENTS)?;
        let node = self.get(path).ok_or(error::NO_NODE)?;
        if !node.children.is_empty() {
            return Err(error::NOT_EMPTY);
        }
        self.remove(path, (parent, name), by.zxid, changes);
        Ok(())
    }

    /// Deletes the nodes of a session that is over.
    pub(crate) fn end_session(&mut self, session: i64, zxid: i64, changes: &mut Vec<Change>) {
        for path in self.ephemerals.get(&session).cloned().unwrap_or_default() {
            if let Some(place) = paths::split(&path) {
                self.remove(&path, place, zxid, changes);
            }
        }
    }

    fn create(
        &mut self,
        create: &Create,
        container: bool,
        by: Transaction,
        changes: &mut Vec<Change>,
    ) -> Result<(String, Stat), i32> {
        let (ephemeral, sequential) = match create.flags {
            flags::PERSISTENT | flags::CONTAINER => (false, false),
            flags::EPHEMERAL => (true, false),
            flags::SEQUENTIAL => (false, true),
            flags::EPHEMERAL_SEQUENTIAL => (true, true),
            flags::PERSISTENT_WITH_TTL | flags::SEQUENTIAL_WITH_TTL => return Err(error::UNIMPLEMENTED),
            _ => return Err(error::BAD_ARGUMENTS),
        };
        let (parent_path, _) = paths::split(&create.path).ok_or(error::BAD_ARGUMENTS)?;
        let acl = rights::checked(&create.acl)?;
        let parent = self.get(parent_path).ok_or(error::NO_NODE)?;
        rights::check(&parent.acl, rights::CREATE)?;
        let path = match sequential {
            true => format!("{}{:010}", create.path, parent.creations),
            false => create.path.clone(),
        };
        if !paths::is_valid(&path) {
            return Err(error::BAD_ARGUMENTS);
        }
        if self.get(&path).is_some() {
            return Err(error::NODE_EXISTS);
        }
        if parent.owner != 0 && parent.owner != CONTAINER {
            return Err(error::NO_CHILDREN_FOR_EPHEMERALS);
        }
        let owner = match (container, ephemeral) {
            (true, _) => CONTAINER,
            (false, true) => by.session,
            (false, false) => 0,
        };
        let node = Node::new(create.data.clone(), acl, owner, by.zxid, by.time);
        let stat = node.stat();
        self.put(&path, Some(node));
        let name = path.rsplit('/').next().unwrap_or_default().to_owned();
        let parent_path = parent_path.to_owned();
        self.change(&parent_path, |parent| {
            parent.creations = parent.creations.wrapping_add(1);
            parent.pzxid = by.zxid;
            parent.children.insert(name);
        });
        let is_readable = self.is_readable(&path);
        changes.push(Change { kind: event::CREATED, path: path.clone(), is_readable });
        let is_readable = self.is_readable(&parent_path);
        changes.push(Change { kind: event::CHILDREN_CHANGED, path: parent_path, is_readable });
        Ok((path, stat))
    }

    fn delete(
        &mut self,
        path: &str,
        version: i32,
        by: Transaction,
        changes: &mut Vec<Change>,
    ) -> Result<(), i32> {
        let (parent_path, name) = paths::split(path).ok_or(error::BAD_ARGUMENTS)?;
        if RESERVED.contains(&path) {
            return Err(error::BAD_ARGUMENTS);
        }
        let parent = self.get(parent_path).ok_or(error::NO_NODE)?;
        rights::check(&parent.acl, rights::DELETE)?;
        let node = self.get(path).ok_or(error::NO_NODE)?;
        check_version(node.version, version)?;
        if !node.children.is_empty() {
            return Err(error::NOT_EMPTY);
        }
        self.remove(path, (parent_path, name), by.zxid, changes);
        Ok(())
    }

    fn remove(&mut self, path: &str, (parent, name): (&str, &str), zxid: i64, changes: &mut Vec<Change>) {
        let is_readable = self.is_readable(path);
        self.put(path, None);
        self.change(parent, |parent| {
            parent.children.remove(name);
            parent.pzxid = parent.pzxid.max(zxid);
        });
        changes.push(Change { kind: event::DELETED, path: path.to_owned(), is_readable });
        let is_readable = self.is_readable(parent);
        changes.push(Change { kind: event::CHILDREN_CHANGED, path: parent.to_owned(), is_readable });
    }

    /// The node of a path that may stand in a request.
    fn there(&self, path: &str) -> Result<&Node, i32> {
        if !paths::is_valid(path) {
            return Err(error::BAD_ARGUMENTS);
        }
        self.get(path).ok_or(error::NO_NODE)
    }

    fn is_readable(&self, path: &str) -> bool {
        self.get(path).is_some_and(|node| rights::check(&node.acl, rights::READ).is_ok())
    }

    fn writable(&self, path: &str) -> Result<&Node, i32> {
        let node = self.there(path)?;
        rights::check(&node.acl, rights::WRITE)?;
        Ok(node)
    }

    /// Changes a node that is there, and says what is known of it then.
    fn change(&mut self, path: &str, change: impl FnOnce(&mut Node)) -> Stat {
        let path = paths::kept(path);
        let Some(node) = self.nodes.get_mut(path) else { return Stat::default() };
        if let Some(undo) = &mut self.undo {
            undo.push((path.to_owned(), Some(node.clone())));
        }
        change(node);
        node.stat()
    }

    /// Puts a node at a path, or none.
    pub(crate) fn put(&mut self, path: &str, node: Option<Node>) {
        let owner = node.as_ref().map_or(0, |node| node.owner);
        let before = match node {
            Some(node) => self.nodes.insert(path.to_owned(), node),
            None => self.nodes.remove(path),
        };
        let owner_before = before.as_ref().map_or(0, |node| node.owner);
        if owner_before != owner && is_session(owner_before) {
            let of_session = self.ephemerals.entry(owner_before).or_default();
            of_session.remove(path);
            if of_session.is_empty() {
                self.ephemerals.remove(&owner_before);
            }
        }
        if is_session(owner) {
            self.ephemerals.entry(owner).or_default().insert(path.to_owned());
        }
        if let Some(undo) = &mut self.undo {
            undo.push((path.to_owned(), before));
        }
    }
}

/// An operation as it is read among several: how a node is created, its flags alone say, and before 3.9 also how that is answered.
fn among_several(op: &Op, version: Version) -> Op {
    match op {
        Op::Create2(create) if version == Version::V39 && create.flags != flags::CONTAINER => op.clone(),
        Op::Create(create) | Op::Create2(create) | Op::CreateContainer(create) => {
            let create = create.clone();
            if create.flags == flags::CONTAINER { Op::CreateContainer(create) } else { Op::Create(create) }
        }
        op => op.clone(),
    }
}

fn is_session(owner: i64) -> bool {
    owner != 0 && owner != CONTAINER
}

fn check_version(is: i32, asked: i32) -> Result<(), i32> {
    if asked == -1 || asked == is { Ok(()) } else { Err(error::BAD_VERSION) }
}
