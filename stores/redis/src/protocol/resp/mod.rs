//! Redis's wire protocol: requests as a server reads them, replies as it writes them.
//!
//! Requests are arrays of bulk strings, or a line of words as one would type it (an inline command). Limits and error
//! texts are those of Redis 7.0 (`networking.c`). Replies are RESP2, or RESP3 for a connection that said `HELLO 3`.
//!
//! Left out on purpose: streamed requests, which Redis does not take either; bytes in an error that are not UTF-8 become
//! replacement characters.
//! Source: <https://redis.io/docs/latest/develop/reference/protocol-spec/>.

use std::borrow::Cow;

pub mod doubles;
mod reply;
mod requests;
#[cfg(test)]
mod tests;

pub use reply::{Protocol, Reply};
pub use requests::{Limits, Request, Requests};

/// The longest line of an inline command or of a length, in bytes.
const LINE_MAX: usize = 64 * 1024;
/// The longest bulk string, in bytes.
const BULK_MAX: i64 = 512 * 1024 * 1024;
/// The most arguments of a request.
const ARGS_MAX: i64 = i32::MAX as i64;

/// Room for a string of more bytes than this is made exactly.
const LARGE: usize = 1 << 20;

/// The size of a short bulk string besides its bytes: its header and the ends of both lines.
const HEADER_LEN: usize = 8;

/// The bytes of a peer are not Redis's protocol. The text is the one that Redis answers with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Protocol error: {0}")]
pub struct ProtocolError(Cow<'static, str>);

impl ProtocolError {
    const fn new(text: &'static str) -> ProtocolError {
        ProtocolError(Cow::Borrowed(text))
    }
}

/// Reads an integer as strictly as Redis does: no plus sign, no spaces, no leading zeros, no overflow.
#[must_use]
pub fn integer(text: &[u8]) -> Option<i64> {
    let digits = text.strip_prefix(b"-").unwrap_or(text);
    let strict = match digits {
        [b'0'] => text.len() == 1,
        [b'1'..=b'9', rest @ ..] => rest.len() < 19 && rest.iter().all(u8::is_ascii_digit),
        _ => false,
    };
    if !strict {
        return None;
    }
    // Nineteen digits cannot overflow this.
    let magnitude = digits.iter().fold(0, |number: u64, digit| number * 10 + u64::from(digit - b'0'));
    if digits.len() == text.len() {
        i64::try_from(magnitude).ok()
    } else {
        0_i64.checked_sub_unsigned(magnitude)
    }
}

/// Appends a request of bulk strings.
pub fn request(out: &mut Vec<u8>, args: &[&[u8]]) {
    out.reserve(args.iter().map(|arg| arg.len() + 3 * HEADER_LEN).sum::<usize>() + HEADER_LEN);
    header(out, b'*', args.len());
    args.iter().for_each(|arg| string(out, arg));
}

/// Appends the beginning of a list of so many items.
pub(crate) fn array_header(out: &mut Vec<u8>, len: usize) {
    header(out, b'*', len);
}

fn header(out: &mut Vec<u8>, kind: u8, len: usize) {
    out.push(kind);
    decimal(out, i64::try_from(len).unwrap_or(i64::MAX));
    out.extend_from_slice(b"\r\n");
}

fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    let room = bytes.len() + 3 * HEADER_LEN;
    // Of what is large, not twice as much.
    if bytes.len() > LARGE {
        out.reserve_exact(room)
    } else {
        out.reserve(room)
    }
    string(out, bytes);
}

/// A bulk string for which there is room.
fn string(out: &mut Vec<u8>, bytes: &[u8]) {
    header(out, b'$', bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Appends a number in decimal digits, without the detour over a string.
pub(crate) fn decimal(out: &mut Vec<u8>, value: i64) {
    match value {
        0..=9 => out.push(b'0' + value as u8),
        _ => out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes()),
    }
}
