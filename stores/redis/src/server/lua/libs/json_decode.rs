//! The cjson library: JSON as values (lua-cjson 2.1.0).

use mlua::{LuaString, MultiValue, Table, Value};

use super::call::{Call, one};
use super::json_options::options;
use crate::server::lua::meter::spend;

enum Token {
    ObjectBegin,
    ObjectEnd,
    ArrayBegin,
    ArrayEnd,
    Colon,
    Comma,
    String(Vec<u8>),
    Number(f64),
    Boolean(bool),
    Null,
    End,
    Error(&'static str),
}

impl Token {
    fn name(&self) -> &'static str {
        match self {
            Token::ObjectBegin => "T_OBJ_BEGIN",
            Token::ObjectEnd => "T_OBJ_END",
            Token::ArrayBegin => "T_ARR_BEGIN",
            Token::ArrayEnd => "T_ARR_END",
            Token::Colon => "T_COLON",
            Token::Comma => "T_COMMA",
            Token::String(_) => "T_STRING",
            Token::Number(_) => "T_NUMBER",
            Token::Boolean(_) => "T_BOOLEAN",
            Token::Null => "T_NULL",
            Token::End => "T_END",
            Token::Error(text) => text,
        }
    }
}

/// How deep values may nest at most, whatever a script asks for.
pub(super) const DEPTH_MAX: usize = 1000;

struct Decoder<'a> {
    call: &'a Call<'a>,
    text: &'a [u8],
    at: usize,
    /// Where the last token began, or where its error is.
    begin: usize,
    depth: usize,
}

pub(super) fn decode(call: &Call<'_>) -> mlua::Result<MultiValue> {
    if call.args.len() != 1 {
        return Err(call.bad(1, "expected 1 argument"));
    }
    let text = call.string(1)?;
    if text.len() >= 2 && (text[0] == 0 || text[1] == 0) {
        return Err(call.error("JSON parser does not support UTF-16 or UTF-32"));
    }
    let mut decoder = Decoder { call, text: &text, at: 0, begin: 0, depth: 0 };
    let first = decoder.next();
    let value = decoder.value(first)?;
    match decoder.next() {
        Token::End => one(value),
        other => Err(decoder.expected("the end", &other)),
    }
}

impl Decoder<'_> {
    fn expected(&self, what: &str, found: &Token) -> mlua::Error {
        let at = self.begin + 1;
        self.call.error(&format!("Expected {what} but found {} at character {at}", found.name()))
    }

    fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    fn next(&mut self) -> Token {
        while matches!(self.peek(), b' ' | b'\t' | b'\n' | b'\r') {
            self.at += 1;
        }
        self.begin = self.at;
        let single = match self.peek() {
            // The text ends at a zero byte.
            0 => return Token::End,
            b'{' => Token::ObjectBegin,
            b'}' => Token::ObjectEnd,
            b'[' => Token::ArrayBegin,
            b']' => Token::ArrayEnd,
            b':' => Token::Colon,
            b',' => Token::Comma,
            b'"' => return self.string(),
            b'-' | b'0'..=b'9' => {
                let refused = !options().decode_invalid && self.is_invalid_number();
                return if refused { Token::Error("invalid number") } else { self.number() };
            }
            _ => return self.word(),
        };
        self.at += 1;
        single
    }

    fn word(&mut self) -> Token {
        let rest = &self.text[self.at..];
        for (word, token) in
            [(&b"true"[..], Token::Boolean(true)), (b"false", Token::Boolean(false)), (b"null", Token::Null)]
        {
            if rest.starts_with(word) {
                self.at += word.len();
                return token;
            }
        }
        if options().decode_invalid && self.is_invalid_number() {
            return self.number();
        }
        Token::Error("invalid token")
    }

    /// True for what C takes for a number and JSON does not.
    fn is_invalid_number(&self) -> bool {
        let rest = &self.text[self.at..];
        let starts =
            |word: &[u8]| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
        if rest.first() == Some(&b'+') {
            return true;
        }
        let unsigned = rest.strip_prefix(b"-").unwrap_or(rest);
        match unsigned {
            [b'0', second, ..] => matches!(second, b'x' | b'X' | b'0'..=b'9'),
            [b'0'..=b'9', ..] => false,
            _ => {
                starts(b"inf") || starts(b"nan") || {
                    let start =
                        |word: &[u8]| unsigned.get(..3).is_some_and(|start| start.eq_ignore_ascii_case(word));
                    start(b"inf") || start(b"nan")
                }
            }
        }
    }

    fn number(&mut self) -> Token {
        let (value, len) = number_at(&self.text[self.at..]);
        if len == 0 {
            return Token::Error("invalid number");
        }
        self.at += len;
        Token::Number(value)
    }

    fn string(&mut self) -> Token {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            match self.peek() {
                0 => {
                    self.begin = self.at;
                    return Token::Error("unexpected end of string");
                }
                b'"' => {
                    self.at += 1;
                    return Token::String(out);
                }
                b'\\' => {
                    if let Some(error) = self.escape(&mut out) {
                        self.begin = self.at;
                        return Token::Error(error);
                    }
                }
                byte => {
                    out.push(byte);
                    self.at += 1;
                }
            }
        }
    }

    /// Takes an escape sequence; what is wrong with it, if something is.
    fn escape(&mut self, out: &mut Vec<u8>) -> Option<&'static str> {
        let plain = match self.text.get(self.at + 1).copied().unwrap_or(0) {
            b'u' => {
                let Some((code, len)) = self.unicode() else { return Some("invalid unicode escape code") };
                append_utf8(out, code);
                self.at += len;
                return None;
            }
            b'b' => 8,
            b'f' => 12,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            byte @ (b'"' | b'\\' | b'/') => byte,
            _ => return Some("invalid escape code"),
        };
        out.push(plain);
        self.at += 2;
        None
    }

    /// The code point of one or two escapes, and how many bytes they take.
    fn unicode(&self) -> Option<(u32, usize)> {
        let unit = |from: usize| {
            let escape = self.text.get(from..from + 6)?;
            let digits = escape.strip_prefix(b"\\u")?;
            digits.iter().try_fold(0, |code, digit| Some(code << 4 | char::from(*digit).to_digit(16)?))
        };
        let first = unit(self.at)?;
        if first & 0xF800 != 0xD800 {
            return Some((first, 6));
        }
        let second = unit(self.at + 6).filter(|_| first & 0x400 == 0)?;
        if second & 0xFC00 != 0xDC00 {
            return None;
        }
        Some((0x10000 + ((first & 0x3FF) << 10 | second & 0x3FF), 12))
    }

    fn value(&mut self, token: Token) -> mlua::Result<Value> {
        spend(self.call.lua, 10)?;
        Ok(match token {
            Token::String(text) => Value::String(self.call.lua.create_string(text)?),
            Token::Number(number) => Value::Number(number),
            Token::Boolean(yes) => Value::Boolean(yes),
            Token::Null => Value::NULL,
            Token::ObjectBegin => Value::Table(self.nested(Decoder::object)?),
            Token::ArrayBegin => Value::Table(self.nested(Decoder::array)?),
            other => return Err(self.expected("value", &other)),
        })
    }

    fn nested(&mut self, parse: impl Fn(&mut Self) -> mlua::Result<Table>) -> mlua::Result<Table> {
        self.depth += 1;
        if self.depth > options().decode_depth.min(DEPTH_MAX) {
            let (depth, at) = (self.depth, self.at);
            let text = format!("Found too many nested data structures ({depth}) at character {at}");
            return Err(self.call.error(&text));
        }
        let table = parse(self)?;
        self.depth -= 1;
        Ok(table)
    }

    fn object(&mut self) -> mlua::Result<Table> {
        let table = self.call.lua.create_table()?;
        let mut token = self.next();
        if matches!(token, Token::ObjectEnd) {
            return Ok(table);
        }
        loop {
            let Token::String(key) = token else { return Err(self.expected("object key string", &token)) };
            let colon = self.next();
            if !matches!(colon, Token::Colon) {
                return Err(self.expected("colon", &colon));
            }
            let first = self.next();
            let value = self.value(first)?;
            table.raw_set(LuaString::wrap(key), value)?;
            match self.next() {
                Token::ObjectEnd => return Ok(table),
                Token::Comma => token = self.next(),
                other => return Err(self.expected("comma or object end", &other)),
            }
        }
    }

    fn array(&mut self) -> mlua::Result<Table> {
        let table = self.call.lua.create_table()?;
        let mut token = self.next();
        if matches!(token, Token::ArrayEnd) {
            return Ok(table);
        }
        for at in 1.. {
            let value = self.value(token)?;
            table.raw_set(at, value)?;
            match self.next() {
                Token::ArrayEnd => break,
                Token::Comma => token = self.next(),
                other => return Err(self.expected("comma or array end", &other)),
            }
        }
        Ok(table)
    }
}

