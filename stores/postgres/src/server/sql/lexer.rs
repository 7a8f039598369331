//! Cuts a text into words, numbers, quoted literals and signs.

use crate::protocol::SqlError;

/// A piece of a text, and where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Token<'a> {
    pub(super) kind: Kind,
    /// As it is written.
    pub(super) text: &'a str,
    /// In bytes from 0.
    pub(super) at: usize,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A key word or a name, in lower case.
    Word(String),
    /// A name in double quotes, which is never a key word.
    Name(String),
    /// A number, with a point or not.
    Number,
    Quoted(String),
    Param(usize),
    Sign,
}

/// The length of the sign at the beginning of a text.
fn sign(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    let second = bytes.get(1).copied().unwrap_or(0);
    Some(match (bytes.first()?, second) {
        (b'-', b'>') => return None,
        (b':', b':') | (b'=', b'>') | (b'<', b'=') | (b'>', b'=') | (b'<', b'>') | (b'!', b'=') => 2,
        (b'|', b'|') => 2,
        (b'(' | b')' | b',' | b';' | b'=' | b'<' | b'>' | b'+' | b'-' | b'*' | b'.' | b'/', _) => 1,
        (b'[' | b']' | b'%' | b':', _) => 1,
        _ => return None,
    })
}

pub(super) fn tokens(text: &str) -> Result<Vec<Token<'_>>, SqlError> {
    let mut tokens = Vec::new();
    let mut at = 0;
    loop {
        at = skip_blank(text, at)?;
        let rest = &text[at..];
        let Some(first) = rest.chars().next() else { return Ok(tokens) };
        let (kind, len) = match first {
            '\'' => quoted(text, at, '\'').map(|(text, len)| (Kind::Quoted(text), len))?,
            '"' => quoted(text, at, '"').map(|(text, len)| (Kind::Name(text), len))?,
            '$' if !rest[1..].starts_with(|c: char| c.is_ascii_digit()) => {
                dollar_quoted(text, at).map(|(text, len)| (Kind::Quoted(text), len))?
            }
            '$' => {
                let len = 1 + run(&rest[1..], |c| c.is_ascii_digit());
                let number = rest[1..len].parse::<u16>().map_err(|_| error_at(text, at, &rest[..len]))?;
                (Kind::Param(usize::from(number)), len)
            }
            c if c.is_ascii_digit() => {
                let len = run(rest, |c| c.is_ascii_digit() || c == '.');
                (Kind::Number, len)
            }
            c if c.is_alphabetic() || c == '_' => {
                let len = run(rest, |c| c.is_alphanumeric() || c == '_' || c == '$');
                (Kind::Word(rest[..len].to_lowercase()), len)
            }
            c => match sign(rest) {
                Some(len) => (Kind::Sign, len),
                None if is_of_operator(c) => {
                    let operator = &rest[..run(rest, is_of_operator)];
                    return Err(SqlError::unsupported(format!("the operator {operator}")));
                }
                None => return Err(error_at(text, at, &rest[..c.len_utf8()])),
            },
        };
        tokens.push(Token { kind, text: &text[at..at + len], at });
        at += len;
    }
}

/// True for a character of the operators of PostgreSQL.
pub(super) fn is_of_operator(c: char) -> bool {
    "+-*/<>=~!@#%^&|`?".contains(c)
}

/// The place after blanks and comments.
fn skip_blank(text: &str, mut at: usize) -> Result<usize, SqlError> {
    loop {
        let rest = &text[at..];
        if rest.starts_with("--") {
            at += rest.find('\n').unwrap_or(rest.len());
        } else if rest.starts_with("/*") {
            let end = rest.find("*/");
            at += end.map(|end| end + 2).ok_or_else(|| unterminated(text, at, "/* comment", rest))?;
        } else {
            match run(rest, |c| c.is_ascii_whitespace() || c == '\x0b') {
                0 => return Ok(at),
                len => at += len,
            }
        }
    }
}

/// The length of the characters at the beginning that are so.
fn run(text: &str, is: impl Fn(char) -> bool) -> usize {
    text.find(|c| !is(c)).unwrap_or(text.len())
}

/// The text between quotes, where a doubled one is one of the text; and how long that is as it is written.
fn quoted(text: &str, at: usize, quote: char) -> Result<(String, usize), SqlError> {
    let rest = &text[at..];
    let mut content = String::new();
    let mut from = 1;
    while let Some(len) = rest[from..].find(quote) {
        content.push_str(&rest[from..from + len]);
        from += len + 1;
        if !rest[from..].starts_with(quote) {
            return Ok((content, from));
        }
        content.push(quote);
        from += 1;
    }
    let what = if quote == '\'' { "quoted string" } else { "quoted identifier" };
    Err(unterminated(text, at, what, rest))
}

/// The text between `$$` and `$$`, or between `$word$` and the same again; and how long that is with them.
fn dollar_quoted(text: &str, at: usize) -> Result<(String, usize), SqlError> {
    let rest = &text[at..];
    let word = run(&rest[1..], |c| c.is_alphanumeric() || c == '_');
    let (Some(fence), true) = (rest.get(..word + 2), rest[1 + word..].starts_with('$')) else {
        return Err(error_at(text, at, "$"));
    };
    match rest[fence.len()..].find(fence) {
        Some(len) => Ok((rest[fence.len()..fence.len() + len].to_owned(), len + 2 * fence.len())),
        None => Err(unterminated(text, at, "dollar-quoted string", rest)),
    }
}

fn unterminated(text: &str, at: usize, what: &str, near: &str) -> SqlError {
    let mut error = SqlError::new("42601", format!("unterminated {what} at or near \"{near}\""));
    error.position = Some(place(text, at));
    error
}

/// The error about what stands there.
pub(super) fn error_at(text: &str, at: usize, near: &str) -> SqlError {
    let message = if near.is_empty() {
        "syntax error at end of input".to_owned()
    } else {
        format!("syntax error at or near \"{near}\"")
    };
    SqlError { position: Some(place(text, at)), ..SqlError::new("42601", message) }
}

/// A place in characters from 1.
fn place(text: &str, at: usize) -> usize {
    text[..at].chars().count() + 1
}
