//! The struct library: values as C structures and back (lua-struct 0.2, on x86-64).

use mlua::{Lua, MultiValue, Table, Value};

use super::call::{Call, define, one};

/// An integer has at most so many bytes.
const INTEGER_MAX: usize = 32;
/// The alignment of `!` without a number.
const ALIGNMENT: usize = 8;

/// A format as it is gone through.
struct Format {
    text: Vec<u8>,
    at: usize,
    big_endian: bool,
    alignment: usize,
}

/// One option of a format and how many bytes it takes.
struct Item {
    option: u8,
    size: usize,
}

impl Format {
    fn of(call: &Call<'_>) -> mlua::Result<Format> {
        Ok(Format { text: call.string(1)?, at: 0, big_endian: false, alignment: 1 })
    }

    fn number(&mut self, call: &Call<'_>, default: usize) -> mlua::Result<usize> {
        let digits = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return Ok(default);
        }
        let mut number: i32 = 0;
        for digit in &self.text[self.at..self.at + digits] {
            let next = number.checked_mul(10).and_then(|tens| tens.checked_add(i32::from(digit - b'0')));
            number = next.ok_or_else(|| call.error("integral size overflow"))?;
        }
        self.at += digits;
        Ok(usize::try_from(number).unwrap_or(0))
    }

    /// The next option that stands for data. Options that say how to read the others are obeyed.
    fn next(&mut self, call: &Call<'_>) -> mlua::Result<Option<Item>> {
        while let Some(option) = self.text.get(self.at).copied().filter(|option| *option != 0) {
            self.at += 1;
            let size = match option {
                b'b' | b'B' | b'x' => 1,
                b'h' | b'H' => 2,
                b'f' => 4,
                b'l' | b'L' | b'T' | b'd' => 8,
                b's' => 0,
                b'c' => self.number(call, 1)?,
                b'i' | b'I' => {
                    let size = self.number(call, 4)?;
                    if size > INTEGER_MAX {
                        let text = format!("integral size {size} is larger than limit of {INTEGER_MAX}");
                        return Err(call.error(&text));
                    }
                    size
                }
                b' ' => continue,
                b'>' | b'<' => {
                    self.big_endian = option == b'>';
                    continue;
                }
                b'!' => {
                    self.alignment = self.number(call, ALIGNMENT)?;
                    if !self.alignment.is_power_of_two() {
                        let text = format!("alignment {} is not a power of 2", self.alignment);
                        return Err(call.error(&text));
                    }
                    continue;
                }
                _ => {
                    return Err(call.bad(1, &format!("invalid format option '{}'", char::from(option))));
                }
            };
            return Ok(Some(Item { option, size }));
        }
        Ok(None)
    }

    /// How many bytes come before an item at this place.
    fn padding(&self, item: &Item, at: usize) -> usize {
        let size = item.size.min(self.alignment);
        if size <= 1 || item.option == b'c' { 0 } else { at.next_multiple_of(size) - at }
    }

    fn ordered(&self, mut bytes: Vec<u8>) -> Vec<u8> {
        if self.big_endian {
            bytes.reverse();
        }
        bytes
    }
}

fn pack(call: &Call<'_>) -> mlua::Result<MultiValue> {
    let mut format = Format::of(call)?;
    let mut out = Vec::new();
    let mut arg = 2;
    while let Some(item) = format.next(call)? {
        let padding = format.padding(&item, out.len());
        out.resize(out.len() + padding, 0);
        match item.option {
            b'x' => out.push(0),
            b'c' | b's' => {
                let text = call.string(arg)?;
                arg += 1;
                let len = if item.size == 0 { text.len() } else { item.size };
                let part = text.get(..len).ok_or_else(|| call.bad(arg, "string too short"))?;
                out.extend_from_slice(part);
                if item.option == b's' {
                    out.push(0);
                }
            }
            option => {
                if call.get(arg).is_none() {
                    return Err(call.bad(arg, "number expected, got nil"));
                }
                let number = call.number(arg)?;
                arg += 1;
                let bytes = match option {
                    b'f' => (number as f32).to_le_bytes().to_vec(),
                    b'd' => number.to_le_bytes().to_vec(),
                    _ => {
                        let bits = if number < 0.0 { (number as i64).cast_unsigned() } else { number as u64 };
                        let mut bytes = bits.to_le_bytes().to_vec();
                        bytes.resize(item.size, 0);
                        bytes
                    }
                };
                out.extend(format.ordered(bytes));
            }
        }
    }
    one(Value::String(call.lua.create_string(out)?))
}

