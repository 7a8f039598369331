//! The records of ZooKeeper's protocol, field by field.
//!
//! *Source:* `zookeeper.jute` of ZooKeeper 3.8.

#![allow(missing_docs, reason = "the fields are those of ZooKeeper's file, which describes them")]

use super::codes::ALL_RIGHTS;
use crate::jute::{Malformed, Record, records};

records! {
    /// The first record of a request.
    RequestHeader { xid: i32, opcode: i32, }
    /// The first record of an answer and of an event.
    ReplyHeader { xid: i32, zxid: i64, error: i32, }
    /// What is known of a node beside its data.
    Stat {
        czxid: i64,
        mzxid: i64,
        ctime: i64,
        mtime: i64,
        version: i32,
        cversion: i32,
        aversion: i32,
        ephemeral_owner: i64,
        data_length: i32,
        num_children: i32,
        pzxid: i64,
    }
    /// Who may do what.
    Acl { rights: i32, scheme: String, id: String, }
    /// A node is created.
    Create { path: String, data: Option<Vec<u8>>, acl: Vec<Acl>, flags: i32, }
    /// A node is created that ends by itself.
    CreateTtl { path: String, data: Option<Vec<u8>>, acl: Vec<Acl>, flags: i32, ttl: i64, }
    /// A node of this version is deleted.
    Delete { path: String, version: i32, }
    /// A node must have this version.
    Check { path: String, version: i32, }
    /// The data of a node of this version are replaced.
    SetData { path: String, data: Option<Vec<u8>>, version: i32, }
    /// Something is read of a node, and watched from then on if `watch` is true.
    Read { path: String, watch: bool, }
    /// A node alone.
    Path { path: String, }
    /// The rights on a node are replaced.
    SetAcl { path: String, acl: Vec<Acl>, version: i32, }
    /// Says who the client is.
    Auth { kind: i32, scheme: String, auth: Option<Vec<u8>>, }
    /// The watches of a client that was on another connection until `relative_zxid`.
    SetWatches { relative_zxid: i64, data: Vec<String>, exist: Vec<String>, child: Vec<String>, }
    /// The same with watches that stay.
    SetWatches2 {
        relative_zxid: i64,
        data: Vec<String>,
        exist: Vec<String>,
        child: Vec<String>,
        persistent: Vec<String>,
        persistent_recursive: Vec<String>,
    }
    /// A watch is added that stays.
    AddWatch { path: String, mode: i32, }
    /// Watches are removed, or looked for.
    RemoveWatches { path: String, kind: i32, }
    /// Something happened that was watched.
    WatchEvent { kind: i32, state: i32, path: String, }
    /// The name under which a node was created, and what is known of it.
    PathStat { path: String, stat: Stat, }
    /// The data of a node.
    DataStat { data: Option<Vec<u8>>, stat: Stat, }
    /// The names of a node's children.
    Children { children: Vec<String>, }
    /// The names of a node's children, and what is known of it.
    ChildrenStat { children: Vec<String>, stat: Stat, }
    /// The rights on a node.
    AclStat { acl: Vec<Acl>, stat: Stat, }
    /// Who a client is.
    ClientInfo { scheme: String, user: String, }
}

impl Acl {
    /// Everybody may do everything.
    #[must_use]
    pub fn open() -> Acl {
        Acl { rights: ALL_RIGHTS, scheme: "world".to_owned(), id: "anyone".to_owned() }
    }
}

/// The first packet of a connection: a session is asked for, or resumed.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ConnectRequest {
    pub protocol_version: i32,
    pub last_zxid_seen: i64,
    pub timeout_ms: i32,
    /// 0 for a new one.
    pub session_id: i64,
    pub password: Option<Vec<u8>>,
    /// None of a client before 3.4, which does not know it.
    pub read_only: Option<bool>,
}

/// The answer.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct ConnectResponse {
    pub protocol_version: i32,
    /// The time that was granted; 0 if the session is over.
    pub timeout_ms: i32,
    pub session_id: i64,
    pub password: Option<Vec<u8>>,
    /// None to a client that did not ask.
    pub read_only: Option<bool>,
}

impl Record for ConnectRequest {
    fn put(&self, out: &mut Vec<u8>) {
        self.protocol_version.put(out);
        self.last_zxid_seen.put(out);
        self.timeout_ms.put(out);
        self.session_id.put(out);
        self.password.put(out);
        put_last(self.read_only, out);
    }

    fn take(from: &mut &[u8]) -> Result<ConnectRequest, Malformed> {
        Ok(ConnectRequest {
            protocol_version: Record::take(from)?,
            last_zxid_seen: Record::take(from)?,
            timeout_ms: Record::take(from)?,
            session_id: Record::take(from)?,
            password: Record::take(from)?,
            read_only: take_last(from)?,
        })
    }
}

impl Record for ConnectResponse {
    fn put(&self, out: &mut Vec<u8>) {
        self.protocol_version.put(out);
        self.timeout_ms.put(out);
        self.session_id.put(out);
        self.password.put(out);
        put_last(self.read_only, out);
    }

    fn take(from: &mut &[u8]) -> Result<ConnectResponse, Malformed> {
        Ok(ConnectResponse {
            protocol_version: Record::take(from)?,
            timeout_ms: Record::take(from)?,
            session_id: Record::take(from)?,
            password: Record::take(from)?,
            read_only: take_last(from)?,
        })
    }
}

fn put_last(value: Option<bool>, out: &mut Vec<u8>) {
    if let Some(value) = value {
        value.put(out);
    }
}

fn take_last(from: &mut &[u8]) -> Result<Option<bool>, Malformed> {
    if from.is_empty() { Ok(None) } else { bool::take(from).map(Some) }
}
