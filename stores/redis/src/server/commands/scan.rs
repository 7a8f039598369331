//! SCAN, HSCAN, SSCAN, ZSCAN (Redis 7.0 `db.c`).
//!
//! A scan goes through the elements in the order of a hash of their names, and the cursor is where in that order it
//! goes on. So an element that is there from the beginning to the end of a scan is returned exactly once, whatever else
//! comes and goes. A collection in its compact encoding is returned at once, as in Redis.

use super::keys::type_name;
use super::{NOT_AN_INTEGER, SYNTAX};
use crate::protocol::resp::{self, Reply, doubles};
use crate::server::glob;
use crate::server::store::{Entry, Store, Value, WRONG_TYPE};

/// How many elements a call looks at if it does not say.
const COUNT: usize = 10;
/// Cursors have at most 48 bits, which every client can count with.
const CURSOR_BITS: u32 = 48;

struct Options<'a> {
    count: usize,
    pattern: Option<&'a [u8]>,
    kind: Option<&'a [u8]>,
}

fn cursor(arg: &[u8]) -> Result<u64, Reply> {
    // Redis reads it with strtoul, which takes a sign.
    let (negative, digits) = match arg {
        [b'-', rest @ ..] => (true, rest),
        [b'+', rest @ ..] => (false, rest),
        _ => (false, arg),
    };
    let digits = std::str::from_utf8(digits).ok().filter(|text| !text.starts_with('+'));
    let number = match digits {
        Some("") if arg.is_empty() => Some(0),
        Some(text) => text.parse::<u64>().ok(),
        None => None,
    };
    let number = number.ok_or(Reply::error("ERR invalid cursor"))?;
    Ok(if negative { number.wrapping_neg() } else { number })
}

fn options<'a>(args: &[&'a [u8]], keys: bool) -> Result<Options<'a>, Reply> {
    let mut options = Options { count: COUNT, pattern: None, kind: None };
    for pair in args.chunks(2) {
        let [name, value] = pair else { return Err(SYNTAX) };
        let is = |word: &[u8]| name.eq_ignore_ascii_case(word);
        match () {
            () if is(b"COUNT") => {
                let count = resp::integer(value).ok_or(NOT_AN_INTEGER)?;
                options.count = usize::try_from(count).ok().filter(|count| *count > 0).ok_or(SYNTAX)?;
            }
            () if is(b"MATCH") => options.pattern = Some(value),
            () if is(b"TYPE") && keys => options.kind = Some(value),
            () => return Err(SYNTAX),
        }
    }
    Ok(options)
}

/// Where in the order of a scan an element comes: never at 0, which is the beginning and the end. (FNV-1a, mixed.)
fn place(name: &[u8]) -> u64 {
    let start: u64 = 0xCBF2_9CE4_8422_2325;
    let hash = name.iter().fold(start, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01B3));
    ((hash ^ hash >> 29).wrapping_mul(0xBF58_476D_1CE4_E5B9) >> (64 - CURSOR_BITS)).max(1)
}

