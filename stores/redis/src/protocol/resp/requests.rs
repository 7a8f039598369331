//! Requests, as a server takes them out of a byte stream.

use std::ops::Range;

use super::{ARGS_MAX, BULK_MAX, LINE_MAX, ProtocolError, integer};

/// How much room is made for a read, in bytes.
const READ_ROOM: usize = 4 * 1024;

/// One request: the arguments, the first of which names the command, and the bytes that it was read from.
#[derive(Debug, PartialEq, Eq)]
pub struct Request<'a> {
    /// The arguments; never empty.
    pub args: Vec<&'a [u8]>,
    /// The request as it came over the wire.
    pub raw: &'a [u8],
    /// How many bytes have come behind it.
    pub behind: usize,
}

/// The limits of what a client may send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest bulk string, in bytes.
    pub bulk_max: i64,
    /// The most bytes that may wait to be executed.
    pub waiting_max: usize,
    /// False before a client has given the password: then less is taken.
    pub trusted: bool,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { bulk_max: BULK_MAX, waiting_max: 1 << 30, trusted: true }
    }
}

/// How many arguments an untrusted client may send, and how long each may be, in bytes.
const UNTRUSTED_ARGS_MAX: i64 = 10;
const UNTRUSTED_BULK_MAX: i64 = 16 * 1024;

/// Takes requests out of a byte stream, however it is cut into reads.
#[derive(Debug, Default)]
pub struct Requests {
    /// The limits.
    pub limits: Limits,
    buffer: Vec<u8>,
    /// Where the present request begins.
    start: usize,
    /// How far the present request has been understood, from `start`.
    parsed: usize,
    /// How many bulk strings it still lacks; zero at the start of a request.
    missing: usize,
    /// Its bulk strings so far, from `start`.
    pub(super) spans: Vec<Range<usize>>,
    /// The words of an inline command.
    words: Vec<Vec<u8>>,
    /// How long the buffer must be, at least, for the present bulk string.
    wanted: usize,
}

/// A buffer of more bytes is not kept when all in it was taken; a bulk string of more bytes is given just the room that it
/// needs.
const LARGE: usize = 1 << 20;

/// How much room is made at once for a large bulk string, at most.
const AHEAD: usize = 128 << 20;

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
            if self.start == self.buffer.len() && self.buffer.capacity() > LARGE {
                self.buffer = Vec::new();
            } else {
                self.buffer.drain(..self.start);
            }
            self.wanted = self.wanted.saturating_sub(self.start);
            self.start = 0;
        }
        let lacks = self.wanted.saturating_sub(self.buffer.len());
        let spare = self.buffer.capacity() - self.buffer.len();
        // Who says that much comes and has not sent any of it gets no room for it.
        if lacks > LARGE && self.buffer.len() > LARGE && spare < READ_ROOM {
            self.buffer.reserve_exact(lacks.min(AHEAD));
        } else {
            self.buffer.reserve(READ_ROOM);
        }
        &mut self.buffer
    }

    /// How many bytes wait to be taken.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.buffer.len() - self.start
    }

    /// True if more waits to be executed than may.
    #[must_use]
    pub fn is_overfull(&self) -> bool {
        self.waiting() > self.limits.waiting_max
    }

    /// The next complete request, if there is one.
    ///
    /// # Errors
    /// When the bytes are no request. The connection cannot be used any further.
    pub fn take(&mut self) -> Result<Option<Request<'_>>, ProtocolError> {
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
        Ok(Some(Request { args, raw, behind: self.buffer.len() - self.start }))
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
        if count > UNTRUSTED_ARGS_MAX && !self.limits.trusted {
            return Err(ProtocolError::new("unauthenticated multibulk length"));
        }
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
        if let Some((len, header)) = short_length(&self.buffer[self.start + self.parsed..])
            && len as i64 <= self.limits.bulk_max
        {
            return Ok(self.span(self.parsed + header, len));
        }
        let Some((line, next)) = self.header("too big bulk count string")? else { return Ok(Step::Starved) };
        if line.first() != Some(&b'$') {
            let got = char::from(line.first().copied().unwrap_or(b'\r'));
            return Err(ProtocolError(format!("expected '$', got '{got}'").into()));
        }
        let len = integer(&line[1..]).filter(|len| (0..=self.limits.bulk_max).contains(len));
        if len.is_some_and(|len| len > UNTRUSTED_BULK_MAX) && !self.limits.trusted {
            return Err(ProtocolError::new("unauthenticated bulk length"));
        }
        let len = len.and_then(|len| usize::try_from(len).ok());
        let len = len.ok_or(ProtocolError::new("invalid bulk length"))?;
        Ok(self.span(next, len))
    }

    /// Takes a bulk string of which the header was read.
    fn span(&mut self, next: usize, len: usize) -> Step {
        if self.buffer.len() - self.start < next + len + 2 {
            self.wanted = self.start + next + len + 2;
            return Step::Starved;
        }
        self.spans.push(next..next + len);
        self.parsed = next + len + 2;
        self.missing -= 1;
        if self.missing == 0 { Step::Bulks } else { Step::Skipped }
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
        // Redis looks for the end as in a C string: nothing behind a zero byte is ever found.
        let end = rest.iter().position(|byte| matches!(byte, b'\n' | 0)).filter(|at| rest[*at] == b'\n');
        let Some(end) = end else {
            let too_big = rest.len() > LINE_MAX;
            return if too_big {
                Err(ProtocolError::new("too big inline request"))
            } else {
                Ok(Step::Starved)
            };
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

/// The length of a bulk string if it has one digit or two, as nearly all have, and how long its line is. Anything else
/// is left to who reads all lengths.
fn short_length(line: &[u8]) -> Option<(usize, usize)> {
    let digit = |byte: u8| usize::from(byte - b'0');
    match *line {
        [b'$', one @ b'0'..=b'9', b'\r', _, ..] => Some((digit(one), 4)),
        [b'$', ten @ b'1'..=b'9', one @ b'0'..=b'9', b'\r', _, ..] => Some((10 * digit(ten) + digit(one), 5)),
        _ => None,
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
