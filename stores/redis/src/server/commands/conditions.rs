//! Conditions on the value of a string: those of SET, and the commands that delete on one (Redis 8.4 and Valkey 9.0 `t_string.c`).
//!
//! Left out on purpose: conditions on the digest of a value.

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
}

impl<'a> Condition<'a> {
    /// The condition of this name.
    pub(super) fn named(name: &[u8], value: &'a [u8]) -> Option<Condition<'a>> {
        let is = |word: &[u8]| name.eq_ignore_ascii_case(word);
        match () {
            () if is(b"IFEQ") => Some(Condition::Equal(value)),
            () if is(b"IFNE") => Some(Condition::Different(value)),
            () => None,
        }
    }

    pub(super) fn is_met_by(self, present: Option<&Vec<u8>>) -> bool {
        match self {
            Condition::Equal(value) => present.is_some_and(|present| present == value),
            Condition::Different(value) => present.is_none_or(|present| present != value),
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

/// The option among these that compares digests.
pub(super) fn lacking(options: &[&[u8]]) -> Option<&'static str> {
    let is = |name: &&str| options.iter().any(|option| option.eq_ignore_ascii_case(name.as_bytes()));
    ["IFDEQ", "IFDNE"].into_iter().find(is)
}

/// DELEX: deletes a key, on a condition if one is given.
pub(crate) fn delex(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let key = args[1];
    let [_, _, name, value] = args else {
        return if args.len() == 2 { keys::del(store, &[b"DEL", key]) } else { Err(wrong_arity("delex")) };
    };
    if let Some(name) = lacking(&[name]) {
        return Err(store.not_modelled(&format!("DELEX with {name}")));
    }
    let Some(entry) = store.find(key) else { return Ok(Reply::Integer(0)) };
    let Value::String(present) = &entry.value else {
        return Err(Reply::error("ERR Key should be of string type if conditions are specified"));
    };
    let condition = Condition::named(name, value)
        .ok_or(Reply::error("ERR Invalid condition. Use IFEQ, IFNE, IFDEQ, or IFDNE"))?;
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