/// The next `count` of these elements, and the cursor after them. Elements at the same place come together.
fn next<'a, T>(
    elements: impl Iterator<Item = (&'a [u8], T)>,
    cursor: u64,
    count: usize,
) -> (u64, Vec<(&'a [u8], T)>) {
    let placed = elements.map(|(name, rest)| (place(name), (name, rest)));
    let mut left: Vec<_> = placed.filter(|(place, _)| *place >= cursor).collect();
    left.sort_by_key(|(place, _)| *place);
    let Some((last, _)) = left.get(count - 1) else {
        return (0, left.into_iter().map(|(_, element)| element).collect());
    };
    let last = *last;
    let end = left.partition_point(|(place, _)| *place <= last);
    let after = left.get(end).map_or(0, |(place, _)| *place);
    left.truncate(end);
    (after, left.into_iter().map(|(_, element)| element).collect())
}

fn answer(cursor: u64, items: Vec<Reply>) -> Reply {
    Reply::Array(vec![Reply::text(&cursor.to_string()), Reply::Array(items)])
}

pub(crate) fn scan(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let from = cursor(args[1])?;
    let Options { count, pattern, kind } = options(&args[2..], true)?;
    store.expire_dead_here();
    let names = store.live_keys().map(|(key, entry)| (key, type_name(&entry.value)));
    let (after, keys) = next(names, from, count);
    let fits = |(key, name): &(&[u8], &str)| {
        pattern.is_none_or(|pattern| glob::fits(pattern, key))
            && kind.is_none_or(|kind| kind.eq_ignore_ascii_case(name.as_bytes()))
    };
    Ok(answer(after, keys.into_iter().filter(fits).map(|(key, _)| Reply::Bulk(key.to_vec())).collect()))
}

pub(crate) fn hscan(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    elements(store, args, |entry| match &entry.value {
        Value::Hash(fields) => {
            Some(fields.iter().map(|(field, value)| (&field[..], Some(value.clone()))).collect())
        }
        _ => None,
    })
}

pub(crate) fn sscan(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    elements(store, args, |entry| match &entry.value {
        Value::Set(members) => Some(members.iter().map(|member| (&member[..], None)).collect()),
        _ => None,
    })
}

pub(crate) fn zscan(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    elements(store, args, |entry| match &entry.value {
        Value::SortedSet(set) => {
            let text = if entry.is_compact() { stored_score } else { doubles::text };
            let score = |score: f64| Some(text(score).into_bytes());
            Some(set.iter().map(|(member, value)| (member, score(value))).collect())
        }
        _ => None,
    })
}

/// A score as the compact encoding keeps it: a whole number has no exponent.
fn stored_score(score: f64) -> String {
    let whole = score.fract() == 0.0 && score.abs() <= (i64::MAX / 2) as f64;
    if whole { (score as i64).to_string() } else { doubles::text(score) }
}

type Elements<'a> = Vec<(&'a [u8], Option<Vec<u8>>)>;

fn elements(
    store: &mut Store,
    args: &[&[u8]],
    list: impl Fn(&Entry) -> Option<Elements<'_>>,
) -> Result<Reply, Reply> {
    let from = cursor(args[2])?;
    let Some(entry) = store.get(args[1]) else { return Ok(answer(0, Vec::new())) };
    let all = list(entry).ok_or(WRONG_TYPE)?;
    let Options { count, pattern, .. } = options(&args[3..], false)?;
    let (after, some) = if entry.is_compact() { (0, all) } else { next(all.into_iter(), from, count) };
    let fitting =
        some.into_iter().filter(|(name, _)| pattern.is_none_or(|pattern| glob::fits(pattern, name)));
    let items = fitting.flat_map(|(name, value)| [Some(name.to_vec()), value]).flatten().map(Reply::Bulk);
    Ok(answer(after, items.collect()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_scan_returns_what_stays_exactly_once(
            staying in prop::collection::btree_set("[a-z]{1,6}", 0..60),
            coming in prop::collection::vec("[A-Z]{1,3}", 0..30),
            count in 1_usize..12,
        ) {
            let mut store = Store::default();
            for key in &staying {
                store.set(key.as_bytes(), Vec::new(), None, false);
            }
            let mut seen = Vec::new();
            let (mut cursor, mut coming) = ("0".to_owned(), coming.into_iter());
            loop {
                let count = count.to_string();
                let args: [&[u8]; 4] = [b"SCAN", cursor.as_bytes(), b"COUNT", count.as_bytes()];
                let Reply::Array(reply) = scan(&mut store, &args).unwrap() else { panic!("an array") };
                let [Reply::Bulk(after), Reply::Array(keys)] = &reply[..] else { panic!("cursor and keys") };
                for key in keys {
                    let Reply::Bulk(key) = key else { panic!("a key") };
                    seen.push(String::from_utf8(key.clone()).unwrap());
                }
                cursor = String::from_utf8(after.clone()).unwrap();
                if cursor == "0" {
                    break;
                }
                if let Some(key) = coming.next() {
                    store.set(key.as_bytes(), Vec::new(), None, false);
                }
                if let Some(key) = seen.iter().find(|key| key.as_bytes()[0].is_ascii_uppercase()) {
                    store.remove(key.clone().as_bytes());
                }
            }
            seen.retain(|key| key.as_bytes()[0].is_ascii_lowercase());
            prop_assert_eq!(seen.len(), staying.len());
            prop_assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), staying);
        }
    }
}
