//! A node of a cluster as another one knows it.

use std::collections::BTreeMap;

use super::ids::{BusLink, NodeId};
use super::slot::Slots;

/// The places at which a node is reached.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// Its host, where other nodes find its bus.
    pub(crate) host: String,
    /// The address that clients and replicas are given.
    pub(crate) address: String,
    pub(crate) port: u16,
}

/// The port of a node's bus lies so far above its port for clients.
pub(crate) const BUS_PORT_ABOVE: u16 = 10_000;

/// A node of a cluster as another one knows it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Peer {
    pub(crate) place: Place,
    pub(crate) is_replica: bool,
    /// The primary of a replica, as far as it is known.
    pub(crate) primary: Option<NodeId>,
    pub(crate) slots: Slots,
    pub(crate) config_epoch: u64,
    /// It does not answer (PFAIL).
    pub(crate) is_suspected: bool,
    /// A majority has found it down (FAIL), and when.
    pub(crate) is_failed: bool,
    pub(crate) failed_at: i64,
    /// The primary has had replicas: one of another primary may come when it has none.
    pub(crate) takes_replicas: bool,
    /// Since when an answer is awaited; 0 if none is.
    pub(crate) ping_sent: i64,
    pub(crate) pong_received: i64,
    /// By so much its first answer counts as older: a cluster that is there at the start has run for a while, and its nodes do not ping each
    /// other in step.
    pub(super) aged: i64,
    pub(crate) data_received: i64,
    /// When one of its replicas was last voted for.
    pub(crate) voted_at: i64,
    /// Since when it has no replica that works; 0 if it has.
    pub(crate) orphaned_at: i64,
    pub(crate) offset: u64,
    /// When each primary last reported it as down.
    pub(crate) reports: BTreeMap<NodeId, i64>,
    /// It was met: until it answers, it is asked to take up this node.
    pub(crate) meets: bool,
    /// The link to it, and since when there is one.
    pub(crate) link: Option<(BusLink, i64)>,
}

impl Peer {
    /// A primary as it is at the start, or a replica of one.
    pub(crate) fn new(place: Place, primary: Option<NodeId>) -> Peer {
        Peer { place, is_replica: primary.is_some(), primary, ..Peer::default() }
    }

    /// True if it has a vote: a primary with slots.
    pub(crate) fn votes(&self) -> bool {
        !self.is_replica && !self.slots.is_empty()
    }

    /// Its flags as CLUSTER NODES and the file have them.
    pub(crate) fn flags(&self, is_me: bool) -> String {
        let mut flags = String::new();
        let mut add = |is: bool, word: &str| {
            if is {
                flags.push_str(if flags.is_empty() { "" } else { "," });
                flags.push_str(word);
            }
        };
        add(is_me, "myself");
        add(!self.is_replica, "master");
        add(self.is_replica, "slave");
        add(self.is_suspected, "fail?");
        add(self.is_failed, "fail");
        flags
    }
}
