//! Arrays of one dimension: how they are written and read.
//!
//! Source: PostgreSQL 15, `array_in`, `array_out`, `array_recv` and `array_send` in `utils/adt/arrayfuncs.c`.

use super::error::SqlError;

/// The elements of an array that is written as text, such as `{a,"b c",NULL}`; none for a null.
pub(super) fn split(text: &str) -> Result<Vec<Option<String>>, SqlError> {
    let malformed = || SqlError::new("22P02", format!("malformed array literal: \"{text}\""));
    let inner = text.trim().strip_prefix('{').ok_or_else(malformed)?;
    let mut rest = inner.strip_suffix('}').ok_or_else(malformed)?.trim();
    let mut items = Vec::new();
    while !rest.is_empty() {
        if rest.starts_with('{') {
            return Err(SqlError::unsupported("an array of several dimensions"));
        }
        let (word, quoted, len) = item(rest).ok_or_else(malformed)?;
        let is_null = !quoted && word.eq_ignore_ascii_case("null");
        items.push((!is_null).then_some(word));
        rest = rest[len..].trim_start();
        if let Some(more) = rest.strip_prefix(',') {
            rest = more.trim_start();
            if rest.is_empty() {
                return Err(malformed());
            }
        } else if !rest.is_empty() {
            return Err(malformed());
        }
    }
    Ok(items)
}

/// The next element of a text, true if it was quoted, and how long it is as it is written.
fn item(text: &str) -> Option<(String, bool, usize)> {
    let quoted = text.starts_with('"');
    let mut word = String::new();
    let mut letters = text.char_indices().skip(usize::from(quoted));
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => word.push(letters.next()?.1),
            '"' if quoted => return Some((word, true, at + 1)),
            '"' | '{' | '}' if !quoted => return None,
            ',' if !quoted => return bare(&word, at),
            letter => word.push(letter),
        }
    }
    if quoted { None } else { bare(&word, text.len()) }
}

/// An element that is not quoted, which is never empty.
fn bare(word: &str, len: usize) -> Option<(String, bool, usize)> {
    let word = word.trim();
    (!word.is_empty()).then(|| (word.to_owned(), false, len))
}

/// An array as text.
pub(super) fn joined(items: &[Option<String>]) -> String {
    let shown = |item: &Option<String>| {
        let Some(text) = item else { return "NULL".to_owned() };
        let plain = |c: char| !c.is_ascii_whitespace() && !['{', '}', ',', '"', '\\'].contains(&c);
        if !text.is_empty() && text.chars().all(plain) && !text.eq_ignore_ascii_case("null") {
            return text.clone();
        }
        format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
    };
    format!("{{{}}}", items.iter().map(shown).collect::<Vec<_>>().join(","))
}

/// The elements of an array in its binary form.
pub(super) fn unframe(bytes: &[u8]) -> Result<Vec<Option<&[u8]>>, SqlError> {
    let incorrect = || SqlError::new("22P03", "incorrect binary data format");
    let mut rest = bytes;
    let dimensions = number(&mut rest).ok_or_else(incorrect)?;
    // Whether it has nulls, and the OID of its elements.
    number(&mut rest).and_then(|_| number(&mut rest)).ok_or_else(incorrect)?;
    match dimensions {
        0 => return Ok(Vec::new()),
        1 => {}
        _ => return Err(SqlError::unsupported("an array of several dimensions")),
    }
    let count = number(&mut rest).ok_or_else(incorrect)?;
    // The index of the first one.
    number(&mut rest).ok_or_else(incorrect)?;
    let mut items = Vec::new();
    for _ in 0..count {
        let len = number(&mut rest).ok_or_else(incorrect)?;
        let Ok(len) = usize::try_from(len) else {
            items.push(None);
            continue;
        };
        let (content, more) = rest.split_at_checked(len).ok_or_else(incorrect)?;
        rest = more;
        items.push(Some(content));
    }
    Ok(items)
}

fn number(rest: &mut &[u8]) -> Option<i32> {
    let (bytes, more) = rest.split_first_chunk::<4>()?;
    *rest = more;
    Some(i32::from_be_bytes(*bytes))
}

/// The binary form of an array whose elements have this OID.
pub(super) fn framed(oid: u32, items: &[Option<Vec<u8>>]) -> Vec<u8> {
    let number = |number: usize| i32::try_from(number).unwrap_or(i32::MAX).to_be_bytes();
    let mut out = Vec::new();
    out.extend(number(usize::from(!items.is_empty())));
    out.extend(number(usize::from(items.contains(&None))));
    out.extend(oid.to_be_bytes());
    if !items.is_empty() {
        out.extend([number(items.len()), number(1)].concat());
    }
    for item in items {
        match item {
            Some(content) => {
                out.extend(number(content.len()));
                out.extend(content);
            }
            None => out.extend((-1_i32).to_be_bytes()),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_array_is_read_as_it_was_written() {
        for text in ["{}", "{a,NULL,\"\",\"a b\",\"q\\\"\\\\\",\"NULL\"}"] {
            let items = split(text).unwrap();
            assert_eq!(joined(&items), text);
            let bytes: Vec<_> = items.iter().map(|item| item.clone().map(String::into_bytes)).collect();
            let framed = framed(25, &bytes);
            let read = unframe(&framed).unwrap();
            assert_eq!(read.iter().map(|item| item.map(<[u8]>::to_vec)).collect::<Vec<_>>(), bytes);
        }
        assert_eq!(joined(&split(" { 1 , 2 } ").unwrap()), "{1,2}");
        for text in ["", "{", "{a,}", "{,}", "{a}b", "{\"a}"] {
            assert_eq!(split(text).unwrap_err().code, "22P02", "{text}");
        }
        assert_eq!(unframe(&[0, 0, 0, 1]).unwrap_err().code, "22P03");
    }
}
