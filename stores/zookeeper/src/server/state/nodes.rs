//! One node: its data, and what is known of it.
//!
//! *Source:* `DataNode` and `EphemeralType` of ZooKeeper 3.8.

use std::collections::BTreeSet;

use super::rights;
use crate::messages::{Acl, Stat};

/// The owner of a container: a node that is deleted once its last child is gone.
pub(crate) const CONTAINER: i64 = i64::MIN;

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    pub(crate) data: Option<Vec<u8>>,
    pub(crate) acl: Vec<Acl>,
    pub(crate) czxid: i64,
    pub(crate) mzxid: i64,
    pub(crate) pzxid: i64,
    pub(crate) ctime: i64,
    pub(crate) mtime: i64,
    pub(crate) version: i32,
    pub(crate) aversion: i32,
    /// How many children were created: the number of the next sequential one.
    pub(crate) creations: i32,
    /// The session that it ends with, [`CONTAINER`], or 0.
    pub(crate) owner: i64,
    pub(crate) children: BTreeSet<String>,
}

impl Node {
    pub(crate) fn new(data: Option<Vec<u8>>, acl: Vec<Acl>, owner: i64, zxid: i64, time: i64) -> Node {
        Node {
            data,
            acl,
            czxid: zxid,
            mzxid: zxid,
            pzxid: zxid,
            ctime: time,
            mtime: time,
            version: 0,
            aversion: 0,
            creations: 0,
            owner,
            children: BTreeSet::new(),
        }
    }

    /// One that is there before anything is.
    pub(crate) fn reserved() -> Node {
        Node::new(Some(Vec::new()), rights::open(), 0, 0, 0)
    }

    /// What is known of it. Clients see the changes of its children counted: creations and deletions.
    pub(crate) fn stat(&self) -> Stat {
        let children = self.children.len() as i32;
        Stat {
            czxid: self.czxid,
            mzxid: self.mzxid,
            ctime: self.ctime,
            mtime: self.mtime,
            version: self.version,
            cversion: self.creations.wrapping_mul(2).wrapping_sub(children),
            aversion: self.aversion,
            // Clients do not see that it is a container.
            ephemeral_owner: if self.owner == CONTAINER { 0 } else { self.owner },
            data_length: self.data.as_ref().map_or(0, |data| data.len() as i32),
            num_children: children,
            pzxid: self.pzxid,
        }
    }
}
