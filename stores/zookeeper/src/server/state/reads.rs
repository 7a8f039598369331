//! The reads, which a member answers from what it has: it may be behind the others.
//!
//! *Source:* `FinalRequestProcessor.processRequest` of ZooKeeper 3.8.

use super::connections::{NO_ZXID, Outgoing, event, reply};
use super::rights;
use super::watches::Mode;
use super::{Machine, nodes};
use crate::jute::Record as _;
use crate::messages::{
    AclStat, Children, ChildrenStat, DataStat, MultiResults, Op, OpResult, Read, Request, SetWatches2, error,
    event as happened,
};
use nodes::Node;
use picklock_sim::host::Origin;

use crate::version::Version;

impl Machine {
    /// Answers a request that changes nothing but what a connection watches.
    pub(crate) fn answer_read(&mut self, connection: u64, (origin, xid): (Origin, i32), request: &Request) {
        let answer = self.read((connection, origin), request);
        self.connections.send(connection, reply(origin, xid, self.zxid, answer));
    }

    fn read(&mut self, by: (u64, Origin), request: &Request) -> Result<Vec<u8>, i32> {
        let (connection, _) = by;
        let watches = &mut self.connections.watches;
        match request {
            Request::Exists(Read { path, .. }) if path.contains('\0') => Err(error::BAD_ARGUMENTS),
            Request::Exists(Read { path, watch }) => {
                if let Some(node) = self.tree.get(path)
                    && self.facts.version == Version::V39
                {
                    rights::check(&node.acl, rights::READ)?;
                }
                if *watch {
                    watches.data.add(path, connection, Mode::Once);
                }
                Ok(self.tree.get(path).ok_or(error::NO_NODE)?.stat().bytes())
            }
            Request::GetData(read) => {
                let node = self.tree.get(&read.path).ok_or(error::NO_NODE)?;
                let data = data_of(node)?;
                if read.watch {
                    watches.data.add(&read.path, connection, Mode::Once);
                }
                Ok(data.bytes())
            }
            Request::GetChildren(read) => {
                let node = self.tree.get(&read.path).ok_or(error::NO_NODE)?;
                let children = children_of(node)?;
                if read.watch {
                    watches.children.add(&read.path, connection, Mode::Once);
                }
                Ok(Children { children }.bytes())
            }
            Request::GetChildren2(read) => {
                let node = self.tree.get(&read.path).ok_or(error::NO_NODE)?;
                let children = children_of(node)?;
                if read.watch {
                    watches.children.add(&read.path, connection, Mode::Once);
                }
                Ok(ChildrenStat { children, stat: node.stat() }.bytes())
            }
            Request::GetAcl(path) => {
                let node = self.tree.get(&path.path).ok_or(error::NO_NODE)?;
                rights::check(&node.acl, rights::READ | rights::ADMIN)?;
                Ok(AclStat { acl: node.acl.clone(), stat: node.stat() }.bytes())
            }
            Request::GetAllChildrenNumber(path) => {
                let node = self.tree.get(&path.path).ok_or(error::NO_NODE)?;
                rights::check(&node.acl, rights::READ)?;
                Ok((self.tree.below(&path.path) as i32).bytes())
            }
            Request::MultiRead(multi) => {
                let results = multi.ops.iter().map(|op| self.read_one(connection, op)).collect();
                Ok(MultiResults { results }.bytes())
            }
            Request::CheckWatches(of) => match watches.has(&of.path, of.kind, connection) {
                Some(true) => Ok(Vec::new()),
                Some(false) => Err(error::NO_WATCH),
                None => Err(error::MARSHALLING),
            },
            Request::RemoveWatches(of) => match watches.remove(&of.path, of.kind, connection) {
                Some(true) => Ok(Vec::new()),
                Some(false) => Err(error::NO_WATCH),
                None => Err(error::MARSHALLING),
            },
            Request::AddWatch(add) => {
                let mode = Mode::of(add.mode).ok_or(error::MARSHALLING)?;
                watches.stay(&add.path, connection, mode);
                // The record of an answer that has an error, without one.
                Ok(error::OK.bytes())
            }
            Request::SetWatches(set) => {
                let set = SetWatches2 {
                    relative_zxid: set.relative_zxid,
                    data: set.data.clone(),
                    exist: set.exist.clone(),
                    child: set.child.clone(),
                    ..SetWatches2::default()
                };
                self.set_watches(by, &set);
                Ok(Vec::new())
            }
            Request::SetWatches2(set) => {
                self.set_watches(by, set);
                Ok(Vec::new())
            }
            _ => Err(error::UNIMPLEMENTED),
        }
    }

    fn read_one(&mut self, connection: u64, op: &Op) -> OpResult {
        let (Op::GetData(read) | Op::GetChildren(read)) = op else {
            return OpResult::Error(error::MARSHALLING);
        };
        let Some(node) = self.tree.get(&read.path) else { return OpResult::Error(error::NO_NODE) };
        let (result, table) = match op {
            Op::GetData(_) => (data_of(node).map(OpResult::GetData), &mut self.connections.watches.data),
            _ => {
                let children = children_of(node).map(|children| Children { children });
                (children.map(OpResult::GetChildren), &mut self.connections.watches.children)
            }
        };
        if read.watch && result.is_ok() {
            table.add(&read.path, connection, Mode::Once);
        }
        result.unwrap_or_else(OpResult::Error)
    }

    /// The nodes that end with a session, below a path.
    pub(crate) fn ephemerals(&self, session: i64, prefix: &str) -> Vec<String> {
        let all = matches!(prefix.trim(), "" | "/");
        let paths = self.tree.ephemerals(session).filter(|path| all || path.starts_with(prefix));
        paths.map(str::to_owned).collect()
    }

    /// Watches what a client watched on another connection, or says what has happened since.
    fn set_watches(&mut self, (connection, origin): (u64, Origin), set: &SetWatches2) {
        let since = set.relative_zxid;
        let mut missed: Vec<Outgoing> = Vec::new();
        let watches = &mut self.connections.watches;
        for path in &set.data {
            match self.tree.get(path) {
                None => missed.push(event((origin, NO_ZXID), happened::DELETED, path)),
                Some(node) if node.mzxid > since => {
                    missed.push(event((origin, NO_ZXID), happened::DATA_CHANGED, path))
                }
                Some(_) => watches.data.add(path, connection, Mode::Once),
            }
        }
        for path in &set.exist {
            match self.tree.get(path) {
                Some(_) => missed.push(event((origin, NO_ZXID), happened::CREATED, path)),
                None => watches.data.add(path, connection, Mode::Once),
            }
        }
        for path in &set.child {
            match self.tree.get(path) {
                None => missed.push(event((origin, NO_ZXID), happened::DELETED, path)),
                Some(node) if node.pzxid > since => {
                    missed.push(event((origin, NO_ZXID), happened::CHILDREN_CHANGED, path));
                }
                Some(_) => watches.children.add(path, connection, Mode::Once),
            }
        }
        set.persistent.iter().for_each(|path| watches.stay(path, connection, Mode::Persistent));
        set.persistent_recursive.iter().for_each(|path| watches.stay(path, connection, Mode::Recursive));
        missed.into_iter().for_each(|event| self.connections.send(connection, event));
    }
}

fn data_of(node: &Node) -> Result<DataStat, i32> {
    rights::check(&node.acl, rights::READ)?;
    Ok(DataStat { data: node.data.clone(), stat: node.stat() })
}

fn children_of(node: &Node) -> Result<Vec<String>, i32> {
    rights::check(&node.acl, rights::READ)?;
    Ok(node.children.iter().cloned().collect())
}
