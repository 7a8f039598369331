//! Strings as arrays of bits (Redis 7.0 `bitops.c`).

use super::ranges::span;
use super::{SYNTAX, count, number};
use crate::protocol::resp::{self, Reply};
use crate::server::store::Store;

/// The highest offset of a bit: strings end at 512 MiB.
const OFFSET_MAX: i64 = 4 * 1024 * 1024 * 1024 - 1;
pub(crate) const BAD_OFFSET: Reply = Reply::error("ERR bit offset is not an integer or out of range");

/// The offset of a bit. With a `#` before it, it counts in fields of so many bits.
pub(crate) fn offset(arg: &[u8], field_bits: Option<i64>) -> Result<usize, Reply> {
    let offset = match (arg, field_bits) {
        ([b'#', rest @ ..], Some(bits)) => resp::integer(rest).and_then(|at| at.checked_mul(bits)),
        _ => resp::integer(arg),
    };
    let inside = offset.filter(|at| (0..=OFFSET_MAX).contains(at)).and_then(|at| usize::try_from(at).ok());
    inside.ok_or(BAD_OFFSET)
}

/// Makes a string so long that it has a bit at this offset. True if it was shorter.
pub(crate) fn grow(string: &mut Vec<u8>, offset: usize) -> bool {
    let short = string.len() <= offset / 8;
    if short {
        string.resize(offset / 8 + 1, 0);
    }
    short
}

pub(crate) fn setbit(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let at = offset(args[2], None)?;
    let on = match resp::integer(args[3]) {
        Some(0) => false,
        Some(1) => true,
        _ => return Err(Reply::error("ERR bit is not an integer or out of range")),
    };
    let mut string = store.make::<Vec<u8>>(args[1])?;
    let grown = grow(string.value, at);
    string.unpack();
    let (byte, mask) = (&mut string.value[at / 8], 0x80 >> (at % 8));
    let before = *byte & mask != 0;
    *byte = if on { *byte | mask } else { *byte & !mask };
    if grown || on != before {
        store.changed(b'$', "setbit", args[1]);
        store.propagate(args);
    }
    Ok(Reply::Integer(i64::from(before)))
}

pub(crate) fn getbit(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let at = offset(args[2], None)?;
    let byte = store.string(args[1])?.and_then(|string| string.get(at / 8)).copied().unwrap_or(0);
    Ok(Reply::Integer(i64::from(byte >> (7 - at % 8) & 1)))
}

/// The unit of BITCOUNT's and BITPOS's ranges.
fn in_bits(unit: Option<&&[u8]>) -> Result<bool, Reply> {
    match unit {
        None => Ok(false),
        Some(unit) if unit.eq_ignore_ascii_case(b"BYTE") => Ok(false),
        Some(unit) if unit.eq_ignore_ascii_case(b"BIT") => Ok(true),
        Some(_) => Err(SYNTAX),
    }
}

/// The bits from `start` to `end`, both included, in bytes or in bits.
fn bits(string: &[u8], start: i64, end: i64, in_bits: bool) -> std::ops::Range<usize> {
    let units = if in_bits { string.len() * 8 } else { string.len() };
    let len = i64::try_from(units).unwrap_or(i64::MAX);
    // Redis takes an end that lies before the beginning for the beginning.
    let end = if end < 0 { end.saturating_add(len).max(0) } else { end };
    let part = span(units, start, end);
    if in_bits { part } else { part.start * 8..part.end * 8 }
}

fn bit(string: &[u8], at: usize) -> bool {
    string[at / 8] >> (7 - at % 8) & 1 == 1
}

pub(crate) fn bitcount(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let Some(string) = store.string(args[1])? else { return Ok(Reply::Integer(0)) };
    let (start, end, unit) = match &args[2..] {
        [] => (0, -1, false),
        [start, end, unit @ ..] if unit.len() < 2 => {
            let (start, end) = (number(start)?, number(end)?);
            if start < 0 && end < 0 && start > end {
                return Ok(Reply::Integer(0));
            }
            (start, end, in_bits(unit.first())?)
        }
        _ => return Err(SYNTAX),
    };
    let part = bits(string, start, end, unit);
    if part.start.is_multiple_of(8) && part.end.is_multiple_of(8) {
        let ones = string[part.start / 8..part.end / 8].iter().map(|byte| i64::from(byte.count_ones()));
        return Ok(Reply::Integer(ones.sum()));
    }
    Ok(count(part.filter(|at| bit(string, *at)).count()))
}

pub(crate) fn bitpos(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let wanted = match number(args[2])? {
        0 => false,
        1 => true,
        _ => return Err(Reply::error("ERR The bit argument must be 1 or 0.")),
    };
    let Some(string) = store.string(args[1])? else { return Ok(Reply::Integer(if wanted { -1 } else { 0 })) };
    let (start, end, unit) = match &args[3..] {
        [] => (0, None, false),
        [start] => (number(start)?, None, false),
        [start, end, unit @ ..] if unit.len() < 2 => {
            let (start, unit) = (number(start)?, in_bits(unit.first())?);
            (start, Some(number(end)?), unit)
        }
        _ => return Err(SYNTAX),
    };
    let part = bits(string, start, end.unwrap_or(-1), unit);
    if part.is_empty() {
        return Ok(Reply::Integer(-1));
    }
    let (skipped, after) = (if wanted { 0 } else { 0xFF }, part.end);
    let mut at = part.start;
    while at < after {
        if at.is_multiple_of(8) && at + 8 <= after && string[at / 8] == skipped {
            at += 8;
        } else if bit(string, at) == wanted {
            return Ok(count(at));
        } else {
            at += 1;
        }
    }
    // Without an end, a string of ones counts as followed by zeros.
    Ok(if !wanted && end.is_none() { count(after) } else { Reply::Integer(-1) })
}

pub(crate) fn bitop(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let is = |word: &[u8]| args[1].eq_ignore_ascii_case(word);
    let operation: fn(u8, u8) -> u8 = match () {
        () if is(b"AND") => |a, b| a & b,
        () if is(b"OR") => |a, b| a | b,
        () if is(b"XOR") => |a, b| a ^ b,
        () if is(b"NOT") => |a, _| !a,
        () => return Err(SYNTAX),
    };
    if is(b"NOT") && args.len() != 4 {
        return Err(Reply::error("ERR BITOP NOT must be called with a single source key."));
    }
    let mut sources = Vec::new();
    for key in &args[3..] {
        sources.push(store.string(key)?.cloned().unwrap_or_default());
    }
    let len = sources.iter().map(Vec::len).max().unwrap_or(0);
    let byte = |source: &Vec<u8>, at: usize| source.get(at).copied().unwrap_or(0);
    let result: Vec<u8> = if is(b"NOT") {
        sources[0].iter().map(|byte| !byte).collect()
    } else {
        let at_all = |at| sources.iter().map(|source| byte(source, at)).reduce(operation).unwrap_or(0);
        (0..len).map(at_all).collect()
    };
    let target = args[2];
    if result.is_empty() {
        if super::keys::delete(store, target) {
            store.propagate(args);
        }
        return Ok(Reply::Integer(0));
    }
    store.find(target);
    store.set(target, result, None, false);
    store.make::<Vec<u8>>(target)?.unpack();
    store.changed(b'$', "set", target);
    store.propagate(args);
    Ok(count(len))
}
