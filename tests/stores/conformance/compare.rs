//! The allowed differences between two replies: the order of unordered items, random choices, times, and names of the server.

use super::wire::Frame;

/// How a command's replies are made comparable.
enum Rule {
    /// They are the same as they are.
    Exact,
    /// The parts come in any order.
    Unordered,
    /// Pairs come in any order.
    Pairs,
    /// A number that is near.
    Near,
    /// Only the kind of reply and, for parts, how many there are.
    Shape,
    /// Only whether it is an error, and which.
    Kind,
}

fn rule(words: &[Vec<u8>]) -> Rule {
    let word = |at: usize| words.get(at).map(|word| word.to_ascii_uppercase()).unwrap_or_default();
    match word(0).as_slice() {
        b"KEYS" | b"SMEMBERS" | b"HKEYS" => Rule::Unordered,
        b"HGETALL" => Rule::Pairs,
        b"TTL" | b"PTTL" | b"PEXPIRETIME" => Rule::Near,
        b"TIME" => Rule::Shape,
        b"INFO" | b"LASTSAVE" | b"ROLE" | b"HELLO" => Rule::Kind,
        b"CLIENT" if matches!(word(1).as_slice(), b"ID" | b"INFO" | b"LIST") => Rule::Kind,
        b"COMMAND" => match word(1).as_slice() {
            b"LIST" => Rule::Unordered,
            b"GETKEYS" => Rule::Exact,
            _ => Rule::Kind,
        },
        b"CONFIG" if word(1) == b"GET" => Rule::Pairs,
        b"PUBSUB" if word(1).ends_with(b"CHANNELS") => Rule::Unordered,
        _ => Rule::Exact,
    }
}

/// Times that far apart are the same: both servers got the command one after the other.
const NEAR: i64 = 3_000;

/// True if two servers answered this command alike.
pub(crate) fn alike(words: &[Vec<u8>], real: &Frame, ours: &Frame) -> bool {
    if real == ours {
        return true;
    }
    if real.is_error() || ours.is_error() {
        return repaired(real) == repaired(ours);
    }
    match rule(words) {
        Rule::Exact => false,
        Rule::Unordered => sorted(real) == sorted(ours),
        Rule::Pairs => paired(real) == paired(ours),
        Rule::Near => match (number(real), number(ours)) {
            (Some(real), Some(ours)) => real > 0 && ours > 0 && (real - ours).abs() <= NEAR,
            _ => false,
        },
        Rule::Shape => shape(real) == shape(ours),
        Rule::Kind => kind(real) == kind(ours),
    }
}

/// Puts what came to a connection into an order where Redis has none: a message that came by several patterns, and what
/// a client that listens to its own changes hears of them, which is before or after the reply. Invalidations that follow each other become
/// one, because Redis sends those of a pass of its event loop at once: also those of commands that a blocked client had sent before.
pub(crate) fn arrange(frames: &mut Vec<Frame>) {
    frames.dedup_by(|next, one| {
        let (Some(keys), Some(more)) = (invalidated(one), invalidated(next)) else { return false };
        keys.append(more);
        keys.sort();
        true
    });
    // The sort is stable.
    frames.sort_by_key(|frame| message(frame).is_some_and(|[channel, _]| channel.starts_with(b"__key")));
    let by_pattern = |frame: &Frame| match frame {
        Frame::Parts(_, Some(parts)) if parts.len() == 4 => {
            message(frame).map(|message| message.map(<[u8]>::to_vec))
        }
        _ => None,
    };
    frames
        .chunk_by_mut(|one, next| by_pattern(one).is_some() && by_pattern(one) == by_pattern(next))
        .for_each(<[Frame]>::sort);
}

/// The keys of an invalidation.
fn invalidated(frame: &mut Frame) -> Option<&mut Vec<Frame>> {
    match frame {
        Frame::Parts(b'>', Some(parts)) => match parts.as_mut_slice() {
            [Frame::Bytes(_, Some(kind)), Frame::Parts(_, Some(keys))] if kind == b"invalidate" => Some(keys),
            _ => None,
        },
        _ => None,
    }
}

/// The channel and the content of a message.
fn message(frame: &Frame) -> Option<[&[u8]; 2]> {
    let Frame::Parts(_, Some(parts)) = frame else { return None };
    let mut texts = parts.iter().map(|part| match part {
        Frame::Bytes(b'$', Some(text)) => Some(text.as_slice()),
        _ => None,
    });
    match (texts.next()??, parts.len()) {
        (b"message", 3) => {}
        (b"pmessage", 4) => _ = texts.next(),
        _ => return None,
    }
    Some([texts.next()??, texts.next()??])
}

/// An error that repeats bytes of the command which are no text: the node repeats them as replacement characters.
fn repaired(frame: &Frame) -> Frame {
    match frame {
        Frame::Line(kind, text) => {
            Frame::Line(*kind, String::from_utf8_lossy(text).into_owned().into_bytes())
        }
        other => other.clone(),
    }
}

fn number(frame: &Frame) -> Option<i64> {
    match frame {
        Frame::Line(b':', text) => std::str::from_utf8(text).ok()?.parse().ok(),
        _ => None,
    }
}

fn kind(frame: &Frame) -> u8 {
    match frame {
        Frame::Line(kind, _) | Frame::Bytes(kind, _) | Frame::Parts(kind, _) => *kind,
    }
}

fn shape(frame: &Frame) -> (u8, Option<usize>) {
    match frame {
        Frame::Parts(kind, parts) => (*kind, parts.as_ref().map(Vec::len)),
        Frame::Bytes(kind, bytes) => (*kind, bytes.as_ref().map(|_| 0)),
        Frame::Line(kind, _) => (*kind, None),
    }
}

fn sorted(frame: &Frame) -> Frame {
    match frame {
        Frame::Parts(kind, Some(parts)) => {
            let mut parts = parts.clone();
            parts.sort();
            Frame::Parts(*kind, Some(parts))
        }
        other => other.clone(),
    }
}

fn paired(frame: &Frame) -> Frame {
    match frame {
        Frame::Parts(kind, Some(parts)) => {
            let mut pairs: Vec<Vec<Frame>> = parts.chunks(2).map(<[Frame]>::to_vec).collect();
            pairs.sort();
            Frame::Parts(*kind, Some(pairs.concat()))
        }
        other => other.clone(),
    }
}
