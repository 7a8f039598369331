//! The cjson library: values as JSON (lua-cjson 2.1.0).

use mlua::{Lua, MultiValue, Table, Value};

use super::call::{Call, define, number, one, type_name};
use super::json_decode::{self, DEPTH_MAX};
use super::json_options::{CURRENT, Invalid, Options, options};
use super::strings::not_enough_memory;
use crate::server::lua::meter::{MEMORY_MAX, spend};

/// Formats a number as C's `%.*g` does.
fn digits(number: f64, precision: usize) -> String {
    if number.is_nan() || number.is_infinite() {
        let sign = if number.is_sign_negative() { "-" } else { "" };
        return format!("{sign}{}", if number.is_nan() { "nan" } else { "inf" });
    }
    let scientific = format!("{number:.*e}", precision - 1);
    let (mantissa, exponent) = scientific.split_once('e').unwrap_or((&scientific, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let strip = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text.to_owned(),
    };
    let whole = i32::try_from(precision).unwrap_or(i32::MAX);
    if (-4..whole).contains(&exponent) {
        let decimals = usize::try_from(whole - 1 - exponent).unwrap_or(0);
        return strip(&format!("{number:.decimals$}"));
    }
    let sign = if exponent < 0 { '-' } else { '+' };
    format!("{}e{sign}{:02}", strip(mantissa), exponent.abs())
}

struct Encoder<'a> {
    call: &'a Call<'a>,
    options: Options,
    out: Vec<u8>,
}

impl Encoder<'_> {
    fn unfit(&self, kind: &str, reason: &str) -> mlua::Error {
        self.call.error(&format!("Cannot serialise {kind}: {reason}"))
    }

    fn value(&mut self, value: &Value, depth: usize) -> mlua::Result<()> {
        // A sparse array is written with all of its gaps.
        spend(self.call.lua, 10)?;
        if self.out.len() > MEMORY_MAX {
            return Err(not_enough_memory());
        }
        match value {
            Value::Nil => self.out.extend_from_slice(b"null"),
            Value::LightUserData(pointer) if pointer.0.is_null() => self.out.extend_from_slice(b"null"),
            Value::Boolean(yes) => self.out.extend_from_slice(if *yes { b"true" } else { b"false" }),
            Value::String(text) => self.string(&text.as_bytes()),
            Value::Table(table) => self.table(table, depth + 1)?,
            other => match number(other) {
                Some(number) => self.number(number)?,
                None => return Err(self.unfit(type_name(other), "type not supported")),
            },
        }
        Ok(())
    }

    fn number(&mut self, number: f64) -> mlua::Result<()> {
        if !number.is_finite() {
            match self.options.encode_invalid {
                Invalid::Refuse => return Err(self.unfit("number", "must not be NaN or Inf")),
                Invalid::Null => {
                    self.out.extend_from_slice(b"null");
                    return Ok(());
                }
                Invalid::Write => {}
            }
        }
        self.out.extend_from_slice(digits(number, self.options.precision).as_bytes());
        Ok(())
    }

    fn string(&mut self, text: &[u8]) {
        self.out.push(b'"');
        for byte in text {
            match byte {
                b'"' | b'\\' | b'/' => self.out.extend_from_slice(&[b'\\', *byte]),
                8 => self.out.extend_from_slice(b"\\b"),
                b'\t' => self.out.extend_from_slice(b"\\t"),
                b'\n' => self.out.extend_from_slice(b"\\n"),
                12 => self.out.extend_from_slice(b"\\f"),
                b'\r' => self.out.extend_from_slice(b"\\r"),
                0..32 | 127 => self.out.extend_from_slice(format!("\\u{byte:04x}").as_bytes()),
                _ => self.out.push(*byte),
            }
        }
        self.out.push(b'"');
    }

    fn table(&mut self, table: &Table, depth: usize) -> mlua::Result<()> {
        if depth > self.options.encode_depth.min(DEPTH_MAX) {
            return Err(self.call.error(&format!("Cannot serialise, excessive nesting ({depth})")));
        }
        match self.array_len(table)? {
            Some(len) if len > 0 => {
                for at in 1..=len {
                    self.out.push(if at == 1 { b'[' } else { b',' });
                    self.value(&table.raw_get(at)?, depth)?;
                }
                self.out.push(b']');
            }
            _ => self.object(table, depth)?,
        }
        Ok(())
    }

    fn object(&mut self, table: &Table, depth: usize) -> mlua::Result<()> {
        self.out.push(b'{');
        for (at, pair) in table.pairs::<Value, Value>().enumerate() {
            let (key, item) = pair?;
            if at > 0 {
                self.out.push(b',');
            }
            match &key {
                Value::String(text) => self.string(&text.as_bytes()),
                other => match number(other) {
                    Some(number) => {
                        self.out.push(b'"');
                        self.number(number)?;
                        self.out.push(b'"');
                    }
                    None => {
                        return Err(self.unfit(type_name(other), "table key must be a number or string"));
                    }
                },
            }
            self.out.push(b':');
            self.value(&item, depth)?;
        }
        self.out.push(b'}');
        Ok(())
    }

    /// How long a table is as an array; `None` if it is an object.
    fn array_len(&self, table: &Table) -> mlua::Result<Option<i64>> {
        let (mut max, mut items) = (0.0, 0.0);
        for pair in table.pairs::<Value, Value>() {
            let (key, _) = pair?;
            match number(&key) {
                Some(key) if key >= 1.0 && key.fract() == 0.0 => {
                    max = key.max(max);
                    items += 1.0;
                }
                _ => return Ok(None),
            }
        }
        let Options { sparse_ratio, sparse_safe, sparse_convert, .. } = self.options;
        if sparse_ratio > 0.0 && max > items * sparse_ratio && max > sparse_safe {
            if !sparse_convert {
                return Err(self.unfit("table", "excessively sparse array"));
            }
            return Ok(None);
        }
        Ok(Some(max as i64))
    }
}

