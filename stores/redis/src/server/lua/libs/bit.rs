//! The bit library: operations on 32 bits (LuaBitOp 1.0.2).

use mlua::{Lua, MultiValue, Table, Value};

use super::call::{Call, define, one};

/// Adding this to a number leaves its low 32 bits, rounded to even, at the end of the mantissa.
const SHIFT: f64 = 6_755_399_441_055_744.0;

/// An operation on two numbers, or on a number and a count of bits.
type Operation = fn(u32, u32) -> u32;

fn bits(call: &Call<'_>, at: usize) -> mlua::Result<u32> {
    call.number(at).map(|number| (number + SHIFT).to_bits() as u32)
}

fn signed(bits: u32) -> mlua::Result<MultiValue> {
    one(Value::Number(f64::from(bits.cast_signed())))
}

pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    define(lua, &library, "tobit", |call| signed(bits(call, 1)?))?;
    define(lua, &library, "bnot", |call| signed(!bits(call, 1)?))?;
    define(lua, &library, "bswap", |call| signed(bits(call, 1)?.swap_bytes()))?;
    let folds: [(&str, Operation); 3] =
        [("band", |a, b| a & b), ("bor", |a, b| a | b), ("bxor", |a, b| a ^ b)];
    for (name, fold) in folds {
        define(lua, &library, name, move |call| {
            let mut result = bits(call, 1)?;
            for at in 2..=call.args.len() {
                result = fold(result, bits(call, at)?);
            }
            signed(result)
        })?;
    }
    let shifts: [(&str, Operation); 5] = [
        ("lshift", |a, by| a << by),
        ("rshift", |a, by| a >> by),
        ("arshift", |a, by| (a.cast_signed() >> by).cast_unsigned()),
        ("rol", u32::rotate_left),
        ("ror", u32::rotate_right),
    ];
    for (name, shift) in shifts {
        define(lua, &library, name, move |call| signed(shift(bits(call, 1)?, bits(call, 2)? & 31)))?;
    }
    define(lua, &library, "tohex", |call| {
        let number = bits(call, 1)?;
        let digits = if call.args.len() < 2 { 8 } else { bits(call, 2)?.cast_signed() };
        let text = if digits < 0 { format!("{number:08X}") } else { format!("{number:08x}") };
        let shown = usize::try_from(digits.unsigned_abs().min(8)).unwrap_or(8);
        one(Value::String(call.lua.create_string(&text[8 - shown..])?))
    })?;
    Ok(library)
}