/// The number that a text begins with, as C's `strtod` reads it, and how long it is; no length if there is none.
fn number_at(text: &[u8]) -> (f64, usize) {
    let sign = usize::from(matches!(text.first(), Some(b'-' | b'+')));
    let negative = text.first() == Some(&b'-');
    let rest = &text[sign..];
    let word = |word: &[u8]| rest.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    let signed = |value: f64| if negative { -value } else { value };
    for (name, value) in [(&b"infinity"[..], f64::INFINITY), (b"inf", f64::INFINITY), (b"nan", f64::NAN)] {
        if word(name) {
            return (signed(value), sign + name.len());
        }
    }
    if word(b"0x") {
        let digits = rest[2..].iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
        let value = rest[2..2 + digits]
            .iter()
            .fold(0.0, |value, digit| value * 16.0 + f64::from(char::from(*digit).to_digit(16).unwrap_or(0)));
        return if digits > 0 { (signed(value), sign + 2 + digits) } else { (signed(0.0), sign + 1) };
    }
    let run = |from: usize| rest[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let mut len = run(0);
    let mut any = len > 0;
    if rest.get(len) == Some(&b'.') {
        let decimals = run(len + 1);
        any |= decimals > 0;
        len += 1 + decimals;
    }
    if !any {
        return (0.0, 0);
    }
    if matches!(rest.get(len), Some(b'e' | b'E')) {
        let sign = usize::from(matches!(rest.get(len + 1), Some(b'-' | b'+')));
        let digits = if len + 1 + sign <= rest.len() { run(len + 1 + sign) } else { 0 };
        if digits > 0 {
            len += 1 + sign + digits;
        }
    }
    let value = std::str::from_utf8(&rest[..len]).ok().and_then(|text| text.parse().ok());
    (signed(value.unwrap_or(0.0)), sign + len)
}

/// Appends a code point, lone surrogates included.
fn append_utf8(out: &mut Vec<u8>, code: u32) {
    let tail = |shift: u32| 0x80 | (code >> shift & 0x3F) as u8;
    match code {
        0..0x80 => out.push(code as u8),
        0x80..0x800 => out.extend([0xC0 | (code >> 6) as u8, tail(0)]),
        0x800..0x10000 => out.extend([0xE0 | (code >> 12) as u8, tail(6), tail(0)]),
        _ => out.extend([0xF0 | (code >> 18) as u8, tail(12), tail(6), tail(0)]),
    }
}
