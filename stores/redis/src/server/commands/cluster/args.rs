//! The arguments of CLUSTER: nodes by name, slots by number.

use crate::protocol::resp::{self, Reply};
use crate::server::cluster::{Cluster, NodeId, SLOTS};
use crate::server::node::Node;

/// The reply of a node that belongs to no cluster.
const DISABLED: Reply = Reply::error("ERR This instance has cluster support disabled");

/// The part of a node in its cluster.
pub(super) fn of(node: &mut Node) -> Result<&mut Cluster, Reply> {
    node.cluster.as_deref_mut().ok_or(DISABLED)
}

/// A node that is known by its name.
pub(super) fn known(cluster: &Cluster, name: &[u8]) -> Result<NodeId, Reply> {
    let id = NodeId::parse(name).filter(|id| cluster.peers.contains_key(id));
    id.ok_or_else(|| {
        let name = String::from_utf8_lossy(name);
        Reply::Error(format!("ERR Unknown node {name}").into())
    })
}

/// A slot, if there is one of this number.
pub(super) fn valid(slot: i64) -> Option<u16> {
    u16::try_from(slot).ok().filter(|slot| *slot < SLOTS)
}

/// Pairs of first and last slots.
pub(super) fn ranges(numbers: &[u16]) -> Result<Vec<(u16, u16)>, Reply> {
    let ranges: Vec<(u16, u16)> = numbers.chunks_exact(2).map(|pair| (pair[0], pair[1])).collect();
    match ranges.iter().find(|(first, last)| first > last) {
        None => Ok(ranges),
        Some((first, last)) => Err(Reply::Error(
            format!("ERR start slot number {first} is greater than end slot number {last}").into(),
        )),
    }
}

/// A slot by its number.
pub(super) fn slot(text: &[u8]) -> Result<u16, Reply> {
    resp::integer(text).and_then(valid).ok_or(Reply::error("ERR Invalid or out of range slot"))
}