fn unpack(call: &Call<'_>) -> mlua::Result<MultiValue> {
    let mut format = Format::of(call)?;
    let data = call.string(2)?;
    let start = call.number_or(3, 1.0)? as i64;
    if start == 0 {
        return Err(call.bad(3, "offset must be 1 or greater"));
    }
    // The library reads the number as one without a sign: a negative one is far behind the end.
    let start = start.cast_unsigned() as usize - 1;
    let short = || call.bad(2, "data string too short");
    let mut at = start;
    let mut values = Vec::new();
    while let Some(mut item) = format.next(call)? {
        at = at.checked_add(format.padding(&item, at)).ok_or_else(short)?;
        let rest = data.get(at..).filter(|rest| item.size <= rest.len()).ok_or_else(short)?;
        match item.option {
            b'x' => {}
            b'c' => {
                if item.size == 0 {
                    let size = match values.pop() {
                        Some(Value::Number(size)) => size,
                        _ => return Err(call.error("format 'c0' needs a previous size")),
                    };
                    item.size = size as usize;
                }
                let part = rest.get(..item.size).ok_or_else(short)?;
                values.push(Value::String(call.lua.create_string(part)?));
            }
            b's' => {
                let end = rest.iter().position(|byte| *byte == 0);
                let end = end.ok_or_else(|| call.error("unfinished string in data"))?;
                values.push(Value::String(call.lua.create_string(&rest[..end])?));
                item.size = end + 1;
            }
            option => {
                let bytes = format.ordered(rest[..item.size].to_vec());
                values.push(Value::Number(read(option, &bytes)));
            }
        }
        at += item.size;
    }
    values.push(Value::Number((at + 1) as f64));
    Ok(MultiValue::from_iter(values))
}

/// A number of these bytes, the lowest first.
fn read(option: u8, bytes: &[u8]) -> f64 {
    let mut eight = [0; 8];
    let len = bytes.len().min(8);
    eight[..len].copy_from_slice(&bytes[..len]);
    let bits = u64::from_le_bytes(eight);
    match option {
        b'f' => f64::from(f32::from_bits(bits as u32)),
        b'd' => f64::from_bits(bits),
        b'b' | b'h' | b'l' | b'i' => {
            let unused = 64 - 8 * u32::try_from(len).unwrap_or(8);
            let signed = if unused == 64 { 0 } else { bits.cast_signed() << unused >> unused };
            signed as f64
        }
        _ => bits as f64,
    }
}

fn size(call: &Call<'_>) -> mlua::Result<MultiValue> {
    let mut format = Format::of(call)?;
    let mut at: usize = 0;
    while let Some(item) = format.next(call)? {
        at += format.padding(&item, at);
        if item.option == b's' {
            return Err(call.bad(1, "option 's' has no fixed size"));
        }
        if item.option == b'c' && item.size == 0 {
            return Err(call.bad(1, "option 'c0' has no fixed size"));
        }
        at = at.saturating_add(item.size);
    }
    one(Value::Number(at as f64))
}

pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    define(lua, &library, "pack", pack)?;
    define(lua, &library, "unpack", unpack)?;
    define(lua, &library, "size", size)?;
    Ok(library)
}
