//! A line of a history as EDN, as Jepsen writes it: one flat map of keywords.
//!
//! Of EDN it reads what stands in such maps; lists, sets and maps as values are passed over, since Jepsen's errors are
//! vectors. Source: the EDN format, <https://github.com/edn-format/edn>.

use std::borrow::Cow;
use std::fmt::Write as _;

use super::fields::{Fields, Value};
use super::line::Line;
use super::malformed::{Malformed, clipped};

/// The line as an EDN map, without a line break. `process` and `index` are the numbers that Jepsen asks for: the process is one of
/// the whole history, and what is no process is said to be the nemesis.
#[must_use]
pub fn to_edn(line: &Line<'_>, index: usize, process: Option<usize>) -> String {
    let process = process.map_or(":nemesis".to_owned(), |number| number.to_string());
    let mut text = format!("{{:index {index}, :process {process}");
    // Jepsen asks of every line when it was, and what of.
    if line.time.is_none() {
        text.push_str(", :time 0");
    }
    if line.history.is_some() {
        text.push_str(", :type :info, :f :history");
    }
    for (name, value) in line.fields() {
        // Jepsen's time has no unit in its name.
        let name = if name == "time_ns" { "time".to_owned() } else { name.replace('_', "-") };
        let value = match (name.as_str(), value) {
            ("process", _) => continue,
            ("type" | "f" | "role", Value::Text(word)) => format!(":{word}"),
            (_, Value::Text(words)) => quoted(&words),
            (_, Value::Int(number)) => number.to_string(),
            (_, Value::Bool(flag)) => flag.to_string(),
            (_, Value::Nothing | Value::Other(_)) => "nil".to_owned(),
        };
        let _ = write!(text, ", :{name} {value}");
    }
    text.push('}');
    text
}

fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => _ = write!(quoted, "\\u{:04x}", u32::from(c)),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// Reads the fields of a line, named as in JSON. What Jepsen's histories leave out is filled in: all of their times are
/// of one clock, and most of them know one lock only.
pub(super) fn fields(text: &str) -> Result<Option<Fields<'_>>, Malformed> {
    let mut reader = Reader { text, at: 0 };
    reader.skip();
    let rest = &text[reader.at..];
    if let Some(tag) = rest.strip_prefix("#jepsen.history.Op").map(|after| rest.len() - after.len()) {
        reader.at += tag;
    }
    let map = reader.map()?;
    let nemesis = ("process", Value::Text(Cow::Borrowed(":nemesis")));
    let by_nemesis = map.contains(&nemesis);
    let mut fields = Fields::with_capacity(map.len() + 2);
    for (name, value) in map {
        let value = match value {
            Value::Text(Cow::Borrowed(word)) if word.starts_with(':') => {
                Value::Text(Cow::Borrowed(&word[1..]))
            }
            value => value,
        };
        match name {
            "index" => {}
            "process" if by_nemesis => {}
            "time" => fields.push((Cow::Borrowed("time_ns"), value)),
            _ if name.contains('-') => fields.push((Cow::Owned(name.replace('-', "_")), value)),
            _ => fields.push((Cow::Borrowed(name), value)),
        }
    }
    let has = |name: &str| fields.iter().any(|(known, value)| known == name && *value != Value::Nothing);
    // The operations of the nemesis of Jepsen have names of their own, and no host.
    if by_nemesis && !has("host") && !has("history") {
        return Ok(None);
    }
    let (host, key, history) = (has("host"), has("key"), has("history"));
    if history {
        fields.retain(|(name, _)| !matches!(name.as_ref(), "time_ns" | "type" | "f"));
    }
    if !history && !host {
        fields.push((Cow::Borrowed("host"), Value::Text(Cow::Borrowed("control"))));
        if !key {
            fields.push((Cow::Borrowed("key"), Value::Text(Cow::Borrowed("lock"))));
        }
    }
    Ok(Some(fields))
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

/// Deeper than any error of Jepsen's.
const DEPTH_MAX: usize = 32;

