//! Redis's wire protocol: requests as a server reads them, replies as it writes them.
//!
//! Requests are arrays of bulk strings, or a line of words as one would type it (an inline command). Limits and error
//! texts are those of Redis 7.0 (`networking.c`). Replies are RESP2, and for a connection that said `HELLO 3` the parts
//! of RESP3 that differ: null and map.
//!
//! Left out on purpose: RESP3's other types, which no command here answers with, and streamed requests.
//! Source: <https://redis.io/docs/latest/develop/reference/protocol-spec/>.

use std::borrow::Cow;
use std::ops::Range;

/// The longest line of an inline command or of a length, in bytes.
const LINE_MAX: usize = 64 * 1024;
/// The longest bulk string, in bytes.
const BULK_MAX: i64 = 512 * 1024 * 1024;
/// The most arguments of a request.
const ARGS_MAX: i64 = i32::MAX as i64;
/// How deep replies may nest when they are read.
const DEPTH_MAX: u32 = 128;
/// How much room is made for a read, in bytes.
const READ_ROOM: usize = 4 * 1024;

/// What a peer sent is not Redis's protocol. The text is the one that Redis answers with.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("Protocol error: {0}")]
pub struct ProtocolError(Cow<'static, str>);

impl ProtocolError {
    const fn new(text: &'static str) -> ProtocolError {
        ProtocolError(Cow::Borrowed(text))
    }
}

/// One request: the arguments, the first of which names the command, and the bytes that it was read from.
#[derive(Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The arguments; never empty.
    pub args: Vec<&'a [u8]>,
    /// The request as it came over the wire.
    pub raw: &'a [u8],
}

/// Takes requests out of a byte stream, however it is cut into reads.
#[derive(Debug, Default)]
pub struct Requests {
    buffer: Vec<u8>,
    /// Where the present request begins.
    start: usize,
    /// How far the present request has been understood, from `start`.
    parsed: usize,
    /// How many bulk strings it still lacks; zero at the start of a request.
    missing: usize,
    /// Its bulk strings so far, from `start`.
    spans: Vec<Range<usize>>,
    /// The words of an inline command.
    words: Vec<Vec<u8>>,
}

/// How far a look at the buffer has led.
enum Step {
    /// More bytes are needed.
    Starved,
    /// Something empty was skipped.
    Skipped,
    /// A request of bulk strings is complete.
    Bulks,
    /// An inline request is complete.
    Inline,
}

impl Requests {
    /// The buffer to append the next bytes to, with some room made in it.
    pub fn room(&mut self) -> &mut Vec<u8> {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.reserve(READ_ROOM);
        &mut self.buffer
    }