fn encode(call: &Call<'_>) -> mlua::Result<MultiValue> {
    if call.args.len() != 1 {
        return Err(call.bad(1, "expected 1 argument"));
    }
    let mut encoder = Encoder { call, options: options(), out: Vec::new() };
    encoder.value(&call.args[0], 0)?;
    one(Value::String(call.lua.create_string(encoder.out)?))
}

/// Sets an option to an integer within bounds, if one is given, and returns it.
fn integer(
    call: &Call<'_>,
    (low, high): (i32, i32),
    field: fn(&mut Options) -> &mut usize,
) -> mlua::Result<MultiValue> {
    if call.args.len() > 1 {
        return Err(call.bad(2, "found too many arguments"));
    }
    if !matches!(call.get(1), None | Some(Value::Nil)) {
        let given = call.number(1)? as i32;
        if !(low..=high).contains(&given) {
            return Err(call.bad(1, &format!("expected integer between {low} and {high}")));
        }
        CURRENT.with_borrow_mut(|options| *field(options) = usize::try_from(given).unwrap_or(0));
    }
    one(Value::Number(CURRENT.with_borrow_mut(|options| *field(options)) as f64))
}

/// Reads an option that is on or off; `None` if it is not given.
fn boolean(call: &Call<'_>, at: usize) -> mlua::Result<Option<bool>> {
    match call.get(at) {
        None | Some(Value::Nil) => Ok(None),
        Some(Value::Boolean(yes)) => Ok(Some(*yes)),
        Some(Value::String(text)) if text.as_bytes() == b"on" => Ok(Some(true)),
        Some(Value::String(text)) if text.as_bytes() == b"off" => Ok(Some(false)),
        Some(Value::String(text)) => {
            Err(call.bad(at, &format!("invalid option '{}'", text.to_string_lossy())))
        }
        Some(_) => Err(call.mismatch(at, "string")),
    }
}

fn encode_invalid(call: &Call<'_>) -> mlua::Result<MultiValue> {
    let null = matches!(call.get(1), Some(Value::String(text)) if text.as_bytes() == b"null");
    let given = if null { Some(Invalid::Null) } else { None };
    let given = match given {
        Some(given) => Some(given),
        None => boolean(call, 1)?.map(|yes| if yes { Invalid::Write } else { Invalid::Refuse }),
    };
    let now = CURRENT.with_borrow_mut(|options| {
        options.encode_invalid = given.unwrap_or(options.encode_invalid);
        options.encode_invalid
    });
    one(match now {
        Invalid::Refuse => Value::Boolean(false),
        Invalid::Write => Value::Boolean(true),
        Invalid::Null => Value::String(call.lua.create_string("null")?),
    })
}

fn sparse(call: &Call<'_>) -> mlua::Result<MultiValue> {
    let mut now = options();
    now.sparse_convert = boolean(call, 1)?.unwrap_or(now.sparse_convert);
    for (at, field) in [(2, &mut now.sparse_ratio), (3, &mut now.sparse_safe)] {
        let given = call.number_or(at, *field)?;
        if !(0.0..=f64::from(i32::MAX)).contains(&given) {
            return Err(call.bad(at, &format!("expected integer between 0 and {}", i32::MAX)));
        }
        *field = given;
    }
    CURRENT.set(now);
    let values =
        [Value::Boolean(now.sparse_convert), Value::Number(now.sparse_ratio), Value::Number(now.sparse_safe)];
    Ok(MultiValue::from_iter(values))
}

pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    define(lua, &library, "encode", encode)?;
    define(lua, &library, "decode", json_decode::decode)?;
    define(lua, &library, "encode_max_depth", |call| {
        integer(call, (1, i32::MAX), |options| &mut options.encode_depth)
    })?;
    define(lua, &library, "decode_max_depth", |call| {
        integer(call, (1, i32::MAX), |options| &mut options.decode_depth)
    })?;
    define(lua, &library, "encode_number_precision", |call| {
        integer(call, (1, 14), |options| &mut options.precision)
    })?;
    define(lua, &library, "encode_keep_buffer", |call| {
        let given = boolean(call, 1)?;
        one(Value::Boolean(CURRENT.with_borrow_mut(|options| {
            options.keep_buffer = given.unwrap_or(options.keep_buffer);
            options.keep_buffer
        })))
    })?;
    define(lua, &library, "decode_invalid_numbers", |call| {
        let given = boolean(call, 1)?;
        one(Value::Boolean(CURRENT.with_borrow_mut(|options| {
            options.decode_invalid = given.unwrap_or(options.decode_invalid);
            options.decode_invalid
        })))
    })?;
    define(lua, &library, "encode_invalid_numbers", encode_invalid)?;
    define(lua, &library, "encode_sparse_array", sparse)?;
    define(lua, &library, "new", |call| one(Value::Table(self::library(call.lua)?)))?;
    library.raw_set("null", Value::NULL)?;
    library.raw_set("_NAME", "cjson")?;
    library.raw_set("_VERSION", "2.1.0")?;
    Ok(library)
}
