//! The requests of a session.

use super::codes::opcode;
use super::multi::Multi;
use super::records::{
    AddWatch, Auth, Check, Create, CreateTtl, Delete, Path, Read, RemoveWatches, RequestHeader, SetAcl,
    SetData, SetWatches, SetWatches2,
};
use crate::jute::{Malformed, Record, packet};

macro_rules! requests {
    ($($name:ident($record:ty) = $opcode:ident,)*) => {
        /// What a client asks.
        #[derive(Clone, Debug, PartialEq, Eq)]
        #[allow(missing_docs, reason = "the names are those of ZooKeeper's opcodes")]
        pub enum Request {
            $($name($record),)*
            /// Something that is not known here, and its number.
            Other(i32),
        }

        impl Request {
            /// The number of what is asked.
            #[must_use]
            pub fn opcode(&self) -> i32 {
                match self {
                    $(Request::$name(_) => opcode::$opcode,)*
                    Request::Other(opcode) => *opcode,
                }
            }

            /// Reads what follows a header with this number.
            ///
            /// # Errors
            /// When the bytes are cut off or something else.
            pub fn take(opcode: i32, from: &mut &[u8]) -> Result<Request, Malformed> {
                Ok(match opcode {
                    $(opcode::$opcode => Request::$name(Record::take(from)?),)*
                    other => Request::Other(other),
                })
            }

            fn put(&self, out: &mut Vec<u8>) {
                match self {
                    $(Request::$name(record) => record.put(out),)*
                    Request::Other(_) => {}
                }
            }
        }
    };
}

requests! {
    Create(Create) = CREATE,
    Delete(Delete) = DELETE,
    Exists(Read) = EXISTS,
    GetData(Read) = GET_DATA,
    SetData(SetData) = SET_DATA,
    GetAcl(Path) = GET_ACL,
    SetAcl(SetAcl) = SET_ACL,
    GetChildren(Read) = GET_CHILDREN,
    Sync(Path) = SYNC,
    Ping(()) = PING,
    GetChildren2(Read) = GET_CHILDREN2,
    Check(Check) = CHECK,
    Multi(Multi) = MULTI,
    Create2(Create) = CREATE2,
    CheckWatches(RemoveWatches) = CHECK_WATCHES,
    RemoveWatches(RemoveWatches) = REMOVE_WATCHES,
    CreateContainer(Create) = CREATE_CONTAINER,
    CreateTtl(CreateTtl) = CREATE_TTL,
    MultiRead(Multi) = MULTI_READ,
    Auth(Auth) = AUTH,
    SetWatches(SetWatches) = SET_WATCHES,
    GetEphemerals(Path) = GET_EPHEMERALS,
    GetAllChildrenNumber(Path) = GET_ALL_CHILDREN_NUMBER,
    SetWatches2(SetWatches2) = SET_WATCHES2,
    AddWatch(AddWatch) = ADD_WATCH,
    WhoAmI(()) = WHO_AM_I,
    CloseSession(()) = CLOSE_SESSION,
}

impl Request {
    /// As a packet with this number.
    #[must_use]
    pub fn packet(&self, xid: i32) -> Vec<u8> {
        let mut body = Vec::new();
        self.put(&mut body);
        packet(&RequestHeader { xid, opcode: self.opcode() }, &Raw(body))
    }
}

/// Bytes that are a record already.
struct Raw(Vec<u8>);

impl Record for Raw {
    fn put(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }

    fn take(from: &mut &[u8]) -> Result<Raw, Malformed> {
        Ok(Raw(std::mem::take(from).to_vec()))
    }
}
