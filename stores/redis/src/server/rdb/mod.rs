//! The RDB format, version 10, which Redis 7.0 writes: snapshots on disk, full copies for replicas, DUMP payloads.
//!
//! Read are all encodings that a 7.0 server writes for its five plain types or still loads from older ones. Written are
//! the plain ones (a list of strings, not a quicklist of listpacks), which a real server loads as well. Checksums are
//! always written, and checked unless they are zero, which means that the writer left them out.
//!
//! A decoder trusts no length: what it makes of its input is bounded by what the input holds, so that hostile bytes are
//! refused and neither panic nor exhaust the memory.
//!
//! Left out on purpose: streams, functions and modules, which the node does not have, are refused; strings are not compressed.
//!
//! Source: `rdb.c`, `listpack.c`, `ziplist.c`, `zipmap.c`, `intset.c` of Redis 7.0.

use crc::{CRC_64_REDIS, Crc};

mod file;
mod input;
mod lzf;
mod output;
mod packed;
mod payload;
#[cfg(test)]
mod tests;
mod value;

pub(crate) use file::{Aux, Content, Saved, StreamAt, decode, encode};
pub(crate) use payload::{dump, no_libraries, restore};

/// The version that is written, and the newest that is read.
const VERSION: u16 = 10;

/// The checksum over files and payloads.
static CHECKSUM: Crc<u64> = Crc::<u64>::new(&CRC_64_REDIS);

/// The reason why bytes are not a snapshot or a payload.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RdbError {
    /// The input ends too early.
    #[error("the input ends in the middle of a value")]
    Truncated,
    /// The input does not begin as a snapshot does.
    #[error("wrong signature trying to load DB from file")]
    Signature,
    /// A version that this format does not cover.
    #[error("can't handle RDB format version {0}")]
    Version(u32),
    /// The checksum is another one.
    #[error("wrong RDB checksum")]
    Checksum,
    /// A kind of value or of section that the node does not have.
    #[error("{0} are not supported")]
    Unsupported(&'static str),
    /// Something that no writer writes.
    #[error("{0}")]
    Corrupt(&'static str),
}

/// The kinds of values, as files number them.
mod kind {
    pub(super) const STRING: u8 = 0;
    pub(super) const LIST: u8 = 1;
    pub(super) const SET: u8 = 2;
    pub(super) const SORTED_SET: u8 = 3;
    pub(super) const HASH: u8 = 4;
    pub(super) const SORTED_SET_2: u8 = 5;
    pub(super) const MODULE: u8 = 6;
    pub(super) const MODULE_2: u8 = 7;
    pub(super) const HASH_ZIPMAP: u8 = 9;
    pub(super) const LIST_ZIPLIST: u8 = 10;
    pub(super) const SET_INTSET: u8 = 11;
    pub(super) const SORTED_SET_ZIPLIST: u8 = 12;
    pub(super) const HASH_ZIPLIST: u8 = 13;
    pub(super) const LIST_QUICKLIST: u8 = 14;
    pub(super) const STREAM: u8 = 15;
    pub(super) const HASH_LISTPACK: u8 = 16;
    pub(super) const SORTED_SET_LISTPACK: u8 = 17;
    pub(super) const LIST_QUICKLIST_2: u8 = 18;
    pub(super) const HASH_METADATA: u8 = 24;
    pub(super) const STREAM_2: u8 = 19;
}
