//! Replies: how they go over the wire, and back.

use std::borrow::Cow;

use bstr::ByteSlice as _;

use super::{ARGS_MAX, BULK_MAX, LINE_MAX, ProtocolError, bulk, decimal, doubles, header, integer};

/// How deep replies may nest when they are read.
const DEPTH_MAX: u32 = 128;

/// Which version of the protocol a connection speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// RESP2, until `HELLO 3`.
    #[default]
    Two,
    /// RESP3.
    Three,
}

/// A reply. What RESP2 has no type for takes the form there that Redis gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// A simple string, such as `OK`.
    Status(Cow<'static, str>),
    /// An error with its code, without the leading dash.
    Error(Cow<'static, str>),
    /// An integer.
    Integer(i64),
    /// A string of bytes.
    Bulk(Vec<u8>),
    /// Nothing where a string would be.
    Nil,
    /// Nothing where a list would be: RESP3 knows one kind of nothing only.
    NilArray,
    /// A list.
    Array(Vec<Reply>),
    /// Pairs: a map in RESP3, a flat list in RESP2.
    Map(Vec<(Reply, Reply)>),
    /// Pairs in order: a list of lists of two in RESP3, a flat list in RESP2.
    Pairs(Vec<(Reply, Reply)>),
    /// Items without order: a list in RESP2.
    Set(Vec<Reply>),
    /// A number with a fraction: a string of bytes in RESP2.
    Double(f64),
    /// Yes or no: one or zero in RESP2.
    Boolean(bool),
    /// An integer of any size, in decimal digits: a string of bytes in RESP2.
    BigNumber(Cow<'static, str>),
    /// A text and its format in three letters, such as `txt`: a string of bytes in RESP2.
    Verbatim(&'static str, Vec<u8>),
    /// A message that is no answer: a list in RESP2.
    Push(Vec<Reply>),
    /// The attributes of a reply, which follows; left out in RESP2.
    Attributed(Vec<(Reply, Reply)>, Box<Reply>),
}

impl Reply {
    /// The usual good reply.
    pub const OK: Reply = Reply::Status(Cow::Borrowed("OK"));

    /// An error by a text known beforehand.
    #[must_use]
    pub const fn error(text: &'static str) -> Reply {
        Reply::Error(Cow::Borrowed(text))
    }

    /// A bulk string of a text.
    #[must_use]
    pub fn text(text: &str) -> Reply {
        Reply::Bulk(text.as_bytes().to_vec())
    }

    /// Pairs as a list in both protocols.
    #[must_use]
    pub fn flattened(self) -> Reply {
        match self {
            Reply::Map(pairs) => {
                Reply::Array(pairs.into_iter().flat_map(|(name, value)| [name, value]).collect())
            }
            other => other,
        }
    }

    /// Appends the reply as it goes over the wire.
    pub fn encode(&self, protocol: Protocol, out: &mut Vec<u8>) {
        match self {
            Reply::Status(text) => line(out, b'+', text),
            Reply::Error(text) => line(out, b'-', text),
            Reply::Integer(value) => {
                out.push(b':');
                decimal(out, *value);
                out.extend_from_slice(b"\r\n");
            }
            Reply::Bulk(bytes) => bulk(out, bytes),
            Reply::Nil => out.extend_from_slice(match protocol {
                Protocol::Two => b"$-1\r\n".as_slice(),
                Protocol::Three => b"_\r\n",
            }),
            Reply::NilArray => out.extend_from_slice(match protocol {
                Protocol::Two => b"*-1\r\n".as_slice(),
                Protocol::Three => b"_\r\n",
            }),
            Reply::Array(items) => list(out, b'*', items, protocol),
            Reply::Map(items) => {
                match protocol {
                    Protocol::Two => header(out, b'*', items.len() * 2),
                    Protocol::Three => header(out, b'%', items.len()),
                }
                pairs(out, items, protocol);
            }
            other => other.encode_rare(protocol, out),
        }
    }

    /// Appends what most replies hold nothing of.
    fn encode_rare(&self, protocol: Protocol, out: &mut Vec<u8>) {
        match (self, protocol) {
            (Reply::Pairs(items), Protocol::Two) => {
                header(out, b'*', items.len() * 2);
                pairs(out, items, protocol);
            }
            (Reply::Pairs(items), Protocol::Three) => {
                header(out, b'*', items.len());
                for (first, second) in items {
                    header(out, b'*', 2);
                    first.encode(protocol, out);
                    second.encode(protocol, out);
                }
            }
            (Reply::Set(items), Protocol::Two) => list(out, b'*', items, protocol),
            (Reply::Set(items), Protocol::Three) => list(out, b'~', items, protocol),
            (Reply::Push(items), Protocol::Two) => list(out, b'*', items, protocol),
            (Reply::Push(items), Protocol::Three) => list(out, b'>', items, protocol),
            (Reply::Double(number), Protocol::Two) => bulk(out, doubles::text(*number).as_bytes()),
            (Reply::Double(number), Protocol::Three) => line(out, b',', &doubles::text(*number)),
            (Reply::Boolean(yes), Protocol::Two) => line(out, b':', if *yes { "1" } else { "0" }),
            (Reply::Boolean(yes), Protocol::Three) => line(out, b'#', if *yes { "t" } else { "f" }),
            (Reply::BigNumber(digits), Protocol::Two) => bulk(out, digits.as_bytes()),
            (Reply::BigNumber(digits), Protocol::Three) => line(out, b'(', digits),
            (Reply::Verbatim(_, text), Protocol::Two) => bulk(out, text),
            (Reply::Verbatim(format, text), Protocol::Three) => {
                header(out, b'=', format.len() + 1 + text.len());
                out.extend_from_slice(format.as_bytes());
                out.push(b':');
                out.extend_from_slice(text);
                out.extend_from_slice(b"\r\n");
            }
            (Reply::Attributed(items, reply), _) => {
                if protocol == Protocol::Three {
                    header(out, b'|', items.len());
                    pairs(out, items, protocol);
                }
                reply.encode(protocol, out);
            }
            _ => {}
        }
    }

    /// Reads one reply from the front of `bytes`, and how many bytes it took; `None` when it is not all there. Of RESP3, maps are
    /// read as flat lists and verbatim texts as strings; attributes are not read.
    ///
    /// # Errors
    /// When the bytes are no reply.
    pub fn decode(bytes: &[u8]) -> Result<Option<(Reply, usize)>, ProtocolError> {
        decode(bytes, DEPTH_MAX)
    }
}

fn decode(bytes: &[u8], depth: u32) -> Result<Option<(Reply, usize)>, ProtocolError> {
    let mut returns = memchr::memchr_iter(b'\r', bytes);
    let Some(end) = returns.find(|at| bytes.get(at + 1) == Some(&b'\n')) else {
        let too_big = bytes.len() > LINE_MAX;
        return if too_big { Err(ProtocolError::new("too big reply line")) } else { Ok(None) };
    };
    let Some((kind, content)) = bytes[..end].split_first() else {
        return Err(ProtocolError::new("empty reply line"));
    };
    let after = end + 2;
    let text = || Cow::Owned(content.to_str_lossy().into_owned());
    let number = || integer(content).ok_or(ProtocolError::new("invalid number in reply"));
    match kind {
        b'+' if content == b"PONG" => Ok(Some((Reply::Status(Cow::Borrowed("PONG")), after))),
        b'+' => Ok(Some((Reply::Status(text()), after))),
        b'-' => Ok(Some((Reply::Error(text()), after))),
        b':' => Ok(Some((Reply::Integer(number()?), after))),
        b'$' => match number()? {
            -1 => Ok(Some((Reply::Nil, after))),
            len @ 0..=BULK_MAX => {
                let len = usize::try_from(len).map_err(|_| ProtocolError::new("invalid bulk length"))?;
                let whole = bytes.len() >= after + len + 2;
                Ok(whole.then(|| (Reply::Bulk(bytes[after..after + len].to_vec()), after + len + 2)))
            }
            _ => Err(ProtocolError::new("invalid bulk length")),
        },
        b'*' | b'~' | b'>' | b'%' => match number()? {
            -1 => Ok(Some((Reply::NilArray, after))),
            count @ 0..=ARGS_MAX if depth > 0 => {
                let mut items = Vec::new();
                let mut at = after;
                for _ in 0..if *kind == b'%' { 2 * count } else { count } {
                    let Some((item, len)) = decode(&bytes[at..], depth - 1)? else { return Ok(None) };
                    items.push(item);
                    at += len;
                }
                let list = match kind {
                    b'~' => Reply::Set(items),
                    b'>' => Reply::Push(items),
                    _ => Reply::Array(items),
                };
                Ok(Some((list, at)))
            }
            _ => Err(ProtocolError::new("invalid multibulk length")),
        },
        b'_' if content.is_empty() => Ok(Some((Reply::Nil, after))),
        b'#' if matches!(content, b"t" | b"f") => Ok(Some((Reply::Boolean(content == b"t"), after))),
        b'(' => Ok(Some((Reply::BigNumber(text()), after))),
        b',' => match text().parse() {
            Ok(double) => Ok(Some((Reply::Double(double), after))),
            Err(_) => Err(ProtocolError::new("invalid number in reply")),
        },
        b'=' => match number()? {
            len @ 4..=BULK_MAX => {
                let len = usize::try_from(len).map_err(|_| ProtocolError::new("invalid bulk length"))?;
                let whole = bytes.len() >= after + len + 2;
                // Three letters and a colon say what it is.
                Ok(whole.then(|| (Reply::Bulk(bytes[after + 4..after + len].to_vec()), after + len + 2)))
            }
            _ => Err(ProtocolError::new("invalid bulk length")),
        },
        _ => Err(ProtocolError::new("unknown kind of reply")),
    }
}

fn list(out: &mut Vec<u8>, kind: u8, items: &[Reply], protocol: Protocol) {
    header(out, kind, items.len());
    for item in items {
        item.encode(protocol, out);
    }
}

fn pairs(out: &mut Vec<u8>, items: &[(Reply, Reply)], protocol: Protocol) {
    for (name, value) in items {
        name.encode(protocol, out);
        value.encode(protocol, out);
    }
}

/// A line that must stay one: a text that a client chose may hold line breaks.
fn line(out: &mut Vec<u8>, kind: u8, text: &str) {
    out.push(kind);
    out.extend(text.bytes().map(|byte| if byte == b'\r' || byte == b'\n' { b' ' } else { byte }));
    out.extend_from_slice(b"\r\n");
}
