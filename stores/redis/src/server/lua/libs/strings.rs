//! The functions of Lua's string library whose cost one call does not bound: patterns and repetition (`lstrlib.c` of Lua 5.1.5).
//!
//! `gsub` calls functions of a script from Lua (`gsub.lua`), so that their errors stay as they are.

use std::cell::{Cell, RefCell};

use mlua::{Function, Lua, LuaString, MultiValue, Table, Value};

use super::call::{Call, type_name};
use super::patterns::{Captured, Matcher, until_zero};
use crate::server::lua::errors::{CallError, thrown};
use crate::server::lua::meter::{MEMORY_MAX, spend};

/// The bytes by which a pattern differs from a plain text.
const SPECIALS: &[u8] = b"^$*+?.([%-";

/// The functions by name.
pub(super) fn library(lua: &Lua) -> mlua::Result<Table> {
    let library = lua.create_table()?;
    define(lua, &library, "find", |call| find(call, true))?;
    define(lua, &library, "match", |call| find(call, false))?;
    define(lua, &library, "gmatch", gmatch)?;
    let driver: Function = lua.load(include_str!("gsub.lua")).set_name("@gsub").eval()?;
    define(lua, &library, "gsub", move |call| gsub(call, &driver))?;
    define(lua, &library, "rep", rep)?;
    Ok(library)
}

