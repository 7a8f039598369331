//! A replica's link to its primary, as a machine without a socket: bytes in, bytes and events out.
//!
//! The handshake is that of Redis 7.0: PING; AUTH and REPLCONF in one go; PSYNC with what the replica has. The primary
//! then continues the stream, or sends a full copy first, of a length sent beforehand (from its disk) or between two
//! equal marks (without a disk).
//!
//! Source: `syncWithMaster` and `readSyncBulkPayload` of `replication.c`.

use crate::protocol::resp::{self, Limits, ProtocolError, Request, Requests};
use crate::server::stream::ReplicationId;

/// A line of the handshake that is longer is none.
const LINE_MAX: usize = 1024;

/// The length of the marks around a copy that comes without its length.
const MARK_LEN: usize = 40;

/// The facts that a replica reports to its primary.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Introduction {
    /// The user to log in as; the default user if empty.
    pub(crate) user: Vec<u8>,
    /// The password to log in with; none if empty.
    pub(crate) password: Vec<u8>,
    /// The port that it listens on.
    pub(crate) port: u16,
    /// The address to be known by; the one of the connection if empty.
    pub(crate) address: Vec<u8>,
    /// The history that it has, and how much of it.
    pub(crate) has: Option<(ReplicationId, u64)>,
    /// True if it wants the other to take over as the primary.
    pub(crate) hands_over: bool,
}

/// Where a link stands.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// The answer to PING is awaited.
    Greeted,
    /// So many answers to REPLCONF are awaited, the answer to AUTH before them.
    Introduced { auth: bool, answers: u32 },
    /// The answer to PSYNC is awaited.
    Asked,
    /// A full copy is about to come.
    Announced { id: ReplicationId, offset: u64 },
    /// A full copy of this length comes.
    Sized { id: ReplicationId, offset: u64, length: usize },
    /// A full copy comes that ends with this mark.
    Marked { id: ReplicationId, offset: u64, mark: Vec<u8> },
    /// The stream comes.
    Streaming,
}

/// An event of a link.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum LinkEvent<'a> {
    /// The primary is there, and what follows is the handshake's next part: nothing to do but to send.
    Progress,
    /// The primary's whole dataset. The stream goes on behind this offset.
    Full {
        /// The identifier of the primary's history.
        id: ReplicationId,
        /// The offset of the copy.
        offset: u64,
        /// An RDB file.
        copy: Vec<u8>,
        /// True if the primary sends nothing before it has an acknowledgement.
        acknowledge: bool,
    },
    /// The primary has all that this node lacks: the stream goes on where it stopped.
    Continued {
        /// The identifier of the primary's history, if it said.
        id: Option<ReplicationId>,
    },
    /// A command of the stream.
    Command(Request<'a>),
}

/// The reason why a link is given up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum LinkError {
    /// The primary refuses for now: it loads its data, or has lost its own primary.
    #[error("the primary cannot synchronise now: {0}")]
    NotNow(String),
    /// The primary refuses.
    #[error("the primary refused: {0}")]
    Refused(String),
    /// The bytes are not the protocol of replication.
    #[error("bad protocol from the primary")]
    Garbage,
    /// The stream is not a sequence of requests.
    #[error(transparent)]
    Protocol(#[from] ProtocolError),
}

/// A link to a primary.
#[derive(Debug)]
pub(crate) struct Link {
    introduction: Introduction,
    state: State,
    /// The bytes before the stream that are not used yet.
    received: Vec<u8>,
    stream: Requests,
    /// The bytes to send.
    out: Vec<u8>,
}

impl Link {
    /// A link over a connection that was just made.
    pub(crate) fn new(introduction: Introduction) -> Link {
        let mut out = Vec::new();
        resp::request(&mut out, &[b"PING"]);
        // Like Redis, a replica takes whatever its primary has taken.
        let mut stream = Requests::default();
        stream.limits = Limits { bulk_max: i64::MAX, waiting_max: usize::MAX, trusted: true };
        Link { introduction, state: State::Greeted, received: Vec::new(), stream, out }
    }

