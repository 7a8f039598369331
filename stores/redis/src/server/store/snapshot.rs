//! The whole dataset as commands that make it: the form of a rewritten append-only file.

use super::dataset::Store;
use super::entry::Entry;
use super::value::Value;
use crate::protocol::resp;

impl Store {
    /// The whole dataset as commands that make it.
    #[must_use]
    pub fn snapshot(&self) -> Vec<u8> {
        let mut out = Vec::new();
        let mut selected = 0;
        for (database, key, entry) in self.all() {
            if database != selected {
                resp::request(&mut out, &[b"SELECT", database.to_string().as_bytes()]);
                selected = database;
            }
            write(&mut out, key, entry);
        }
        out
    }
}

fn write(out: &mut Vec<u8>, key: &[u8], entry: &Entry) {
    let when = entry.expires.map(|when| when.to_string());
    match (&entry.value, &when) {
        (Value::String(value), Some(when)) if entry.record => {
            resp::request(out, &[b"SET", key, value, b"PXAT", when.as_bytes()]);
            return;
        }
        (Value::String(value), _) if entry.record => resp::request(out, &[b"SET", key, value, b"NX"]),
        (Value::String(value), _) => resp::request(out, &[b"SET", key, value]),
        (Value::Hash(fields), _) => {
            collection(out, b"HSET", key, fields.iter().flat_map(|(field, value)| [&field[..], value]));
        }
        (Value::List(elements), _) => collection(out, b"RPUSH", key, elements.iter().map(Vec::as_slice)),
        (Value::Set(members), _) => collection(out, b"SADD", key, members.iter().map(Vec::as_slice)),
        (Value::SortedSet(set), _) => {
            // Rust writes the shortest digits that read back as the same number; it spells infinity as Redis does.
            let scores: Vec<String> = set.iter().map(|(_, score)| score.to_string()).collect();
            let members = set.iter().map(|(member, _)| member);
            let pairs = scores.iter().map(String::as_bytes).zip(members);
            collection(out, b"ZADD", key, pairs.flat_map(|(score, member)| [score, member]));
        }
    }
    if let Some(when) = when {
        resp::request(out, &[b"PEXPIREAT", key, when.as_bytes()]);
    }
}

fn collection<'a>(
    out: &mut Vec<u8>,
    command: &'a [u8],
    key: &'a [u8],
    elements: impl Iterator<Item = &'a [u8]>,
) {
    let mut args = vec![command, key];
    args.extend(elements);
    resp::request(out, &args);
}
