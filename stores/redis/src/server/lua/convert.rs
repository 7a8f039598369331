//! Lua values and replies, each as the other (Redis 7.0 `script_lua.c`).

use mlua::{Lua, Table, Value};

use crate::protocol::resp::{Protocol, Reply, doubles};

/// How deep the tables of a script's reply may nest, and how many values it may hold.
const REPLY_DEPTH_MAX: u32 = 100;
const REPLY_VALUES_MAX: u32 = 100_000;

/// A reply as a Lua value, by the protocol that the script speaks.
pub(super) fn value(lua: &Lua, reply: Reply, protocol: Protocol) -> mlua::Result<Value> {
    let field = |name: &str, content: Value| {
        let table = lua.create_table_with_capacity(0, 1)?;
        table.raw_set(name, content)?;
        mlua::Result::Ok(Value::Table(table))
    };
    let text = |text: &[u8]| mlua::Result::Ok(Value::String(lua.create_string(text)?));
    let three = protocol == Protocol::Three;
    Ok(match reply {
        Reply::Status(status) => field("ok", text(status.as_bytes())?)?,
        Reply::Error(error) => field("err", text(error.as_bytes())?)?,
        Reply::Integer(number) => Value::Number(number as f64),
        Reply::Bulk(bytes) => text(&bytes)?,
        Reply::Nil | Reply::NilArray if three => Value::Nil,
        Reply::Nil | Reply::NilArray => Value::Boolean(false),
        Reply::Boolean(yes) if three => Value::Boolean(yes),
        Reply::Boolean(yes) => Value::Number(f64::from(u8::from(yes))),
        Reply::Double(number) if three => field("double", Value::Number(number))?,
        Reply::Double(number) => text(doubles::text(number).as_bytes())?,
        Reply::BigNumber(digits) if three => field("big_number", text(digits.as_bytes())?)?,
        Reply::BigNumber(digits) => text(digits.as_bytes())?,
        Reply::Verbatim(format, content) if three => {
            let table = lua.create_table()?;
            table.raw_set("format", format)?;
            table.raw_set("string", text(&content)?)?;
            field("verbatim_string", Value::Table(table))?
        }
        Reply::Verbatim(_, content) => text(&content)?,
        Reply::Attributed(_, reply) => value(lua, *reply, protocol)?,
        Reply::Set(items) if three => {
            let table = lua.create_table()?;
            for item in items {
                table.raw_set(value(lua, item, protocol)?, true)?;
            }
            field("set", Value::Table(table))?
        }
        Reply::Map(pairs) if three => {
            let table = lua.create_table()?;
            for (name, item) in pairs {
                table.raw_set(value(lua, name, protocol)?, value(lua, item, protocol)?)?;
            }
            field("map", Value::Table(table))?
        }
        Reply::Pairs(pairs) if three => {
            let pairs = pairs.into_iter().map(|(first, second)| Reply::Array(vec![first, second]));
            list(lua, pairs, protocol)?
        }
        Reply::Array(items) | Reply::Set(items) | Reply::Push(items) => {
            list(lua, items.into_iter(), protocol)?
        }
        Reply::Map(pairs) | Reply::Pairs(pairs) => {
            list(lua, pairs.into_iter().flat_map(|(name, item)| [name, item]), protocol)?
        }
    })
}

fn list(lua: &Lua, items: impl Iterator<Item = Reply>, protocol: Protocol) -> mlua::Result<Value> {
    let table = lua.create_table_with_capacity(items.size_hint().0, 0)?;
    for (at, item) in items.enumerate() {
        table.raw_set(at + 1, value(lua, item, protocol)?)?;
    }
    Ok(Value::Table(table))
}

/// A Lua value as a reply, by the protocol that the script speaks.
pub(super) fn reply(value: Value, protocol: Protocol) -> Reply {
    Conversion { protocol, left: REPLY_VALUES_MAX }.reply(value, REPLY_DEPTH_MAX)
}

/// A conversion, and how many more values it may hold.
struct Conversion {
    protocol: Protocol,
    left: u32,
}

impl Conversion {
    fn reply(&mut self, value: Value, depth: u32) -> Reply {
        if depth == 0 || self.left == 0 {
            return Reply::error("ERR reached lua stack limit");
        }
        self.left -= 1;
        match value {
            Value::String(text) => Reply::Bulk(text.as_bytes().to_vec()),
            Value::Integer(number) => Reply::Integer(number),
            Value::Number(number) => Reply::Integer(truncated(number)),
            Value::Boolean(yes) if self.protocol == Protocol::Three => Reply::Boolean(yes),
            Value::Boolean(true) => Reply::Integer(1),
            Value::Table(table) => self.marked(&table, depth).unwrap_or_else(|| self.array(&table, depth)),
            _ => Reply::Nil,
        }
    }

    /// The reply that a table stands for by the name of its only field.
    fn marked(&mut self, table: &Table, depth: u32) -> Option<Reply> {
        if let Some(text) = text_field(table, "err") {
            return Some(Reply::Error(text.into()));
        }
        if let Some(text) = text_field(table, "ok") {
            return Some(Reply::Status(text.into()));
        }
        match table.raw_get("double") {
            Ok(Value::Number(number)) => return Some(Reply::Double(number)),
            Ok(Value::Integer(number)) => return Some(Reply::Double(number as f64)),
            _ => {}
        }
        if let Ok(Value::Table(map)) = table.raw_get("map") {
            let pairs = map.pairs::<Value, Value>().flatten().take(self.left as usize);
            let pairs: Vec<(Value, Value)> = pairs.collect();
            let pairs = pairs.into_iter();
            return Some(Reply::Map(
                pairs.map(|(key, item)| (self.reply(key, depth - 1), self.reply(item, depth - 1))).collect(),
            ));
        }
        if let Ok(Value::Table(set)) = table.raw_get("set") {
            let keys: Vec<(Value, Value)> = set.pairs().flatten().take(self.left as usize).collect();
            return Some(Reply::Set(keys.into_iter().map(|(key, _)| self.reply(key, depth - 1)).collect()));
        }
        if let Some(digits) = text_field(table, "big_number") {
            return Some(Reply::BigNumber(digits.replace(['\r', '\n'], " ").into()));
        }
        let Ok(Value::Table(verbatim)) = table.raw_get("verbatim_string") else { return None };
        let (Ok(Value::String(content)), Some(format)) =
            (verbatim.raw_get("string"), text_field(&verbatim, "format"))
        else {
            return None;
        };
        let format = if format.starts_with("mkd") { "mkd" } else { "txt" };
        Some(Reply::Verbatim(format, content.as_bytes().to_vec()))
    }

    fn array(&mut self, table: &Table, depth: u32) -> Reply {
        let mut items = Vec::new();
        for at in 1.. {
            match table.raw_get(at) {
                Ok(Value::Nil) | Err(_) => break,
                Ok(item) => items.push(self.reply(item, depth - 1)),
            }
            if self.left == 0 {
                break;
            }
        }
        Reply::Array(items)
    }
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
