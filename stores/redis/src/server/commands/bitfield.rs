//! BITFIELD: integers of any width inside a string (Redis 7.0 `bitops.c`).

use super::bits::{grow, offset};
use super::{SYNTAX, number};
use crate::protocol::resp::{self, Reply};
use crate::server::store::Store;

/// The treatment of a number that its field cannot hold.
#[derive(Clone, Copy)]
enum Overflow {
    Wrap,
    Saturate,
    Fail,
}

/// The type of a field.
#[derive(Clone, Copy)]
struct Field {
    signed: bool,
    bits: u32,
}

#[derive(Clone, Copy)]
enum Action {
    Get,
    Set(i64),
    Add(i64),
}

struct Step {
    field: Field,
    offset: usize,
    action: Action,
    overflow: Overflow,
}

impl Field {
    fn parse(text: &[u8]) -> Result<Field, Reply> {
        let bad = Reply::error(
            "ERR Invalid bitfield type. Use something like i16 u8. Note that u64 is not supported but i64 is.",
        );
        let (signed, most) = match text.first() {
            Some(b'i') => (true, 64),
            Some(b'u') => (false, 63),
            _ => return Err(bad),
        };
        let bits = resp::integer(&text[1..]).filter(|bits| (1..=most).contains(bits));
        bits.and_then(|bits| u32::try_from(bits).ok()).map(|bits| Field { signed, bits }).ok_or(bad)
    }

    fn least(self) -> i128 {
        if self.signed { -(1 << (self.bits - 1)) } else { 0 }
    }

    fn most(self) -> i128 {
        if self.signed { (1 << (self.bits - 1)) - 1 } else { (1 << self.bits) - 1 }
    }

    /// A number as the field keeps it; `None` if it is not to be kept.
    fn fit(self, value: i128, overflow: Overflow) -> Option<i128> {
        if (self.least()..=self.most()).contains(&value) {
            return Some(value);
        }
        match overflow {
            Overflow::Fail => None,
            Overflow::Saturate => Some(value.clamp(self.least(), self.most())),
            Overflow::Wrap => Some(self.wrapped(value)),
        }
    }

    fn wrapped(self, value: i128) -> i128 {
        let low = value & ((1 << self.bits) - 1);
        if low > self.most() { low - (1 << self.bits) } else { low }
    }

    fn read(self, string: &[u8], offset: usize) -> i128 {
        let bit = |at: usize| string.get(at / 8).map_or(0, |byte| i128::from(byte >> (7 - at % 8) & 1));
        let value = (0..self.bits as usize).fold(0, |value, at| value << 1 | bit(offset + at));
        self.wrapped(value)
    }

    fn write(self, string: &mut [u8], offset: usize, value: i128) {
        for at in 0..self.bits as usize {
            let (byte, mask) = (&mut string[(offset + at) / 8], 0x80 >> ((offset + at) % 8));
            let on = value >> (self.bits as usize - 1 - at) & 1 == 1;
            *byte = if on { *byte | mask } else { *byte & !mask };
        }
    }
}

fn parse(args: &[&[u8]], read_only: bool) -> Result<Vec<Step>, Reply> {
    let mut steps = Vec::new();
    let mut overflow = Overflow::Wrap;
    let mut rest = &args[2..];
    while let [word, after @ ..] = rest {
        let is = |name: &[u8]| word.eq_ignore_ascii_case(name);
        if is(b"OVERFLOW") && !after.is_empty() {
            overflow = match () {
                () if after[0].eq_ignore_ascii_case(b"WRAP") => Overflow::Wrap,
                () if after[0].eq_ignore_ascii_case(b"SAT") => Overflow::Saturate,
                () if after[0].eq_ignore_ascii_case(b"FAIL") => Overflow::Fail,
                () => return Err(Reply::error("ERR Invalid OVERFLOW type specified")),
            };
            rest = &after[1..];
            continue;
        }
        let operands = if is(b"GET") { 2 } else { 3 };
        if !(is(b"GET") || is(b"SET") || is(b"INCRBY")) || after.len() < operands {
            return Err(SYNTAX);
        }
        let field = Field::parse(after[0])?;
        let offset = offset(after[1], Some(i64::from(field.bits)))?;
        let action = match () {
            () if is(b"GET") => Action::Get,
            () if is(b"SET") => Action::Set(number(after[2])?),
            () => Action::Add(number(after[2])?),
        };
        steps.push(Step { field, offset, action, overflow });
        rest = &after[operands..];
    }
    if read_only && steps.iter().any(|step| !matches!(step.action, Action::Get)) {
        return Err(Reply::error("ERR BITFIELD_RO only supports the GET subcommand"));
    }
    Ok(steps)
}

pub(crate) fn bitfield_ro(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let steps = parse(args, true)?;
    read_all(store, args[1], &steps)
}

fn read_all(store: &mut Store, key: &[u8], steps: &[Step]) -> Result<Reply, Reply> {
    let string = store.string(key)?.map_or(&[][..], Vec::as_slice);
    Ok(Reply::Array(steps.iter().map(|step| integer(step.field.read(string, step.offset))).collect()))
}

fn integer(value: i128) -> Reply {
    Reply::Integer(i64::try_from(value).unwrap_or(i64::MAX))
}

pub(crate) fn bitfield(store: &mut Store, args: &[&[u8]]) -> Result<Reply, Reply> {
    let key = args[1];
    let steps = parse(args, false)?;
    let last = steps.iter().filter(|step| !matches!(step.action, Action::Get));
    let Some(last) = last.map(|step| step.offset + step.field.bits as usize - 1).max() else {
        return read_all(store, key, &steps);
    };
    let mut string = store.make::<Vec<u8>>(key)?;
    let grown = grow(string.value, last);
    string.unpack();
    let mut replies = Vec::new();
    let mut written = false;
    for Step { field, offset, action, overflow } in steps {
        let old = field.read(string.value, offset);
        let (kept, new) = match action {
            Action::Get => {
                replies.push(integer(old));
                continue;
            }
            Action::Set(value) => {
                // An unsigned field takes a negative number for the large one with the same bits.
                let value = if field.signed { i128::from(value) } else { i128::from(value.cast_unsigned()) };
                // Redis subtracts in 64 bits: a number that far below the field looks as if it were above it.
                let wraps = field.signed && field.bits < 64 && field.most() - value > i128::from(i64::MAX);
                let value =
                    if wraps && matches!(overflow, Overflow::Saturate) { field.most() } else { value };
                (field.fit(value, overflow), None)
            }
            Action::Add(by) => {
                let sum = field.fit(old + i128::from(by), overflow);
                (sum, sum)
            }
        };
        match kept {
            None => replies.push(Reply::Nil),
            Some(value) => {
                field.write(string.value, offset, value);
                written |= grown || value != old;
                replies.push(integer(new.unwrap_or(old)));
            }
        }
    }
    if written {
        store.changed(b'$', "setbit", key);
        store.propagate(args);
    }
    Ok(Reply::Array(replies))
}