    /// The next complete request, if there is one.
    ///
    /// # Errors
    /// When the bytes are no request. The connection cannot be used any further.
    pub fn next(&mut self) -> Result<Option<Request<'_>>, ProtocolError> {
        let inline = loop {
            match self.step()? {
                Step::Starved => return Ok(None),
                Step::Skipped => {}
                Step::Bulks => break false,
                Step::Inline => break true,
            }
        };
        let raw = &self.buffer[self.start..self.start + self.parsed];
        self.start += self.parsed;
        self.parsed = 0;
        let args = if inline {
            self.words.iter().map(Vec::as_slice).collect()
        } else {
            self.spans.iter().map(|span| &raw[span.clone()]).collect()
        };
        Ok(Some(Request { args, raw }))
    }

    fn step(&mut self) -> Result<Step, ProtocolError> {
        if self.missing > 0 {
            return self.bulk();
        }
        match self.buffer.get(self.start) {
            None => Ok(Step::Starved),
            Some(b'*') => self.count(),
            Some(_) => self.inline(),
        }
    }

    /// Reads `*3\r\n`.
    fn count(&mut self) -> Result<Step, ProtocolError> {
        let Some((line, next)) = self.header("too big mbulk count string")? else { return Ok(Step::Starved) };
        let count = integer(&line[1..]).filter(|count| *count <= ARGS_MAX);
        let count = count.ok_or(ProtocolError::new("invalid multibulk length"))?;
        self.parsed = next;
        self.spans.clear();
        self.missing = usize::try_from(count).unwrap_or(0);
        if self.missing == 0 {
            self.skip();
        }
        Ok(Step::Skipped)
    }

    /// Reads `$3\r\nfoo\r\n`. Like Redis, it does not look at the last two bytes.
    fn bulk(&mut self) -> Result<Step, ProtocolError> {
        let Some((line, next)) = self.header("too big bulk count string")? else { return Ok(Step::Starved) };
        if line.first() != Some(&b'$') {
            let got = char::from(line.first().copied().unwrap_or(b'\r'));
            return Err(ProtocolError(format!("expected '$', got '{got}'").into()));
        }
        let len = integer(&line[1..]).filter(|len| (0..=BULK_MAX).contains(len));
        let len = len.and_then(|len| usize::try_from(len).ok());
        let len = len.ok_or(ProtocolError::new("invalid bulk length"))?;
        if self.buffer.len() - self.start < next + len + 2 {
            return Ok(Step::Starved);
        }
        self.spans.push(next..next + len);
        self.parsed = next + len + 2;
        self.missing -= 1;
        Ok(if self.missing == 0 { Step::Bulks } else { Step::Skipped })
    }

    /// The line of a length from `parsed` on, without its end, and where the next one begins.
    fn header(&self, too_big: &'static str) -> Result<Option<(&[u8], usize)>, ProtocolError> {
        let rest = &self.buffer[self.start + self.parsed..];
        match rest.iter().position(|byte| *byte == b'\r') {
            None if rest.len() > LINE_MAX => Err(ProtocolError::new(too_big)),
            Some(end) if end + 2 <= rest.len() => Ok(Some((&rest[..end], self.parsed + end + 2))),
            _ => Ok(None),
        }
    }

    /// Reads a line of words.
    fn inline(&mut self) -> Result<Step, ProtocolError> {
        let rest = &self.buffer[self.start..];
        let Some(end) = rest.iter().position(|byte| *byte == b'\n') else {
            let too_big = rest.len() > LINE_MAX;
            return if too_big { Err(ProtocolError::new("too big inline request")) } else { Ok(Step::Starved) };
        };
        let line = rest[..end].strip_suffix(b"\r").unwrap_or(&rest[..end]);
        self.words = split_words(line).ok_or(ProtocolError::new("unbalanced quotes in request"))?;
        self.parsed = end + 1;
        if self.words.is_empty() {
            self.skip();
            return Ok(Step::Skipped);
        }
        Ok(Step::Inline)
    }

    fn skip(&mut self) {
        self.start += self.parsed;
        self.parsed = 0;
    }
}

/// Splits a line into words as Redis's `sdssplitargs` does; `None` when its quotes do not match.
fn split_words(line: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut words = Vec::new();
    let mut rest = line;
    loop {
        rest = rest.trim_ascii_start();
        // Redis looks at the line as a C string: a zero byte ends it.
        if rest.first().is_none_or(|byte| *byte == 0) {
            return Some(words);
        }
        let mut word = Vec::new();
        loop {
            match rest {
                [] => break,
                [byte, ..] if byte.is_ascii_whitespace() || *byte == 0 => break,
                [b'"', tail @ ..] => rest = double_quoted(tail, &mut word)?,
                [b'\'', tail @ ..] => rest = single_quoted(tail, &mut word)?,
                [byte, tail @ ..] => {
                    word.push(*byte);
                    rest = tail;
                }
            }
        }
        words.push(word);
    }
}

