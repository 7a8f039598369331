//! Values of JSON as trees and as text: how a `jsonb` is brought to its one form.
//!
//! A number keeps its digits; one with an exponent is refused. Source: PostgreSQL 15, "JSON Types"; `jsonb_util.c`.

use std::fmt::Write as _;

use super::error::SqlError;

/// How deep objects and arrays may lie in each other.
const DEPTH_MAX: u32 = 100;

/// A value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Json {
    /// A number, a truth value or null, as it is written.
    Plain(String),
    Text(String),
    Array(Vec<Json>),
    /// In the order of its keys: the shorter ones first.
    Object(Vec<(String, Json)>),
}

/// The one form of a text of JSON.
pub(crate) fn canonical(text: &str) -> Result<String, SqlError> {
    parse(text).map(|json| shown(&json))
}

fn invalid() -> SqlError {
    SqlError::new("22P02", "invalid input syntax for type json")
}

pub(super) fn put(object: &mut Vec<(String, Json)>, key: String, value: Json) {
    let place = object
        .binary_search_by(|(known, _)| (known.len(), known.as_bytes()).cmp(&(key.len(), key.as_bytes())));
    match place {
        Ok(at) => object[at].1 = value,
        Err(at) => object.insert(at, (key, value)),
    }
}

pub(super) fn parse(text: &str) -> Result<Json, SqlError> {
    let mut reader = Reader { rest: text, depth: 0 };
    let json = reader.value()?;
    reader.blank();
    if reader.rest.is_empty() { Ok(json) } else { Err(invalid()) }
}

struct Reader<'a> {
    rest: &'a str,
    depth: u32,
}

impl Reader<'_> {
    fn blank(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn takes(&mut self, sign: &str) -> bool {
        self.blank();
        let rest = self.rest.strip_prefix(sign);
        self.rest = rest.unwrap_or(self.rest);
        rest.is_some()
    }

    fn value(&mut self) -> Result<Json, SqlError> {
        self.depth += 1;
        if self.depth > DEPTH_MAX {
            return Err(SqlError::unsupported("JSON of this depth"));
        }
        let value = self.inner();
        self.depth -= 1;
        value
    }

    fn inner(&mut self) -> Result<Json, SqlError> {
        for word in ["null", "true", "false"] {
            if self.takes(word) {
                return Ok(Json::Plain(word.to_owned()));
            }
        }
        if self.takes("\"") {
            return self.text().map(Json::Text);
        }
        if self.takes("[") {
            let mut values = Vec::new();
            while !self.takes("]") {
                if !values.is_empty() && !self.takes(",") {
                    return Err(invalid());
                }
                values.push(self.value()?);
            }
            return Ok(Json::Array(values));
        }
        if self.takes("{") {
            let (mut object, mut first) = (Vec::new(), true);
            while !self.takes("}") {
                if !std::mem::take(&mut first) && !self.takes(",") {
                    return Err(invalid());
                }
                if !self.takes("\"") {
                    return Err(invalid());
                }
                let key = self.text()?;
                if !self.takes(":") {
                    return Err(invalid());
                }
                put(&mut object, key, self.value()?);
            }
            return Ok(Json::Object(object));
        }
        self.number()
    }

    fn number(&mut self) -> Result<Json, SqlError> {
        let is_part = |c: char| c.is_ascii_digit() || ['-', '+', '.', 'e', 'E'].contains(&c);
        let len = self.rest.find(|c| !is_part(c)).unwrap_or(self.rest.len());
        let (digits, rest) = self.rest.split_at(len);
        self.rest = rest;
        if digits.contains(['e', 'E']) {
            return Err(SqlError::unsupported("a number of JSON with an exponent"));
        }
        let bare = digits.strip_prefix('-').unwrap_or(digits);
        let (whole, fraction) = bare.split_once('.').unwrap_or((bare, "0"));
        let all_digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        if !all_digits(whole) || !all_digits(fraction) || whole.len() > 1 && whole.starts_with('0') {
            return Err(invalid());
        }
        let is_zero = bare.bytes().all(|byte| byte == b'0' || byte == b'.');
        Ok(Json::Plain(if is_zero { bare } else { digits }.to_owned()))
    }

    /// A text from behind its quote on.
    fn text(&mut self) -> Result<String, SqlError> {
        let mut text = String::new();
        let mut letters = self.rest.char_indices();
        while let Some((at, letter)) = letters.next() {
            match letter {
                '"' => {
                    self.rest = &self.rest[at + 1..];
                    return Ok(text);
                }
                '\\' => match letters.next().ok_or_else(invalid)?.1 {
                    'n' => text.push('\n'),
                    't' => text.push('\t'),
                    'r' => text.push('\r'),
                    'b' => text.push('\u{8}'),
                    'f' => text.push('\u{c}'),
                    plain @ ('"' | '\\' | '/') => text.push(plain),
                    'u' => {
                        let digits: String = letters.by_ref().take(4).map(|(_, digit)| digit).collect();
                        let code = u32::from_str_radix(&digits, 16).map_err(|_| invalid())?;
                        let letter = char::from_u32(code).filter(|letter| *letter != '\0');
                        let refused = || SqlError::unsupported("this escape of JSON");
                        text.push(letter.ok_or_else(refused)?);
                    }
                    _ => return Err(invalid()),
                },
                letter if letter < ' ' => return Err(invalid()),
                letter => text.push(letter),
            }
        }
        Err(invalid())
    }
}

pub(super) fn shown(json: &Json) -> String {
    match json {
        Json::Plain(text) => text.clone(),
        Json::Text(text) => quoted(text),
        Json::Array(values) => format!("[{}]", values.iter().map(shown).collect::<Vec<_>>().join(", ")),
        Json::Object(pairs) => {
            let pair = |(key, value): &(String, Json)| format!("{}: {}", quoted(key), shown(value));
            format!("{{{}}}", pairs.iter().map(pair).collect::<Vec<_>>().join(", "))
        }
    }
}

pub(super) fn quoted(text: &str) -> String {
    let mut out = String::from("\"");
    for letter in text.chars() {
        match letter {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            '\u{8}' => out.push_str("\\b"),
            '\u{c}' => out.push_str("\\f"),
            letter if letter < ' ' => drop(write!(out, "\\u{:04x}", u32::from(letter))),
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_has_one_form() {
        let text = r#" {"bb":1.10 ,"a":[ 1,true,null,"x\u0041\n" ],"bb":-0} "#;
        assert_eq!(canonical(text).as_deref(), Ok(r#"{"a": [1, true, null, "xA\n"], "bb": 0}"#));
        for text in ["", "{", "{a:1}", "[1,]", "01", "tru", "1 2", "\"a"] {
            assert_eq!(canonical(text).unwrap_err().code, "22P02", "{text}");
        }
    }
}