/// Adds a function of Lua's own.
fn define(
    lua: &Lua,
    library: &Table,
    name: &'static str,
    run: impl Fn(&Call<'_>) -> mlua::Result<MultiValue> + mlua::MaybeSend + 'static,
) -> mlua::Result<()> {
    let function =
        lua.create_function(move |lua, args: MultiValue| run(&Call { lua, name, args: &args, own: true }))?;
    library.raw_set(name, function)
}

/// An argument that is a text, or a number as one.
fn text(call: &Call<'_>, at: usize) -> mlua::Result<LuaString> {
    match call.get(at) {
        Some(Value::String(text)) => Ok(text.clone()),
        Some(value @ (Value::Integer(_) | Value::Number(_))) => {
            call.lua.coerce_string(value.clone())?.ok_or_else(|| call.mismatch(at, "string"))
        }
        _ => Err(call.mismatch(at, "string")),
    }
}

/// A number as C converts it to an integer.
fn integer(number: f64) -> i64 {
    let fits = (i64::MIN as f64..-(i64::MIN as f64)).contains(&number);
    if fits { number as i64 } else { i64::MIN }
}

/// The place where a search begins.
fn begin(call: &Call<'_>, len: usize) -> mlua::Result<usize> {
    let all = i64::try_from(len).unwrap_or(i64::MAX);
    let place = integer(call.number_or(3, 1.0)?);
    let place = if place < 0 { place.saturating_add(all).saturating_add(1).max(0) } else { place };
    Ok(usize::try_from(place.saturating_sub(1).clamp(0, all)).unwrap_or(0))
}

fn number(place: usize) -> Value {
    Value::Number(place as f64)
}

/// The pattern without its anchor, and whether it has one.
fn anchored(pattern: &[u8]) -> (&[u8], bool) {
    pattern.strip_prefix(b"^").map_or((pattern, false), |rest| (rest, true))
}

fn find(call: &Call<'_>, finds: bool) -> mlua::Result<MultiValue> {
    let (src, pattern) = (text(call, 1)?, text(call, 2)?);
    let (src, pattern) = (src.as_bytes(), pattern.as_bytes());
    let from = begin(call, src.len())?;
    let is_plain = || {
        let asked = call.get(4).is_some_and(|plain| !matches!(plain, Value::Nil | Value::Boolean(false)));
        asked || !until_zero(&pattern).iter().any(|byte| SPECIALS.contains(byte))
    };
    if finds && is_plain() {
        spend(call.lua, ((src.len() - from) / 16) as u64)?;
        let found = memchr::memmem::find(&src[from..], &pattern).map(|at| from + at);
        let place = |at| MultiValue::from_iter([number(at + 1), number(at + pattern.len())]);
        return Ok(found.map_or_else(|| MultiValue::from_iter([Value::Nil]), place));
    }
    let (pattern, is_anchored) = anchored(&pattern);
    let mut matcher = Matcher::new(call, &src, pattern);
    for at in from..=src.len() {
        if let Some(end) = matcher.fits(at)? {
            let mut values = Vec::new();
            if finds {
                values.extend([number(at + 1), number(end)]);
            }
            captures(call, &matcher, (at, end), !finds, &mut values)?;
            return Ok(MultiValue::from_iter(values));
        }
        if is_anchored {
            break;
        }
    }
    Ok(MultiValue::from_iter([Value::Nil]))
}

/// The captures of a match; the whole of it where there are none and it is asked for.
fn captures(
    call: &Call<'_>,
    matcher: &Matcher<'_>,
    (from, to): (usize, usize),
    whole: bool,
    values: &mut Vec<Value>,
) -> mlua::Result<()> {
    for nth in 0..matcher.count(whole) {
        values.push(match matcher.capture(nth, from, to)? {
            Captured::Text(text) => Value::String(call.lua.create_string(text)?),
            Captured::Position(place) => number(place),
        });
    }
    Ok(())
}

fn gmatch(call: &Call<'_>) -> mlua::Result<MultiValue> {
    let (src, pattern, next) = (text(call, 1)?, text(call, 2)?, Cell::new(0));
    let iterator = call.lua.create_function(move |lua, _: MultiValue| {
        let call = Call { lua, name: "gmatch", args: &MultiValue::new(), own: true };
        let (src, pattern) = (src.as_bytes(), pattern.as_bytes());
        let mut matcher = Matcher::new(&call, &src, &pattern);
        let mut values = Vec::new();
        for at in next.get()..=src.len() {
            if let Some(end) = matcher.fits(at)? {
                // It goes on by one place at least.
                next.set(end + usize::from(end == at));
                captures(&call, &matcher, (at, end), true, &mut values)?;
                break;
            }
        }
        Ok(MultiValue::from_iter(values))
    })?;
    Ok(MultiValue::from_iter([Value::Function(iterator)]))
}

/// What `gsub` has written so far.
struct Replacing {
    out: Vec<u8>,
    /// The place behind what is done.
    at: usize,
    /// The match whose replacement is to come.
    open: Option<(usize, usize)>,
    count: i64,
    /// True once no further match is looked for.
    ended: bool,
}

fn gsub(call: &Call<'_>, driver: &Function) -> mlua::Result<MultiValue> {
    let (src, pattern) = (text(call, 1)?, text(call, 2)?);
    let all = i64::try_from(src.as_bytes().len()).unwrap_or(i64::MAX).saturating_add(1);
    let max = match call.get(4) {
        None | Some(Value::Nil) => all,
        // C keeps the low 32 bits.
        Some(_) => i64::from(integer(call.number(4)?) as i32),
    };
    let by = match call.get(3) {
        Some(Value::String(_) | Value::Integer(_) | Value::Number(_)) => Some(text(call, 3)?),
        Some(Value::Function(_) | Value::Table(_)) => None,
        _ => return Err(call.bad(3, "string/function/table expected")),
    };
    let state = Replacing { out: Vec::new(), at: 0, open: None, count: 0, ended: false };
    let Some(by) = by else {
        let state = RefCell::new(state);
        let table = matches!(call.get(3), Some(Value::Table(_)));
        let advance = call.lua.create_function(move |lua, args: MultiValue| {
            let call = Call { lua, name: "gsub", args: &args, own: false };
            let (src, pattern) = (src.as_bytes(), pattern.as_bytes());
            let state = &mut state.borrow_mut();
            if let Some((from, to)) = state.open.take() {
                state.put(&call, &src[from..to], call.get(1))?;
                state.pass(&src, from, to);
            }
            let mut matcher = Matcher::new(&call, &src, anchored(&pattern).0);
            let Some((from, to)) = state.next(&mut matcher, &src, anchored(&pattern).1, max)? else {
                return state.result(lua, &src);
            };
            state.open = Some((from, to));
            let mut values = vec![Value::Boolean(true)];
            if table {
                values.push(match matcher.capture(0, from, to)? {
                    Captured::Text(text) => Value::String(lua.create_string(text)?),
                    Captured::Position(place) => number(place),
                });
            } else {
                captures(&call, &matcher, (from, to), true, &mut values)?;
            }
            Ok(MultiValue::from_iter(values))
        })?;
        let mut ended: MultiValue = driver.call((advance, call.get(3)))?;
        return match ended.pop_front() {
            Some(Value::Boolean(true)) => Ok(ended),
            _ => Err(thrown(call.lua, ended.pop_front().unwrap_or(Value::Nil))?),
        };
    };
    let (src, pattern, by) = (src.as_bytes(), pattern.as_bytes(), by.as_bytes());
    let (pattern, is_anchored) = anchored(&pattern);
    let (mut state, mut matcher) = (state, Matcher::new(call, &src, pattern));
    while let Some((from, to)) = state.next(&mut matcher, &src, is_anchored, max)? {
        state.put_text(call, &matcher, &by, (from, to))?;
        state.pass(&src, from, to);
    }
    let mut result = state.result(call.lua, &src)?;
    result.pop_front();
    Ok(result)
}

impl Replacing {
    /// The next match that is to be replaced.
    fn next(
        &mut self,
        matcher: &mut Matcher<'_>,
        src: &[u8],
        is_anchored: bool,
        max: i64,
    ) -> mlua::Result<Option<(usize, usize)>> {
        while !self.ended && self.count < max {
            self.ended = is_anchored;
            if let Some(end) = matcher.fits(self.at)? {
                self.count += 1;
                return Ok(Some((self.at, end)));
            }
            self.pass(src, self.at, self.at);
        }
        Ok(None)
    }

    /// Goes behind a match, or by one byte where nothing or an empty text has matched.
    fn pass(&mut self, src: &[u8], from: usize, to: usize) {
        self.at = to;
        if to > from {
            return;
        }
        match src.get(self.at) {
            Some(byte) => {
                self.out.push(*byte);
                self.at += 1;
            }
            None => self.ended = true,
        }
    }

    fn append(&mut self, lua: &Lua, text: &[u8]) -> mlua::Result<()> {
        spend(lua, 1 + (text.len() / 16) as u64)?;
        if self.out.len() + text.len() > MEMORY_MAX {
            return Err(not_enough_memory());
        }
        self.out.extend_from_slice(text);
        Ok(())
    }

    /// The replacement that a function or a table gave: nil and false leave the match as it is.
    fn put(&mut self, call: &Call<'_>, whole: &[u8], by: Option<&Value>) -> mlua::Result<()> {
        match by {
            None | Some(Value::Nil | Value::Boolean(false)) => self.append(call.lua, whole),
            Some(Value::String(text)) => self.append(call.lua, &text.as_bytes()),
            Some(Value::Integer(_) | Value::Number(_)) => {
                let text = text(call, 1)?;
                self.append(call.lua, &text.as_bytes())
            }
            Some(other) => Err(call.error(&format!("invalid replacement value (a {})", type_name(other)))),
        }
    }

    /// A replacement by a text, in which `%1` stands for a capture.
    fn put_text(
        &mut self,
        call: &Call<'_>,
        matcher: &Matcher<'_>,
        by: &[u8],
        (from, to): (usize, usize),
    ) -> mlua::Result<()> {
        let mut rest = by;
        while let Some(at) = memchr::memchr(b'%', rest) {
            self.append(call.lua, &rest[..at])?;
            let escaped = rest.get(at + 1).copied().unwrap_or(0);
            rest = rest.get(at + 2..).unwrap_or_default();
            let nth = match escaped {
                b'0' => {
                    self.append(call.lua, &matcher.source()[from..to])?;
                    continue;
                }
                b'1'..=b'9' => usize::from(escaped - b'1'),
                other => {
                    self.append(call.lua, &[other])?;
                    continue;
                }
            };
            match matcher.capture(nth, from, to)? {
                Captured::Text(text) => self.append(call.lua, text)?,
                Captured::Position(place) => self.append(call.lua, place.to_string().as_bytes())?,
            }
        }
        self.append(call.lua, rest)
    }

    fn result(&mut self, lua: &Lua, src: &[u8]) -> mlua::Result<MultiValue> {
        self.append(lua, &src[self.at..])?;
        self.at = src.len();
        let text = lua.create_string(std::mem::take(&mut self.out))?;
        let values = [Value::Boolean(false), Value::String(text), Value::Number(self.count as f64)];
        Ok(MultiValue::from_iter(values))
    }
}

fn rep(call: &Call<'_>) -> mlua::Result<MultiValue> {
    let text = text(call, 1)?;
    let text = text.as_bytes();
    // C keeps the low 32 bits.
    let count = usize::try_from(integer(call.number(2)?) as i32).unwrap_or(0);
    let len = text.len().saturating_mul(count);
    if len > MEMORY_MAX {
        return Err(not_enough_memory());
    }
    spend(call.lua, (len / 16) as u64)?;
    Ok(MultiValue::from_iter([Value::String(call.lua.create_string(text.repeat(count))?)]))
}

/// The error of Lua for more memory than there is.
pub(super) fn not_enough_memory() -> mlua::Error {
    mlua::Error::external(CallError("not enough memory".to_owned()))
}
