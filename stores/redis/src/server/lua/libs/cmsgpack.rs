//! The cmsgpack library: values as MessagePack and back (lua-cmsgpack 0.4.0).
//!
//! It knows no binary and extension types, and makes nil of tables that nest too deep.

use mlua::{Lua, MultiValue, Table, Value};

use super::call::{Call, define, number, one};
use super::strings::not_enough_memory;
use crate::server::lua::meter::{MEMORY_MAX, spend};

/// How deep packed tables nest.
const PACK_DEPTH: usize = 16;
/// How deep unpacked tables nest.
const UNPACK_DEPTH: usize = 1000;

fn pack(call: &Call<'_>) -> mlua::Result<MultiValue> {
    if call.args.is_empty() {
        return Err(call.bad(0, "MessagePack pack needs input."));
    }
    let mut out = Vec::new();
    for value in call.args {
        encode(call.lua, &mut out, value, 0)?;
    }
    one(Value::String(call.lua.create_string(out)?))
}

/// A length with its kind: a byte of its own for lengths up to `small`, else followed by 1, 2 or 4 bytes.
fn header(out: &mut Vec<u8>, len: usize, (small, base): (usize, u8), wide: [Option<u8>; 3]) {
    let len = u32::try_from(len).unwrap_or(u32::MAX);
    match (len, wide) {
        _ if (len as usize) < small => out.push(base | len as u8),
        (0..=0xFF, [Some(kind), _, _]) => out.extend([kind, len as u8]),
        (0..=0xFFFF, [_, Some(kind), _]) => {
            out.push(kind);
            out.extend((len as u16).to_be_bytes());
        }
        (_, [_, _, kind]) => {
            out.extend(kind);
            out.extend(len.to_be_bytes());
        }
    }
}

fn encode(lua: &Lua, out: &mut Vec<u8>, value: &Value, depth: usize) -> mlua::Result<()> {
    // A table that stands in several places is written in each of them.
    spend(lua, 10)?;
    if out.len() > MEMORY_MAX {
        return Err(not_enough_memory());
    }
    match value {
        Value::String(text) => {
            let text = text.as_bytes();
            header(out, text.len(), (32, 0xA0), [Some(0xD9), Some(0xDA), Some(0xDB)]);
            out.extend_from_slice(&text);
        }
        Value::Boolean(yes) => out.push(if *yes { 0xC3 } else { 0xC2 }),
        Value::Table(_) if depth == PACK_DEPTH => out.push(0xC0),
        Value::Table(table) => encode_table(lua, out, table, depth)?,
        other => match number(other) {
            Some(number) => encode_number(out, number),
            None => out.push(0xC0),
        },
    }
    Ok(())
}

fn encode_table(lua: &Lua, out: &mut Vec<u8>, table: &Table, depth: usize) -> mlua::Result<()> {
    let (mut count, mut max, mut array) = (0_usize, 0.0, true);
    for pair in table.pairs::<Value, Value>() {
        count += 1;
        match number(&pair?.0) {
            Some(key) if key > 0.0 && key.fract() == 0.0 => max = key.max(max),
            _ => array = false,
        }
    }
    if array && max == count as f64 {
        header(out, count, (16, 0x90), [None, Some(0xDC), Some(0xDD)]);
        for at in 1..=count {
            encode(lua, out, &table.raw_get(at)?, depth + 1)?;
        }
        return Ok(());
    }
    header(out, count, (16, 0x80), [None, Some(0xDE), Some(0xDF)]);
    for pair in table.pairs::<Value, Value>() {
        let (key, item) = pair?;
        encode(lua, out, &key, depth + 1)?;
        encode(lua, out, &item, depth + 1)?;
    }
    Ok(())
}

fn encode_number(out: &mut Vec<u8>, number: f64) {
    let fits = (i64::MIN as f64..-(i64::MIN as f64)).contains(&number);
    if !fits || number.fract() != 0.0 {
        let short = number as f32;
        if f64::from(short) == number {
            out.push(0xCA);
            out.extend(short.to_be_bytes());
        } else {
            out.push(0xCB);
            // C's quotient of zero and zero has its sign set.
            let bits = if number.is_nan() { 0xFFF8_0000_0000_0000 } else { number.to_bits() };
            out.extend(bits.to_be_bytes());
        }
        return;
    }
    let number = number as i64;
    match number {
        -32..=0x7F => out.push(number as u8),
        0x80..=0xFF => out.extend([0xCC, number as u8]),
        -0x80..=-33 => out.extend([0xD0, number as u8]),
        0x100..=0xFFFF => wide(out, 0xCD, &(number as u16).to_be_bytes()),
        -0x8000..=-0x81 => wide(out, 0xD1, &(number as i16).to_be_bytes()),
        0x1_0000..=0xFFFF_FFFF => wide(out, 0xCE, &(number as u32).to_be_bytes()),
        -0x8000_0000..=-0x8001 => wide(out, 0xD2, &(number as i32).to_be_bytes()),
        0x1_0000_0000.. => wide(out, 0xCF, &number.to_be_bytes()),
        _ => wide(out, 0xD3, &number.to_be_bytes()),
    }
}

fn wide(out: &mut Vec<u8>, kind: u8, bytes: &[u8]) {
    out.push(kind);
    out.extend_from_slice(bytes);
}

struct Decoder<'a> {
    call: &'a Call<'a>,
    left: &'a [u8],
}

