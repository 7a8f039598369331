//! Replies as they stand on the wire, with the kind of every part: `+OK` and `$2 OK` are not the same.

use std::collections::VecDeque;
use std::fmt;
use std::io::{self, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// One reply or push.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Frame {
    /// A line: its kind and its text.
    Line(u8, Vec<u8>),
    /// Bytes with a length: their kind, and `None` for RESP2's null.
    Bytes(u8, Option<Vec<u8>>),
    /// Parts: their kind, and `None` for RESP2's null. A map's keys and values stand in turn.
    Parts(u8, Option<Vec<Frame>>),
}

impl Frame {
    pub(crate) fn is_error(&self) -> bool {
        matches!(self, Frame::Line(b'-', _))
    }
}

impl fmt::Debug for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Frame::Line(kind, text) => write!(f, "{}{}", char::from(*kind), text.escape_ascii()),
            Frame::Bytes(kind, None) | Frame::Parts(kind, None) => write!(f, "{}-1", char::from(*kind)),
            Frame::Bytes(kind, Some(text)) => write!(f, "{}\"{}\"", char::from(*kind), text.escape_ascii()),
            Frame::Parts(kind, Some(parts)) => {
                write!(f, "{}", char::from(*kind))?;
                f.debug_list().entries(parts).finish()
            }
        }
    }
}

/// A connection to a server.
pub(crate) struct Conn {
    stream: TcpStream,
    received: Vec<u8>,
    /// How many of the received bytes were read as frames.
    taken: usize,
    /// Frames that were read and not yet asked for.
    read: VecDeque<Frame>,
    closed: bool,
}

impl Conn {
    pub(crate) fn open(address: SocketAddr) -> io::Result<Conn> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Conn { stream, received: Vec::new(), taken: 0, read: VecDeque::new(), closed: false })
    }

    pub(crate) fn send(&mut self, args: &[Vec<u8>]) {
        let mut out = format!("*{}\r\n", args.len()).into_bytes();
        for arg in args {
            out.extend_from_slice(format!("${}\r\n", arg.len()).as_bytes());
            out.extend_from_slice(arg);
            out.extend_from_slice(b"\r\n");
        }
        self.send_raw(&out);
    }

    pub(crate) fn send_raw(&mut self, bytes: &[u8]) {
        // A server that has closed the connection is seen when its reply is missing.
        let _ = self.stream.write_all(bytes);
    }

    /// The next frame, if one comes within this time. A closed connection is reported once, as a frame of its own.
    pub(crate) fn next(&mut self, patience: Duration) -> Option<Frame> {
        self.stream.set_read_timeout(Some(patience)).expect("a timeout above zero is valid");
        self.take()
    }

    /// The frames that have arrived already.
    pub(crate) fn all_arrived(&mut self) -> Vec<Frame> {
        self.stream.set_nonblocking(true).expect("a socket can do without waiting");
        let frames = std::iter::from_fn(|| self.take()).collect();
        self.stream.set_nonblocking(false).expect("a socket can wait");
        frames
    }

    fn take(&mut self) -> Option<Frame> {
        loop {
            if let Some(frame) = self.read.pop_front() {
                return Some(frame);
            }
            let mut pushes = Vec::new();
            if let Some((frame, len)) = parse(&self.received[self.taken..], &mut pushes) {
                self.taken += len;
                self.read.extend(pushes);
                self.read.push_back(frame);
                continue;
            }
            if self.closed {
                return None;
            }
            self.received.drain(..std::mem::take(&mut self.taken));
            let mut chunk = [0; 16 * 1024];
            match self.stream.read(&mut chunk) {
                Ok(len) if len > 0 => self.received.extend_from_slice(&chunk[..len]),
                Err(error) if matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {
                    return None;
                }
                Ok(_) | Err(_) => {
                    self.closed = true;
                    return Some(Frame::Line(b'!', b"closed".to_vec()));
                }
            }
        }
    }
}

/// The first frame, and how many bytes it takes. A push that comes between the parts of a reply is none of them: Redis
/// 7.0 sends what a transaction causes in the middle of its reply.
fn parse(bytes: &[u8], pushes: &mut Vec<Frame>) -> Option<(Frame, usize)> {
    let end = bytes.windows(2).position(|pair| pair == b"\r\n")?;
    let (kind, text) = bytes[..end].split_first()?;
    let after = end + 2;
    let number = || std::str::from_utf8(text).ok()?.parse::<i64>().ok();
    match kind {
        b'$' | b'=' | b'!' => match usize::try_from(number()?) {
            Err(_) => Some((Frame::Bytes(*kind, None), after)),
            Ok(len) => {
                let whole = bytes.get(after..after + len + 2)?;
                Some((Frame::Bytes(*kind, Some(whole[..len].to_vec())), after + len + 2))
            }
        },
        b'*' | b'~' | b'>' | b'%' | b'|' => {
            let Ok(count) = usize::try_from(number()?) else {
                return Some((Frame::Parts(*kind, None), after));
            };
            let count = if matches!(kind, b'%' | b'|') { 2 * count } else { count };
            let (mut parts, mut at) = (Vec::new(), after);
            while parts.len() < count {
                let (part, len) = parse(&bytes[at..], pushes)?;
                at += len;
                if matches!(part, Frame::Parts(b'>', _)) {
                    pushes.push(part);
                } else {
                    parts.push(part);
                }
            }
            Some((Frame::Parts(*kind, Some(parts)), at))
        }
        _ => Some((Frame::Line(*kind, text.to_vec()), after)),
    }
}