impl<'a> Reader<'a> {
    fn malformed(&self, message: &str) -> Malformed {
        let column = self.text[..self.at].chars().count() + 1;
        Malformed::new(format!(
            "column {column}: not an EDN map: {message}; a line holds one flat map, whole"
        ))
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip(&mut self) {
        while let Some(c) = self.peek().filter(|c| c.is_whitespace() || *c == ',') {
            self.at += c.len_utf8();
        }
    }

    fn map(&mut self) -> Result<Vec<(&'a str, Value<'a>)>, Malformed> {
        self.skip();
        if self.peek() != Some('{') {
            return Err(self.malformed("it does not begin with `{`"));
        }
        self.at += 1;
        let mut fields = Vec::with_capacity(10);
        loop {
            self.skip();
            match self.peek() {
                Some('}') => break,
                Some(':') => {}
                Some(_) => return Err(self.malformed("a name is a keyword, as in `:key`")),
                None => return Err(self.malformed("it has no end")),
            }
            let Value::Text(Cow::Borrowed(name)) = self.value(0)? else {
                return Err(self.malformed("a name is a keyword, as in `:key`"));
            };
            self.skip();
            if matches!(self.peek(), Some('}')) {
                return Err(self.malformed(&format!("`{}` has no value", clipped(name))));
            }
            fields.push((&name[1..], self.value(0)?));
        }
        self.at += 1;
        self.skip();
        match self.peek() {
            None | Some(';') => Ok(fields),
            Some(_) => Err(self.malformed("something follows its end")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value<'a>, Malformed> {
        if depth > DEPTH_MAX {
            return Err(self.malformed("it is nested too deeply"));
        }
        self.skip();
        match self.peek() {
            None => Err(self.malformed("it has no end")),
            Some('"') => self.string(),
            Some('[' | '(' | '{') => self.nested(depth),
            Some('#') => {
                // A set, or a tag and what it is of.
                self.at += 1;
                if self.peek() != Some('{') {
                    self.word();
                }
                self.value(depth + 1).map(|_| Value::Other("a tagged value"))
            }
            Some(_) => self.atom(),
        }
    }

    fn nested(&mut self, depth: usize) -> Result<Value<'a>, Malformed> {
        self.at += 1;
        loop {
            self.skip();
            match self.peek() {
                Some(']' | ')' | '}') => break,
                _ => self.value(depth + 1)?,
            };
        }
        self.at += 1;
        Ok(Value::Other("a collection"))
    }

    fn word(&mut self) -> &'a str {
        let rest = &self.text[self.at..];
        let ends =
            |c: char| c.is_whitespace() || matches!(c, ',' | ';' | '"' | '{' | '}' | '[' | ']' | '(' | ')');
        let word = &rest[..rest.find(ends).unwrap_or(rest.len())];
        self.at += word.len();
        word
    }

    fn atom(&mut self) -> Result<Value<'a>, Malformed> {
        let word = self.word();
        match word {
            "" => Err(self.malformed("something is closed that was not opened")),
            ":" => Err(self.malformed("a keyword without a name")),
            "nil" => Ok(Value::Nothing),
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            // A keyword keeps its colon until it is known what it stands for.
            _ if word.starts_with(':') => Ok(Value::Text(Cow::Borrowed(word))),
            _ => {
                let digits = word.strip_suffix('N').unwrap_or(word);
                Ok(digits.parse().map_or(Value::Other("a symbol or a number with a point"), Value::Int))
            }
        }
    }

    fn string(&mut self) -> Result<Value<'a>, Malformed> {
        let rest = &self.text[self.at + 1..];
        let end = rest.find(['"', '\\']);
        if let Some(end) = end.filter(|end| rest[*end..].starts_with('"')) {
            self.at += end + 2;
            let text = &rest[..end];
            // A text is no keyword, though it begins like one.
            return Ok(Value::Text(if text.starts_with(':') {
                Cow::Owned(text.to_owned())
            } else {
                Cow::Borrowed(text)
            }));
        }
        let (mut text, mut chars) = (String::new(), rest.char_indices());
        while let Some((at, c)) = chars.next() {
            match c {
                '"' => {
                    self.at += at + 2;
                    return Ok(Value::Text(Cow::Owned(text)));
                }
                '\\' => match chars.next().map(|(_, c)| c) {
                    Some('n') => text.push('\n'),
                    Some('r') => text.push('\r'),
                    Some('t') => text.push('\t'),
                    Some(c @ ('"' | '\\')) => text.push(c),
                    Some('u') => {
                        let digits: String = chars.by_ref().take(4).map(|(_, c)| c).collect();
                        let code = u32::from_str_radix(&digits, 16).ok().and_then(char::from_u32);
                        text.push(code.ok_or_else(|| self.malformed("`\\u` takes four hexadecimal digits"))?);
                    }
                    _ => return Err(self.malformed("there is no such escape in a text")),
                },
                c => text.push(c),
            }
        }
        Err(self.malformed("a text has no end"))
    }
}