    /// Takes what has to be sent.
    pub(crate) fn take_output(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.out)
    }

    /// Where the bytes that come in are to be appended.
    pub(crate) fn room(&mut self) -> &mut Vec<u8> {
        match self.state {
            State::Streaming => self.stream.room(),
            _ => &mut self.received,
        }
    }

    /// Acknowledges the stream up to an offset.
    pub(crate) fn acknowledge(&mut self, offset: u64) {
        resp::request(&mut self.out, &[b"REPLCONF", b"ACK", offset.to_string().as_bytes()]);
    }

    /// True while the answer to PSYNC is awaited.
    pub(crate) fn is_asking(&self) -> bool {
        self.state == State::Asked
    }

    /// True while the primary's copy comes.
    pub(crate) fn is_transferring(&self) -> bool {
        matches!(self.state, State::Announced { .. } | State::Sized { .. } | State::Marked { .. })
    }

    /// The next event, if the bytes so far hold one.
    ///
    /// # Errors
    /// When the primary refuses, or what came is not the protocol of replication. The link is of no use any more.
    pub(crate) fn next(&mut self) -> Result<Option<LinkEvent<'_>>, LinkError> {
        match self.state {
            State::Greeted | State::Introduced { .. } | State::Asked | State::Announced { .. } => {
                let Some(line) = self.line()? else { return Ok(None) };
                // A line without content only says that the primary is alive and busy.
                if line.is_empty() { Ok(Some(LinkEvent::Progress)) } else { self.answer(&line) }
            }
            State::Sized { id, offset, length } => {
                if self.received.len() < length {
                    return Ok(None);
                }
                let rest = self.received.split_off(length);
                let copy = std::mem::take(&mut self.received);
                self.begin_stream(&rest);
                Ok(Some(LinkEvent::Full { id, offset, copy, acknowledge: false }))
            }
            State::Marked { id, offset, ref mark } => {
                let Some(copy) = self.received.strip_suffix(mark.as_slice()) else { return Ok(None) };
                let copy = copy.to_vec();
                self.received.clear();
                self.begin_stream(&[]);
                Ok(Some(LinkEvent::Full { id, offset, copy, acknowledge: true }))
            }
            State::Streaming => Ok(self.stream.take()?.map(LinkEvent::Command)),
        }
    }

    fn begin_stream(&mut self, first: &[u8]) {
        self.stream.room().extend_from_slice(first);
        self.state = State::Streaming;
    }

    /// The next line, without its end.
    fn line(&mut self) -> Result<Option<Vec<u8>>, LinkError> {
        let Some(end) = self.received.iter().position(|byte| *byte == b'\n') else {
            return if self.received.len() > LINE_MAX { Err(LinkError::Garbage) } else { Ok(None) };
        };
        let mut line: Vec<u8> = self.received.drain(..=end).collect();
        line.truncate(line.trim_ascii_end().len());
        Ok(Some(line))
    }

    /// Understands an answer of the primary.
    fn answer(&mut self, line: &[u8]) -> Result<Option<LinkEvent<'_>>, LinkError> {
        let refused = || LinkError::Refused(String::from_utf8_lossy(line).into_owned());
        let is_error = line.first() == Some(&b'-');
        match self.state {
            State::Greeted => {
                // A primary that wants a password first says so instead of +PONG.
                let known = [b"-NOAUTH".as_slice(), b"-NOPERM", b"-ERR operation not permitted"];
                if line.first() != Some(&b'+') && !known.iter().any(|error| line.starts_with(error)) {
                    return Err(refused());
                }
                self.introduce();
            }
            State::Introduced { auth: true, answers } => {
                if is_error {
                    return Err(refused());
                }
                self.state = State::Introduced { auth: false, answers };
            }
            // A primary that does not understand a REPLCONF can do without.
            State::Introduced { auth: false, answers } => {
                if answers > 1 {
                    self.state = State::Introduced { auth: false, answers: answers - 1 };
                } else {
                    self.ask();
                }
            }
            State::Asked => return self.agreed(line),
            State::Announced { id, offset } => {
                let header = line.strip_prefix(b"$").ok_or_else(refused)?;
                self.state = match header.strip_prefix(b"EOF:") {
                    Some(mark) if mark.len() == MARK_LEN => State::Marked { id, offset, mark: mark.to_vec() },
                    Some(_) => return Err(LinkError::Garbage),
                    None => {
                        let length = resp::integer(header).and_then(|length| usize::try_from(length).ok());
                        State::Sized { id, offset, length: length.ok_or(LinkError::Garbage)? }
                    }
                };
            }
            State::Sized { .. } | State::Marked { .. } | State::Streaming => return Err(LinkError::Garbage),
        }
        Ok(Some(LinkEvent::Progress))
    }

    fn introduce(&mut self) {
        let me = &self.introduction;
        let auth = !me.password.is_empty();
        match (auth, me.user.is_empty()) {
            (false, _) => {}
            (true, true) => resp::request(&mut self.out, &[b"AUTH", &me.password]),
            (true, false) => resp::request(&mut self.out, &[b"AUTH", &me.user, &me.password]),
        }
        let mut answers = 2;
        resp::request(&mut self.out, &[b"REPLCONF", b"listening-port", me.port.to_string().as_bytes()]);
        if !me.address.is_empty() {
            resp::request(&mut self.out, &[b"REPLCONF", b"ip-address", &me.address]);
            answers += 1;
        }
        resp::request(&mut self.out, &[b"REPLCONF", b"capa", b"eof", b"capa", b"psync2"]);
        self.state = State::Introduced { auth, answers };
    }

    fn ask(&mut self) {
        match self.introduction.has {
            Some((id, offset)) => {
                let from = (offset + 1).to_string();
                let words: [&[u8]; 4] = [b"PSYNC", id.as_bytes(), from.as_bytes(), b"FAILOVER"];
                resp::request(&mut self.out, if self.introduction.hands_over { &words } else { &words[..3] });
            }
            None => resp::request(&mut self.out, &[b"PSYNC", b"?", b"-1"]),
        }
        self.state = State::Asked;
    }

    fn agreed(&mut self, line: &[u8]) -> Result<Option<LinkEvent<'_>>, LinkError> {
        let mut words = line.split(|byte| *byte == b' ').filter(|word| !word.is_empty());
        let (first, id, offset) = (words.next().unwrap_or_default(), words.next(), words.next());
        let id = id.and_then(ReplicationId::parse);
        match first {
            b"+FULLRESYNC" => {
                let offset = offset.and_then(resp::integer).and_then(|offset| u64::try_from(offset).ok());
                let (Some(id), Some(offset)) = (id, offset) else { return Err(LinkError::Garbage) };
                self.state = State::Announced { id, offset };
                Ok(Some(LinkEvent::Progress))
            }
            b"+CONTINUE" if self.introduction.has.is_some() => {
                let rest = std::mem::take(&mut self.received);
                self.begin_stream(&rest);
                Ok(Some(LinkEvent::Continued { id }))
            }
            _ => {
                let text = String::from_utf8_lossy(line).into_owned();
                let later = [b"-NOMASTERLINK".as_slice(), b"-LOADING"];
                let later = later.iter().any(|error| line.starts_with(error));
                Err(if later { LinkError::NotNow(text) } else { LinkError::Refused(text) })
            }
        }
    }
}
