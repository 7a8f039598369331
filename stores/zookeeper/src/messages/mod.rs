//! The messages of ZooKeeper's protocol, of both sides.
//!
//! A connection begins with a [`ConnectRequest`] and its [`ConnectResponse`]. Then each request is a packet of a [`RequestHeader`] and of the record of
//! its [`Request`], and each answer one of a [`ReplyHeader`] and, unless that has an error, of the record that belongs to the request:
//!
//! | request | answer |
//! | --- | --- |
//! | create, sync | [`Path`] |
//! | create2, createContainer, createTTL | [`PathStat`] |
//! | exists, setData, setACL | [`Stat`] |
//! | getData | [`DataStat`] |
//! | getChildren, getEphemerals | [`Children`] |
//! | getChildren2 | [`ChildrenStat`] |
//! | getACL | [`AclStat`] |
//! | getAllChildrenNumber | a number |
//! | multi, multiRead | [`MultiResults`] |
//! | whoAmI | a vector of [`ClientInfo`] |
//! | the others | nothing |
//!
//! An event is a packet of a [`ReplyHeader`] with [`xid::EVENT`] and of a [`WatchEvent`].

pub mod codes;
mod multi;
mod records;
mod request;
#[cfg(test)]
mod tests;

pub use codes::{error, event, flags, opcode, watch_kind, watch_mode, xid};
pub use multi::{Multi, MultiHeader, MultiResults, Op, OpResult};
pub use records::{
    Acl, AclStat, AddWatch, Auth, Check, Children, ChildrenStat, ClientInfo, ConnectRequest, ConnectResponse,
    Create, CreateTtl, DataStat, Delete, Path, PathStat, Read, RemoveWatches, ReplyHeader, RequestHeader,
    SetAcl, SetData, SetWatches, SetWatches2, Stat, WatchEvent,
};
pub use request::Request;
