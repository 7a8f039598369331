//! SORT (Redis 7.0 `sort.c`).

use std::cmp::Ordering;

use super::numbers::loose;
use super::{SYNTAX, count, number};
use crate::protocol::resp::Reply;
use crate::server::store::{Fields, SortedSet, Store, Value, WRONG_TYPE};

#[derive(Default)]
struct Options<'a> {
    descending: bool,
    alphabetic: bool,
    limit: Option<(i64, i64)>,
    by: Option<&'a [u8]>,
    get: Vec<&'a [u8]>,
    target: Option<&'a [u8]>,
}

fn options<'a>(args: &[&'a [u8]], may_store: bool) -> Result<Options<'a>, Reply> {
    let mut options = Options::default();
    let mut rest = args;
    while let [option, after @ ..] = rest {
        let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
        rest = match after {
            _ if is(b"ASC") => {
                options.descending = false;
                after
            }
            _ if is(b"DESC") => {
                options.descending = true;
                after
            }
            _ if is(b"ALPHA") => {
                options.alphabetic = true;
                after
            }
            [start, count, after @ ..] if is(b"LIMIT") => {
                options.limit = Some((number(start)?, number(count)?));
                after
            }
            [target, after @ ..] if is(b"STORE") && may_store => {
                options.target = Some(target);
                after
            }
            [pattern, after @ ..] if is(b"BY") => {
                options.by = Some(pattern);
                after
            }
            [pattern, after @ ..] if is(b"GET") => {
                options.get.push(pattern);
                after
            }
            _ => return Err(SYNTAX),
        };
    }
    Ok(options)
}

pub(crate) fn sort(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    run(store, args, true)
}

pub(crate) fn sort_ro(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    run(store, args, false)
}

/// The weight by which an element is sorted.
enum Weight {
    Number(f64),
    Text(Option<Vec<u8>>),
}

fn run(store: &mut Store, args: &[&[u8]], may_store: bool) -> Result<Reply, Reply> {
    let options = options(&args[2..], may_store)?;
    // SORT leaves a sorted set in the encoding that it can walk through.
    if let Ok(Some(mut set)) = store.edit::<SortedSet>(args[1]) {
        set.unpack();
    }
    let mut elements: Vec<Vec<u8>> = match store.get(args[1]).map(|entry| &entry.value) {
        None => Vec::new(),
        Some(Value::List(list)) => list.iter().cloned().collect(),
        Some(Value::Set(members)) => members.iter().cloned().collect(),
        Some(Value::SortedSet(set)) => set.iter().map(|(member, _)| member.to_vec()).collect(),
        Some(Value::String(_) | Value::Hash(_)) => return Err(WRONG_TYPE),
    };
    // A pattern that is the same for all elements means: do not sort.
    if options.by.is_none_or(|by| by.contains(&b'*')) {
        elements = sorted(store, elements, &options)?;
    } else if options.descending {
        elements.reverse();
    }
    let elements = limited(elements, options.limit);
    let mut values = Vec::new();
    for element in elements {
        if options.get.is_empty() {
            values.push(Some(element));
            continue;
        }
        for pattern in &options.get {
            values.push(if *pattern == b"#" {
                Some(element.clone())
            } else {
                lookup(store, pattern, &element)
            });
        }
    }
    let Some(target) = options.target else {
        return Ok(Reply::Array(
            values.into_iter().map(|value| value.map_or(Reply::Nil, Reply::Bulk)).collect(),
        ));
    };
    let stored = count(values.len());
    if values.is_empty() {
        if super::keys::delete(store, target) {
            store.propagate(args);
        }
        return Ok(stored);
    }
    let list = values.into_iter().map(Option::unwrap_or_default).collect();
    let replaced = store.find(target).is_some();
    store.create(target, Value::List(list), None, false);
    store.stored(b'l', "sortstore", target, replaced);
    store.propagate(args);
    Ok(stored)
}

fn sorted(store: &mut Store, elements: Vec<Vec<u8>>, options: &Options<'_>) -> Result<Vec<Vec<u8>>, Reply> {
    let mut weighted = Vec::with_capacity(elements.len());
    for element in elements {
        let text = match options.by {
            Some(pattern) => lookup(store, pattern, &element),
            None => Some(element.clone()),
        };
        let weight = match text {
            text if options.alphabetic => Weight::Text(text),
            None => Weight::Number(0.0),
            Some(text) => Weight::Number(
                loose(&text).ok_or(Reply::error("ERR One or more scores can't be converted into double"))?,
            ),
        };
        weighted.push((weight, element));
    }
    weighted.sort_by(|(a, first), (b, second)| {
        let order = match (a, b) {
            // Elements of the same weight come in the order of their bytes.
            (Weight::Number(a), Weight::Number(b)) => {
                a.partial_cmp(b).unwrap_or(Ordering::Equal).then_with(|| first.cmp(second))
            }
            (Weight::Text(a), Weight::Text(b)) => a.cmp(b),
            _ => Ordering::Equal,
        };
        if options.descending { order.reverse() } else { order }
    });
    Ok(weighted.into_iter().map(|(_, element)| element).collect())
}

fn limited(elements: Vec<Vec<u8>>, limit: Option<(i64, i64)>) -> Vec<Vec<u8>> {
    let Some((start, count)) = limit else { return elements };
    let start = usize::try_from(start).unwrap_or(0);
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    elements.into_iter().skip(start).take(count).collect()
}

/// The string that a pattern names for an element: a key, or with `->` a field of a hash.
fn lookup(store: &mut Store, pattern: &[u8], element: &[u8]) -> Option<Vec<u8>> {
    let star = pattern.iter().position(|byte| *byte == b'*')?;
    let after = &pattern[star + 1..];
    let arrow = after.windows(2).position(|pair| pair == b"->").filter(|at| after.len() > at + 2);
    let (after, field) = match arrow {
        Some(at) => (&after[..at], Some(&after[at + 2..])),
        None => (after, None),
    };
    let key = [&pattern[..star], element, after].concat();
    match field {
        Some(field) => store.read::<Fields>(&key).ok()??.get(field).cloned(),
        None => store.read::<Vec<u8>>(&key).ok()?.cloned(),
    }
}
