//! The messages of replication.

use crate::protocol::{Frame, frame_of};

/// A part of the log: the place behind it, and its records.
pub(super) fn log_data(end: u64, clock: i64, records: &[u8]) -> Vec<u8> {
    let header = [&b"w"[..], &[0; 8], &end.to_be_bytes(), &clock.to_be_bytes()].concat();
    frame_of(b'd', &[&header, records])
}

/// A sign of life of the primary, which may want one back.
pub(super) fn keepalive(end: u64, clock: i64, answers: bool) -> Vec<u8> {
    frame_of(b'd', &[b"k", &end.to_be_bytes(), &clock.to_be_bytes(), &[u8::from(answers)]])
}

/// What a standby has: on its disk, and seen by its readers.
pub(super) fn status(place: u64, clock: i64) -> Vec<u8> {
    let place = place.to_be_bytes();
    frame_of(b'd', &[b"r", &place, &place, &place, &clock.to_be_bytes(), &[0]])
}

/// Begins to follow, from this place on.
pub(super) fn start(place: u64) -> Vec<u8> {
    let text = format!("START_REPLICATION PHYSICAL {:X}/{:X} TIMELINE 1\0", place >> 32, place & 0xffff_ffff);
    frame_of(b'Q', &[text.as_bytes()])
}

/// The place from which a standby wants to follow.
pub(super) fn started(frame: &Frame) -> Option<u64> {
    let text = std::str::from_utf8(frame.content()).ok()?;
    let place = text.strip_prefix("START_REPLICATION PHYSICAL ")?.split(' ').next()?;
    let (high, low) = place.split_once('/')?;
    Some(u64::from_str_radix(high, 16).ok()? << 32 | u64::from_str_radix(low, 16).ok()?)
}

/// From now on each side sends what it has.
pub(super) fn copy_both() -> Vec<u8> {
    frame_of(b'W', &[&[0, 0, 0]])
}

/// A message of the primary.
pub(super) enum FromPrimary<'a> {
    Log { records: &'a [u8] },
    Keepalive { answers: bool },
    Other,
}

pub(super) fn from_primary(frame: &Frame) -> FromPrimary<'_> {
    let content = frame.content();
    match (frame.kind, content.first()) {
        (b'd', Some(b'w')) => {
            content.get(25..).map_or(FromPrimary::Other, |records| FromPrimary::Log { records })
        }
        (b'd', Some(b'k')) => FromPrimary::Keepalive { answers: content.last() == Some(&1) },
        _ => FromPrimary::Other,
    }
}

/// What a standby says that it has on its disk.
pub(super) fn flushed(frame: &Frame) -> Option<u64> {
    let content = frame.content();
    let place = content.get(9..17).filter(|_| frame.kind == b'd' && content.first() == Some(&b'r'))?;
    Some(u64::from_be_bytes(place.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::frame;

    fn read(mut bytes: Vec<u8>) -> Frame {
        frame(&mut bytes).unwrap().unwrap()
    }

    #[test]
    fn a_place_is_read_as_it_was_written() {
        for place in [0, 7, 1 << 40] {
            assert_eq!(started(&read(start(place))), Some(place));
            assert_eq!(flushed(&read(status(place, 5))), Some(place));
            let log = read(log_data(place, 5, b"records"));
            assert!(matches!(from_primary(&log), FromPrimary::Log { records: b"records" }));
            let sign = read(keepalive(place, 5, true));
            assert!(matches!(from_primary(&sign), FromPrimary::Keepalive { answers: true }));
        }
        assert!(matches!(from_primary(&read(frame_of(b'd', &[b"w"]))), FromPrimary::Other));
        assert_eq!(flushed(&read(frame_of(b'd', &[b"r"]))), None);
    }
}
