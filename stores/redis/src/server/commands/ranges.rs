//! Parts of strings: APPEND, GETRANGE, SETRANGE, LCS (Redis 7.0 `t_string.c`).

use super::{SYNTAX, count, number};
use crate::protocol::resp::Reply;
use crate::server::store::Store;

/// The longest string, in bytes: `proto-max-bulk-len`.
const STRING_MAX: usize = 512 * 1024 * 1024;
const TOO_LONG: Reply = Reply::error("ERR string exceeds maximum allowed size (proto-max-bulk-len)");

pub(crate) fn append(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (key, more) = (args[1], args[2]);
    let len = match store.edit::<Vec<u8>>(key)? {
        None => {
            store.make::<Vec<u8>>(key)?.value.extend_from_slice(more);
            more.len()
        }
        Some(mut string) => {
            if string.value.len() + more.len() > STRING_MAX {
                return Err(TOO_LONG);
            }
            string.value.extend_from_slice(more);
            string.unpack();
            string.value.len()
        }
    };
    store.changed(b'$', "append", key);
    store.propagate(args);
    Ok(count(len))
}

/// The part of something of this length from `start` to `end`, both included and counted from the end if negative:
/// where it begins and ends, the end not included.
pub(crate) fn span(len: usize, start: i64, end: i64) -> std::ops::Range<usize> {
    let len = i64::try_from(len).unwrap_or(i64::MAX);
    let start = if start < 0 { start.saturating_add(len).max(0) } else { start };
    let end = if end < 0 { end.saturating_add(len).max(-1) } else { end }.min(len - 1);
    if start > end {
        return 0..0;
    }
    let place = |at: i64| usize::try_from(at).unwrap_or(0);
    place(start)..place(end + 1)
}

pub(crate) fn getrange(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (start, end) = (number(args[2])?, number(args[3])?);
    let Some(string) = store.string(args[1])? else { return Ok(Reply::Bulk(Vec::new())) };
    // An end before the first byte means the first byte, unless both ends are given from behind and crossed.
    let len = i64::try_from(string.len()).unwrap_or(i64::MAX);
    let end = if end < 0 && !(start < 0 && start > end) { end.saturating_add(len).max(0) } else { end };
    let part = if start < 0 && end < 0 && start > end { 0..0 } else { span(string.len(), start, end) };
    Ok(Reply::Bulk(string[part].to_vec()))
}

pub(crate) fn setrange(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let (key, part) = (args[1], args[3]);
    let offset = number(args[2])?;
    let offset = usize::try_from(offset).map_err(|_| Reply::error("ERR offset is out of range"))?;
    let len = store.found::<Vec<u8>>(key)?.map_or(0, Vec::len);
    if part.is_empty() {
        return Ok(count(len));
    }
    let end = offset.checked_add(part.len()).filter(|end| *end <= STRING_MAX).ok_or(TOO_LONG)?;
    let mut string = store.make::<Vec<u8>>(key)?;
    if string.value.len() < end {
        string.value.resize(end, 0);
    }
    string.value[offset..end].copy_from_slice(part);
    string.unpack();
    let len = string.value.len();
    store.changed(b'$', "setrange", key);
    store.propagate(args);
    Ok(count(len))
}

#[derive(Default)]
struct LcsOptions {
    len: bool,
    matches: bool,
    match_len: bool,
    least: i64,
}

pub(crate) fn lcs(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let not_strings = |_| Reply::error("ERR The specified keys must contain string values");
    let a = store.string(args[1]).map(|string| string.cloned().unwrap_or_default());
    let b = store.string(args[2]).map(|string| string.cloned().unwrap_or_default());
    let (a, b) = (a.map_err(not_strings)?, b.map_err(not_strings)?);
    let mut options = LcsOptions::default();
    let mut rest = args[3..].iter();
    while let Some(option) = rest.next() {
        let is = |word: &[u8]| option.eq_ignore_ascii_case(word);
        match () {
            () if is(b"IDX") => options.matches = true,
            () if is(b"LEN") => options.len = true,
            () if is(b"WITHMATCHLEN") => options.match_len = true,
            () if is(b"MINMATCHLEN") => options.least = number(rest.next().ok_or(SYNTAX)?)?.max(0),
            () => return Err(SYNTAX),
        }
    }
    if options.len && options.matches {
        return Err(Reply::error("ERR If you want both the length and indexes, please just use IDX."));
    }
    let cells = (a.len() + 1).checked_mul(b.len() + 1).filter(|cells| *cells <= STRING_MAX / 4);
    if cells.is_none() {
        return Err(Reply::error(
            "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len",
        ));
    }
    Ok(longest_common(&a, &b, &options))
}

/// Fills the table of the lengths for all prefixes, then walks back through it.
fn longest_common(a: &[u8], b: &[u8], options: &LcsOptions) -> Reply {
    let width = b.len() + 1;
    let mut table = vec![0_u32; (a.len() + 1) * width];
    for i in 1..=a.len() {
        for j in 1..=b.len() {
            table[i * width + j] = if a[i - 1] == b[j - 1] {
                table[(i - 1) * width + j - 1] + 1
            } else {
                table[(i - 1) * width + j].max(table[i * width + j - 1])
            };
        }
    }
    let total = i64::from(table[a.len() * width + b.len()]);
    if options.len {
        return Reply::Integer(total);
    }
    let mut common = Vec::new();
    let mut runs: Vec<(usize, usize, usize)> = Vec::new();
    let (mut i, mut j) = (a.len(), b.len());
    while i > 0 && j > 0 {
        if a[i - 1] == b[j - 1] {
            (i, j) = (i - 1, j - 1);
            common.push(a[i]);
            match runs.last_mut() {
                Some((at, bt, len)) if (*at, *bt) == (i + 1, j + 1) => (*at, *bt, *len) = (i, j, *len + 1),
                _ => runs.push((i, j, 1)),
            }
        } else if table[(i - 1) * width + j] > table[i * width + j - 1] {
            i -= 1;
        } else {
            j -= 1;
        }
    }
    if !options.matches {
        common.reverse();
        return Reply::Bulk(common);
    }
    let long = |len: usize| i64::try_from(len).is_ok_and(|len| len >= options.least);
    let matches = runs.into_iter().filter(|(_, _, len)| long(*len)).map(|(at, bt, len)| {
        let place = |from: usize| Reply::Array(vec![count(from), count(from + len - 1)]);
        let mut run = vec![place(at), place(bt)];
        if options.match_len {
            run.push(count(len));
        }
        Reply::Array(run)
    });
    Reply::Map(vec![
        (Reply::text("matches"), Reply::Array(matches.collect())),
        (Reply::text("len"), Reply::Integer(total)),
    ])
}
