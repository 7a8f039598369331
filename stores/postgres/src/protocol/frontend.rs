//! The messages of clients.

use super::error::SqlError;
use super::types::Type;
use super::wire::Format;

/// The first thing on a connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// Asks for TLS, or for encryption by GSSAPI.
    Encryption,
    /// Asks for the end of another session's statement.
    Cancel { pid: i32, secret: i32 },
    /// Begins a session, with these parameters.
    Startup { minor: u16, parameters: Vec<(String, String)> },
}

/// A message of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    Query(String),
    Parse {
        name: String,
        text: String,
        types: Vec<Option<Type>>,
    },
    Bind(Bind),
    Describe(Target, String),
    Execute {
        portal: String,
        max_rows: i32,
    },
    Close(Target, String),
    Sync,
    Flush,
    Terminate,
    /// One that makes no sense; `simple` if it was to be a simple query.
    Malformed {
        simple: bool,
        error: SqlError,
    },
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Bind {
    pub(crate) portal: String,
    pub(crate) statement: String,
    pub(crate) formats: Vec<Format>,
    pub(crate) values: Vec<Option<Vec<u8>>>,
    pub(crate) results: Vec<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Statement,
    Portal,
}

/// The longest opening, as PostgreSQL has it.
const OPENING_MAX: usize = 10_000;

/// The longest message. PostgreSQL takes a gigabyte; nothing here needs it.
const MESSAGE_MAX: usize = 1 << 20;

const SSL_REQUEST: u32 = 80_877_103;
const GSS_REQUEST: u32 = 80_877_104;
const CANCEL_REQUEST: u32 = 80_877_102;

/// Takes the opening off the front, if it is complete.
pub(crate) fn opening(input: &mut Vec<u8>) -> Result<Option<Opening>, SqlError> {
    let Some(len) = length(input, 0) else { return Ok(None) };
    if !(8..=OPENING_MAX).contains(&len) {
        return Err(SqlError::fatal("08P01", "invalid length of startup packet"));
    }
    if input.len() < len {
        return Ok(None);
    }
    let packet: Vec<u8> = input.drain(..len).collect();
    let mut fields = Fields(&packet[4..]);
    match fields.long()? {
        SSL_REQUEST | GSS_REQUEST => Ok(Some(Opening::Encryption)),
        CANCEL_REQUEST => {
            let (pid, secret) = (fields.long()?.cast_signed(), fields.long()?.cast_signed());
            Ok(Some(Opening::Cancel { pid, secret }))
        }
        version if version >> 16 == 3 => {
            let mut parameters = Vec::new();
            loop {
                let name = fields.text()?;
                if name.is_empty() {
                    break;
                }
                parameters.push((name, fields.text()?));
            }
            Ok(Some(Opening::Startup { minor: version as u16, parameters }))
        }
        version => {
            let (major, minor) = (version >> 16, version & 0xffff);
            let text = format!("unsupported frontend protocol {major}.{minor}: server supports 3.0 to 3.0");
            Err(SqlError::fatal("0A000", text))
        }
    }
}

/// Takes a message off the front, if it is complete.
///
/// # Errors
/// A fatal one where the stream makes no more sense.
pub(crate) fn take(input: &mut Vec<u8>) -> Result<Option<Message>, SqlError> {
    let Some(kind) = input.first().copied() else { return Ok(None) };
    if !b"QPBDECSHX".contains(&kind) {
        let message = format!("invalid frontend message type {kind}");
        return Err(SqlError::fatal("08P01", message));
    }
    let Some(len) = length(input, 1) else { return Ok(None) };
    if !(4..=MESSAGE_MAX).contains(&len) {
        return Err(SqlError::fatal("08P01", "invalid message length"));
    }
    if input.len() <= len {
        return Ok(None);
    }
    let packet: Vec<u8> = input.drain(..=len).collect();
    let mut fields = Fields(&packet[5..]);
    let message = match fields.message(kind) {
        Ok(_) if !fields.0.is_empty() => Err(SqlError::protocol("invalid message format")),
        outcome => outcome,
    };
    Ok(Some(message.unwrap_or_else(|error| Message::Malformed { simple: kind == b'Q', error })))
}

