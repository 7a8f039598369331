//! The numbers of ZooKeeper's protocol: what is asked, what failed, what happened.
//!
//! *Source:* `ZooDefs.java`, `KeeperException.java`, `ClientCnxn.java` of ZooKeeper 3.8.

#![allow(missing_docs, reason = "the names are those of ZooKeeper's files, which describe them")]

/// What is asked.
pub mod opcode {
    pub const CREATE: i32 = 1;
    pub const DELETE: i32 = 2;
    pub const EXISTS: i32 = 3;
    pub const GET_DATA: i32 = 4;
    pub const SET_DATA: i32 = 5;
    pub const GET_ACL: i32 = 6;
    pub const SET_ACL: i32 = 7;
    pub const GET_CHILDREN: i32 = 8;
    pub const SYNC: i32 = 9;
    pub const PING: i32 = 11;
    pub const GET_CHILDREN2: i32 = 12;
    pub const CHECK: i32 = 13;
    pub const MULTI: i32 = 14;
    pub const CREATE2: i32 = 15;
    pub const RECONFIG: i32 = 16;
    pub const CHECK_WATCHES: i32 = 17;
    pub const REMOVE_WATCHES: i32 = 18;
    pub const CREATE_CONTAINER: i32 = 19;
    pub const CREATE_TTL: i32 = 21;
    pub const MULTI_READ: i32 = 22;
    pub const AUTH: i32 = 100;
    pub const SET_WATCHES: i32 = 101;
    pub const SASL: i32 = 102;
    pub const GET_EPHEMERALS: i32 = 103;
    pub const GET_ALL_CHILDREN_NUMBER: i32 = 104;
    pub const SET_WATCHES2: i32 = 105;
    pub const ADD_WATCH: i32 = 106;
    pub const WHO_AM_I: i32 = 107;
    pub const CLOSE_SESSION: i32 = -11;
    /// In the answer to several operations at once: the result of one that failed, and the end.
    pub const ERROR: i32 = -1;
}

/// Numbers of packets that are no answer to a request with a number of its own.
pub mod xid {
    /// Something happened that was watched.
    pub const EVENT: i32 = -1;
    pub const PING: i32 = -2;
    pub const AUTH: i32 = -4;
    pub const SET_WATCHES: i32 = -8;
}

/// What failed.
pub mod error {
    pub const OK: i32 = 0;
    pub const SYSTEM: i32 = -1;
    /// The operation before this one failed.
    pub const RUNTIME_INCONSISTENCY: i32 = -2;
    pub const CONNECTION_LOSS: i32 = -4;
    pub const MARSHALLING: i32 = -5;
    pub const UNIMPLEMENTED: i32 = -6;
    pub const BAD_ARGUMENTS: i32 = -8;
    pub const API: i32 = -100;
    pub const NO_NODE: i32 = -101;
    pub const NO_AUTH: i32 = -102;
    pub const BAD_VERSION: i32 = -103;
    pub const NO_CHILDREN_FOR_EPHEMERALS: i32 = -108;
    pub const NODE_EXISTS: i32 = -110;
    pub const NOT_EMPTY: i32 = -111;
    pub const SESSION_EXPIRED: i32 = -112;
    pub const INVALID_ACL: i32 = -114;
    pub const AUTH_FAILED: i32 = -115;
    pub const SESSION_MOVED: i32 = -118;
    pub const NO_WATCH: i32 = -121;

    /// What an error is called.
    #[must_use]
    pub fn name(error: i32) -> Option<&'static str> {
        Some(match error {
            SYSTEM => "system error",
            RUNTIME_INCONSISTENCY => "runtime inconsistency",
            CONNECTION_LOSS => "connection loss",
            MARSHALLING => "malformed request",
            UNIMPLEMENTED => "unimplemented",
            BAD_ARGUMENTS => "bad arguments",
            NO_NODE => "no node",
            NO_AUTH => "not permitted",
            BAD_VERSION => "bad version",
            NO_CHILDREN_FOR_EPHEMERALS => "no children of ephemeral nodes",
            NODE_EXISTS => "node exists",
            NOT_EMPTY => "not empty",
            SESSION_EXPIRED => "session expired",
            INVALID_ACL => "invalid ACL",
            AUTH_FAILED => "authentication failed",
            SESSION_MOVED => "session moved",
            NO_WATCH => "no such watch",
            _ => return None,
        })
    }
}

/// How a node is created.
pub mod flags {
    pub const PERSISTENT: i32 = 0;
    pub const EPHEMERAL: i32 = 1;
    pub const SEQUENTIAL: i32 = 2;
    pub const EPHEMERAL_SEQUENTIAL: i32 = 3;
    pub const CONTAINER: i32 = 4;
    pub const PERSISTENT_WITH_TTL: i32 = 5;
    pub const SEQUENTIAL_WITH_TTL: i32 = 6;
}

/// What happened to a node that was watched.
pub mod event {
    pub const CREATED: i32 = 1;
    pub const DELETED: i32 = 2;
    pub const DATA_CHANGED: i32 = 3;
    pub const CHILDREN_CHANGED: i32 = 4;
    /// The state of the client's session that goes with them: connected.
    pub const SYNC_CONNECTED: i32 = 3;
}

/// How a watch is added that stays.
pub mod watch_mode {
    pub const PERSISTENT: i32 = 0;
    pub const PERSISTENT_RECURSIVE: i32 = 1;
}

/// Which watches are removed.
pub mod watch_kind {
    pub const CHILDREN: i32 = 1;
    pub const DATA: i32 = 2;
    pub const ANY: i32 = 3;
    pub const PERSISTENT: i32 = 4;
    pub const PERSISTENT_RECURSIVE: i32 = 5;
}

/// The version of a node that is any.
pub const ANY_VERSION: i32 = -1;

/// All rights on a node.
pub const ALL_RIGHTS: i32 = 31;
