//! The acts that a node is asked for by its part in the cluster, and its own state as others see it.

use super::ids::{BusLink, NodeId};

/// Something that a node's part in the cluster wants done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Act {
    /// Connect to the bus of a node.
    Connect { link: BusLink, host: String },
    /// Send something over a link, as soon as it is there.
    Send { link: BusLink, bytes: Vec<u8> },
    /// Close a link.
    Close { link: BusLink },
    /// Follow this primary.
    Follow(NodeId),
    /// Be a primary.
    Promote,
    /// Delete all keys of a slot: it is another one's.
    DropKeys(u16),
    /// Those who listen to sharded channels of a slot have to do so elsewhere.
    DropChannels(u16),
    /// Hand a message to those who listen here.
    Publish { sharded: bool, channel: Vec<u8>, message: Vec<u8> },
    /// Let nobody write until this millisecond; with `None`, again.
    Pause(Option<i64>),
    /// Say in the log what has happened.
    Log(String),
}

/// What a node says of itself when its part in the cluster is asked to do something.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Local {
    /// The wall clock, in milliseconds.
    pub(crate) now: i64,
    /// How much of the stream of effects it has.
    pub(crate) offset: u64,
    /// For how long a replica has heard nothing of its primary, in milliseconds.
    pub(crate) data_age: i64,
}