fn double_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [] => return None,
            [b'\\', b'x', high, low, tail @ ..] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() => {
                let digit = |byte: u8| char::from(byte).to_digit(16).map_or(0, |digit| digit as u8);
                word.push(digit(*high) << 4 | digit(*low));
                tail
            }
            [b'\\', byte, tail @ ..] => {
                word.push(match byte {
                    b'n' => b'\n',
                    b'r' => b'\r',
                    b't' => b'\t',
                    b'b' => 8,
                    b'a' => 7,
                    other => *other,
                });
                tail
            }
            [b'"', tail @ ..] => return ends_word(tail),
            [byte, tail @ ..] => {
                word.push(*byte);
                tail
            }
        };
    }
}

fn single_quoted<'a>(mut rest: &'a [u8], word: &mut Vec<u8>) -> Option<&'a [u8]> {
    loop {
        rest = match rest {
            [] => return None,
            [b'\\', b'\'', tail @ ..] => {
                word.push(b'\'');
                tail
            }
            [b'\'', tail @ ..] => return ends_word(tail),
            [byte, tail @ ..] => {
                word.push(*byte);
                tail
            }
        };
    }
}

/// A closing quote must be followed by a space or by nothing.
fn ends_word(rest: &[u8]) -> Option<&[u8]> {
    rest.first().is_none_or(u8::is_ascii_whitespace).then_some(rest)
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
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Appends a request of bulk strings.
pub fn request(out: &mut Vec<u8>, args: &[&[u8]]) {
    header(out, b'*', args.len());
    for arg in args {
        bulk(out, arg);
    }
}

/// Which version of the protocol a connection speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// RESP2, until `HELLO 3`.
    #[default]
    Two,
    /// RESP3.
    Three,
}

/// A reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// A simple string, such as `OK`.
    Status(Cow<'static, str>),
    /// An error with its code, without the leading dash.
    Error(Cow<'static, str>),
    /// An integer.
    Integer(i64),
    /// A string of bytes.
    Bulk(Vec<u8>),
    /// Nothing.
    Nil,
    /// A list.
    Array(Vec<Reply>),
    /// Pairs: a map in RESP3, a flat list in RESP2.
    Map(Vec<(Reply, Reply)>),
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
            Reply::Array(items) => {
                header(out, b'*', items.len());
                for item in items {
                    item.encode(protocol, out);
                }
            }
            Reply::Map(pairs) => {
                match protocol {
                    Protocol::Two => header(out, b'*', pairs.len() * 2),
                    Protocol::Three => header(out, b'%', pairs.len()),
                }
                for (name, value) in pairs {
                    name.encode(protocol, out);
                    value.encode(protocol, out);
                }
            }
        }
    }

    /// Reads one RESP2 reply from the front of `bytes`, and how many bytes it took; `None` when it is not all there.
    ///
    /// # Errors
    /// When the bytes are no reply.
    pub fn decode(bytes: &[u8]) -> Result<Option<(Reply, usize)>, ProtocolError> {
        decode(bytes, DEPTH_MAX)
    }
}

fn decode(bytes: &[u8], depth: u32) -> Result<Option<(Reply, usize)>, ProtocolError> {
    let Some(end) = bytes.windows(2).position(|pair| pair == b"\r\n") else {
        let too_big = bytes.len() > LINE_MAX;
        return if too_big { Err(ProtocolError::new("too big reply line")) } else { Ok(None) };
    };
    let Some((kind, content)) = bytes[..end].split_first() else {
        return Err(ProtocolError::new("empty reply line"));
    };
    let after = end + 2;
    let text = || Cow::Owned(String::from_utf8_lossy(content).into_owned());
    let number = || integer(content).ok_or(ProtocolError::new("invalid number in reply"));
    match kind {
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
        b'*' => match number()? {
            -1 => Ok(Some((Reply::Nil, after))),
            count @ 0..=ARGS_MAX if depth > 0 => {
                let mut items = Vec::new();
                let mut at = after;
                for _ in 0..count {
                    let Some((item, len)) = decode(&bytes[at..], depth - 1)? else { return Ok(None) };
                    items.push(item);
                    at += len;
                }
                Ok(Some((Reply::Array(items), at)))
            }
            _ => Err(ProtocolError::new("invalid multibulk length")),
        },
        _ => Err(ProtocolError::new("unknown kind of reply")),
    }
}

