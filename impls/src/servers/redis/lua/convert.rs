//! Lua values and replies, each as the other (Redis 7.0 `script_lua.c`).

use mlua::{Lua, Table, Value};

use crate::servers::redis::resp::{Reply, doubles};

/// How deep the tables of a script's reply may nest, and how many values it may hold.
const REPLY_DEPTH_MAX: u32 = 100;
const REPLY_VALUES_MAX: u32 = 100_000;

/// A reply as a Lua value.
pub(super) fn value(lua: &Lua, reply: Reply) -> mlua::Result<Value> {
    let field = |name: &str, text: &str| {
        let table = lua.create_table_with_capacity(0, 1)?;
        table.raw_set(name, text)?;
        mlua::Result::Ok(Value::Table(table))
    };
    Ok(match reply {
        Reply::Status(text) => field("ok", &text)?,
        Reply::Error(text) => field("err", &text)?,
        Reply::Integer(number) => Value::Number(number as f64),
        Reply::Bulk(bytes) => Value::String(lua.create_string(bytes)?),
        Reply::Nil | Reply::NilArray => Value::Boolean(false),
        Reply::Boolean(yes) => Value::Number(f64::from(u8::from(yes))),
        Reply::Double(number) => Value::String(lua.create_string(doubles::text(number))?),
        Reply::BigNumber(digits) => Value::String(lua.create_string(digits.as_bytes())?),
        Reply::Verbatim(_, text) => Value::String(lua.create_string(text)?),
        Reply::Attribute(_) => Value::Nil,
        Reply::Array(items) | Reply::Set(items) | Reply::Push(items) => {
            let table = lua.create_table_with_capacity(items.len(), 0)?;
            for item in items {
                table.raw_push(value(lua, item)?)?;
            }
            Value::Table(table)
        }
        Reply::Map(pairs) | Reply::Pairs(pairs) => {
            let table = lua.create_table_with_capacity(pairs.len() * 2, 0)?;
            for (name, item) in pairs {
                table.raw_push(value(lua, name)?)?;
                table.raw_push(value(lua, item)?)?;
            }
            Value::Table(table)
        }
    })
}

/// A Lua value as a reply.
pub(super) fn reply(value: Value) -> Reply {
    reply_within(value, REPLY_DEPTH_MAX, &mut REPLY_VALUES_MAX.clone())
}

/// The same, with how deep it may nest and how many more values it may hold.
fn reply_within(value: Value, depth: u32, left: &mut u32) -> Reply {
    if depth == 0 || *left == 0 {
        return Reply::error("ERR reached lua stack limit");
    }
    *left -= 1;
    match value {
        Value::String(text) => Reply::Bulk(text.as_bytes().to_vec()),
        Value::Integer(number) => Reply::Integer(number),
        Value::Number(number) => Reply::Integer(truncated(number)),
        Value::Boolean(true) => Reply::Integer(1),
        Value::Table(table) => table_reply(&table, depth, left),
        _ => Reply::Nil,
    }
}

fn table_reply(table: &Table, depth: u32, left: &mut u32) -> Reply {
    if let Some(text) = text_field(table, "err") {
        return Reply::Error(text.into());
    }
    if let Some(text) = text_field(table, "ok") {
        return Reply::Status(text.into());
    }
    let mut items = Vec::new();
    for at in 1.. {
        match table.raw_get(at) {
            Ok(Value::Nil) | Err(_) => break,
            Ok(item) => items.push(reply_within(item, depth - 1, left)),
        }
        if *left == 0 {
            break;
        }
    }
    Reply::Array(items)
}

pub(super) fn text_field(table: &Table, name: &str) -> Option<String> {
    match table.raw_get(name) {
        Ok(Value::String(text)) => Some(text.to_string_lossy()),
        _ => None,
    }
}

/// Converts as C does on x86-64, where what does not fit becomes the least integer.
fn truncated(number: f64) -> i64 {
    let fits = (i64::MIN as f64..-(i64::MIN as f64)).contains(&number);
    if fits { number as i64 } else { i64::MIN }
}