impl Decoder<'_> {
    fn take(&mut self, len: usize) -> mlua::Result<&[u8]> {
        let (taken, left) =
            self.left.split_at_checked(len).ok_or_else(|| self.call.error("Missing bytes in input."))?;
        self.left = left;
        Ok(taken)
    }

    /// The next so many bytes as one number.
    fn unsigned(&mut self, len: usize) -> mlua::Result<u64> {
        Ok(self.take(len)?.iter().fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    fn signed(&mut self, len: usize) -> mlua::Result<Value> {
        let unused = 64 - 8 * u32::try_from(len).unwrap_or(8);
        Ok(Value::Number((self.unsigned(len)?.cast_signed() << unused >> unused) as f64))
    }

    fn len(&mut self, len: usize) -> mlua::Result<usize> {
        Ok(usize::try_from(self.unsigned(len)?).unwrap_or(usize::MAX))
    }

    fn string(&mut self, len: usize) -> mlua::Result<Value> {
        let lua = self.call.lua;
        Ok(Value::String(lua.create_string(self.take(len)?)?))
    }

    fn value(&mut self, depth: usize) -> mlua::Result<Value> {
        if depth > UNPACK_DEPTH {
            return Err(self.call.error("stack overflow (in function mp_decode_to_lua_type)"));
        }
        spend(self.call.lua, 10)?;
        let kind = self.take(1)?[0];
        let low = usize::from(kind);
        Ok(match kind {
            0..=0x7F => Value::Number(f64::from(kind)),
            0x80..=0x8F => self.map(low & 15, depth)?,
            0x90..=0x9F => self.array(low & 15, depth)?,
            0xA0..=0xBF => self.string(low & 31)?,
            0xC0 => Value::Nil,
            0xC2 | 0xC3 => Value::Boolean(kind == 0xC3),
            0xCA => Value::Number(f64::from(f32::from_bits(self.unsigned(4)? as u32))),
            0xCB => Value::Number(f64::from_bits(self.unsigned(8)?)),
            0xCC..=0xCE => Value::Number(self.unsigned(1 << (kind - 0xCC))? as f64),
            0xCF => self.signed(8)?,
            0xD0..=0xD3 => self.signed(1 << (kind - 0xD0))?,
            0xD9..=0xDB => {
                let len = self.len(1 << (kind - 0xD9))?;
                self.string(len)?
            }
            0xDC | 0xDD => {
                let len = self.len(2 << (kind - 0xDC))?;
                self.array(len, depth)?
            }
            0xDE | 0xDF => {
                let len = self.len(2 << (kind - 0xDE))?;
                self.map(len, depth)?
            }
            0xE0..=0xFF => Value::Number(f64::from(kind.cast_signed())),
            _ => return Err(self.call.error("Bad data format in input.")),
        })
    }

    fn array(&mut self, len: usize, depth: usize) -> mlua::Result<Value> {
        let table = self.call.lua.create_table()?;
        for at in 1..=len {
            table.raw_set(at, self.value(depth + 1)?)?;
        }
        Ok(Value::Table(table))
    }

    fn map(&mut self, len: usize, depth: usize) -> mlua::Result<Value> {
        let table = self.call.lua.create_table()?;
        for _ in 0..len {
            let key = self.value(depth + 1)?;
            let item = self.value(depth + 1)?;
            table.raw_set(key, item)?;
        }
        Ok(Value::Table(table))
    }
}

/// Unpacks up to `limit` values from an offset; without either, all of them. With either, what comes first is where to
/// go on, or -1 at the end.
fn unpack(call: &Call<'_>, limit: i64, offset: i64) -> mlua::Result<MultiValue> {
    let bytes = call.string(1)?;
    let len = bytes.len();
    let all = limit == 0 && offset == 0;
    if limit < 0 || offset < 0 {
        let text = format!("Invalid request to unpack with offset of {offset} and limit of {len}.");
        return Err(call.error(&text));
    }
    let start = usize::try_from(offset).unwrap_or(usize::MAX);
    let Some(left) = bytes.get(start..) else {
        return Err(call.error(&format!("Start offset {offset} greater than input length {len}.")));
    };
    let limit = if all { usize::MAX } else { usize::try_from(limit).unwrap_or(usize::MAX) };
    let mut decoder = Decoder { call, left };
    let mut values = Vec::new();
    while !decoder.left.is_empty() && values.len() < limit {
        values.push(decoder.value(0)?);
    }
    if !all {
        let next = if decoder.left.is_empty() { -1.0 } else { (len - decoder.left.len()) as f64 };
        values.insert(0, Value::Number(next));
    }
    Ok(MultiValue::from_iter(values))
}

pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    define(lua, &library, "pack", pack)?;
    define(lua, &library, "unpack", |call| unpack(call, 0, 0))?;
    define(lua, &library, "unpack_one", |call| unpack(call, 1, call.number_or(2, 0.0)? as i64))?;
    define(lua, &library, "unpack_limit", |call| {
        unpack(call, call.number(2)? as i64, call.number_or(3, 0.0)? as i64)
    })?;
    library.raw_set("_NAME", "cmsgpack")?;
    library.raw_set("_VERSION", "lua-cmsgpack 0.4.0")?;
    library.raw_set("_COPYRIGHT", "Copyright (C) 2012, Salvatore Sanfilippo")?;
    library.raw_set("_DESCRIPTION", "MessagePack C implementation for Lua")?;
    Ok(library)
}