/// A line that must stay one: a text that a client chose may hold line breaks.
fn line(out: &mut Vec<u8>, kind: u8, text: &str) {
    out.push(kind);
    out.extend(text.bytes().map(|byte| if byte == b'\r' || byte == b'\n' { b' ' } else { byte }));
    out.extend_from_slice(b"\r\n");
}

fn header(out: &mut Vec<u8>, kind: u8, len: usize) {
    out.push(kind);
    decimal(out, i64::try_from(len).unwrap_or(i64::MAX));
    out.extend_from_slice(b"\r\n");
}

fn bulk(out: &mut Vec<u8>, bytes: &[u8]) {
    header(out, b'$', bytes.len());
    out.extend_from_slice(bytes);
    out.extend_from_slice(b"\r\n");
}

/// Appends a number in decimal digits, without the detour over a string.
pub(crate) fn decimal(out: &mut Vec<u8>, value: i64) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    let mut left = value.unsigned_abs();
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    if value < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// All requests of a stream that arrives in pieces of these sizes, and the error that ended it.
    fn read(bytes: &[u8], piece: usize) -> (Vec<Vec<Vec<u8>>>, Option<String>) {
        let mut requests = Requests::default();
        let mut all = Vec::new();
        for chunk in bytes.chunks(piece.max(1)) {
            requests.room().extend_from_slice(chunk);
            loop {
                match requests.next() {
                    Ok(None) => break,
                    Ok(Some(request)) => all.push(request.args.iter().map(|arg| arg.to_vec()).collect()),
                    Err(error) => return (all, Some(error.to_string())),
                }
            }
        }
        (all, None)
    }

    fn words(line: &str) -> Vec<Vec<u8>> {
        line.split(' ').map(|word| word.as_bytes().to_vec()).collect()
    }

    #[test]
    fn requests_of_both_kinds_mix_on_one_connection() {
        let (all, error) = read(b"PING\r\n*2\r\n$4\r\nECHO\r\n$2\r\nhi\r\n\r\n*0\r\n*-1\r\nGET a\n", 1);
        assert_eq!(all, vec![words("PING"), words("ECHO hi"), words("GET a")]);
        assert_eq!(error, None);
    }

    #[test]
    fn inline_words_may_be_quoted() {
        let (all, _) = read(b"set 'it\\'s' \"a\\x41\\n\" \"\"\r\n", 100);
        assert_eq!(all, vec![vec![b"set".to_vec(), b"it's".to_vec(), b"aA\n".to_vec(), b"".to_vec()]]);
    }

    #[test]
    fn protocol_errors_have_the_texts_of_redis() {
        let text = |bytes: &[u8]| read(bytes, 1 << 20).1.unwrap_or_default();
        assert_eq!(text(b"*x\r\n"), "Protocol error: invalid multibulk length");
        assert_eq!(text(b"*01\r\n"), "Protocol error: invalid multibulk length");
        assert_eq!(text(b"*2147483648\r\n"), "Protocol error: invalid multibulk length");
        assert_eq!(text(b"*1\r\n:3\r\n"), "Protocol error: expected '$', got ':'");
        assert_eq!(text(b"*1\r\n$-1\r\n"), "Protocol error: invalid bulk length");
        assert_eq!(text(b"*1\r\n$536870913\r\n"), "Protocol error: invalid bulk length");
        assert_eq!(text(b"get \"a\r\n"), "Protocol error: unbalanced quotes in request");
        assert_eq!(text(b"get 'a'b\r\n"), "Protocol error: unbalanced quotes in request");
        assert_eq!(text(&[b'a'; LINE_MAX + 1]), "Protocol error: too big inline request");
        assert_eq!(text(&[b"*".as_slice(), &[b'1'; LINE_MAX + 1]].concat()), "Protocol error: too big mbulk count string");
        assert_eq!(
            text(&[b"*1\r\n$".as_slice(), &[b'1'; LINE_MAX + 1]].concat()),
            "Protocol error: too big bulk count string"
        );
    }

    #[test]
    fn a_huge_count_takes_no_memory_beforehand() {
        let mut requests = Requests::default();
        requests.room().extend_from_slice(b"*2147483647\r\n");
        assert_eq!(requests.next(), Ok(None));
        assert!(requests.spans.capacity() < 1000);
    }

    #[test]
    fn integers_are_read_strictly() {
        for (text, value) in [("0", Some(0)), ("-1", Some(-1)), ("9223372036854775807", Some(i64::MAX))] {
            assert_eq!(integer(text.as_bytes()), value);
        }
        assert_eq!(integer(b"-9223372036854775808"), Some(i64::MIN));
        for text in ["", "-", "-0", "+1", "01", " 1", "1 ", "1.0", "9223372036854775808", "99999999999999999999"] {
            assert_eq!(integer(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn a_line_break_in_an_error_cannot_end_it() {
        let mut out = Vec::new();
        Reply::Error("ERR a\r\n+OK".into()).encode(Protocol::Two, &mut out);
        assert_eq!(out, b"-ERR a  +OK\r\n");
    }

    #[test]
    fn null_and_map_differ_between_the_protocols() {
        let reply = Reply::Map(vec![(Reply::text("a"), Reply::Nil)]);
        let encoded = |protocol| {
            let mut out = Vec::new();
            reply.encode(protocol, &mut out);
            out
        };
        assert_eq!(encoded(Protocol::Two), b"*2\r\n$1\r\na\r\n$-1\r\n");
        assert_eq!(encoded(Protocol::Three), b"%1\r\n$1\r\na\r\n_\r\n");
    }

    fn any_reply() -> impl Strategy<Value = Reply> {
        let leaf = prop_oneof![
            "[a-zA-Z ]{0,12}".prop_map(|text| Reply::Status(text.into())),
            "[a-zA-Z ]{0,12}".prop_map(|text| Reply::Error(text.into())),
            any::<i64>().prop_map(Reply::Integer),
            proptest::collection::vec(any::<u8>(), 0..40).prop_map(Reply::Bulk),
            Just(Reply::Nil),
        ];
        leaf.prop_recursive(4, 32, 5, |inner| proptest::collection::vec(inner, 0..5).prop_map(Reply::Array))
    }

    proptest! {
        #[test]
        fn a_request_survives_the_wire(
            args in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..30), 1..6),
            piece in 1usize..20,
        ) {
            let mut wire = Vec::new();
            let slices: Vec<&[u8]> = args.iter().map(Vec::as_slice).collect();
            request(&mut wire, &slices);
            request(&mut wire, &slices);
            prop_assert_eq!(read(&wire, piece), (vec![args.clone(), args], None));
        }

        #[test]
        fn a_reply_survives_the_wire(reply in any_reply()) {
            let mut wire = Vec::new();
            reply.encode(Protocol::Two, &mut wire);
            let len = wire.len();
            for cut in 0..len {
                prop_assert_eq!(Reply::decode(&wire[..cut]), Ok(None));
            }
            wire.extend_from_slice(b"+more");
            prop_assert_eq!(Reply::decode(&wire), Ok(Some((reply, len))));
        }

        #[test]
        fn garbage_is_refused_without_a_panic(
            bytes in proptest::collection::vec(prop_oneof![Just(b'*'), Just(b'$'), Just(b'\r'), Just(b'\n'),
                Just(b'1'), Just(b'"'), Just(b'\\'), Just(b'x'), any::<u8>()], 0..200),
            piece in 1usize..50,
        ) {
            let whole = read(&bytes, bytes.len());
            prop_assert_eq!(read(&bytes, piece), whole);
            let _ = Reply::decode(&bytes);
        }
    }
}
