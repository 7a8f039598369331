//! Conditions on the value of a string: those of SET, and the commands that delete on one (Redis 8.4 and Valkey 9.0 `t_string.c`).
//!
//! A digest is the XXH3 hash of a value, of 64 bits, as 16 hexadecimal digits.

use xxhash_rust::xxh3::xxh3_64;

use super::{keys, wrong_arity};
use crate::protocol::resp::Reply;
use crate::server::store::{Store, Value};
use crate::server::version::Version;

/// A condition on the value of a key.
#[derive(Clone, Copy)]
pub(super) enum Condition<'a> {
    /// It is this one.
    Equal(&'a [u8]),
    /// It is another one, or there is none.
    Different(&'a [u8]),
    /// It has this digest.
    Digest(&'a [u8]),
    /// It has another digest, or there is none.
    OtherDigest(&'a [u8]),
}

impl<'a> Condition<'a> {
    /// The condition of this name.
    pub(super) fn named(name: &[u8], value: &'a [u8]) -> Option<Condition<'a>> {
        let is = |word: &[u8]| name.eq_ignore_ascii_case(word);
        match () {
            () if is(b"IFEQ") => Some(Condition::Equal(value)),
            () if is(b"IFNE") => Some(Condition::Different(value)),
            () if is(b"IFDEQ") => Some(Condition::Digest(value)),
            () if is(b"IFDNE") => Some(Condition::OtherDigest(value)),
            () => None,
        }
    }

    /// Checks what it compares with.
    ///
    /// # Errors
    /// The reply to give when that is no digest and should be one.
    pub(super) fn check(self) -> Result<(), Reply> {
        match self {
            Condition::Digest(digest) | Condition::OtherDigest(digest) if !is_digest(digest) => {
                Err(Reply::error("ERR must be exactly 16 hexadecimal characters"))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn is_met_by(self, present: Option<&Vec<u8>>) -> bool {
        let has = |digest: &[u8], present: &[u8]| digest_of(present).eq_ignore_ascii_case(digest);
        match self {
            Condition::Equal(value) => present.is_some_and(|present| present == value),
            Condition::Different(value) => present.is_none_or(|present| present != value),
            Condition::Digest(digest) => present.is_some_and(|present| has(digest, present)),
            Condition::OtherDigest(digest) => present.is_none_or(|present| !has(digest, present)),
        }
    }

    /// True if SET of this version takes it.
    pub(super) fn is_in(self, version: Version) -> bool {
        match self {
            Condition::Equal(_) => version.sets_if_equal(),
            _ => version.compares_digests(),
        }
    }
}

fn is_digest(text: &[u8]) -> bool {
    text.len() == 16 && text.iter().all(u8::is_ascii_hexdigit)
}

fn digest_of(value: &[u8]) -> Vec<u8> {
    format!("{:016x}", xxh3_64(value)).into_bytes()
}

/// DIGEST: the digest of a string.
pub(crate) fn digest(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    Ok(store.string(args[1])?.map_or(Reply::Nil, |value| Reply::Bulk(digest_of(value))))
}

/// DELEX: deletes a key, on a condition if one is given.
pub(crate) fn delex(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let key = args[1];
    let [_, _, name, value] = args else {
        return if args.len() == 2 { keys::del(store, &[b"DEL", key]) } else { Err(wrong_arity("delex")) };
    };
    let Some(entry) = store.find(key) else { return Ok(Reply::Integer(0)) };
    let Value::String(present) = &entry.value else {
        return Err(Reply::error("ERR Key should be of string type if conditions are specified"));
    };
    let condition = Condition::named(name, value)
        .ok_or(Reply::error("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"))?;
    condition.check()?;
    let is_met = condition.is_met_by(Some(present));
    Ok(delete_if(store, key, is_met))
}

/// DELIFEQ of Valkey: deletes a key that has this value.
pub(crate) fn delifeq(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let is_met = store.string(args[1])?.is_some_and(|present| present == args[2]);
    Ok(delete_if(store, args[1], is_met))
}

fn delete_if(store: &mut Store, key: &[u8], is_met: bool) -> Reply {
    if is_met {
        keys::delete(store, key);
        store.propagate(&[b"DEL", key]);
    }
    Reply::Integer(i64::from(is_met))
}