fn length(input: &[u8], at: usize) -> Option<usize> {
    let bytes = input.get(at..at + 4)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?) as usize)
}

/// The rest of a message.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn message(&mut self, kind: u8) -> Result<Message, SqlError> {
        Ok(match kind {
            b'Q' => Message::Query(self.text()?),
            b'P' => {
                let (name, text) = (self.text()?, self.text()?);
                let count = self.short()?;
                let types = (0..count).map(|_| Type::of_oid(self.long()?)).collect::<Result<_, _>>()?;
                Message::Parse { name, text, types }
            }
            b'B' => {
                let (portal, statement) = (self.text()?, self.text()?);
                let formats = self.formats()?;
                let count = self.short()?;
                let values = (0..count).map(|_| self.value()).collect::<Result<_, _>>()?;
                Message::Bind(Bind { portal, statement, formats, values, results: self.formats()? })
            }
            b'D' | b'C' => {
                let target = match self.bytes(1)? {
                    b"S" => Target::Statement,
                    b"P" => Target::Portal,
                    _ => return Err(SqlError::protocol("invalid message subtype")),
                };
                let name = self.text()?;
                if kind == b'D' { Message::Describe(target, name) } else { Message::Close(target, name) }
            }
            b'E' => Message::Execute { portal: self.text()?, max_rows: self.long()?.cast_signed() },
            b'S' => Message::Sync,
            b'H' => Message::Flush,
            _ => Message::Terminate,
        })
    }

    fn formats(&mut self) -> Result<Vec<Format>, SqlError> {
        let count = self.short()?;
        (0..count).map(|_| Format::of(self.short()?.cast_signed())).collect()
    }

    fn value(&mut self) -> Result<Option<Vec<u8>>, SqlError> {
        match self.long()?.cast_signed() {
            -1 => Ok(None),
            len => {
                let len = usize::try_from(len).map_err(|_| insufficient())?;
                Ok(Some(self.bytes(len)?.to_vec()))
            }
        }
    }

    fn bytes(&mut self, len: usize) -> Result<&[u8], SqlError> {
        let (bytes, rest) = self.0.split_at_checked(len).ok_or_else(insufficient)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn short(&mut self) -> Result<u16, SqlError> {
        self.bytes(2)?.try_into().map(u16::from_be_bytes).map_err(|_| insufficient())
    }

    fn long(&mut self) -> Result<u32, SqlError> {
        self.bytes(4)?.try_into().map(u32::from_be_bytes).map_err(|_| insufficient())
    }

    fn text(&mut self) -> Result<String, SqlError> {
        let end = self.0.iter().position(|byte| *byte == 0);
        let end = end.ok_or_else(|| SqlError::protocol("invalid string in message"))?;
        let text = std::str::from_utf8(self.bytes(end)?).map(str::to_owned);
        self.0 = &self.0[1..];
        text.map_err(|_| SqlError::new("22021", "invalid byte sequence for encoding \"UTF8\""))
    }
}

fn insufficient() -> SqlError {
    SqlError::protocol("insufficient data left in message")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_message_is_taken_once_it_is_complete() {
        let whole = b"Q\0\0\0\x0bbegin;\0S\0\0\0\x04";
        for cut in 0..whole.len() {
            let mut input = whole[..cut].to_vec();
            let first = take(&mut input).unwrap();
            assert_eq!(first.is_some(), cut >= 12, "{cut}");
        }
        let mut input = whole.to_vec();
        assert_eq!(take(&mut input), Ok(Some(Message::Query("begin;".into()))));
        assert_eq!(take(&mut input), Ok(Some(Message::Sync)));
    }

    proptest! {
        #[test]
        fn no_bytes_are_too_strange(bytes in prop::collection::vec(any::<u8>(), 0..80), kind in prop::sample::select(b"QPBDECSHX".to_vec())) {
            let mut input = vec![kind];
            input.extend(u32::try_from(bytes.len() + 4).unwrap().to_be_bytes());
            input.extend(&bytes);
            let _ = take(&mut input);
            let _ = opening(&mut bytes.clone());
        }
    }
}
