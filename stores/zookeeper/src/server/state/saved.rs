//! The state as bytes: what a snapshot holds. When a session was last heard of is not in it: only the member that leads knows that.

#![expect(unreachable_pub, reason = "the macro makes public records")]

use std::collections::BTreeMap;

use super::nodes::Node;
use super::tree::Tree;
use crate::jute::{Record as _, records};
use crate::messages::Acl;

records! {
    SavedNode {
        path: String,
        data: Option<Vec<u8>>,
        acl: Vec<Acl>,
        czxid: i64,
        mzxid: i64,
        pzxid: i64,
        ctime: i64,
        mtime: i64,
        version: i32,
        aversion: i32,
        creations: i32,
        owner: i64,
        children: Vec<String>,
    }
    SavedSession { id: i64, timeout: i32, }
    Saved { zxid: i64, nodes: Vec<SavedNode>, sessions: Vec<SavedSession>, }
}

/// What the log is about: the last transaction, the tree, and the sessions with their times in milliseconds.
pub(super) type Parts = (i64, Tree, BTreeMap<i64, i32>);

/// The state in bytes.
pub(super) fn written(zxid: i64, tree: &Tree, sessions: &BTreeMap<i64, i32>) -> Vec<u8> {
    let node = |(path, node): (&str, &Node)| SavedNode {
        path: path.to_owned(),
        data: node.data.clone(),
        acl: node.acl.clone(),
        czxid: node.czxid,
        mzxid: node.mzxid,
        pzxid: node.pzxid,
        ctime: node.ctime,
        mtime: node.mtime,
        version: node.version,
        aversion: node.aversion,
        creations: node.creations,
        owner: node.owner,
        children: node.children.iter().cloned().collect(),
    };
    let session = |(id, timeout): (&i64, &i32)| SavedSession { id: *id, timeout: *timeout };
    let (nodes, sessions) = (tree.all().map(node).collect(), sessions.iter().map(session).collect());
    Saved { zxid, nodes, sessions }.bytes()
}

/// The state that bytes hold; none if they cannot be read.
pub(super) fn read(bytes: &[u8]) -> Option<Parts> {
    let saved = Saved::whole(bytes).ok()?;
    let mut tree = Tree::default();
    for node in saved.nodes {
        let kept = Node {
            data: node.data,
            acl: node.acl,
            czxid: node.czxid,
            mzxid: node.mzxid,
            pzxid: node.pzxid,
            ctime: node.ctime,
            mtime: node.mtime,
            version: node.version,
            aversion: node.aversion,
            creations: node.creations,
            owner: node.owner,
            children: node.children.into_iter().collect(),
        };
        tree.put(&node.path, Some(kept));
    }
    let sessions = saved.sessions.into_iter().map(|session| (session.id, session.timeout)).collect();
    Some((saved.zxid, tree, sessions))
}
